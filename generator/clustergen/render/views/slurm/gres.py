"""gres.conf: which device file is which GPU, and the cores next to it."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.assumptions import of_gpu_places
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType
from clustergen.hostlist import compress
from clustergen.records import record, replace
from clustergen.render.formats import Safe, comment_text
from clustergen.render.views.slurm.settings import Value, block, own_lines

FILE = "gres.conf"


@record
class TypeDevices:
    """The lines of one node type."""

    title: Safe
    lines: tuple[Safe, ...]
    assumed: Safe | None = None
    """Cores of the lines that no source confirms."""


@record
class GresConf:
    types: tuple[TypeDevices, ...]
    lines: tuple[Safe, ...]
    """The manifest's own, in place of all others."""


def gres_conf(cluster: Cluster) -> GresConf | None:
    site_lines = cluster.slurm.gres_lines
    if site_lines is not None:
        return GresConf((), own_lines(site_lines)) if site_lines else None
    if not cluster.gpu_types:
        return None
    return GresConf(tuple(_devices(cluster, node_type) for node_type in cluster.gpu_types), ())


def _devices(cluster: Cluster, node_type: NodeType) -> TypeDevices:
    assumption = of_gpu_places(cluster, node_type)
    return TypeDevices(
        comment_text(_title(node_type)),
        tuple(_lines(cluster, node_type)),
        comment_text(f"Assumed: {assumption.message}; {assumption.hint}.") if assumption is not None else None,
    )


def _title(node_type: NodeType) -> str:
    assert node_type.gpus is not None
    sources = {
        "off": "by device file",
        "nvml": "detected by NVML",
        "nvidia": "found in the driver's files below /proc",
    }
    gpus = node_type.gpus
    return f"{node_type.name}: {gpus.count} x {gpus.model.nvml_name}, {sources[autodetect(gpus)]}"


def autodetect(gpus: GpuSet) -> str:
    """MIG instances have no device files that could be written down before they are made."""
    return "nvml" if any(gpus.mig) else gpus.autodetect


def _lines(cluster: Cluster, node_type: NodeType) -> list[Safe]:
    gpus = node_type.gpus
    assert gpus is not None
    nodes = compress(
        host for group in cluster.of_type[node_type.name] if group.has("slurm-compute") for host in group.hosts
    )
    options = cluster.slurm.gres_options
    if autodetect(gpus) == "off":
        # Where Slurm's defaults hold, cores are named only for GPUs whose places the manifest gives.
        if cluster.slurm.bare and "numa" not in gpus.stated:
            gpus = replace(gpus, cores=(), links=gpus.links if "links" in gpus.stated else ())
        lines = [_line(cluster, nodes, _device(cluster, gpus, run), options) for run in device_runs(gpus)]
    else:
        lines = [_line(cluster, nodes, [("AutoDetect", autodetect(gpus))], options)]
    if gpus.shards_per_gpu:
        lines.append(_line(cluster, nodes, [("Name", "shard"), ("Count", gpus.total_shards)], {}))
    if gpus.mps_per_gpu:
        lines.append(_line(cluster, nodes, [("Name", "mps"), ("Count", gpus.count * gpus.mps_per_gpu)], {}))
    return lines


def _device(cluster: Cluster, gpus: GpuSet, devices: range) -> list[tuple[str, Value | None]]:
    first = devices[0]
    return [
        ("Name", "gpu"),
        ("Type", gpus.gres_type or None),
        ("File", "/dev/" + compress(f"nvidia{index}" for index in devices)),
        ("Cores", gpus.cores[first] if gpus.cores else None),
        ("Links", ",".join(map(str, gpus.links[first])) if gpus.links else None),
        # Without it, tasks get the variables of all makers, and programs that find two of them give up.
        ("Flags", None if cluster.slurm.bare else "nvidia_gpu_env"),
    ]


def device_runs(gpus: GpuSet) -> list[range]:
    """GPUs that one line can hold: neighbours with the same cores; each alone where NVLinks between GPUs are given."""
    runs: list[range] = []
    for index in range(gpus.count):
        previous = runs[-1] if runs else None
        same = (
            previous is not None and not gpus.links and (not gpus.cores or gpus.cores[previous[0]] == gpus.cores[index])
        )
        if previous is not None and same:
            runs[-1] = range(previous.start, index + 1)
        else:
            runs.append(range(index, index + 1))
    return runs


def _line(cluster: Cluster, nodes: str, words: list[tuple[str, Value | None]], options: Mapping[str, Value]) -> Safe:
    return block(FILE, cluster.slurm.release, [("NodeName", nodes), *words], options)
