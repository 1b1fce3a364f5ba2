"""Small configurations, broken and whole, that real Slurm and lint are both asked about.

Each is the base with lines added (`plus`), or with others in the place of its node, partition or head lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HEAD = """ClusterName=c
SlurmctldHost=ctl
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
TaskPlugin=task/affinity
"""
NODES = (
    "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000 State=UNKNOWN\n"
)
GPU_NODE = "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=1000 "
PARTITIONS = "PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0 State=UP\n"


@dataclass(frozen=True)
class Fragment:
    name: str
    plus: str = ""
    head: str = HEAD
    nodes: str = NODES
    partitions: str = PARTITIONS
    files: dict[str, str] = field(default_factory=dict)
    slurmd: bool = False
    """True: slurmd of the node n1 is asked too."""

    @property
    def slurm_conf(self) -> str:
        return self.head + self.plus + self.nodes + self.partitions


def _without(*keys: str) -> str:
    return "".join(f"{line}\n" for line in HEAD.splitlines() if line.partition("=")[0] not in keys)


def _lines(*lines: str) -> list[Fragment]:
    """A fragment for each line or bundle of lines, put below the head."""
    return [Fragment(line.replace("\n", " + "), plus=f"{line}\n") for line in lines]


def _node(*lines: str) -> list[Fragment]:
    return [Fragment(line.replace("\n", " + "), nodes=f"{line}\n") for line in lines]


def _partition(*lines: str) -> list[Fragment]:
    return [Fragment(line.replace("\n", " + "), partitions=f"{line}\n") for line in lines]


_SHARDS = "GresTypes=gpu,shard\n"


def _gres(gres: str, text: str, plus: str = "GresTypes=gpu\n") -> Fragment:
    node = f"{GPU_NODE}{gres}\n"
    name = f"{gres} | {text}".replace("\n", " + ")
    return Fragment(name, plus=plus, nodes=node, files={"gres.conf": text}, slurmd=True)


def _beside(name: str, text: str, plus: str) -> Fragment:
    return Fragment(f"{plus}{name}: {text}".replace("\n", " + "), plus=plus, files={name: text}, slurmd=True)


def _tree(text: str) -> Fragment:
    return Fragment(
        "topology.conf: " + text.replace("\n", " + "),
        plus="TopologyPlugin=topology/tree\n",
        files={"topology.conf": text},
    )


def _cgroup(text: str) -> Fragment:
    head = HEAD.replace("proctrack/linuxproc", "proctrack/cgroup").replace("task/affinity", "task/cgroup,task/affinity")
    return Fragment("cgroup.conf: " + text.replace("\n", " + "), head=head, files={"cgroup.conf": text})


GRAMMAR = _lines(
    "MaxConcurrentJobs=64",
    "; SlurmctldTimeout=100",
    "SlurmctldTimeout 100",
    "SlurmctldTimeout = 100",
    "SLURMCTLDTIMEOUT=100",
    "SlurmctldTimeout=100 SlurmdTimeout=100",
    "SlurmctldTimeout=100 # a comment",
    "SlurmctldTimeout=100 a comment",
    "SlurmctldTimeout=1\\\n00",
    'MailDomain="a b"',
    'MailDomain="a b',
    "MailDomain=",
    "SlurmctldTimeout=100\r",
    "SlurmctldTimeout=100\nSlurmctldTimeout=100",
    "SlurmctldTimeout=100\nslurmctldtimeout=200",
    "SlurmctldTimeout+=100",
    "Include nowhere.conf*",
    "\tSlurmctldTimeout=100",
)

NUMBERS = _lines(
    "SlurmctldTimeout=soon",
    "SlurmctldTimeout=-1",
    "SlurmctldTimeout=65535",
    "SlurmctldTimeout=65536",
    "SlurmctldTimeout=INFINITE",
    "SlurmctldTimeout=UNLIMITED",
    "SlurmctldTimeout=60s",
    "SlurmctldTimeout=1k",
    "MaxJobCount=0",
    "MaxJobCount=10k",
    "MaxJobCount=4294967296",
    "MaxStepCount=0",
    "MaxArraySize=5000001",
    "FirstJobId=0",
    "FirstJobId=100\nMaxJobId=50",
    "MaxJobId=70000000",
    "MinJobAge=1",
    "MessageTimeout=200",
    "TreeWidth=0",
    "TreeWidth=70000",
    "SchedulerTimeSlice=2",
    "EpilogMsgTime=2000000",
    "MaxDBDMsgs=100",
    "MaxNodeCount=70000",
    "MaxNodeCount=2",
    "PropagatePrioProcess=3",
    "KeepAliveTime=60",
    "DefMemPerCPU=4G",
    "DefMemPerNode=100\nDefMemPerCPU=10",
    "MaxMemPerNode=100\nMaxMemPerCPU=10",
    "JobRequeue=2",
    "JobRequeue=yes",
    "DisableRootJobs=maybe",
    "DisableRootJobs=TRUE",
    "PriorityFavorSmall=0",
    "UsePAM=on",
    "VSizeFactor=200",
    "FastSchedule=1",
    "FastSchedule=2",
    "FastSchedule=0",
    "TCPTimeout=1.5",
    "KillWait=0x1e",
    "SlurmctldPort=6817-6820",
    "SlurmctldPort=x",
    "SlurmctldPort=0",
    "SlurmdPort=70000",
    "SlurmctldPort=6818",
)

TIMES = _lines(
    "PriorityType=priority/multifactor\nPriorityCalcPeriod=3600",
    "PriorityType=priority/multifactor\nPriorityCalcPeriod=00:05:00",
    "PriorityType=priority/multifactor\nPriorityCalcPeriod=5m",
    "PriorityType=priority/multifactor\nPriorityDecayHalfLife=7-0",
    "PriorityType=priority/multifactor\nPriorityDecayHalfLife=7d",
    "PriorityType=priority/multifactor\nPriorityDecayHalfLife=0",
    "PriorityType=priority/multifactor\nPriorityDecayHalfLife=0\nPriorityUsageResetPeriod=MONTHLY",
    "PriorityType=priority/multifactor\nPriorityUsageResetPeriod=14-0",
    "PriorityType=priority/multifactor\nPriorityMaxAge=7",
    "PriorityType=priority/multifactor\nPriorityMaxAge=a week",
    "PriorityType=priority/multifactor\nPriorityMaxAge=week",
    "PriorityType=priority/multifactor\nPriorityWeightAge=4000000000\nPriorityWeightQOS=4000000000",
    "PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=1000,GRES/gpu=-1",
    "PriorityType=priority/multifactor\nPriorityFlags=MAX_TRES,NO_SUCH",
    "PriorityType=priority/basic\nPriorityWeightAge=1000",
    "SuspendTime=soon",
    "SuspendTime=600\nSuspendProgram=/bin/true\nResumeProgram=/bin/true",
    "SuspendTime=600",
    "SuspendTime=600\nSuspendProgram=/bin/true",
    "PreemptExemptTime=soon",
    "ResumeTimeout=0",
)

WORDS = _lines(
    "SchedulerParameters=bf_window=2880,bf_windows=3",
    "SchedulerParameters=bf_interval=0",
    "SchedulerParameters=bf_max_job_test=x",
    "SchedulerParameters=bf_max_job_user=1000,bf_max_job_test=100",
    "SchedulerParameters=max_job_bf=100",
    "SchedulerParameters=bf_window=-5",
    "SchedulerParameters=bf_resolution=0",
    "SchedulerParameters=max_rpc_cnt=-1",
    "SchedulerParameters=bf_max_job_user=10,bf_max_job_assoc=10",
    "SlurmctldParameters=enable_configless,no_such_word",
    "SlurmctldParameters=cloud_reg_addrs",
    "CommunicationParameters=NoAddrCache",
    "CommunicationParameters=keepalivetime=60",
    "LaunchParameters=enable_nss_slurm,disable_send_gids",
    "LaunchParameters=use_interactive_step",
    "PrologFlags=Alloc,Contain",
    "PrologFlags=NoHold,Contain",
    "PrologFlags=X11",
    "PrologFlags=NoSuchFlag",
    "DebugFlags=Gres,NoSuch",
    "DebugFlags=Task",
    "PrivateData=jobs,nothing",
    "TaskPluginParam=NoSuch",
    "TaskPluginParam=OOMKillStep",
    "TaskPluginParam=autobind=threads",
    "PropagateResourceLimits=MEMLOCK,NOSUCH",
    "PropagateResourceLimits=ALL\nPropagateResourceLimitsExcept=MEMLOCK",
    "PropagateResourceLimitsExcept=CPU,AS",
    "EnforcePartLimits=ALL",
    "EnforcePartLimits=SOME",
    "HealthCheckProgram=/bin/true\nHealthCheckInterval=60\nHealthCheckNodeState=IDLE,CYCLE",
    "HealthCheckProgram=/bin/true\nHealthCheckInterval=60\nHealthCheckNodeState=IDLE,SLEEPY",
    "JobAcctGatherParams=UsePss,NoShared",
    "ReconfigFlags=KeepPartInfo,Nothing",
    "SlurmdParameters=l3cache_as_socket,numa_node_as_socket",
    "SlurmctldDebug=9",
    "SlurmctldDebug=3",
    "SlurmctldDebug=loud",
    "SlurmdDebug=debug2",
    "LogTimeFormat=iso8601",
    "LogTimeFormat=nonsense",
    "TopologyParam=TopoOptional,Nothing",
    "MpiParams=ports=12000-12999",
    "Licenses=matlab:4,foo",
    "Licenses=matlab:x",
    "CpuFreqDef=fast",
    "CpuFreqGovernors=OnDemand,Nothing",
    "RequeueExit=1-5,x",
    "AccountingStoreFlags=job_comment",
    "AccountingStoreFlags=nothing",
    "AccountingStoreJobComment=YES",
    "SbcastParameters=Compression=lz4",
    "BcastParameters=Compression=lz4",
    "SallocDefaultCommand=bash",
    "FederationParameters=fed_display",
    "X11Parameters=home_xauthority",
    "GresTypes=gpu,gpu",
    "GresTypes=mps",
    "GresTypes=gpu,shard",
    "GresTypes=qpu",
    "SlurmSchedLogLevel=1",
    "MCSParameters=enforced",
    "MCSPlugin=mcs/group",
)

PLUGINS = [
    *_lines(
        "SchedulerType=sched/backfil",
        "SchedulerType=sched/builtin",
        "SchedulerType=backfill",
        "PriorityType=priority/fair",
        "AuthType=auth/none",
        "AuthType=auth/mung",
        "CredType=cred/none",
        "MpiDefault=pmi2",
        "MpiDefault=openmpi",
        "MpiDefault=none",
        "JobCompType=jobcomp/none",
        "JobCompType=jobcomp/slurmdbd",
        "JobAcctGatherType=jobacct_gather/linux",
        "JobAcctGatherType=jobacct_gather/none",
        "JobAcctGatherType=jobacct_gather/aix",
        "AccountingStorageType=accounting_storage/none",
        "AccountingStorageType=accounting_storage/mysql",
        "AccountingStorageType=accounting_storage/filetxt",
        "AccountingStorageType=accounting_storage/slurmdb",
        "TopologyPlugin=topology/none",
        "TopologyPlugin=topology/default",
        "TopologyPlugin=topology/flat",
        "TopologyPlugin=topology/3d_torus",
        "TopologyPlugin=topology/fat_tree",
        "TopologyPlugin=topology/tree",
        "CoreSpecPlugin=core_spec/none",
        "LaunchType=launch/slurm",
        "CryptoType=crypto/munge",
        "RoutePlugin=route/default",
        "PowerPlugin=power/none",
        "ExtSensorsType=ext_sensors/none",
        "AcctGatherEnergyType=acct_gather_energy/none",
        "AcctGatherProfileType=acct_gather_profile/none",
        "JobSubmitPlugins=nothing",
        "JobSubmitPlugins=require_timelimit",
        "PreemptType=preempt/none",
        "PreemptType=preempt/fair",
        "NodeFeaturesPlugins=nothing",
        "CliFilterPlugins=none",
        "MCSPlugin=mcs/none",
        "BurstBufferType=burst_buffer/none",
        "JobContainerType=job_container/tmpfs",
        "JobContainerType=job_container/none",
        "PrEpPlugins=prep/script",
        "GetEnvTimeout=2",
        "CacheGroups=0",
        "CheckpointType=checkpoint/none",
        "SchedulerPort=7321",
        "MetricsType=metrics/openmetrics",
        "PriorityType=multifactor",
        "AuthType=munge",
        "CredType=munge",
        "JobCompType=none",
        "JobCompType=filetxt",
        "JobAcctGatherType=none",
        "AccountingStorageType=none",
        "TopologyPlugin=none",
        "PreemptType=none",
        "PreemptType=partition_prio\nPreemptMode=REQUEUE",
        "MCSPlugin=none",
        "MpiDefault=mpi/pmi2",
        "GresTypes=gres/gpu",
        "JobSubmitPlugins=job_submit/require_timelimit",
        "AcctGatherEnergyType=none",
        "JobContainerType=none",
        "PrEpPlugins=script",
        "CliFilterPlugins=cli_filter/none",
        "CryptoType=munge",
    ),
    Fragment("select/linear", head=HEAD.replace("cons_tres", "linear").replace("CR_Core_Memory", "CR_Memory")),
    Fragment("select/cons_res", head=HEAD.replace("cons_tres", "cons_res")),
    Fragment(
        "select/linear and a tree",
        head=HEAD.replace("cons_tres", "linear").replace("CR_Core_Memory", "CR_Memory"),
        plus="TopologyPlugin=topology/tree\n",
        files={"topology.conf": "SwitchName=a Nodes=n[1-4]\n"},
    ),
    Fragment("CR_Core_Memory,CR_Socket", head=HEAD.replace("CR_Core_Memory", "CR_Core_Memory,CR_Socket")),
    Fragment("CR_Memory alone", head=HEAD.replace("CR_Core_Memory", "CR_Memory")),
    Fragment("CR_Nothing", head=HEAD.replace("CR_Core_Memory", "CR_Nothing")),
    Fragment("one task per core", head=HEAD.replace("CR_Core_Memory", "CR_CPU_Memory,CR_ONE_TASK_PER_CORE")),
    Fragment("no SelectTypeParameters", head=_without("SelectTypeParameters")),
    Fragment("pgid and linux", head=HEAD.replace("linuxproc", "pgid"), plus="JobAcctGatherType=jobacct_gather/linux\n"),
    Fragment("proctrack/lua", head=HEAD.replace("linuxproc", "lua"), slurmd=True),
    Fragment("task/none", head=HEAD.replace("task/affinity", "task/none")),
    Fragment("task/what", head=HEAD.replace("task/affinity", "task/what"), slurmd=True),
    Fragment("task twice", head=HEAD.replace("task/affinity", "task/affinity,task/affinity")),
    Fragment("SelectType without its family", head=HEAD.replace("select/cons_tres", "cons_tres")),
    Fragment("ProctrackType without its family", head=HEAD.replace("proctrack/linuxproc", "linuxproc"), slurmd=True),
    Fragment("TaskPlugin without its family", head=HEAD.replace("task/affinity", "affinity"), slurmd=True),
    Fragment("SwitchType without its family", head=HEAD.replace("switch/none", "none")),
    Fragment("switch/none left out", head=_without("SwitchType")),
    Fragment("switch/infiniband", head=HEAD.replace("switch/none", "switch/infiniband")),
]

DAEMONS = [
    Fragment("no ClusterName", head=_without("ClusterName")),
    Fragment("no SlurmctldHost", head=_without("SlurmctldHost")),
    Fragment("ControlMachine", head=HEAD.replace("SlurmctldHost", "ControlMachine")),
    Fragment("ControlMachine and SlurmctldHost", plus="ControlMachine=ctl\n"),
    Fragment("a host twice", plus="SlurmctldHost=ctl\n"),
    Fragment("a host with address", head=HEAD.replace("=ctl", "=ctl(198.18.0.1)")),
    Fragment("a host with an open bracket", head=HEAD.replace("=ctl", "=ctl(198.18.0.1")),
    Fragment("two hosts in one line", head=HEAD.replace("=ctl", "=ctl,ctl2")),
    Fragment("ControlMachine list", head=HEAD.replace("SlurmctldHost=ctl", "ControlMachine=ctl,ctl2")),
    Fragment("BackupAddr alone", head=HEAD.replace("SlurmctldHost=ctl", "ControlMachine=ctl\nBackupAddr=10.0.0.9")),
    Fragment("cluster name with a space", head=HEAD.replace("=c\n", '="my cluster"\n')),
    Fragment("cluster name with an underscore", head=HEAD.replace("=c\n", "=my_Cluster-1\n")),
    Fragment("cluster name twice", plus="ClusterName=d\n"),
    Fragment("no SlurmUser", head=_without("SlurmUser")),
    Fragment("no StateSaveLocation", head=_without("StateSaveLocation")),
    Fragment("one directory for all", head=HEAD.replace("/var/spool/slurmd\n", "/var/spool/slurmctld\n")),
    Fragment("state under /tmp", head=HEAD.replace("/var/spool/slurmctld", "/tmp/slurm")),
    *_lines(
        "SlurmctldPidFile=/var/run/slurmctld.pid\nSlurmdPidFile=/var/run/slurmctld.pid",
        "SlurmctldLogFile=/var/log/slurm/slurmctld.log",
        "SlurmctldHost=ctl2",
        "MailProg=/no/such/program",
        "AccountingStorageEnforce=limits",
        "AccountingStorageEnforce=limits,nothing",
        "AccountingStorageTRES=gres/gpu",
        "AccountingStorageHost=db",
        "JobCompLoc=/var/log/jobs",
        "PluginDir=/no/such/directory",
        "PlugStackConfig=/etc/slurm/none.conf",
        "UnkillableStepTimeout=20",
        "UnkillableStepTimeout=600",
        "AuthInfo=cred_expire=300",
        "AuthInfo=use_client_ids",
        "AuthType=auth/slurm\nCredType=cred/slurm\nAuthInfo=use_client_ids",
        "DownNodes=n1 State=DOWN Reason=broken",
        "DownNodes=n9 State=DOWN Reason=broken",
        "NodeSet=gpus Feature=gpu",
        "NodeSet=n1 Feature=gpu",
        "SuspendExcNodes=n9",
        "SuspendExcParts=nothing",
        "Prolog=/no/such/prolog\nProlog=/no/such/other",
        "RebootProgram=/sbin/reboot",
        "SlurmdUser=slurm",
        "JobCredentialPrivateKey=/a\nJobCredentialPublicCertificate=/b",
    ),
]

PREEMPTION = _lines(
    "PreemptMode=CANCEL",
    "PreemptMode=OFF",
    "PreemptType=preempt/qos",
    "PreemptType=preempt/qos\nPreemptMode=CANCEL",
    "PreemptType=preempt/partition_prio",
    "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
    "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND",
    "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG",
    "PreemptType=preempt/partition_prio\nPreemptMode=GANG",
    "PreemptType=preempt/partition_prio\nPreemptMode=NOTHING",
    "PreemptMode=GANG",
    "PreemptMode=CHECKPOINT",
    "PreemptParameters=reorder_count=2",
)

NODE_LINES = [
    *_node(
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=16",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=17 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=2 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=2 SocketsPerBoard=2 CoresPerSocket=4",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] SocketsPerBoard=2 CoresPerSocket=4",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CoresPerSocket=0",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] ThreadsPerCore=0",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=0",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=0",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Boards=2 Sockets=1 CoresPerSocket=4",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=1 CoresPerSocket=4 CoreSpecCount=4",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=1 CoresPerSocket=4 CoreSpecCount=1 CPUSpecList=0",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=1 CoresPerSocket=4 CPUSpecList=0,2-9,1",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Sockets=1 CoresPerSocket=4 RealMemory=100 MemSpecLimit=200",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] RealMemory=64G",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] State=SLEEPY",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] State=FUTURE",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] State=CLOUD",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] State=IDLE",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] State=DOWN Reason=broken",
        'NodeName=n[1-4] NodeAddr=10.0.0.[1-4] State=DRAIN Reason="two words"',
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Reason=two words",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-3]",
        "NodeName=n[1-4] NodeAddr=10.0.0.1",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] NodeHostname=h[1-3]",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] NodeHostname=h[1-4]",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Port=[7001-7004]",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Port=[7001-7003]",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Port=x",
        "NodeName=n[1-4 NodeAddr=10.0.0.1",
        "NodeName=n[4-1] NodeAddr=10.0.0.1",
        "NodeName=n[1-4]x NodeAddr=10.0.0.[1-4]",
        "NodeName=n1,n2,n3,n4 NodeAddr=10.0.0.[1-4]",
        "NodeName=n1,,n2 NodeAddr=10.0.0.[1-2]",
        "NodeName=n[01-04] NodeAddr=10.0.0.[1-4]\nNodeName=n1 NodeAddr=10.0.0.9",
        "NodeName=n[1-2] NodeAddr=10.0.0.[1-2]\nNodeName=n[2-3] NodeAddr=10.0.0.[3-4]",
        "NodeName=n1 NodeAddr=10.0.0.1\nNodeName=n2 NodeAddr=10.0.0.1",
        "NodeName=ALL",
        "NodeName=DEFAULT NodeAddr=10.0.0.1\nNodeName=n1 NodeAddr=10.0.0.1",
        "NodeName=DEFAULT CPUs=4 RealMemory=1000\nNodeName=n1 NodeAddr=10.0.0.1",
        "NodeName=DEFAULT CPUs=4",
        "NodeName=n1 NodeAddr=10.0.0.1 Foo=2",
        "NodeName=n1 NodeAddr=10.0.0.1 CPUs=4 CPUs=8",
        "NodeName=n1 NodeAddr=10.0.0.1 Procs=4",
        "NodeName=n1 NodeAddr=10.0.0.1 CPUs=70000",
        "NodeName=n1 NodeAddr=10.0.0.1 Weight=-1",
        "NodeName=n1 NodeAddr=10.0.0.1 Feature=a,b Features=c",
        'NodeName=n1 NodeAddr=10.0.0.1 Features="a b"',
        "NodeName=n1 NodeAddr=10.0.0.1 Gres=gpu:2",
        "NodeName=n1 NodeAddr=10.0.0.1 TmpDisk=100G",
        "NodeName=n1 NodeAddr=10.0.0.1 CpuBind=nothing",
        "NodeName=n1 NodeAddr=10.0.0.1 CpuBind=core",
        "NodeName=n1 NodeAddr=10.0.0.1 Feature=",
        "NodeName=n1 NodeAddr=10.0.0.1 Topology=default:s1",
        "NodeName=n1 NodeAddr=10.0.0.1 RestrictedCoresPerGPU=2",
        "NodeName=n1",
        "NodeName=n1 NodeAddr=",
    ),
    Fragment("no nodes", nodes="", partitions="PartitionName=batch Default=YES\n"),
    Fragment("tabs\tand CRLF", nodes="NodeName=n1\tNodeAddr=10.0.0.1\tCPUs=4\r\n"),
    Fragment("a NUL", nodes="NodeName=n1 NodeAddr=10.0.0.1\0 CPUs=4\n"),
    Fragment("latin-1", nodes="NodeName=n1 NodeAddr=10.0.0.1 Reason=\udce9\n"),
]

PARTITION_LINES = [
    *_partition(
        "PartitionName=batch Nodes=ALL",
        "PartitionName=batch Nodes=n[1-9] Default=YES",
        "PartitionName=batch Nodes=n[1-2] Default=YES",
        "PartitionName=batch Nodes=x1 Default=YES",
        "PartitionName=batch Default=YES",
        "PartitionName=batch Nodes= Default=YES",
        "PartitionName=a Nodes=ALL Default=YES\nPartitionName=b Nodes=ALL Default=YES",
        "PartitionName=a Nodes=ALL Default=YES\nPartitionName=a Nodes=ALL",
        "PartitionName=a Nodes=ALL Default=YES\nPartitionName=A Nodes=ALL",
        "PartitionName=a Nodes=n[1-2]\nPartitionName=b Nodes=n[3-4]",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=7-0:00:99",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=forever",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=24h",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=UNLIMITED",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=infinite",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=-1",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=1:2:3:4",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=1-",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=99999999999",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=60 DefaultTime=120",
        "PartitionName=batch Nodes=ALL Default=YES DefaultTime=soon",
        "PartitionName=batch Nodes=ALL Default=YES State=SLEEPY",
        "PartitionName=batch Nodes=ALL Default=YES State=UPWARDS",
        "PartitionName=batch Nodes=ALL Default=YES State=INACTIVE",
        "PartitionName=batch Nodes=ALL Default=YES OverSubscribe=SOMETIMES",
        "PartitionName=batch Nodes=ALL Default=YES OverSubscribe=FORCE:0",
        "PartitionName=batch Nodes=ALL Default=YES OverSubscribe=YES:1",
        "PartitionName=batch Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE",
        "PartitionName=batch Nodes=ALL Default=YES Shared=YES",
        "PartitionName=batch Nodes=ALL Default=YES Priority=10",
        "PartitionName=batch Nodes=ALL Default=YES PriorityTier=70000",
        "PartitionName=batch Nodes=ALL Default=YES PreemptMode=GANG",
        "PartitionName=batch Nodes=ALL Default=YES PreemptMode=NOTHING",
        "PartitionName=batch Nodes=ALL Default=YES PreemptMode=CANCEL",
        "PartitionName=batch Nodes=ALL Default=YES SelectTypeParameters=CR_CPU",
        "PartitionName=batch Nodes=ALL Default=YES SelectTypeParameters=CR_Socket",
        "PartitionName=batch Nodes=ALL Default=YES DefMemPerCPU=10 DefMemPerNode=100",
        "PartitionName=batch Nodes=ALL Default=YES DefMemPerCPU=4G",
        "PartitionName=batch Nodes=ALL Default=YES AllowAccounts=a DenyAccounts=b",
        "PartitionName=batch Nodes=ALL Default=YES MinNodes=4 MaxNodes=2",
        "PartitionName=batch Nodes=ALL Default=YES MinNodes=9",
        "PartitionName=batch Nodes=ALL Default=YES MaxNodes=UNLIMITED",
        "PartitionName=batch Nodes=ALL Default=maybe",
        "PartitionName=batch Nodes=ALL Default=TRUE",
        "PartitionName=batch Nodes=ALL Default=YES Hidden=2",
        "PartitionName=batch Nodes=ALL Default=YES AllocNodes=ALL",
        "PartitionName=batch Nodes=ALL Default=YES Alternate=other",
        "PartitionName=batch Nodes=ALL Default=YES TRESBillingWeights=CPU=1.0,Mem=0.25G",
        "PartitionName=batch Nodes=ALL Default=YES TRESBillingWeights=CPU",
        "PartitionName=batch Nodes=ALL Default=YES TRESBillingWeights=XPU=2",
        "PartitionName=batch Nodes=ALL Default=YES QOS=part",
        "PartitionName=batch Nodes=ALL Default=YES AllowQos=normal",
        "PartitionName=batch Nodes=ALL Default=YES OverTimeLimit=-5",
        "PartitionName=batch Nodes=ALL Default=YES GraceTime=30",
        "PartitionName=batch Nodes=ALL Default=YES SuspendTime=soon",
        "PartitionName=batch Nodes=ALL Default=YES ExclusiveTopo=YES ExclusiveUser=YES",
        "PartitionName=batch Nodes=ALL Default=YES Exclusive=NODE",
        "PartitionName=batch Nodes=ALL Default=YES NoSuch=1",
        "PartitionName=batch Nodes=ALL Default=YES MaxCPUsPerSocket=2",
        "PartitionName=batch Nodes=n1 n2 Default=YES",
        'PartitionName=batch Nodes="n1 n2" Default=YES',
        "PartitionName=DEFAULT MaxTime=60\nPartitionName=batch Nodes=ALL Default=YES",
        "PartitionName=DEFAULT MaxTime=soon\nPartitionName=batch Nodes=ALL Default=YES",
        "PartitionName=DEFAULT MaxTime=soon\nPartitionName=batch Nodes=ALL Default=YES MaxTime=60",
        "PartitionName=batch,other Nodes=ALL Default=YES",
        "PartitionName=batch Nodes=gpus Default=YES\nNodeSet=gpus Nodes=n[1-4]",
        "PartitionName=batch Nodes=gpus Default=YES\nNodeSet=gpus Feature=gpu",
        "PartitionName=batch Nodes=gpus Default=YES\nNodeSet=gpus",
    ),
    Fragment("no partitions", partitions=""),
]

ONE, TWO = "NodeName=n[1-4] Name=gpu File=/dev/nvidia0", "NodeName=n[1-4] Name=gpu File=/dev/nvidia[0-1]"
GRES = [
    _gres("Gres=gpu:a100:2", "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"),
    _gres("Gres=gpu:a100:2", "Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"),
    _gres("Gres=gpu:a100:2", "Name=gpu Type=a100 File=/dev/nvidia[0-1]\n", plus=""),
    _gres("Gres=gpu:1,gpu:a100:1", "Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"),
    _gres("Gres=shard:8", "Name=shard Count=8\n", plus="GresTypes=gpu,shard\n"),
    _gres("Gres=", "\n"),
    _gres("Gres=gpu:a100:4", "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"),
    _gres("Gres=gpu:a100:1", "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"),
    _gres("Gres=gpu:a100:2", "NodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-1]\n"),
    _gres("Gres=gpu:2", f"{TWO} Count=3\n"),
    _gres("Gres=gpu:2", f"{TWO} Count=2\n"),
    _gres("Gres=gpu:2", f"{TWO} Cores=0-31\n"),
    _gres("Gres=gpu:2", f"{TWO} Flags=no_gpu_env,nvidia_gpu_env\n"),
    _gres("Gres=gpu:2", f"{TWO} Foo=1\n"),
    _gres("Gres=gpu:2", f"{TWO}\nNodeName=n[1-4] Name=fpga Count=2\n"),
    _gres("Gres=gpu:2", f"{ONE}\n{ONE}\n"),
    _gres("Gres=gpu:2", f"{ONE}\n{ONE.replace('nvidia0', 'nvidia1')} Type=x\n"),
    _gres("Gres=gpu:2", "NodeName=n[1-4] Name=gpu MultipleFiles=/dev/nvidia0\n"),
    _gres("Gres=gpu:2", f"{ONE} MultipleFiles=/dev/nvidia0,/dev/nvidia1\n"),
    _gres("Gres=gpu:2", f"{TWO} Count=2K\n"),
    _gres("Gres=gpu:2", f"{ONE}\n{ONE.replace('nvidia0', 'nvidia1')} Flags=nvidia_gpu_env\n"),
    _gres("Gres=gpu:2", f"{ONE} Flags=nvidia_gpu_env\n{ONE.replace('nvidia0', 'nvidia1')}\n"),
    _gres("Gres=gpu:2", "Name=gpu Count=2\n"),
    _gres("Gres=gpu:2", "Name=gpu Count=1\nName=gpu Count=1\n"),
    _gres("Gres=nvme:4", "NodeName=n1 Name=nvme Count=2\nName=nvme Count=2\n", plus="GresTypes=nvme\n"),
    _gres("Gres=nvme:x:4", "Name=nvme Type=x Count=2\nName=nvme Type=x Count=2\n", plus="GresTypes=nvme\n"),
    _gres("Gres=lscratch:900G", "Name=lscratch Count=900G Flags=CountOnly\n", plus="GresTypes=lscratch\n"),
    _gres("Gres=gpu:2,shard:8", f"{TWO}\nName=shard Count=4 File=/dev/nvidia0\n", plus=_SHARDS),
    _gres("Gres=gpu:2,shard:8", "Name=shard Count=8\n", plus=_SHARDS),
    _gres("Gres=gpu:1,shard:8", f"{ONE}\nName=shard Count=8 File=/dev/nvidia1\n", plus=_SHARDS),
    Fragment("plugstack.conf", files={"plugstack.conf": "needed /a.so\nrequired\n"}, slurmd=True),
    _gres("Gres=gpu:3", "Name=gpu File=/dev/nvidia[0-1]\nName=gpu File=/dev/nvidia1\n"),
    _gres("Gres=gpu:2", "Name=gpu File=/dev/nvidia[0-1]\nName=gpu File=/dev/nvidia1\n"),
    _gres("Gres=gpu:2", "Name=gpu File=/dev/nvidia0,/dev/nvidia0\n"),
    _gres("Gres=gpu:a:2,gpu:b:1", "Name=gpu Type=a File=/dev/nvidia[0-1]\nName=gpu Type=b File=/dev/nvidia1\n"),
    _gres("Gres=gpu:3", "NodeName=n1 Name=gpu File=/dev/nvidia[0-1]\nName=gpu File=/dev/nvidia1\n"),
    _gres("Gres=nvme:2", "Name=nvme File=/dev/nvme[0-1]n1\n", plus="GresTypes=nvme\n"),
    _gres("Gres=nvme:2", "Name=nvme File=/dev/nvme0n1\n" * 2, plus="GresTypes=nvme\n"),
    _gres("Gres=gpu:2,shard:8", f"{TWO}\n" + "Name=shard Count=4 File=/dev/nvidia0\n" * 2, plus=_SHARDS),
    _gres("Gres=gpu:2,shard:16", f"{TWO}\nName=shard Count=8 File=/dev/nvidia[0-1]\n", plus=_SHARDS),
    _gres("Gres=gpu:2,shard:8", "Name=gpu Count=2\nName=shard Count=8 File=/dev/nvidia0\n", plus=_SHARDS),
    _gres("Gres=gpu:2,shard:8", "# none\n", plus=_SHARDS),
    _gres("", "Name=lic Count=4 Flags=CountOnly\n", plus="GresTypes=lic\n"),
    _gres("Gres=lic:2", "Name=lic Count=4 Flags=CountOnly\n", plus="GresTypes=lic\n"),
]

_HELPERS = "NodeFeaturesPlugins=node_features/helpers\n"
_SUBMIT = "function slurm_job_submit() end\n"
PLUGIN_FILES = [
    *(
        _beside("acct_gather.conf", text, plus)
        for text, plus in (
            ("EnergyIPMIFrequency=30\n", ""),
            ("EnergyIPMIFrequency=30\n", "AcctGatherEnergyType=acct_gather_energy/rapl\n"),
            ("EnergyXCCFake=no\n", "AcctGatherEnergyType=acct_gather_energy/ipmi\n"),
            ("ProfileHDF5Dir=/tmp\n", ""),
            ("ProfileHDF5Dir=/tmp\n", "AcctGatherProfileType=acct_gather_profile/hdf5\n"),
            ("SysfsInterfaces=lo\n", ""),
            ("SysfsInterfaces=lo\n", "AcctGatherInterconnectType=acct_gather_interconnect/sysfs\n"),
            ("InfinibandOFEDPort=1\n", ""),
        )
    ),
    *(
        _beside("job_submit.lua", text, "JobSubmitPlugins=lua\n")
        for text in (
            _SUBMIT,
            _SUBMIT + "slurm_job_modify = function() end\n",
            _SUBMIT + "--[[ function slurm_job_modify() end ]]\n",
            _SUBMIT + "local function slurm_job_modify() end\n",
            _SUBMIT + "_G['slurm_job_modify'] = slurm_job_submit\n",
        )
    ),
    _beside("burst_buffer.lua", "function slurm_bb_job_process() end\n", "BurstBufferType=burst_buffer/lua\n"),
    *(
        _beside("helpers.conf", text, _HELPERS)
        for text in (
            "Feature=a Helper=/bin/true\n",
            "Feature=a,b Helper=/bin/true\n",
            "NodeName=n1 Feature=a Helper=/bin/true\n",
            "Feature=a Helper=/bin/true\nFeature=a Helper=/bin/false\n",
            "Feature=a\n",
            "BootTime=soon\nFeature=a Helper=/bin/true\n",
            "MutuallyExclusive=a,b\n",
        )
    ),
    *(_beside("mpi.conf", text, "MpiDefault=pmix\n") for text in ("Nonsense=1\n", "PMIxDebug=0 PMIxTimeout=x\n")),
    *(_beside("cgroup.conf", f"CgroupPlugin={name}\n", "") for name in ("v1", "Disabled", "cgroup/v3")),
    Fragment(
        "a private /tmp",
        plus="JobContainerType=job_container/tmpfs\nPrologFlags=Contain\n",
        files={"job_container.conf": "AutoBasePath=true\nBasePath=/run/spool\n"},
    ),
]

TREES = [
    _tree("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=top Switches=a,b\n"),
    _tree("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n"),
    _tree("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[3-4]\nSwitchName=top Switches=a,b\n"),
    _tree("SwitchName=a Nodes=n[1-2]\nSwitchName=top Switches=a\n"),
    _tree("SwitchName=a Nodes=n[1-2]\nSwitchName=a Nodes=n[3-4]\n"),
    _tree("SwitchName=a Nodes=n[1-4]\nSwitchName=top Switches=a,c\n"),
    _tree("SwitchName=a Nodes=n[1-5]\n"),
    _tree("SwitchName=a Nodes=n[1-4] Switches=b\n"),
    _tree("SwitchName=a Nodes=n[1-4]\nSwitchName=x Switches=y\nSwitchName=y Switches=x\n"),
    _tree("SwitchName=a\n"),
    _tree("Switchname=a nodes=n[1-4] LinkSpeed=100\n"),
    _tree("SwitchName=a Nodes=n[1-4] Speed=100\n"),
    _tree("SwitchName=a Nodes=ALL\n"),
    _tree("\n"),
    Fragment("a topology.conf that nobody reads", files={"topology.conf": "SwitchName=a Nodes=x[1-4]\n"}),
    Fragment(
        "blocks",
        plus="TopologyPlugin=topology/block\n",
        files={"topology.conf": "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2\n"},
    ),
    Fragment(
        "blocks of strange sizes",
        plus="TopologyPlugin=topology/block\n",
        files={"topology.conf": "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2,3\n"},
    ),
    Fragment(
        "a block too small",
        plus="TopologyPlugin=topology/block\n",
        files={"topology.conf": "BlockName=a Nodes=n[1-3]\nBlockName=b Nodes=n4\nBlockSizes=2\n"},
    ),
    Fragment(
        "BlockLevels",
        plus="TopologyPlugin=topology/block\n",
        files={"topology.conf": "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockLevels=0\n"},
    ),
    Fragment(
        "a block twice",
        plus="TopologyPlugin=topology/block\n",
        files={"topology.conf": "BlockName=a Nodes=n[1-2]\nBlockName=a Nodes=n[3-4]\nBlockSizes=2\n"},
    ),
]

YAML = [
    Fragment("topology.yaml: " + text.replace("\n", " + "), files={"topology.yaml": text})
    for text in (
        "- topology: main\n  cluster_default: true\n  tree:\n    switches:\n      - {switch: top, children: 'a,b'}\n"
        "      - {switch: a, nodes: 'n[1-2]'}\n      - {switch: b, nodes: 'n[3-4]'}\n",
        "- topology: main\n  cluster_default: true\n  flat: true\n",
        "- topology: main\n  cluster_default: true\n  tree:\n    switches:\n      - {switch: a, nodes: 'n[1-9]'}\n",
        "- topology: main\n  tree: {switches: [{switch: a, nodes: 'n[1-4]', children: b}]}\n",
        "- topology: main\n  nothing: true\n",
        "- topology: main\n  tree: [\n",
    )
]

CGROUP = [
    _cgroup("ConstrainCores=yes\nConstrainDevices=yes\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\n"),
    _cgroup("CgroupAutomount=yes\nConstrainCores=yes\n"),
    _cgroup("TaskAffinity=yes\n"),
    _cgroup("ConstrainKmemSpace=no\n"),
    _cgroup("CgroupReleaseAgentDir=/etc/slurm/cgroup\n"),
    _cgroup("AllowedDevicesFile=/etc/slurm/devices\n"),
    _cgroup("ConstrainCores=perhaps\n"),
    _cgroup("CgroupPlugin=cgroup/v1\n"),
    _cgroup("AllowedRAMSpace=lots\n"),
    _cgroup("MemorySwappiness=200\n"),
]

FIRST_USE = [
    *_lines(
        "CryptoType=crypto/openssl",
        "CryptoType=crypto/munge",
        "CryptoType=crypto/none",
        "MaxArraySize=100000\nMaxJobCount=10000",
        "SlurmdTimeout=30",
        "AccountingStoragePass=hunter22",
        "PriorityType=priority/multifactor\nPriorityDecayHalfLife=14",
        "RoutePlugin=route/topology",
    ),
    Fragment("SlurmUser=nobody", head=HEAD.replace("SlurmUser=slurm", "SlurmUser=nobody")),
    *_node(
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=96 Procs=48 RealMemory=64000",
        "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=16 RealMemory=65536",
    ),
    *_partition("PartitionName=batch Nodes=ALL Default=YES QOS=normal"),
]
FRAGMENTS = [
    Fragment("the base"),
    *GRAMMAR,
    *NUMBERS,
    *TIMES,
    *WORDS,
    *PLUGINS,
    *DAEMONS,
    *PREEMPTION,
    *NODE_LINES,
    *PARTITION_LINES,
    *GRES,
    *PLUGIN_FILES,
    *FIRST_USE,
    *TREES,
    *YAML,
    *CGROUP,
]
