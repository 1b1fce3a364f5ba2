"""GPUs and other GRES as Slurm counts them: types and numbers of slurm.conf's Gres, which gres.conf has to repeat."""

from __future__ import annotations

from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, Gres, NodeType


def has_shards(cluster: Cluster) -> bool:
    return any(node_type.gpus and node_type.gpus.shards_per_gpu for node_type in cluster.gpu_types)


def has_mps(cluster: Cluster) -> bool:
    return any(node_type.gpus and node_type.gpus.mps_per_gpu for node_type in cluster.gpu_types)


def gpu_counts(gpus: GpuSet) -> dict[str, int]:
    """Gres type, or nothing → devices of a node, MIG instances counted one by one."""
    counts: dict[str, int] = {}
    for index in range(gpus.count):
        layout = gpus.mig[index] if gpus.mig else None
        if layout is None:
            counts[gpus.gres_type] = counts.get(gpus.gres_type, 0) + 1
            continue
        for profile, number in layout.profiles.items():
            name = gpus.instance_type(profile)
            counts[name] = counts.get(name, 0) + number
    return counts


def gres(node_type: NodeType) -> str:
    """The Gres of a NodeName line: `gpu:h100:8,shard:64,localtmp:900G`."""
    gpus = node_type.gpus
    words = [f"gpu:{name}:{number}" if name else f"gpu:{number}" for name, number in _counts(gpus).items()]
    if gpus and gpus.total_shards:
        words.append(f"shard:{gpus.total_shards}")
    if gpus and gpus.mps_per_gpu:
        words.append(f"mps:{gpus.count * gpus.mps_per_gpu}")
    words += [":".join(filter(None, (one.name, one.type, one.count))) for one in node_type.gres]
    return ",".join(words)


def _counts(gpus: GpuSet | None) -> dict[str, int]:
    return gpu_counts(gpus) if gpus else {}


def amounts(node_type: NodeType) -> dict[str, int]:
    """TRES of limits → amount of one node, memory in MiB; without those whose number Slurm is free to choose."""
    counts = _counts(node_type.gpus)
    named = {f"gres/gpu:{name}": number for name, number in counts.items() if name}
    return {
        "node": 1,
        "cpu": node_type.cpus,
        "mem": node_type.real_memory_mib,
        **({"gres/gpu": sum(counts.values())} if counts else {}),
        **named,
    }


def gres_types(cluster: Cluster) -> tuple[NodeType, ...]:
    """Node types in use on compute nodes that have GPUs or other GRES."""
    used = {group.type.name for group in cluster.compute}
    return tuple(one for one in cluster.node_types if (one.gpus or one.gres) and one.name in used)


def tres_of(cluster: Cluster) -> list[str]:
    """The TRES of accounting: all GPUs together, each type of them, and other GRES."""
    names = {"gpu": None} if cluster.gpu_types else {}
    names |= dict.fromkeys(f"gpu:{kind}" for one in cluster.gpu_types for kind in _counts(one.gpus) if kind)
    if has_shards(cluster):
        names["shard"] = None
    if has_mps(cluster):
        names["mps"] = None
    names |= dict.fromkeys(
        name for one in gres_types(cluster) for each in one.gres for name in (each.name, _typed(each)) if name
    )
    return [f"gres/{name}" for name in names]


def _typed(one: Gres) -> str:
    return f"{one.name}:{one.type}" if one.type else ""


def gres_names(cluster: Cluster) -> list[str]:
    """Kinds of devices."""
    return [name for tres in tres_of(cluster) if ":" not in (name := tres.removeprefix("gres/"))]
