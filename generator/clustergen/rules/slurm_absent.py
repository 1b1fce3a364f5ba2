"""Settings for Slurm in a cluster that has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.diagnostics.model_path import value_at
from clustergen.feature import modules, requirement
from clustergen.manifest.hardware import NodeType
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import is_stated
from clustergen.rules.unused import unused

_CONTROLLER = "slurm-controller"
_DAEMONS = {_CONTROLLER: "slurmctld", "slurm-accounting": "slurmdbd"}
_OF_NODES = ("features", "in_no_partition", "slurm_options", "weight")
_OF_TYPES = ("features", "gres", "numa_as_socket", "real_memory", "reserved", "slurm_options", "weight")
_OF_GPUS = ("autodetect", "gres_type", "links", "mig_prefix", "mps", "shards")
_OTHERS = ("containers.oci_jobs", "host.ssh_adopt")
_UNUSED = ("host.admin_group", "monitoring.dcgm.job_label_limit", "monitoring.dcgm.job_map")
_NOTHING = "the cluster has no Slurm"
_HINT = 'remove it, or add slurm: {version: "24.11"}'


def slurm_absent(cluster: Cluster, section: Manifest) -> Iterator[Finding]:
    """Daemons of Slurm, and features that work with it."""
    if cluster.has(Slurm):
        return
    is_controlled = any(_CONTROLLER in (entry.roles or ()) for entry in section.nodes)
    hint = _HINT if is_controlled else f"{_HINT} and the role {_CONTROLLER}"
    for index, entry in enumerate(section.nodes):
        for position, role in enumerate(entry.roles or ()):
            if role in _DAEMONS:
                path: ManifestPath = ("nodes", index, "roles", position)
                yield Finding("slurm-absent", path, f"{role} runs {_DAEMONS[role]}, and {_NOTHING}", hint)
    places = [place for module in modules("section") if requirement(module.__name__) for place in module.PLACES]
    for place in (*places, *_OTHERS):
        value = value_at(section, place)
        if is_stated(section, place) and value and getattr(value, "enabled", True):
            yield Finding(
                "slurm-absent", tuple(place.split(".")), f"{place} works with Slurm, and {_NOTHING}", hint, key=True
            )


def unused_without_slurm(cluster: Cluster, section: Manifest) -> Iterator[Finding]:
    """Settings that only Slurm's files have."""
    if cluster.has(Slurm):
        return
    for index, entry in enumerate(section.nodes):
        is_read = bool(entry.roles)  # with in_no_partition, nodes with GPUs have these roles alone
        names = [name for name in _OF_NODES if not (is_read and name == "in_no_partition")]
        yield from unused(entry, ("nodes", index), names, _NOTHING, _HINT)
        if entry.state != "CLOUD":
            yield from unused(entry, ("nodes", index), ("state",), _NOTHING, _HINT)
    yield from _of_types(section.node_types)
    for place in _UNUSED:
        *parents, name = place.split(".")
        if is_stated(section, place):
            yield from unused(value_at(section, tuple(parents)), tuple(parents), (name,), _NOTHING, _HINT)


def _of_types(types: Mapping[str, NodeType]) -> Iterator[Finding]:
    for name, kind in types.items():
        yield from unused(kind, ("node_types", name), _OF_TYPES, _NOTHING, _HINT)
        yield from unused(kind.gpus, ("node_types", name, "gpus"), _OF_GPUS, _NOTHING, _HINT)
