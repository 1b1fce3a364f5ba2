"""QOS, accounts and users: what slurmdbd's database holds about who may run what."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from clustergen.manifest.base import Options, Phrase, Section, SlurmName, field, text
from clustergen.units import Bytes, Minutes, Seconds

AnyName = Annotated[
    str,
    text(
        r"^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$",
        "use letters, digits and _ . @ + -, and begin with a letter, a digit or _",
        63,
    ),
]
"""Slurm takes more in names of partitions, clusters, QOS and accounts than elsewhere: projects are often numbers."""
UserName = Annotated[
    str, text(r"^[a-z_][a-z0-9_.-]*$", "write the Unix login: lower-case letters, digits, _ . and -", 32)
]
Tres = Annotated[
    str,
    text(
        r"^[a-z]+(/[A-Za-z0-9_.:-]+)?$",
        "write a type, or a type and a name: cpu, mem, gres/gpu, gres/gpu:h100, license/matlab",
        80,
    ),
]
Count = Annotated[int, Field(ge=-1, le=4294967290)]
"""A limit; -1 is none."""
AS_PARENT = 0x7FFFFFFF
"""Slurm's number for the shares of the account above."""
Share = Annotated[
    int,
    Field(ge=0, le=AS_PARENT),
    BeforeValidator(lambda value: AS_PARENT if value == "parent" else value),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": AS_PARENT}, {"const": "parent"}]}),
]
TresLimits = dict[Tres, Annotated[int, Field(ge=-1)] | Bytes]
"""Amounts by resource; mem and burst buffers in MiB, or with a unit."""


class Limits(Section):
    """What an account and a user of it can be limited to."""

    fairshare: Share = field(1, "Shares beside its siblings; parent: those of the account above.")
    qos: tuple[AnyName, ...] = field((), "QOS that it may use; default those of the account above, root's are normal.")
    default_qos: AnyName | None = field(None, "QOS of jobs that name none; default that of the account above.")
    priority: Count | None = field(None, "Priority: weighed by priority.weights.assoc.")
    group_jobs: Count | None = field(None, "GrpJobs: running jobs, all below it together.")
    group_submit: Count | None = field(None, "GrpSubmitJobs: jobs, queued ones included, all below it together.")
    group_tres: TresLimits = field({}, "GrpTRES: resources of its running jobs together, as {gres/gpu: 64}.")
    group_tres_minutes: TresLimits = field(
        {}, "GrpTRESMins: a budget of resource minutes, as {gres/gpu: 600000}: 10,000 GPU hours."
    )
    group_tres_run_minutes: TresLimits = field(
        {}, "GrpTRESRunMins: resource minutes that its running jobs may still need."
    )
    group_wall: Minutes | None = field(None, "GrpWall: wall time of all its jobs together.")
    max_jobs: Count | None = field(None, "MaxJobs: running jobs of each user.")
    max_submit: Count | None = field(None, "MaxSubmitJobs: jobs of each user, queued ones included.")
    max_wall: Minutes | None = field(None, "MaxWall: longest job.")
    max_tres_per_job: TresLimits = field({}, "MaxTRESPerJob, as {gres/gpu: 64, mem: 4TiB}.")
    max_tres_per_node: TresLimits = field({}, "MaxTRESPerNode.")
    max_tres_minutes_per_job: TresLimits = field({}, "MaxTRESMinsPerJob: resource minutes of a job.")
    options: Options = field({}, "More settings of sacctmgr, as {GrpJobsAccrue: 10}; checked by release.")


class Qos(Section):
    """A quality of service: priority, limits and whom it may preempt."""

    description: Phrase | None = field(None, "For people.")
    priority: Annotated[int, Field(ge=0, le=4294967295)] = field(0, "Priority.")
    preempt: tuple[AnyName, ...] = field((), "QOS whose jobs this one may push aside.")
    preempt_mode: Literal["requeue", "cancel", "suspend", "off"] | None = field(None, "For jobs of this QOS.")
    exempt_time: Minutes | None = field(None, "PreemptExemptTime: a job younger than this is not preempted.")
    grace_time: Seconds | None = field(None, "Warning time before a preempted job ends.")
    flags: tuple[SlurmName, ...] = field((), "QOS flags: DenyOnLimit …")
    usage_factor: Annotated[float, Field(ge=0)] | None = field(None, "Use counts this many times.")
    max_wall: Minutes | None = field(None, "MaxWall: longest job.")
    max_jobs_per_user: Count | None = field(None, "Running jobs of a user.")
    max_submit_per_user: Count | None = field(None, "Jobs of a user, queued ones included.")
    max_tres_per_user: TresLimits = field({}, "As {gres/gpu: 16}.")
    max_jobs_per_account: Count | None = field(None, "Running jobs of an account.")
    max_submit_per_account: Count | None = field(None, "Jobs of an account, queued ones included.")
    max_tres_per_account: TresLimits = field({}, "MaxTRESPerAccount.")
    max_tres_per_job: TresLimits = field({}, "As {gres/gpu: 64, mem: 4TiB}.")
    max_tres_per_node: TresLimits = field({}, "MaxTRESPerNode.")
    max_tres_minutes_per_job: TresLimits = field({}, "MaxTRESMinsPerJob: resource minutes of a job.")
    min_tres_per_job: TresLimits = field({}, "MinTRES: what a job has to ask for at least.")
    group_jobs: Count | None = field(None, "GrpJobs: all its running jobs.")
    group_submit: Count | None = field(None, "GrpSubmitJobs: all its jobs, queued ones included.")
    group_tres: TresLimits = field({}, "Of all its running jobs together.")
    group_tres_minutes: TresLimits = field({}, "GrpTRESMins: a budget of resource minutes.")
    group_tres_run_minutes: TresLimits = field(
        {}, "GrpTRESRunMins: resource minutes that its running jobs may still need."
    )
    group_wall: Minutes | None = field(None, "GrpWall: wall time of all its jobs together.")
    options: Options = field({}, "More settings of sacctmgr, as {LimitFactor: 2}; checked by release.")


class Member(Limits):
    """What a user has in one account, beside what the account has."""


class _Group(Section):
    """What an account is, before what it may use."""

    description: Phrase | None = field(None, "For people.")
    organization: Phrase | None = field(None, "For people.")
    parent: AnyName | None = field(None, "Account above; default root.")
    users: tuple[UserName, ...] = field((), "Its users.")


class Account(Limits, _Group):
    """A group of users with a share of the cluster. The account root is above all others."""

    user_limits: dict[UserName, Member] = field({}, "What single users of it have, as {alice: {max_jobs: 4}}.")
    coordinators: tuple[UserName, ...] = field((), "Users who may manage it and the accounts below it.")


class User(Section):
    """A user in all accounts."""

    default_account: AnyName | None = field(
        None, "Account of jobs that name none; default the first that the user is added to."
    )
    admin_level: Literal["none", "operator", "administrator"] = field("none", "Rights over the whole database.")
