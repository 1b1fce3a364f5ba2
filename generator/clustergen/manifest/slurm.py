"""Slurm: daemons, partitions, scheduling, limits, accounts, scripts."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import (
    AbsolutePath,
    Endpoint,
    HostList,
    Options,
    Phrase,
    PortNumber,
    Section,
    SlurmName,
    field,
    section,
)
from clustergen.units import Bytes, Duration

Weight = Annotated[int, Field(ge=0, le=4294967295)]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+(=[A-Za-z0-9_.:/-]+)?$")]
"""A word of one of Slurm's lists, with its value where it takes one: `bf_window=10080`."""
Tres = Annotated[str, Field(pattern=r"^[a-z]+(/[A-Za-z0-9_.:-]+)?$", max_length=80)]
TresLimits = dict[Tres, Annotated[int, Field(ge=-1)]]


AnyName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$", max_length=63)]
"""Slurm takes more in names of partitions, clusters, QOS and accounts than elsewhere: projects are often numbers."""
UserName = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_.-]*$", max_length=32)]


class Partition(Section):
    """A queue."""

    nodes: HostList | Literal["all", "none"] = field(
        ..., "Nodes, node sets, all (every node that runs slurmd), or none: a partition without nodes."
    )
    default: bool = field(False, "Where jobs go that name no partition.")
    max_time: Duration | None = field(None, "Longest job; default unlimited.")
    default_time: Duration | None = field(
        None, "Limit of jobs that state none; default 1 hour or max_time: backfill needs it."
    )
    priority_tier: Annotated[int, Field(ge=0, le=65533)] | None = field(None, "Higher tiers go first, and may preempt.")
    priority_factor: Annotated[int, Field(ge=0, le=65533)] | None = field(
        None, "Partition's share of a job's priority."
    )
    preempt: Literal["off", "requeue", "cancel", "suspend"] | None = field(
        None, "What happens to its jobs when preempted."
    )
    grace_time: Duration | None = field(None, "Time between the warning and the end of a preempted job.")
    cpus_per_gpu: Annotated[int, Field(ge=1, le=4096)] | None = field(
        None, "Default per GPU; worked out from the hardware."
    )
    memory_per_gpu: Bytes | None = field(None, "Default per GPU; worked out from the hardware.")
    memory_per_cpu: Bytes | None = field(None, "Default per CPU, for partitions without GPUs.")
    max_cpus_per_node: Annotated[int, Field(ge=1)] | None = field(None, "Keeps CPU jobs off the cores that GPUs need.")
    max_nodes: Annotated[int, Field(ge=1)] | None = field(None, "Largest job.")
    min_nodes: Annotated[int, Field(ge=1)] | None = field(None, "Smallest job.")
    oversubscribe: Literal["no", "exclusive", "yes", "force"] | None = field(None, "Sharing of cores; default no.")
    qos: AnyName | None = field(None, "QOS whose limits hold for the partition as a whole.")
    allow_accounts: tuple[AnyName, ...] = field((), "Only these accounts.")
    allow_qos: tuple[AnyName, ...] = field((), "Only these QOS.")
    allow_groups: tuple[SlurmName, ...] = field((), "Only these Unix groups.")
    billing: dict[str, float] | None = field(
        None, "TRESBillingWeights; default made so that a whole node bills by its GPUs."
    )
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = field("UP", "Whether jobs are taken and started.")
    hidden: bool = field(False, "Not shown to those who may not use it.")
    options: Options = field({}, "More keys of the PartitionName line.")


class PriorityWeights(Section):
    """How much each factor counts; their sum must stay below 2^32."""

    age: Weight = field(1000, "Time in the queue.")
    fairshare: Weight = field(100000, "Use of the past against the share.")
    job_size: Weight = field(1000, "Large jobs first.")
    partition: Weight = field(10000, "The partition's priority_factor.")
    qos: Weight = field(50000, "The QOS's priority.")
    assoc: Weight = field(0, "The account's priority.")


class Priority(Section):
    """Multifactor priority with fair share."""

    half_life: Duration = field("7-0", "Past use counts half after this.", validate_default=True)
    calc_period: Duration = field("5", "How often use decays.", validate_default=True)
    max_age: Duration = field("7-0", "Age at which the age factor is full.", validate_default=True)
    usage_reset: Literal["NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"] = field(
        "NONE", "Forget use altogether at such times."
    )
    flags: tuple[SlurmName, ...] = field((), "PriorityFlags.")
    favor_small: bool = field(False, "Small jobs first instead of large ones.")
    weights: PriorityWeights = section(PriorityWeights, "Weights of the factors.")


class Preemption(Section):
    """Who may push whom aside."""

    by: Literal["off", "partition", "qos"] = field(
        "off", "Decided by the partitions' tiers or by the QOS's preempt lists."
    )
    mode: Literal["requeue", "cancel", "suspend"] = field("requeue", "What happens to the preempted job.")
    exempt_time: Duration | None = field(None, "A job younger than this is left alone.")
    youngest_first: bool = field(True, "Preempt the job that has lost least.")


class Qos(Section):
    """A quality of service: priority, limits and whom it may preempt."""

    description: Phrase | None = field(None, "For people.")
    priority: Annotated[int, Field(ge=0, le=4294967295)] = field(0, "Priority.")
    preempt: tuple[AnyName, ...] = field((), "QOS whose jobs this one may push aside.")
    preempt_mode: Literal["requeue", "cancel", "suspend", "off"] | None = field(None, "For jobs of this QOS.")
    grace_time: Duration | None = field(None, "Warning time before a preempted job ends.")
    max_wall: Duration | None = field(None, "Longest job.")
    usage_factor: Annotated[float, Field(ge=0)] | None = field(None, "Use counts this many times.")
    max_jobs_per_user: Annotated[int, Field(ge=-1)] | None = field(None, "Running jobs of a user.")
    max_submit_per_user: Annotated[int, Field(ge=-1)] | None = field(None, "Jobs of a user, queued ones included.")
    max_tres_per_user: TresLimits = field({}, "As {gres/gpu: 16}.")
    max_tres_per_job: TresLimits = field({}, "As {gres/gpu: 64}.")
    group_tres: TresLimits = field({}, "Of all its running jobs together.")
    flags: tuple[SlurmName, ...] = field((), "QOS flags: DenyOnLimit …")


class Account(Section):
    """A group of users with a share of the cluster."""

    description: Phrase | None = field(None, "For people.")
    organization: Phrase | None = field(None, "For people.")
    parent: AnyName | None = field(None, "Account above; default root.")
    fairshare: Annotated[int, Field(ge=0, le=2147483647)] = field(1, "Shares beside its siblings.")
    users: tuple[UserName, ...] = field((), "Its users.")
    qos: tuple[AnyName, ...] = field((), "QOS that it may use; default all that are defined.")
    default_qos: AnyName | None = field(None, "QOS of jobs that name none.")
    group_tres: TresLimits = field({}, "Of all its running jobs together.")
    max_jobs: Annotated[int, Field(ge=-1)] | None = field(None, "Running jobs of each user in it.")


class Accounting(Section):
    """slurmdbd and its database."""

    database_host: Endpoint = field(
        "localhost", "localhost: MariaDB on the slurmdbd node, by socket and without a password."
    )
    database_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$", max_length=63)] = field(
        "slurm_acct_db", "Database."
    )
    database_user: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$", max_length=31)] = field("slurm", "Database user.")
    password: bool | None = field(
        None, "The database asks for a password, which is put on the node at apply time; default: not localhost's."
    )
    enforce: tuple[Literal["associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all"], ...] = field(
        ("associations", "limits", "qos", "safe"), "AccountingStorageEnforce; empty: records only."
    )
    tres: tuple[Tres, ...] = field((), "More trackable resources beside the GPUs.")
    store: tuple[Literal["job_comment", "job_env", "job_extra", "job_script"], ...] = field((), "What is kept of jobs.")
    purge: dict[
        Literal["event", "job", "resv", "step", "suspend", "txn", "usage"],
        Annotated[str, Field(pattern=r"^[0-9]+(hours?|days?|months?)$")],
    ] = field({}, "How long records are kept: {job: 24months}.")
    gather_frequency: Annotated[int, Field(ge=0, le=3600)] = field(30, "Seconds between samples of running tasks.")
    energy: Literal["none", "gpu", "ipmi", "rapl"] = field("none", "Source of energy accounting; gpu holds NVML open.")
    private: tuple[SlurmName, ...] = field((), "PrivateData: what users do not see of others.")
    options: Options = field({}, "More keys of slurmdbd.conf.")


class Scheduler(Section):
    """Backfill and the main scheduler."""

    parameters: tuple[Word, ...] = field((), "More tokens of SchedulerParameters; checked by release.")
    backfill_window: Duration | None = field(
        None, "How far backfill looks ahead; default the longest max_time, 7 days at most."
    )
    requeue: bool = field(True, "Jobs go back to the queue when their node fails or they are preempted.")
    max_jobs: Annotated[int, Field(ge=1000, le=10000000)] | None = field(
        None, "MaxJobCount: all job records in memory; default 50000."
    )
    max_array: Annotated[int, Field(ge=2, le=4000001)] | None = field(None, "MaxArraySize.")


class Topology(Section):
    """How Slurm knows the fabric; made of networks.fabric.switches unless said otherwise."""

    plugin: Literal["auto", "flat", "tree", "block"] = field(
        "auto", "auto: tree where switches are given, otherwise flat."
    )
    block_sizes: tuple[Annotated[int, Field(ge=1)], ...] = field(
        (), "topology/block: base size and its multiples by 2^k."
    )
    blocks: dict[SlurmName, HostList] = field({}, "topology/block: nodes of each block; default: each leaf is one.")
    format: Literal["auto", "conf", "yaml"] = field(
        "auto", "topology.yaml exists from 25.05 on; auto keeps topology.conf."
    )
    parameters: tuple[Word, ...] = field((), "TopologyParam.")
    lines: tuple[Options, ...] = field((), "Lines of topology.conf, in place of ours: {SwitchName: s1, Nodes: n[1-4]}.")


class Pyxis(Section):
    """Containers through enroot: srun --container-image."""

    enabled: bool = field(False, "Whether the SPANK plugin is loaded.")
    runtime_path: AbsolutePath = field("/run/pyxis", "Where imported images are unpacked.")
    scope: Literal["global", "job"] = field("global", "Whether named containers outlive their job.")
    cache: AbsolutePath = field("/var/lib/enroot", "Per-user data and cache of enroot; local NVMe is best.")


class Scripts(Section):
    """Prolog, epilog, task prolog; all are made here, and a site's own go beside them in prolog.d and epilog.d."""

    prolog: bool = field(True, "Checks the GPUs before a job; a failure drains the node.")
    epilog: bool = field(True, "Ends what a job left on the GPUs, and checks them.")
    task_prolog: bool = field(True, "Gives the NCCL and UCX settings to every task.")
    timeout: Annotated[int, Field(ge=10, le=65533)] = field(300, "Seconds after which prolog or epilog has failed.")
    job_map: bool = field(True, "Tells the DCGM exporter which job has which GPU.")
    tmpdir: AbsolutePath | None = field(
        None, "Local scratch: a directory per job, made by the prolog and removed by the epilog."
    )


class Slurm(Section):
    """The workload manager."""

    version: Annotated[str, Field(pattern=r"^[0-9]{2}\.(02|05|08|11)$")] = field(..., "Release, as 24.11.")
    build: Literal["auto", "distribution", "schedmd"] = field(
        "auto",
        "Whose packages: auto takes the distribution's where it has this release, otherwise SchedMD's own packaging.",
    )
    defaults: Literal["recommended", "slurm"] = field(
        "recommended", "What holds where this section says nothing: our recommendations, or Slurm's own defaults."
    )
    cluster_name: AnyName | None = field(None, "ClusterName; default the manifest's name.")
    auth: Literal["munge", "slurm"] = field("munge", "auth/munge, or auth/slurm with its own key (23.11 and newer).")
    configless: bool = field(False, "Compute and login nodes fetch their configuration from the controller.")
    state_location: AbsolutePath | None = field(
        None, "StateSaveLocation; must be shared when there are two controllers."
    )
    state_shared: bool = field(False, "Says that controllers share it on a file system that is not under storage.")
    user: SlurmName = field("slurm", "Account of slurmctld and slurmdbd.")
    uid: Annotated[int, Field(ge=1, le=65533)] = field(64030, "Its user and group id, the same on all nodes.")
    ports: dict[Literal["slurmctld", "slurmd", "slurmdbd"], PortNumber] = field(
        {}, "Other ports than 6817, 6818, 6819."
    )
    partitions: dict[AnyName, Partition] = field({}, "Queues; default: one with all nodes.")
    node_sets: dict[SlurmName, HostList] = field({}, "Names for groups of nodes, for use in partitions.")
    priority: Priority = section(Priority, "Multifactor priority.")
    preemption: Preemption = section(Preemption, "Preemption.")
    qos: dict[AnyName, Qos] = field({}, "Qualities of service.")
    accounts: dict[AnyName, Account] = field({}, "Accounts and users.")
    accounting: Accounting = section(Accounting, "Accounting.")
    scheduler: Scheduler = section(Scheduler, "Scheduler.")
    topology: Topology = section(Topology, "Topology.")
    pyxis: Pyxis = section(Pyxis, "enroot and pyxis.")
    scripts: Scripts = section(Scripts, "Prolog and epilog.")
    mpi_default: Literal["none", "pmi2", "pmix"] | None = field(
        None, "Default: pmix where the build has it, otherwise pmi2."
    )
    metrics: bool = field(True, "Slurm's own OpenMetrics endpoint, from 25.11 on.")
    interactive_step: bool = field(True, "salloc opens a shell on the first node of the allocation.")
    enforce_binding: bool = field(False, "GPUs only with cores of their own socket.")
    reboot_program: AbsolutePath = field("/usr/sbin/reboot", "For scontrol reboot.")
    resume_timeout: Annotated[int, Field(ge=60, le=65533)] = field(1800, "Seconds that a reboot may take.")
    slurmd_timeout: Annotated[int, Field(ge=0, le=65533)] = field(300, "Seconds of silence after which a node is down.")
    message_timeout: Annotated[int, Field(ge=5, le=100)] | None = field(
        None, "Seconds for an answer; default by cluster size."
    )
    options: Options = field({}, "More keys of slurm.conf, or other values of ours; checked by release.")
    gres_options: Options = field({}, "More keys of each GPU line of gres.conf.")
    cgroup_options: Options = field({}, "More keys of cgroup.conf, or other values of ours.")
    mpi_options: Options = field({}, "Keys of mpi.conf.")
    acct_gather_options: Options = field({}, "Keys of acct_gather.conf.")
    lines: tuple[Options, ...] = field(
        (), "More lines of slurm.conf: with several keys, as DownNodes, or of a key that stands several times."
    )
    gres_lines: tuple[Options, ...] | None = field(
        None, "Lines of gres.conf, in place of those made of the GPUs: {Name: gpu, File: /dev/nvidia0}; []: no file."
    )
