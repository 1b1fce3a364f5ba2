"""Slurm: daemons, scheduling, limits, scripts."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.accounts import Account, AnyName, Qos, Tres, User, UserName
from clustergen.manifest.base import (
    AbsolutePath,
    Endpoint,
    HostList,
    Options,
    PortNumber,
    Section,
    SlurmName,
    field,
    section,
    text,
)
from clustergen.manifest.partitions import Partition
from clustergen.units import Age, Bare, Minutes

Weight = Annotated[int, Field(ge=0, le=4294967295)]
Word = Annotated[
    str, text(r"^[A-Za-z0-9_]+(=[A-Za-z0-9_.:/-]+)?$", "write one word or word=value, without blanks: bf_window=10080")
]
"""A word of one of Slurm's lists, with its value where it takes one: `bf_window=10080`."""
Daemon = Literal["slurmctld", "slurmd", "slurmdbd"]
LogLevel = Literal["quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5"]
Timeout = Annotated[int, Field(ge=0, le=65533), Bare("second")]


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

    half_life: Minutes = field("7-0", "Past use counts half after this.", validate_default=True)
    calc_period: Minutes = field("5min", "How often use decays.", validate_default=True)
    max_age: Minutes = field("7-0", "Age at which the age factor is full.", validate_default=True)
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
    exempt_time: Minutes | None = field(None, "A job younger than this is left alone.")
    youngest_first: bool = field(True, "Preempt the job that has lost least.")


class Accounting(Section):
    """slurmdbd and its database."""

    database_host: Endpoint = field(
        "localhost", "localhost: MariaDB on the slurmdbd node, by socket and without a password."
    )
    database_name: Annotated[str, text(r"^[A-Za-z0-9_]+$", "use letters, digits and _", 63)] = field(
        "slurm_acct_db", "Database."
    )
    database_user: Annotated[str, text(r"^[A-Za-z0-9_]+$", "use letters, digits and _", 31)] = field(
        "slurm", "Database user."
    )
    password: bool | None = field(
        None, "The database asks for a password, which is put on the node at apply time; default: not localhost's."
    )
    enforce: tuple[Literal["associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all"], ...] = field(
        ("associations", "limits", "qos", "safe"), "AccountingStorageEnforce; empty: records only."
    )
    tres: tuple[Tres, ...] = field((), "More trackable resources beside the GPUs.")
    store: tuple[Literal["job_comment", "job_env", "job_extra", "job_script"], ...] = field((), "What is kept of jobs.")
    purge: dict[Literal["event", "job", "resv", "step", "suspend", "txn", "usage"], Age] = field(
        {}, "How long records are kept: {job: 24months}."
    )
    gather: Literal["cgroup", "linux", "none"] = field("cgroup", "JobAcctGatherType: how the use of tasks is sampled.")
    gather_frequency: Annotated[int, Field(ge=0, le=3600), Bare("second")] = field(
        30, "Time between samples of running tasks."
    )
    gather_parameters: tuple[Word, ...] = field((), "JobAcctGatherParams; checked by release.")
    energy: Literal["none", "gpu", "ipmi", "rapl"] = field("none", "Source of energy accounting; gpu holds NVML open.")
    private: tuple[SlurmName, ...] = field((), "PrivateData: what users do not see of others.")
    options: Options = field({}, "More keys of slurmdbd.conf.")


class Scheduler(Section):
    """Backfill and the main scheduler."""

    parameters: tuple[Word, ...] = field((), "More tokens of SchedulerParameters; checked by release.")
    dependency_parameters: tuple[Word, ...] = field(
        (), "DependencyParameters, as kill_invalid_depend; checked by release."
    )
    backfill_window: Minutes | None = field(
        None, "How far backfill looks ahead; default the longest max_time, 7 days at most."
    )
    requeue: bool = field(True, "Jobs go back to the queue when their node fails or they are preempted.")
    max_jobs: Annotated[int, Field(ge=1000, le=10000000)] | None = field(
        None, "MaxJobCount: all job records in memory; default 50000."
    )
    max_array: Annotated[int, Field(ge=2, le=4000001)] | None = field(None, "MaxArraySize.")


class Resources(Section):
    """What is handed out to jobs, and what keeps their tasks inside it."""

    select: Literal["cons_tres", "cons_res", "linear"] = field(
        "cons_tres",
        "SelectType: cores, memory and GPUs (cons_tres), or without GPUs: cores (cons_res, before 23.11), whole nodes.",
    )
    select_parameters: tuple[Word, ...] = field(
        (), "SelectTypeParameters; default CR_Core_Memory, with LL_SHARED_GRES where GPUs are shared."
    )
    process_tracking: Literal["cgroup", "linuxproc", "pgid"] = field(
        "cgroup", "ProctrackType: how the processes of a job are recognized."
    )
    task_plugins: tuple[Literal["cgroup", "affinity", "none"], ...] = field(
        ("cgroup", "affinity"), "TaskPlugin: limits of tasks (cgroup) and their binding to cores (affinity)."
    )


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
    timeout: Annotated[int, Field(ge=10, le=65533), Bare("second")] = field(
        300, "PrologEpilogTimeout: prolog or epilog has failed after this time."
    )
    job_map: bool = field(True, "Tells the DCGM exporter which job has which GPU.")
    tmpdir: AbsolutePath | None = field(
        None, "Local scratch: a directory per job, made by the prolog and removed by the epilog."
    )


class Slurm(Section):
    """The workload manager."""

    version: Annotated[str, text(r"^[0-9]{2}\.(02|05|08|11)$", 'write year and month of the release: "24.11"')] = field(
        ..., "Release, as 24.11."
    )
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
    spool_directory: AbsolutePath = field(
        "/var/lib/slurm/slurmd", "SlurmdSpoolDir: job scripts and credentials on each compute node."
    )
    ports: dict[Daemon, PortNumber] = field({}, "Other ports than 6817, 6818, 6819.")
    srun_ports: Annotated[str, text(r"^[0-9]{1,5}-[0-9]{1,5}$", "write first-last: 60001-63000", 11)] | None = field(
        None, "SrunPortRange: ports on which srun listens, as 60001-63000; default: any free port."
    )
    pid_files: dict[Daemon, AbsolutePath] = field({}, "Process id files; default: Slurm's own.")
    log_files: dict[Daemon, AbsolutePath] = field({}, "Log files; default /var/log/slurm/<daemon>.log.")
    log_levels: dict[Daemon, LogLevel] = field({}, "Log levels; default info.")
    partitions: dict[AnyName, Partition] = field({}, "Queues; default: one with all nodes.")
    node_sets: dict[SlurmName, HostList] = field({}, "Names for groups of nodes, for use in partitions.")
    priority: Priority = section(Priority, "Multifactor priority.")
    preemption: Preemption = section(Preemption, "Preemption.")
    qos: dict[AnyName, Qos] = field({}, "Qualities of service.")
    accounts: dict[AnyName, Account] = field({}, "Accounts, with their users.")
    users: dict[UserName, User] = field({}, "What holds for a user in all accounts.")
    accounting: Accounting = section(Accounting, "Accounting.")
    scheduler: Scheduler = section(Scheduler, "Scheduler.")
    resources: Resources = section(Resources, "What is handed out, and how tasks are confined.")
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
    resume_timeout: Annotated[int, Field(ge=60, le=65533), Bare("second")] = field(
        1800, "ResumeTimeout: how long a reboot may take."
    )
    slurmctld_timeout: Timeout = field(
        120, "SlurmctldTimeout: the second controller takes over from one that has not answered for this time."
    )
    slurmd_timeout: Timeout = field(300, "SlurmdTimeout: a node that has not answered for this time is down.")
    unkillable_step_timeout: Annotated[int, Field(ge=1, le=65533), Bare("second")] | None = field(
        None,
        "UnkillableStepTimeout: a node with a process that cannot be killed drains after this time; default 180, or"
        " five message_timeout.",
    )
    return_to_service: Literal[0, 1, 2] = field(
        1, "ReturnToService: a node that was down returns never (0), if it was silent (1), or whatever the reason (2)."
    )
    message_timeout: Annotated[int, Field(ge=5, le=100), Bare("second")] | None = field(
        None, "MessageTimeout: how long to wait for an answer; default by cluster size."
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
