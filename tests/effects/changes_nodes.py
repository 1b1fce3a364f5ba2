"""Changes of nodes, gres.conf and the topology."""

from __future__ import annotations

from dataclasses import replace

from effects.change import ANY_GPU_JOBS, GPU_JOBS, Change, by, config, loaded, node_of, node_without, partition_of
from effects.configuration import LATER, file, gres, line, no_line, node, option, partition, split

_TREE = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n"
_YAML = """\
- topology: all
  cluster_default: true
  tree:
    switches:
      - switch: s1
        nodes: {}
      - switch: s2
        nodes: {}
      - switch: top
        children: s[1-2]
"""
_BLOCKS = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n"
_POWER = option(
    SuspendTime=-1, SuspendProgram="/bin/true", ResumeProgram="/bin/true", SuspendTimeout=10, ResumeTimeout=20
)
_ONE_LAYOUT = {"Sockets": None, "CoresPerSocket": None, "ThreadsPerCore": None}

NODES = (
    Change("node_removed", (split("n1"), gres("n[2-4]")), (node_of("not found"),), removes=("n1",)),
    Change(
        "node_removed_wide",
        (split("n1"), gres("n[2-4]")),
        (node_of("not found"),),
        removes=("n1",),
        jobs={"pending": "-N4 --exclusive -t 5", "pending-srun": None},
    ),
    Change(
        "node_removed_reserved",
        (split("n4"), gres("n[1-3]")),
        (
            node_of("not found", "n4"),
            by("root", "scontrol show reservation; echo end", r"(?i)\A(no reservations.*\s)?end"),
        ),
        removes=("n4",),
        submit={"root": "scontrol create reservation=r1 nodes=n4 starttime=now+2hours duration=60 users=alice"},
        jobs={"pair": "-w n3 -N1 -n2 -t 60", "pending": "--reservation=r1 -n1 -t 5"},
    ),
    Change(
        "node_added",
        (lambda to: to.nodes.update({"n4": {**to.nodes["n1,n2,n3"], "NodeAddr": "10.99.7.14"}}), gres()),
        (node_of("NodeName=n4", "n4"),),
        old=(split("n4"), gres("n[1-3]")),
        nodes=("n1", "n2", "n3"),
        jobs={"pair": "-w n3 -N1 -n2 -t 60"},
    ),
    Change(
        "node_renamed",
        (split("n4", NodeName="n9", NodeHostname="n4"), gres("n[1-3,9]")),
        (node_of("NodeName=n9", "n9"), by("root", "sinfo -h -n n9 -o %T", "idle|mixed|allocated")),
        settle=6,
    ),
    Change("cores", (node(CoresPerSocket=8),), (node_of("CPUTot=32"),), new_job="-w n3 -n18 -t1"),
    Change("cores_less", (node(CoresPerSocket=2),), (node_of("CPUTot=8"),)),
    Change("sockets", (node(Sockets=4),), (node_of("CPUTot=32"),)),
    Change("threads", (node(ThreadsPerCore=1),), (node_of("CPUTot=8"),)),
    Change("threads_up", (node(ThreadsPerCore=2),), (node_of("CPUTot=16"),), old=(node(ThreadsPerCore=1),)),
    Change(
        "cpus", (node(CPUs=16),), (node_of("CPUTot=16"),), old=(node(**_ONE_LAYOUT, CPUs=8),), new_job="-w n3 -n9 -t1"
    ),
    Change("cpus_less", (node(CPUs=8),), (node_of("CPUTot=8"),), old=(node(**_ONE_LAYOUT, CPUs=16),)),
    Change(
        "cpus_to_sockets",
        (node(CPUs=None, Sockets=2, CoresPerSocket=4, ThreadsPerCore=2),),
        (node_of("ThreadsPerCore=2"),),
        old=(node(**_ONE_LAYOUT, CPUs=16),),
    ),
    Change("corespec", (node(CoreSpecCount=2),), (node_of("CoreSpecCount=2"),)),
    Change("memspec", (node(MemSpecLimit=1000),), (node_of("MemSpecLimit=1000"),)),
    Change(
        "realmem_less",
        (node(RealMemory=4000),),
        (node_of("RealMemory=4000"),),
        jobs={"batch": "-w n1 -n1 -t 60 --mem=6000", "pending": "-w n1 -t 5 --exclusive --mem=6000"},
    ),
    Change(
        "realmem_more", (node(RealMemory=16000),), (node_of("RealMemory=16000"),), new_job="-w n3 -n1 -t1 --mem=12000"
    ),
    Change("nodeaddr", (node(NodeAddr="10.99.7.[111-114]"),), (node_of("NodeAddr=10.99.7.111"),)),
    Change(
        "nodeaddr_gone",
        (node(NodeAddr="10.99.7.[111-114]"),),
        (node_of("NodeAddr=10.99.7.111"),),
        hand=("host", "nodes"),
    ),
    Change("node_port", (node(Port=7001),), (node_of("Port=7001"), by("alice", "srun -w n3 -n1 -t1 hostname", "^n3"))),
    Change("node_hostname", (node(NodeHostname="n[1-4]"),), (node_of("NodeHostName=n1"),)),
    Change(
        "node_bcastaddr",
        (node(BcastAddr="10.99.7.[111-114]"),),
        (node_of("BcastAddr=10.99.7.111"),),
    ),
    Change(
        "node_state_down",
        (node(State="DOWN"),),
        (by("root", "sinfo -h -n n1 -o %T", "down|drained"),),
        new_job=None,
    ),
    Change(
        "downnodes",
        (line("DownNodes=n1 State=DOWN Reason=broken"),),
        (by("root", "sinfo -h -n n1 -o %T", "down|drained"),),
    ),
    Change(
        "downnodes_back",
        (no_line("DownNodes=n1 State=DOWN Reason=broken"),),
        (by("root", "sinfo -h -n n2 -o %T", "idle|mixed|allocated"),),
        old=(line("DownNodes=n1 State=DOWN Reason=broken"),),
        jobs={"batch": "-w n2 -n1 -t 60", "pending": None},
    ),
    Change("node_state_drain", (node(State="DRAIN"),), (by("root", "sinfo -h -n n1 -o %T", "drain"),), new_job=None),
    Change(
        "node_state_future",
        (split("n1", State="FUTURE"),),
        (by("root", "sinfo -h -n n1 -o %T; scontrol show node n1", "(?i)future|not found"),),
    ),
    Change("node_state_fail", (split("n1", State="FAIL"),), (by("root", "sinfo -h -n n1 -o %T", "fail"),)),
    Change(
        "feature_of_node_set",
        (split("n1", Feature="h100"),),
        (partition_of(r" Nodes=n\[2-4\]", "small"),),
        old=(node(Feature="h100,big"), line("NodeSet=ns Feature=big"), partition("small", Nodes="ns")),
        jobs={"batch": "-p small -w n1 -n1 -t 60", "pending": None},
    ),
    Change(
        "tmpdisk",
        (node(TmpDisk=1000),),
        (node_of("TmpDisk=1000 "),),
        old=(node(TmpDisk=10000),),
        jobs={"pending": "-w n1 --exclusive -t 5 --tmp=5000"},
    ),
    Change("node_state_cloud", (node(State="CLOUD"),), (node_of("CLOUD"),), old=(_POWER,)),
    Change(
        "feature",
        (node(Feature="a100"),),
        (node_of("ActiveFeatures=a100"),),
        jobs={"batch": "-w n1 -n1 -t 60 -C h100", "pending": "-w n1 --exclusive -t 5 -C h100"},
    ),
    Change("weight", (node(Weight=7),), (node_of("Weight=7"),)),
    Change("tresweights", (node(TRESWeights="CPU=2.0,Mem=0.5G"),), (by("root", "sleep 4; scontrol ping", "is UP"),)),
    Change(
        "memspec_less",
        (node(MemSpecLimit=None),),
        (node_of("MemSpecLimit=0|^(?!.*MemSpecLimit)"),),
        old=(node(MemSpecLimit=500),),
    ),
    Change("cpuspeclist", (node(CpuSpecList="0-1"),), (node_of("CPUSpecList=0-1"),)),
    Change("boards", (node(Boards=2),), (node_of("Boards=2"),)),
    Change(
        "downnodes_state",
        (no_line("DownNodes=n1 State=DRAIN Reason=a"), line("DownNodes=n1 State=DOWN Reason=a")),
        (by("root", "sinfo -h -n n1 -o %T", "down|drained"),),
        old=(line("DownNodes=n1 State=DRAIN Reason=a"),),
        jobs={"batch": "-w n2 -n1 -t 60"},
    ),
    Change(
        "cpuspeclist_gone",
        (node(CPUSpecList=None),),
        (node_without("CPUSpecList"),),
        old=(node(CPUSpecList="0-1"),),
    ),
    Change(
        "corespec_gone", (node(CoreSpecCount=None),), (node_without("CoreSpecCount"),), old=(node(CoreSpecCount=1),)
    ),
    Change("node_reason", (node(Reason="rack-7"),), (node_of("NodeName=n1"),)),
)
_TYPED = "NodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-3]\n"
_MIXED = (
    "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"
    "NodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[2-3]\n"
)
_PAIRS = "".join(f"NodeName=n[1-4] Name=gpu Type=h100 MultipleFiles=/dev/nvidia[{pair}]\n" for pair in ("0-1", "2-3"))
GRES = (
    Change(
        "grestypes_added",
        (
            option(GresTypes="gpu,tape"),
            node(Gres="gpu:h100:4,tape:2"),
            file("gres.conf", f"{_TYPED}NodeName=n[1-4] Name=tape Count=2\n"),
        ),
        (node_of("tape:2"), by("alice", "srun -w n3 -n1 -t1 --gres=tape:1 hostname", "^n3")),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=tape:1",
    ),
    Change(
        "gres_down",
        (node(Gres="gpu:h100:2"), gres(devices="0-1")),
        (node_of("Gres=gpu:h100:2"),),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:2",
    ),
    Change(
        "gres_up",
        (node(Gres="gpu:h100:8"), gres(devices="0-7")),
        (node_of("Gres=gpu:h100:8"),),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:8",
    ),
    Change(
        "gres_type",
        (node(Gres="gpu:a100:4"), gres(kind="a100")),
        (node_of("Gres=gpu:a100:4"),),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:a100:1",
    ),
    Change(
        "gres_type_of_some",
        (node(Gres="gpu:a100:2,gpu:h100:2"), file("gres.conf", _MIXED)),
        (node_of("Gres=gpu:a100:2,gpu:h100:2"),),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:a100:1",
    ),
    Change(
        "gres_type_added",
        (node(Gres="gpu:h100:4"), gres()),
        (node_of("Gres=gpu:h100:4"),),
        old=(node(Gres="gpu:4"), gres(kind="")),
        jobs=ANY_GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:h100:1",
    ),
    Change(
        "gres_type_gone",
        (node(Gres="gpu:4"), gres(kind="")),
        (node_of("Gres=gpu:4"),),
        jobs=ANY_GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:1",
    ),
    Change(
        "gres_removed",
        (node(Gres=None), option(GresTypes=None), file("gres.conf", "# none\n")),
        (node_of(r"Gres=\(null\)"),),
        jobs=GPU_JOBS,
    ),
    Change(
        "gres_file",
        (gres(devices="4-7"),),
        (by("alice", "srun -w n3 -n1 -t1 --gres=gpu:1 hostname", "^n3"),),
        jobs=GPU_JOBS,
    ),
    Change(
        "gres_cores",
        (gres(more="Cores=0-3"),),
        (node_of("Gres=gpu:h100:4"),),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:1",
    ),
    Change(
        "gres_flags",
        (gres(more="Flags=nvidia_gpu_env"),),
        (by("alice", "srun -w n3 -n1 -t1 --gres=gpu:1 env", "^CUDA_VISIBLE_DEVICES="),),
        jobs=GPU_JOBS,
    ),
    Change(
        "gres_links",
        (gres(more="Links=-1,16"),),
        (by("alice", "srun -w n3 -n1 -t1 --gres=gpu:1 hostname", "^n3"),),
        old=(node(Gres="gpu:h100:2"), gres(devices="0-1")),
        jobs=GPU_JOBS,
    ),
    Change(
        "gres_count_only",
        (node(Gres="gpu:h100:4,tape:4"), file("gres.conf", f"{_TYPED}NodeName=n[1-4] Name=tape Count=4\n")),
        (node_of("tape:4"),),
        old=(
            option(GresTypes="gpu,tape"),
            node(Gres="gpu:h100:4,tape:2"),
            file("gres.conf", f"{_TYPED}NodeName=n[1-4] Name=tape Count=2\n"),
        ),
        jobs={"batch": "-w n1 -n1 -t 60 --gres=tape:1", "pending": "-w n1 --exclusive -t 5 --gres=tape:1"},
        new_job="-w n3 -n1 -t1 --gres=tape:4",
    ),
    Change(
        "gres_multiplefiles",
        (node(Gres="gpu:h100:2"), file("gres.conf", _PAIRS)),
        (node_of("Gres=gpu:h100:2"),),
        old=(node(Gres="gpu:h100:1"), file("gres.conf", _PAIRS.splitlines()[0] + "\n")),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=gpu:2",
    ),
    Change(
        "shard_added",
        (
            option(GresTypes="gpu,shard"),
            node(Gres="gpu:h100:4,shard:8"),
            file("gres.conf", f"{_TYPED}NodeName=n[1-4] Name=shard Count=8\n"),
        ),
        (node_of("shard"), by("alice", "srun -w n3 -n1 -t1 --gres=shard:1 hostname", "^n3")),
        jobs=GPU_JOBS,
        new_job="-w n3 -n1 -t1 --gres=shard:1",
    ),
)
TOPOLOGY = (
    Change(
        "topo_node_out",
        (file("topology.conf", _TREE.replace("n[3-4]", "n3")),),
        (by("root", "scontrol show topology", r"s2.*Nodes=n3( |$)"),),
        old=(option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
        jobs={"pending": "-w n3,n4 --exclusive -N2 -n2 -t 5"},
    ),
    Change(
        "topo_tree",
        (option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
        (
            loaded("slurmctld", "topology_tree"),
            by("root", "scontrol show topology", "SwitchName=s1"),
            by("alice", "srun -w n3 -n1 -t1 bash -c 'echo T=$SLURM_TOPOLOGY_ADDR'", "T=top.s2.n3"),
        ),
    ),
    Change(
        "topo_block",
        (option(TopologyPlugin="topology/block"), file("topology.conf", _BLOCKS)),
        (loaded("slurmctld", "topology_block"), by("root", "scontrol show topology", "BlockName=b1")),
        old=(option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
        releases=LATER,
    ),
    Change(
        "topo_conf",
        (file("topology.conf", _TREE.replace("n[1-2]", "n[1-3]").replace("n[3-4]", "n4")),),
        (by("root", "scontrol show topology", r"s1.*Nodes=n\[1-3\]"),),
        old=(option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
    ),
    Change(
        "topo_yaml",
        (file("topology.yaml", _YAML.format("n[1-3]", "n4")),),
        (by("root", "scontrol show topology", r"s1.*Nodes=n\[1-3\]"),),
        old=(option(TopologyPlugin="topology/tree"), file("topology.yaml", _YAML.format("n[1-2]", "n[3-4]"))),
        releases=("26.05",),
    ),
    Change(
        "topo_none",
        (option(TopologyPlugin=None), lambda to: to.files.pop("topology.conf") and None),
        (loaded("slurmctld", "topology_tree", "0"),),
        old=(option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
    ),
    Change(
        "topo_param",
        (option(TopologyParam="TopoOptional"),),
        (config("TopologyParam", "TopoOptional"),),
        old=(option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
    ),
    Change(
        "route_topo",
        (option(RoutePlugin="route/topology"),),
        (loaded("slurmctld", "route_topology"),),
        old=(option(TopologyPlugin="topology/tree"), file("topology.conf", _TREE)),
        releases=("22.05",),
    ),
)
CHANGES = (
    NODES
    + GRES
    + TOPOLOGY
    + tuple(
        # Longer than SlurmdTimeout, after which a node that does not answer loses its jobs.
        replace(change, name=f"{change.name}_long", old=(option(SlurmdTimeout=40),), settle=60, finish=60)
        for change in NODES
        if change.name in ("node_port", "node_state_future")
    )
)
