"""The script that brings accounts, users and QOS to what the manifest says, by sacctmgr.

Not a dump for `sacctmgr load`: that format differs between releases, and loading it takes away what it does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.manifest.slurm import Account, Qos
from clustergen.records import record
from clustergen.render.formats import Safe, shell_word
from clustergen.units import Duration

NORMAL = "normal"  # the QOS that every database has from its first start
_BUILT_IN = ("cpu", "mem", "energy", "node", "billing", "vmem", "pages")


@record
class QosCall:
    """A QOS, with `Key=value` words quoted for the shell."""

    name: str
    preempt: str
    words: tuple[Safe, ...]


@record
class AccountCall:
    name: str
    parent: str
    words: tuple[Safe, ...]


@record
class UsersCall:
    account: str
    users: tuple[str, ...]


@record
class Accounts:
    cluster: str
    qos: tuple[QosCall, ...]
    accounts: tuple[AccountCall, ...]
    users: tuple[UsersCall, ...]
    resources: tuple[str, ...]
    """Trackable resources with limits that slurmdbd learns of from slurmctld."""


def accounts(cluster: Cluster) -> Accounts | None:
    if not cluster.accounting_hosts:
        return None
    slurm = cluster.manifest.slurm
    limits: list[Mapping[str, int]] = [account.group_tres for account in slurm.accounts.values()]
    limits += [
        part for qos in slurm.qos.values() for part in (qos.max_tres_per_user, qos.max_tres_per_job, qos.group_tres)
    ]
    used = dict.fromkeys(name for part in limits for name in part)
    return Accounts(
        cluster=cluster.slurm_name,
        qos=tuple(QosCall(name, ",".join(qos.preempt), _words(_qos(qos))) for name, qos in slurm.qos.items()),
        accounts=tuple(
            AccountCall(name, account.parent or "root", _words(_account(cluster, account)))
            for name, account in parents_first(slurm.accounts)
        ),
        users=tuple(UsersCall(name, account.users) for name, account in slurm.accounts.items() if account.users),
        resources=tuple(name for name in used if name not in _BUILT_IN),
    )


def _words(given: Iterator[tuple[str, str | int | float]]) -> tuple[Safe, ...]:
    return tuple(shell_word(f"{key}={value}") for key, value in given)


def _qos(qos: Qos) -> Iterator[tuple[str, str | int | float]]:
    """All that the manifest can say of a QOS, so that what it says no more is taken back: -1 is no limit."""
    if qos.description:
        yield "Description", qos.description
    yield "Priority", qos.priority
    yield "Preempt", ",".join(qos.preempt)
    yield "PreemptMode", qos.preempt_mode or "cluster"
    yield "GraceTime", (qos.grace_time.seconds or 0) if qos.grace_time else 0
    yield "MaxWall", _wall(qos.max_wall)
    yield "UsageFactor", qos.usage_factor if qos.usage_factor is not None else 1
    yield "MaxJobsPerUser", _or_none(qos.max_jobs_per_user)
    yield "MaxSubmitJobsPerUser", _or_none(qos.max_submit_per_user)
    yield "MaxTRESPerUser", _tres(qos.max_tres_per_user)
    yield "MaxTRESPerJob", _tres(qos.max_tres_per_job)
    yield "GrpTRES", _tres(qos.group_tres)
    yield "Flags", ",".join(qos.flags) or "-1"


def _account(cluster: Cluster, account: Account) -> Iterator[tuple[str, str | int | float]]:
    if account.description:
        yield "Description", account.description
    if account.organization:
        yield "Organization", account.organization
    yield "Fairshare", account.fairshare
    yield "MaxJobs", _or_none(account.max_jobs)
    yield "GrpTRES", _tres(account.group_tres)
    if usable := usable_qos(cluster, account):
        yield "QOS", ",".join(usable)
        yield "DefaultQOS", account.default_qos or (NORMAL if NORMAL in usable else usable[0])


def usable_qos(cluster: Cluster, account: Account) -> tuple[str, ...]:
    """What an account's jobs may name: the stated ones, or normal and all of the manifest's; empty without any."""
    defined = cluster.manifest.slurm.qos
    stated = account.qos or (tuple(dict.fromkeys([NORMAL, *defined])) if defined else ())
    default = (account.default_qos,) if account.default_qos else ()
    return tuple(dict.fromkeys([*stated, *default]))


def parents_first(given: Mapping[str, Account]) -> list[tuple[str, Account]]:
    """Accounts in an order in which each can be made; those in a circle come last, in their own order."""
    placed: dict[str, Account] = {}
    while True:
        ready = {n: a for n, a in given.items() if n not in placed and (a.parent not in given or a.parent in placed)}
        if not ready:
            return list({**placed, **given}.items())
        placed |= ready


def _tres(limits: Mapping[str, int]) -> str:
    return ",".join(f"{name}={number}" for name, number in limits.items())


def _or_none(limit: int | None) -> int:
    return -1 if limit is None else limit


def _wall(limit: Duration | None) -> str | int:
    return -1 if limit is None or limit.unlimited else limit.slurm()
