"""QOS, accounts and users as resolved: the content of slurmdbd's database that the manifest states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.sacctmgr import AS_PARENT, Entity, SacctmgrOption
from clustergen.cluster.annotations import Mib
from clustergen.cluster.slurm.model import Options
from clustergen.records import record
from clustergen.units import Bytes, Duration

Tres = Mapping[str, int | Mib]
"""Amounts by resource; mem and burst buffers in MiB."""
UNSET = {
    ("association", "Fairshare"): "1",
    ("qos", "Priority"): "0",
    ("qos", "PreemptMode"): "cluster",
    ("qos", "GraceTime"): "0",
    ("qos", "UsageFactor"): "1.000000",
}
"""Defaults that sacctmgr shows for settings that were never made, if not empty."""


@record
class Limits:
    """Limits of an account or of a user in it; None and an empty mapping are no limit, or that of the account above."""

    SECTIONS = ("Member",)
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
    removes_unlisted: bool  # accounts of the cluster and users in them that the manifest does not list


def settings(entity: Entity, section: Qos | Limits) -> Iterator[tuple[str, str]]:
    """sacctmgr's name and value of all that a section states, as sacctmgr shows it: what is left out is not limited."""
    for option in sacctmgr.options(entity):
        text = text_of(option, getattr(section, option.field)) if option.field else ""
        if text and text != UNSET.get((entity, option.name)):
            yield option.name, text
    for name, value in section.options.items():
        row = sacctmgr.option(entity, name)
        if row is not None:
            yield row.name, text_of(row, value)


def text_of(option: SacctmgrOption, value: Any) -> str:
    """A value as sacctmgr reads and shows it; empty: none."""
    if value is None:
        return ""
    if isinstance(value, Duration):
        if option.form == "seconds":
            return str(value.seconds or 0)
        return "" if value.unlimited else value.slurm()
    if option.form in ("list", "name"):
        return ",".join(dict.fromkeys([value] if isinstance(value, str) else value)).lower()
    if isinstance(value, tuple):
        return ",".join(dict.fromkeys(value))
    if isinstance(value, Mapping):
        return ",".join(f"{name}={amount(limit)}" for name, limit in value.items() if limit != -1)
    if option.form == "share":
        return "parent" if value == AS_PARENT else str(value)
    if option.form == "factor":
        return f"{float(value):.6f}"
    return "" if value == -1 else str(value)


def amount(limit: int | Bytes) -> int:
    """Memory and burst buffers count MiB."""
    return limit.mib if isinstance(limit, Bytes) else limit
