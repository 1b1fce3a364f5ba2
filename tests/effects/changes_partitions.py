"""Changes of partitions and node sets."""

from __future__ import annotations

from effects.change import Change, by, partition_of
from effects.configuration import line, no_line, no_partition, option, partition

_RESERVE = "scontrol create reservation=r1 starttime=now+2hours duration=60 users=alice {}"

CHANGES = (
    Change(
        "part_removed",
        (no_partition("debug"),),
        (partition_of("not found", "debug"),),
        old=(partition("debug", Nodes="n1"),),
        jobs={"batch": "-p debug -w n1 -n1 -t 60", "pending": "-p debug -w n1 --exclusive -t 5"},
    ),
    Change("part_added", (partition("debug", Nodes="n1"),), (partition_of("PartitionName=debug", "debug"),)),
    Change(
        "maxtime_lower",
        (partition(MaxTime="00:10:00", DefaultTime="00:05:00"),),
        (partition_of("MaxTime=00:10:00"),),
        old=(option(EnforcePartLimits="ALL"),),
        jobs={"pending": "-w n1 --exclusive -t 30"},
    ),
    Change(
        "part_removed_reserved",
        (no_partition("debug"),),
        (
            partition_of("not found", "debug"),
            by("root", "scontrol show reservation; echo end", r"(?i)\A(no reservations.*\s)?end"),
        ),
        old=(partition("debug", Nodes="n1"),),
        submit={"root": _RESERVE.format("nodes=n4 partition=debug")},
        jobs={"batch": "-p debug -w n1 -n1 -t 60", "pending": "-p batch --reservation=r1 -n1 -t 5"},
    ),
    Change(
        "part_defmem_more",
        (partition(DefMemPerNode=9000),),
        (partition_of("DefMemPerNode=9000"),),
        new_job=None,
    ),
    Change(
        "keeppartinfo",
        (partition(MaxTime="05:00:00"),),
        (partition_of("MaxTime=05:00:00"),),
        old=(option(ReconfigFlags="KeepPartInfo"),),
    ),
    Change(
        "keeppartstate",
        (partition(State="DOWN"),),
        (partition_of("State=DOWN"),),
        old=(option(ReconfigFlags="KeepPartState"),),
        new_job=None,
    ),
    Change("part_nodes_shrunk", (partition(Nodes="n[2-4]"),), (partition_of(r"Nodes=n\[2-4\]"),)),
    Change(
        "part_nodes_fewer",
        (partition(Nodes="n[2-4]"),),
        (partition_of(r"Nodes=n\[2-4\]"),),
        jobs={"pending": "-N4 --exclusive -t 5", "pending-srun": None},
    ),
    Change("part_state_down", (partition(State="DOWN"),), (partition_of("State=DOWN"),), new_job=None),
    Change("part_state_drain", (partition(State="DRAIN"),), (partition_of("State=DRAIN"),), new_job=None),
    Change("part_state_inactive", (partition(State="INACTIVE"),), (partition_of("State=INACTIVE"),), new_job=None),
    Change(
        "part_oversubscribe",
        (partition(OverSubscribe="FORCE:2"),),
        (partition_of("OverSubscribe=FORCE:2"),),
        new_job=None,
    ),
    Change(
        "part_exclusive",
        (partition(OverSubscribe="EXCLUSIVE"),),
        (partition_of("(OverSubscribe=EXCLUSIVE|Exclusive=NODE)"),),
        new_job=None,
    ),
    Change(
        "allowaccounts",
        (partition(AllowAccounts="chem"),),
        (partition_of("AllowAccounts=chem"),),
        database=True,
        new_job="-w n3 -n1 -t1 -A chem",
    ),
    Change(
        "denyaccounts",
        (partition(DenyAccounts="phys"),),
        (partition_of("DenyAccounts=phys"),),
        database=True,
        new_job="-w n3 -n1 -t1 -A chem",
    ),
    Change(
        "allowqos",
        (partition(AllowQos="gold"),),
        (partition_of("AllowQos=gold"),),
        database=True,
        new_job="-w n3 -n1 -t1 --qos=gold",
    ),
    Change("allowgroups", (partition(AllowGroups="mail"),), (partition_of("AllowGroups=mail"),), new_job=None),
    Change("part_qos", (partition(QOS="gold"),), (partition_of("QoS=gold"),), database=True),
    Change(
        "part_maxnodes",
        (partition(MaxNodes=1),),
        (partition_of("MaxNodes=1 "),),
        jobs={"pending": "-w n1,n2 -N2 --exclusive -t 5"},
    ),
    Change("part_minnodes", (partition(MinNodes=2),), (partition_of("MinNodes=2"),), new_job="-w n3,n4 -N2 -t1"),
    Change(
        "part_maxmempercpu",
        (partition(MaxMemPerCPU=200),),
        (partition_of("MaxMemPerCPU=200"),),
        jobs={"pending": "-w n1 --exclusive -t 5 --mem-per-cpu=400"},
    ),
    Change(
        "part_maxmempernode",
        (partition(MaxMemPerNode=2000),),
        (partition_of("MaxMemPerNode=2000"),),
        jobs={"pending": "-w n1 --exclusive -t 5 --mem=6000"},
    ),
    Change("part_maxcpuspernode", (partition(MaxCPUsPerNode=4),), (partition_of("MaxCPUsPerNode=4"),)),
    Change("part_priority", (partition(PriorityTier=10, PriorityJobFactor=50),), (partition_of("PriorityTier=10"),)),
    Change("part_gracetime", (partition(GraceTime=60),), (partition_of("GraceTime=60"),)),
    Change("part_hidden", (partition(Hidden="YES"),), (partition_of("Hidden=YES"),)),
    Change("part_rootonly", (partition(RootOnly="YES"),), (partition_of("RootOnly=YES"),), new_job=None),
    Change("part_defmem", (partition(DefMemPerCPU=150),), (partition_of("DefMemPerCPU=150"),)),
    Change("part_defcpupergpu", (partition(DefCpuPerGPU=2),), (partition_of("DefCpuPerGPU=2"),)),
    Change(
        "part_billing",
        (partition(TRESBillingWeights="CPU=100"),),
        (
            partition_of("TRESBillingWeights=CPU=100"),
            by("root", "scontrol show job $(squeue -h -n batch -o %i)", r"TRES=.*billing=2(,|$)"),
        ),
        old=(partition(TRESBillingWeights="CPU=1"),),
        database=True,
    ),
    Change("part_lln", (partition(LLN="YES"),), (partition_of("LLN=YES"),)),
    Change("part_allocnodes", (partition(AllocNodes="n1"),), (partition_of("AllocNodes=n1"),), new_job=None),
    Change("part_reqresv", (partition(ReqResv="YES"),), (partition_of("ReqResv=YES"),), new_job=None),
    Change(
        "nodeset",
        (no_line("NodeSet=ns Nodes=n[1-2]"), line("NodeSet=ns Nodes=n[3-4]")),
        (partition_of(r" Nodes=n\[3-4\]", "small"),),
        old=(line("NodeSet=ns Nodes=n[1-2]"), partition("small", Nodes="ns")),
        jobs={"batch": "-p small -w n1 -n1 -t 60", "pending": "-p small -w n1 --exclusive -t 5"},
    ),
)
