"""QOS, accounts, and the limits that they set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.versions import since
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.nodes import is_pending
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.cluster.slurm.rights import NORMAL, ROOT
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.manifest.accounts import Account
from clustergen.manifest.partitions import Partition
from clustergen.rules.rights import holders
from clustergen.rules.slurm_daemons import accounting_hint
from clustergen.units import Bytes, Duration

_BUILT_IN_TRES = ("billing", "cpu", "energy", "mem", "node", "pages", "vmem", "fs/disk")
_OPEN_TRES = ("license/", "bb/", "ic/")  # their names come from elsewhere
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


def _gres_types(gpus: GpuSet) -> Iterator[str]:
    if not gpus.gres_type:
        return
    for layout in gpus.mig or (None,):
        if layout is None:
            yield gpus.gres_type
        else:
            yield from map(gpus.instance_type, layout.profiles)


@once_per_cluster
def tracked(cluster: Cluster) -> list[str]:
    """Trackable resources: Slurm's own, the GPUs, and what the manifest adds."""
    sets = [node_type.gpus for node_type in cluster.gpu_types if node_type.gpus]
    names = ["gres/gpu", *(f"gres/gpu:{name}" for gpus in sets for name in _gres_types(gpus))] if sets else []
    names += ["gres/shard"] * any(gpus.shards_per_gpu for gpus in sets) + ["gres/mps"] * any(
        g.mps_per_gpu for g in sets
    )
    names += ["gres/gpumem", "gres/gpuutil"] if sets else []
    return list(dict.fromkeys([*_BUILT_IN_TRES, *names, *cluster.of(Accounting).tres]))


_OF_LIMITS = "so it cannot be limited"
_OF_WEIGHTS = "and slurmctld does not start with a weight for it"


@once_per_cluster
def _has_unresolved_gpus(cluster: Cluster) -> bool:
    """True if an error keeps the GPUs of a node type from being resolved, and with them what is tracked."""
    return any(map(is_pending, cluster.groups)) or any(
        not node_type.is_builtin and (not node_type.is_resolved or (node_type.names_gpus and node_type.gpus is None))
        for node_type in cluster.node_types
    )


def _tres(
    cluster: Cluster, path: ManifestPath, limits: Mapping[str, object], refused: str = _OF_LIMITS
) -> Iterator[Finding]:
    names = tracked(cluster)
    lower = {name.lower() for name in names}
    for name in limits:
        if name.lower() in lower or name.lower().startswith(_OPEN_TRES):
            continue
        if name.lower().startswith("gres/") and _has_unresolved_gpus(cluster):
            continue
        gpus = [other for other in names if other.startswith("gres/gpu")]
        hint = did_you_mean(name, names)
        if name.lower() in ("gpu", "gpus", "gres"):
            hint = "write gres/gpu"
        elif hint is None and name.startswith("gres/gpu:"):
            hint = f"use {one_of(gpus, 8)}"
        yield Finding(
            "tres-unknown",
            (*path, name),
            f"'{name}' is not a tracked resource (TRES), {refused}",
            hint or "add it to slurm.accounting.tres",
            key=True,
        )


def billing(cluster: Cluster, section: Mapping[str, Partition]) -> Iterator[Finding]:
    for name, spec in section.items():
        yield from _tres(cluster, ("slurm", "partitions", name, "billing"), spec.billing or {}, _OF_WEIGHTS)


def weights(cluster: Cluster) -> Iterator[Finding]:
    """PriorityWeightTRES has no field of its own: `CPU=1000,GRES/gpu=5000`."""
    conf, key = settings_of(cluster, "slurm.conf"), "PriorityWeightTRES"
    if key not in conf:
        return
    names = {part.partition("=")[0].strip(): None for part in conf.text(key).split(",")}
    yield from _tres(cluster, conf.place(key), names, _OF_WEIGHTS)
    if not cluster.slurm.keeps_books and not all(name.lower() in _BUILT_IN_TRES for name in names):
        yield Finding(
            "accounting-missing",
            conf.place(key),
            "without slurmdbd Slurm tracks only CPUs, memory and nodes; slurmctld does not start with other weights",
            accounting_hint(cluster),
        )


def tres_of_accounting(cluster: Cluster) -> Iterator[Finding]:
    """TRES that accounting tracks in addition: a type of GPU that no node has would stay at 0."""
    tres = cluster.of(Accounting).tres
    sets = [node_type.gpus for node_type in cluster.gpu_types if node_type.gpus]
    types = [f"gres/gpu:{name}" for gpus in sets for name in _gres_types(gpus)]
    for index, name in enumerate(tres):
        if name in _BUILT_IN_TRES or name.startswith(_OPEN_TRES):
            continue
        if (name.startswith("gres/gpu:") and name not in types) or not name.startswith("gres/"):
            candidates = [*types, "gres/gpu", "license/"]
            yield Finding(
                "tres-unknown",
                ("slurm", "accounting", "tres", index),
                f"no node has '{name}'"
                if name.startswith("gres/gpu:")
                else f"'{name}' is not a resource type (TRES) that Slurm tracks",
                did_you_mean(name, candidates) or "write gres/NAME, license/NAME, bb/NAME or fs/disk",
            )


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
            yield from _tres(cluster, (*path, option.field), limits)
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
