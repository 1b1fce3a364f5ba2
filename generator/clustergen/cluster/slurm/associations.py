"""QOS, accounts and users as resolved: the content of slurmdbd's database that the manifest states."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.annotations import Mib
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Options
from clustergen.cluster.slurm.rights import ROOT
from clustergen.manifest.accounts import Account as Section
from clustergen.manifest.model import Manifest
from clustergen.records import copied, record
from clustergen.units import Duration

Tres = Mapping[str, int | Mib]
"""Amounts by resource; mem and burst buffers in MiB."""


@record
class Limits:
    """Limits of an account or of a user in it; None and an empty mapping are no limit, or that of the account above."""

    SECTIONS = ("accounts.Limits",)
    fairshare: int  # AS_PARENT: those of the account above
    qos: tuple[str, ...]
    default_qos: str | None
    priority: int | None
    group_jobs: int | None
    group_submit: int | None
    group_tres: Tres
    group_tres_minutes: Tres
    group_tres_run_minutes: Tres
    group_wall: Duration | None
    max_jobs: int | None
    max_submit: int | None
    max_wall: Duration | None
    max_tres_per_job: Tres
    max_tres_per_node: Tres
    max_tres_minutes_per_job: Tres
    options: Options


@record
class Account(Limits):
    """An account. `parent`: None only of root, which is above all others."""

    description: str | None
    organization: str | None
    parent: str | None
    users: tuple[str, ...]
    user_limits: Mapping[str, Limits]
    coordinators: tuple[str, ...]


@record
class Qos:
    """A QOS; None and an empty mapping are no limit."""

    description: str | None
    priority: int
    preempt: tuple[str, ...]
    preempt_mode: str | None
    exempt_time: Duration | None
    grace_time: Duration | None
    flags: tuple[str, ...]
    usage_factor: float | None
    max_wall: Duration | None
    max_jobs_per_user: int | None
    max_submit_per_user: int | None
    max_tres_per_user: Tres
    max_jobs_per_account: int | None
    max_submit_per_account: int | None
    max_tres_per_account: Tres
    max_tres_per_job: Tres
    max_tres_per_node: Tres
    max_tres_minutes_per_job: Tres
    min_tres_per_job: Tres
    group_jobs: int | None
    group_submit: int | None
    group_tres: Tres
    group_tres_minutes: Tres
    group_tres_run_minutes: Tres
    group_wall: Duration | None
    options: Options


@record
class User:
    """Settings of a user across all accounts."""

    default_account: str | None
    admin_level: str


@record
class Associations:
    """QOS, accounts and users."""

    federation: str | None  # of clusters with one slurmdbd
    qos: Mapping[str, Qos]  # by name
    accounts: Mapping[str, Account]  # by name
    root: Account  # as in `accounts`, or without limits
    users: Mapping[str, User]  # by login


def resolve(manifest: Manifest, _: Cluster) -> Associations:
    section = manifest.slurm
    accounts = {name: _account(name, account) for name, account in section.accounts.items()}
    return Associations(
        federation=section.federation,
        qos={name: copied(Qos, qos) for name, qos in section.qos.items()},
        accounts=accounts,
        root=accounts.get(ROOT) or _account(ROOT, Section.model_construct()),
        users={name: copied(User, user) for name, user in section.users.items()},
    )


def _account(name: str, section: Section) -> Account:
    return copied(
        Account,
        section,
        parent=section.parent or (None if name == ROOT else ROOT),
        user_limits={user: copied(Limits, limits) for user, limits in section.user_limits.items()},
    )
