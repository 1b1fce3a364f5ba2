"""gres.conf: which device file is which GPU, and the cores next to it; other GRES."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.keys.devices import gres_types
from clustergen.cluster.slurm.keys.line import Line, line, own_lines
from clustergen.cluster.slurm.keys.row import Value
from clustergen.hostlist import compress
from clustergen.records import replace


def gres_lines(cluster: Cluster) -> Iterator[Line]:
    """The manifest's own lines, or those of all GPUs and other GRES."""
    if cluster.slurm.gres_lines is not None:
        yield from own_gres_lines(cluster)
    else:
        for node_type in gres_types(cluster):
            yield from device_lines(cluster, node_type)


def own_gres_lines(cluster: Cluster) -> Iterator[Line]:
    return own_lines(("slurm", "gres_lines"), cluster.slurm.gres_lines or ())


def autodetect(gpus: GpuSet) -> str:
    """MIG instances have no device files that could be written down before they are made."""
    return "nvml" if any(gpus.mig) else gpus.autodetect


def device_lines(cluster: Cluster, node_type: NodeType) -> Iterator[Line]:
    """Of the GPUs of a node type, and of its other GRES."""
    release = cluster.slurm.release
    nodes = compress(
        host for group in cluster.of_type[node_type.name] if group.has("slurm-compute") for host in group.hosts
    )
    if node_type.gpus:
        yield from _gpu_lines(cluster, node_type.gpus, nodes)
    for one in node_type.gres:
        keys: list[tuple[str, Value | None]] = [
            ("Name", one.name),
            ("Type", one.type or None),
            ("Count", None if one.files else one.count),
            ("File", one.files or None),
            ("Flags", ",".join(one.flags) or None),
        ]
        yield line("gres.conf", release, [("NodeName", nodes), *keys])


def _gpu_lines(cluster: Cluster, gpus: GpuSet, nodes: str) -> Iterator[Line]:
    release = cluster.slurm.release
    devices: list[list[tuple[str, Value | None]]] = [[("AutoDetect", autodetect(gpus))]]
    if autodetect(gpus) == "off":
        # Where Slurm's defaults hold, cores are named only for GPUs whose places the manifest gives.
        if cluster.slurm.bare and "numa" not in gpus.stated:
            gpus = replace(gpus, cores=(), links=gpus.links if "links" in gpus.stated else ())
        devices = [_device(cluster, gpus, run) for run in device_runs(gpus)]
    for keys in devices:
        passed = ("slurm", "gres_options"), cluster.slurm.gres_options
        yield line("gres.conf", release, [("NodeName", nodes), *keys], passed)
    for name, number in (("shard", gpus.total_shards), ("mps", gpus.count * gpus.mps_per_gpu)):
        if number:
            yield line("gres.conf", release, [("NodeName", nodes), ("Name", name), ("Count", number)])


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
