"""QOS, accounts, and the limits that they set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.versions import since
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.rights import NORMAL, ROOT
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.features.accounts.rights_rules import holders
from clustergen.features.accounts.section import Account
from clustergen.rules.slurm_daemons import accounting_hint
from clustergen.rules.tres import untracked
from clustergen.units import Bytes, Duration

_QOS_FLAGS = (
    "DenyOnLimit", "EnforceUsageThreshold", "NoDecay", "NoReserve", "OverPartQOS", "PartitionMaxNodes",
    "PartitionMinNodes", "PartitionTimeLimit", "Relative", "RequiresReservation", "UsageFactorSafe",
)  # fmt: skip


def known_qos(cluster: Cluster) -> list[str]:
    return list(dict.fromkeys([*cluster.of(Associations).qos, NORMAL]))


def unknown(
    code: str, path: ManifestPath, names: Iterable[str], candidates: list[str], what: str, *, listed: bool = True
) -> Iterator[Finding]:
    """Names that are not defined; `listed` if `path` is a list of them."""
    for index, name in enumerate(names):
        if name not in candidates:
            section = "slurm.qos" if code == "qos-unknown" else "slurm.accounts"
            hint = did_you_mean(name, candidates) or f"add {section}.{name}, or use {one_of(candidates, 8)}"
            yield Finding(code, (*path, index) if listed else path, f"{what} '{name}' is not defined", hint)


def partition_limits(cluster: Cluster) -> Iterator[Finding]:
    """QOS and accounts that partitions name."""
    if not cluster.slurm.slurmdbd_hosts:
        return  # told once: accounting-missing
    accounts = cluster.of(Associations).accounts
    accounts_known = [*accounts, ROOT]
    qos_known = known_qos(cluster)
    for partition in cluster.slurm.partitions:
        path: ManifestPath = ("slurm", "partitions", partition.name)
        one = (partition.qos,) if partition.qos else ()
        yield from unknown("qos-unknown", (*path, "qos"), one, qos_known, "QOS", listed=False)
        yield from unknown("qos-unknown", (*path, "allow_qos"), partition.allow_qos, qos_known, "QOS")
        # Accounts that sacctmgr alone knows are none of the manifest's business, unless it has some of its own.
        if accounts:
            listed = partition.allow_accounts
            yield from unknown("account-unknown", (*path, "allow_accounts"), listed, accounts_known, "account")


def qos(cluster: Cluster) -> Iterator[Finding]:
    for name, spec in cluster.of(Associations).qos.items():
        path: ManifestPath = ("slurm", "qos", name)
        yield from unknown("qos-unknown", (*path, "preempt"), spec.preempt, known_qos(cluster), "QOS")
        for index, flag in enumerate(spec.flags):
            where: ManifestPath = (*path, "flags", index)
            if flag not in _QOS_FLAGS:
                yield Finding(
                    "qos-flag-unknown",
                    where,
                    f"'{flag}' is not a QOS flag of sacctmgr",
                    did_you_mean(flag, _QOS_FLAGS) or f"use {one_of(_QOS_FLAGS, len(_QOS_FLAGS))}",
                )
            elif flag == "Relative" and not cluster.slurm.release.has("qos-relative"):
                yield Finding(
                    "qos-flag-unknown",
                    where,
                    f"the QOS flag Relative requires Slurm {since('qos-relative')} or newer; this is"
                    f" {cluster.slurm.release}",
                )


def needs_accounting(cluster: Cluster) -> Iterator[Finding]:
    policy = cluster.of(Associations)
    for name, what in (("qos", "QOS"), ("accounts", "accounts"), ("federation", "federations")):
        if getattr(policy, name) and not cluster.slurm.keeps_books:
            message = f"{what} require slurmdbd, which no node runs"
            yield Finding("accounting-missing", ("slurm", name), message, accounting_hint(cluster), key=True)


def accounts(cluster: Cluster) -> Iterator[Finding]:
    section = cluster.of(Associations).accounts
    names = [*section, ROOT]
    for name, spec in section.items():
        path: ManifestPath = ("slurm", "accounts", name)
        above = (spec.parent,) if spec.parent else ()
        yield from unknown("account-unknown", (*path, "parent"), above, names, "account", listed=False)
        yield from unknown("qos-unknown", (*path, "qos"), spec.qos, known_qos(cluster), "QOS")
        default = (spec.default_qos,) if spec.default_qos else ()
        yield from unknown("qos-unknown", (*path, "default_qos"), default, known_qos(cluster), "QOS", listed=False)
        for user, member in spec.user_limits.items():
            inside: ManifestPath = (*path, "user_limits", user)
            yield from unknown("qos-unknown", (*inside, "qos"), member.qos, known_qos(cluster), "QOS")
            default = (member.default_qos,) if member.default_qos else ()
            yield from unknown(
                "qos-unknown", (*inside, "default_qos"), default, known_qos(cluster), "QOS", listed=False
            )


def resources(cluster: Cluster) -> Iterator[Finding]:
    """Limits on resources: those that are tracked, and memory alone has units."""
    for path, entity, section in holders(cluster):
        for option in sacctmgr.options(entity):
            if option.form != "tres" or not option.field:
                continue
            limits: Mapping[str, object] = getattr(section, option.field)
            yield from untracked(cluster, (*path, option.field), limits)
            for name, limit in limits.items():
                if isinstance(limit, Bytes) and name != "mem" and not name.startswith("bb/"):
                    message = f"'{name}' is a count and has no unit"
                    yield Finding("unit-wrong", (*path, option.field, name), message, "write a whole number")


def zero_times(cluster: Cluster) -> Iterator[Finding]:
    """MaxWall and GrpWall of 0, which Slurm does not read as unlimited."""
    for path, entity, section in holders(cluster):
        for field, reason in (("max_wall", "MaxWallDurationPerJobLimit"), ("group_wall", "GrpWallLimit")):
            limit: Duration | None = getattr(section, field, None)
            if limit and limit.seconds == 0:
                yield Finding(
                    "time-limit-zero",
                    (*path, field),
                    "with a limit of 0 every job stays pending with reason"
                    f" {'QOS' if entity == 'qos' else 'Assoc'}{reason}",
                    "write unlimited for no limit, or group_submit: 0 to reject jobs",
                )


def account_circles(_: Cluster, section: Mapping[str, Account]) -> Iterator[Finding]:
    """An account above itself; one finding for each cycle."""
    parents = {name: spec.parent for name, spec in section.items()}
    done: set[str] = set()
    for start in parents:
        way: list[str] = []
        name: str | None = start
        while name in parents and name not in done and name not in way:
            way.append(name)
            name = parents[name]
        if name in way:
            circle = way[way.index(name) :]
            shown = " → ".join([*circle, circle[0]])
            yield Finding(
                "account-cycle",
                ("slurm", "accounts", circle[-1], "parent"),
                f"the parents of account '{circle[-1]}' form a cycle: {shown}"
                if len(circle) > 1
                else f"account '{circle[-1]}' is its own parent",
                "remove one parent, or set it to root or another account",
            )
        done.update(way)
