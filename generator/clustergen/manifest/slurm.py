"""Slurm: daemons, scheduling, limits, scripts."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from clustergen.manifest.base import (
    AbsolutePath,
    AnyName,
    HostList,
    Options,
    PortNumber,
    Section,
    SlurmName,
    Word,
    field,
    section,
    text,
)
from clustergen.manifest.composition import Place, composed
from clustergen.manifest.partitions import Partition
from clustergen.manifest.rewrites import as_release
from clustergen.slurmconf.scalars import LogLevel
from clustergen.units import Bare, Minutes


def _ascending(value: str) -> str:
    first, last = map(int, value.split("-"))
    if not 0 < first < last <= _LAST_PORT:
        from pydantic_core import PydanticCustomError

        hint = f"write {last}-{first}" if 0 < last < first <= _LAST_PORT else "write first-last: 60001-63000"
        message = "'{value}' is not a range of ports from a lower to a higher one"
        raise PydanticCustomError("value-out-of-range", message, {"value": value, "hint": hint})
    return value


_LAST_PORT = 65535
PortRange = Annotated[
    str, text(r"^[0-9]{1,5}-[0-9]{1,5}$", "write first-last: 60001-63000", 11), AfterValidator(_ascending)
]
Weight = Annotated[int, Field(ge=0, le=4294967295)]
Daemon = Literal["slurmctld", "slurmd", "slurmdbd"]
Timeout = Annotated[int, Field(ge=0, le=65533), Bare("second")]


class PriorityWeights(Section):
    """Weights of the priority factors; their sum must be below 2^32. Once one above 0 is set, the others are 0."""

    age: Weight | None = field(None, "Time in the queue; default 1000.")
    fairshare: Weight | None = field(None, "Past usage compared with the share; default 100000.")
    job_size: Weight | None = field(None, "Job size; favours large jobs; default 1000.")
    partition: Weight | None = field(None, "The partition's priority_factor; default 10000.")
    qos: Weight | None = field(None, "The QOS's priority; default 50000.")
    assoc: Weight | None = field(None, "The account's priority; default 0.")


class Priority(Section):
    """Multifactor priority with fair share."""

    half_life: Minutes = field(
        "7-0", "PriorityDecayHalfLife: past usage counts half after this time.", validate_default=True
    )
    calc_period: Minutes = field("5min", "PriorityCalcPeriod: how often usage decays.", validate_default=True)
    max_age: Minutes = field(
        "7-0", "PriorityMaxAge: age at which the age factor reaches its maximum.", validate_default=True
    )
    usage_reset: Literal["NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"] = field(
        "NONE", "PriorityUsageResetPeriod: when usage is reset to zero."
    )
    flags: tuple[SlurmName, ...] = field((), "PriorityFlags.")
    favor_small: bool = field(False, "PriorityFavorSmall: favour small jobs over large ones.")
    weights: PriorityWeights = section(PriorityWeights, "Weights of the factors.")


class Preemption(Section):
    """Preemption: which jobs can preempt which others."""

    by: Literal["off", "partition", "qos"] = field(
        ...,
        "PreemptType: by the partitions' tiers, by the preempt lists of QOS, or off, with the other settings kept.",
        sample="partition",
    )
    mode: Literal["requeue", "cancel", "suspend"] = field("requeue", "PreemptMode.")
    within: bool = field(False, "WITHIN: by qos, jobs of one QOS preempt each other by priority.")
    gang: bool | None = field(
        None, "GANG: jobs that share cores take turns, also where preemption is off; default only with mode suspend."
    )
    exempt_time: Minutes | None = field(None, "PreemptExemptTime: a job younger than this is not preempted.")
    youngest_first: bool = field(True, "Preempt the youngest job first.")


class Scheduler(Section):
    """Backfill and the main scheduler."""

    parameters: tuple[Word, ...] = field((), "More tokens of SchedulerParameters; checked by release.")
    dependency_parameters: tuple[Word, ...] = field(
        (), "DependencyParameters, as kill_invalid_depend; checked by release."
    )
    backfill_window: Minutes | None = field(
        None, "bf_window: how far backfill looks ahead; default: the longest max_time, at most 7 days."
    )
    requeue: bool = field(True, "JobRequeue: requeue jobs when their node fails or they are preempted.")
    max_jobs: Annotated[int, Field(ge=1000, le=10000000)] | None = field(
        None, "MaxJobCount: maximum number of job records in memory; default 50000."
    )
    max_array: Annotated[int, Field(ge=2, le=4000001)] | None = field(None, "MaxArraySize.")


class Resources(Section):
    """Consumable resources, and how tasks are confined to their allocation."""

    select: Literal["cons_tres", "cons_res", "linear"] = field(
        "cons_tres",
        "SelectType: cores, memory and GPUs (cons_tres), or without GPUs: cores (cons_res, before 23.11), whole nodes.",
    )
    select_parameters: tuple[Word, ...] = field(
        (), "SelectTypeParameters; default CR_Core_Memory, with LL_SHARED_GRES where GPUs are shared."
    )
    process_tracking: Literal["cgroup", "linuxproc", "pgid"] = field(
        "cgroup", "ProctrackType: how the processes of a job are tracked."
    )
    spread_racks: bool = field(
        False, "Weight rises from node to node of each rack, so that jobs, and their heat, spread over the racks."
    )
    task_plugins: tuple[Literal["cgroup", "affinity", "none"], ...] = field(
        ("cgroup", "affinity"), "TaskPlugin: limits of tasks (cgroup) and their binding to cores (affinity)."
    )


Release = Annotated[
    str,
    text(r"^[0-9]{2}\.(02|05|08|11)$", 'write year and month of the release: "24.11"', rewrite=as_release),
]


@composed("slurm")
class Slurm(Section):
    """Slurm."""

    version: Release = field(..., "Release, as 24.11.", sample='"24.11"')
    build: Literal["auto", "distribution", "schedmd"] = field(
        "auto",
        "Package source: auto uses the distribution's packages if it has this release, otherwise SchedMD's packaging.",
    )
    defaults: Literal["recommended", "slurm"] = field(
        "recommended", "Defaults of this section: clustergen's recommendations, or Slurm's own defaults."
    )
    cluster_name: AnyName | None = field(None, "ClusterName; default: the manifest's name.")
    federation: Place
    auth: Literal["munge", "slurm"] = field("munge", "auth/munge, or auth/slurm with its own key (23.11 and newer).")
    configless: bool = field(False, "Compute and login nodes fetch their configuration from the controller.")
    state_location: AbsolutePath | None = field(None, "StateSaveLocation; two controllers must share it.")
    state_shared: bool = field(
        False, "Confirms that the controllers share it on a file system that is not under storage."
    )
    user: SlurmName = field("slurm", "SlurmUser: user of slurmctld and slurmdbd.")
    uid: Annotated[int, Field(ge=1, le=65533)] = field(64030, "User and group id of SlurmUser, the same on all nodes.")
    spool_directory: AbsolutePath = field(
        "/var/lib/slurm/slurmd", "SlurmdSpoolDir: job scripts and credentials on each compute node."
    )
    ports: dict[Daemon, PortNumber] = field({}, "Ports, instead of 6817, 6818 and 6819.")
    srun_ports: PortRange | None = field(
        None, "SrunPortRange: ports on which srun listens, as 60001-63000; default: any free port."
    )
    pid_files: dict[Daemon, AbsolutePath] = field({}, "Process id files; default: Slurm's own.")
    log_files: dict[Daemon, AbsolutePath] = field(
        {}, "Log files; default /var/log/slurm/<daemon>.log, for slurmd /var/log/slurmd/slurmd.log."
    )
    log_levels: dict[Daemon, LogLevel] = field({}, "Log levels; default info.")
    partitions: dict[AnyName, Partition] = field(
        {}, "Partitions; default: one with all nodes.", examples=[{"batch": {"nodes": "all", "default": True}}]
    )
    node_sets: dict[SlurmName, HostList] = field({}, "Named sets of nodes, for use in partitions.")
    priority: Priority = section(Priority, "Multifactor priority.")
    preemption: Preemption = section(Preemption, "Preemption; off unless the section is present.", by="off")
    qos: Place
    accounts: Place
    users: Place
    unlisted_accounts: Place
    accounting: Place
    scheduler: Scheduler = section(Scheduler, "Scheduler.")
    resources: Resources = section(Resources, "Consumable resources, and how tasks are confined.")
    topology: Place
    pyxis: Place
    scripts: Place
    private_tmp: Place
    mpi_default: Literal["none", "pmi2", "pmix"] | None = field(
        None, "MpiDefault; default: pmix if the build supports it, otherwise pmi2."
    )
    metrics: bool = field(True, "Slurm's OpenMetrics endpoint; requires 25.11.")
    interactive_step: bool = field(True, "salloc opens a shell on the first node of the allocation.")
    disable_root_jobs: bool = field(False, "DisableRootJobs: root cannot submit jobs.")
    enforce_binding: bool = field(False, "Allocate GPUs only with cores of their own socket.")
    reboot_program: AbsolutePath = field("/usr/sbin/reboot", "RebootProgram of scontrol reboot.")
    resume_timeout: Annotated[int, Field(ge=60, le=65533), Bare("second")] = field(
        1800, "ResumeTimeout: maximum time of a reboot."
    )
    power_saving: Place
    slurmctld_timeout: Timeout = field(
        120, "SlurmctldTimeout: the backup controller takes over when the primary has not answered for this time."
    )
    slurmd_timeout: Timeout = field(300, "SlurmdTimeout: a node that has not answered for this time is set DOWN.")
    unkillable_step_timeout: Annotated[int, Field(ge=1, le=65533), Bare("second")] | None = field(
        None,
        "UnkillableStepTimeout: a node with a process that cannot be killed drains after this time; default 180, five"
        " message_timeout, or two health.interval and 60, whichever is longest.",
    )
    complete_wait: Timeout | None = field(
        None, "CompleteWait: while a job ends on some of its nodes, no job starts on them for this time; default 0."
    )
    return_to_service: Literal[0, 1, 2] | None = field(
        None,
        "ReturnToService: a DOWN node returns never (0), if it did not respond and has not rebooted (1), or for any"
        " reason (2); default 1, or 2 if all compute nodes have state CLOUD.",
    )
    message_timeout: Annotated[int, Field(ge=5, le=100), Bare("second")] | None = field(
        None, "MessageTimeout: maximum time of a round trip; default: by cluster size."
    )
    options: Options = field({}, "More keys of slurm.conf, or other values than clustergen's; checked by release.")
    gres_options: Options = field({}, "More keys of each GPU line of gres.conf.")
    cgroup_options: Options = field({}, "More keys of cgroup.conf, or other values than clustergen's.")
    mpi_options: Options = field({}, "Keys of mpi.conf.")
    acct_gather_options: Options = field({}, "Keys of acct_gather.conf.")
    lines: tuple[Options, ...] = field(
        (), "More lines of slurm.conf: with several keys, as DownNodes, or of a key that is repeated."
    )
    gres_lines: tuple[Options, ...] | None = field(
        None, "Lines of gres.conf that replace those of the GPUs: {Name: gpu, File: /dev/nvidia0}; []: no file."
    )
