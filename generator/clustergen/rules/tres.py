"""Trackable resources (TRES) that are billed, weighted and limited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.nodes import is_pending
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.devices import tres_of
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.manifest.partitions import Partition
from clustergen.rules.slurm_daemons import accounting_hint
from clustergen.slurmrules.limits import BUILT_IN_TRES

REQUIRES = "slurm"

_OPEN_TRES = ("license/", "bb/", "ic/")  # their names come from elsewhere


@once_per_cluster
def tracked(cluster: Cluster) -> list[str]:
    """Trackable resources: Slurm's own, the GPUs and other GRES, and what the manifest adds."""
    of_gpus = ("gres/gpumem", "gres/gpuutil") if cluster.gpu_types else ()
    return list(dict.fromkeys([*BUILT_IN_TRES, *tres_of(cluster), *of_gpus, *cluster.of(Accounting).tres]))


_OF_LIMITS = "so it cannot be limited"
_OF_WEIGHTS = "and slurmctld does not start with a weight for it"


@once_per_cluster
def _has_unresolved_gpus(cluster: Cluster) -> bool:
    """True if an error keeps the GPUs of a node type from being resolved, and with them what is tracked."""
    return any(map(is_pending, cluster.groups)) or any(
        not node_type.is_builtin and (not node_type.is_resolved or (node_type.names_gpus and node_type.gpus is None))
        for node_type in cluster.node_types
    )


def untracked(
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
        path: ManifestPath = ("slurm", "partitions", name, "billing")
        yield from untracked(cluster, path, spec.billing or {}, _OF_WEIGHTS)
        for resource, weight in (spec.billing or {}).items():
            if isinstance(weight, str) and resource.lower() != "mem":
                message = f"the weight of '{resource}' has no unit; only memory is weighed by an amount"
                yield Finding("unit-wrong", (*path, resource), message, f"write {weight[:-1]}")


def weights(cluster: Cluster) -> Iterator[Finding]:
    """PriorityWeightTRES has no field of its own: `CPU=1000,GRES/gpu=5000`."""
    conf, key = settings_of(cluster, "slurm.conf"), "PriorityWeightTRES"
    if key not in conf:
        return
    names = {part.partition("=")[0].strip(): None for part in conf.text(key).split(",")}
    yield from untracked(cluster, conf.place(key), names, _OF_WEIGHTS)
    if not cluster.slurm.keeps_books and not all(name.lower() in BUILT_IN_TRES for name in names):
        yield Finding(
            "accounting-missing",
            conf.place(key),
            "without slurmdbd Slurm tracks only CPUs, memory and nodes; slurmctld does not start with other weights",
            accounting_hint(cluster),
        )


def tres_of_accounting(cluster: Cluster) -> Iterator[Finding]:
    """TRES that accounting tracks in addition: a type of GPU that no node has would stay at 0."""
    tres = cluster.of(Accounting).tres
    types = [name for name in tres_of(cluster) if name.startswith("gres/gpu:")]
    for index, name in enumerate(tres):
        if name in BUILT_IN_TRES or name.startswith(_OPEN_TRES):
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
