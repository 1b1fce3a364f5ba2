"""QOS, accounts and users: what slurmdbd's database holds about who may run what."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from clustergen.catalogue.sacctmgr import AS_PARENT
from clustergen.manifest.base import AnyName, Options, Phrase, Section, SlurmName, Tres, UserName, field
from clustergen.slurmrules.field_table import PreemptMode
from clustergen.units import Bytes, Minutes, Seconds

Count = Annotated[int, Field(ge=-1, le=4294967290)]
"""A limit; -1 is none."""
Share = Annotated[
    int,
    Field(ge=0, le=AS_PARENT),
    BeforeValidator(lambda value: AS_PARENT if value == "parent" else value),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": AS_PARENT}, {"const": "parent"}]}),
]
TresLimits = dict[Tres, Annotated[int, Field(ge=-1)] | Bytes]
"""Amounts by resource; mem and burst buffers in MiB, or with a unit."""


class Limits(Section):
    """Limits of an account or of a user in it."""

    fairshare: Share = field(1, "Fairshare: shares relative to its siblings; parent: those of the parent account.")
    qos: tuple[AnyName, ...] = field((), "QOS that it can use; default: those of the parent account; root has normal.")
    default_qos: AnyName | None = field(
        None, "DefaultQOS: QOS of jobs submitted without one; default: that of the parent account."
    )
    priority: Count | None = field(None, "Priority of the association, weighted by priority.weights.assoc.")
    group_jobs: Count | None = field(None, "GrpJobs: running jobs of it and all accounts below it.")
    group_submit: Count | None = field(None, "GrpSubmitJobs: running and pending jobs of it and all accounts below it.")
    group_tres: TresLimits = field({}, "GrpTRES: total resources of its running jobs, as {gres/gpu: 64}.")
    group_tres_minutes: TresLimits = field(
        {}, "GrpTRESMins: a budget of resource minutes, as {gres/gpu: 600000}: 10,000 GPU hours."
    )
    group_tres_run_minutes: TresLimits = field(
        {}, "GrpTRESRunMins: resource minutes that its running jobs can still use."
    )
    group_wall: Minutes | None = field(None, "GrpWall: total wall time of all its jobs.")
    max_jobs: Count | None = field(None, "MaxJobs: running jobs per user.")
    max_submit: Count | None = field(None, "MaxSubmitJobs: running and pending jobs per user.")
    max_wall: Minutes | None = field(None, "MaxWall: maximum wall time of a job.")
    max_tres_per_job: TresLimits = field({}, "MaxTRESPerJob, as {gres/gpu: 64, mem: 4TiB}.")
    max_tres_per_node: TresLimits = field({}, "MaxTRESPerNode.")
    max_tres_minutes_per_job: TresLimits = field({}, "MaxTRESMinsPerJob: resource minutes of a job.")
    options: Options = field({}, "More settings of sacctmgr, as {GrpJobsAccrue: 10}; checked by release.")


class Qos(Section):
    """A quality of service (QOS): priority, limits, and which QOS it can preempt."""

    MEANT_BY_SCALAR: ClassVar = "priority"

    description: Phrase | None = field(None, "Free-text description.")
    priority: Annotated[int, Field(ge=0, le=4294967295)] = field(0, "Priority.")
    preempt: tuple[AnyName, ...] = field((), "Preempt: QOS whose jobs this QOS can preempt.")
    preempt_mode: PreemptMode | None = field(None, "PreemptMode of jobs of this QOS.")
    exempt_time: Minutes | None = field(None, "PreemptExemptTime: a job younger than this is not preempted.")
    grace_time: Seconds | None = field(None, "GraceTime: time between the warning and the end of a preempted job.")
    flags: tuple[SlurmName, ...] = field((), "Flags of the QOS, as DenyOnLimit.")
    usage_factor: Annotated[float, Field(ge=0)] | None = field(None, "UsageFactor: usage counts this many times.")
    max_wall: Minutes | None = field(None, "MaxWall: maximum wall time of a job.")
    max_jobs_per_user: Count | None = field(None, "MaxJobsPerUser: running jobs of a user.")
    max_submit_per_user: Count | None = field(None, "MaxSubmitJobsPerUser: running and pending jobs of a user.")
    max_tres_per_user: TresLimits = field({}, "MaxTRESPerUser, as {gres/gpu: 16}.")
    max_jobs_per_account: Count | None = field(None, "MaxJobsPerAccount: running jobs of an account.")
    max_submit_per_account: Count | None = field(
        None, "MaxSubmitJobsPerAccount: running and pending jobs of an account."
    )
    max_tres_per_account: TresLimits = field({}, "MaxTRESPerAccount.")
    max_tres_per_job: TresLimits = field({}, "As {gres/gpu: 64, mem: 4TiB}.")
    max_tres_per_node: TresLimits = field({}, "MaxTRESPerNode.")
    max_tres_minutes_per_job: TresLimits = field({}, "MaxTRESMinsPerJob: resource minutes of a job.")
    min_tres_per_job: TresLimits = field({}, "MinTRES: minimum resources that a job must request.")
    group_jobs: Count | None = field(None, "GrpJobs: total running jobs.")
    group_submit: Count | None = field(None, "GrpSubmitJobs: total running and pending jobs.")
    group_tres: TresLimits = field({}, "GrpTRES: total resources of its running jobs.")
    group_tres_minutes: TresLimits = field({}, "GrpTRESMins: a budget of resource minutes.")
    group_tres_run_minutes: TresLimits = field(
        {}, "GrpTRESRunMins: resource minutes that its running jobs can still use."
    )
    group_wall: Minutes | None = field(None, "GrpWall: total wall time of all its jobs.")
    options: Options = field({}, "More settings of sacctmgr, as {LimitFactor: 2}; checked by release.")


class Member(Limits):
    """Settings of one user in one account; what is not set is inherited from the account."""


class _Group(Section):
    """Description, parent and users of an account."""

    description: Phrase | None = field(None, "Free-text description.")
    organization: Phrase | None = field(None, "Organization, for information only.")
    parent: AnyName | None = field(None, "Parent account; default root.")
    users: tuple[UserName, ...] = field((), "Its users; their logins come from your user directory.")


class Account(Limits, _Group):
    """A group of users with a share of the cluster. The account root is above all others."""

    user_limits: dict[UserName, Member] = field({}, "Limits of single users, as {alice: {max_jobs: 4}}.")
    coordinators: tuple[UserName, ...] = field((), "Coordinators: users who can manage it and the accounts below it.")


class User(Section):
    """Settings of a user across all accounts."""

    default_account: AnyName | None = field(
        None, "DefaultAccount: account of jobs submitted without one; default: the first that the user is added to."
    )
    admin_level: Literal["none", "operator", "administrator"] = field(
        "none", "AdminLevel: rights over the whole database."
    )


PLACES = {
    "slurm.federation": (
        SlurmName | None,
        field(None, "Federation of clusters with one slurmdbd that this one joins."),
    ),
    "slurm.qos": (dict[AnyName, Qos], field({}, "QOS, by name.", examples=[{"high": {"priority": 10}}])),
    "slurm.accounts": (
        dict[AnyName, Account],
        field({}, "Accounts, with their users.", examples=[{"research": {"users": ["alice"]}}]),
    ),
    "slurm.users": (dict[UserName, User], field({}, "Settings of a user across all accounts.")),
    "slurm.unlisted_accounts": (
        Literal["keep", "remove"],
        field(
            "keep",
            "Accounts of the cluster and users in them that the manifest does not list: kept or removed by site.yml.",
        ),
    ),
}
