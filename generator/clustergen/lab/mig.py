"""MIG instances without a driver: device files in their places, and the lines of gres.conf that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.keys.gres import device_lines
from clustergen.hostlist import compress, expand
from clustergen.lab.scale import Document
from clustergen.records import record

# The driver's numbering: 3 is access to the first instance of the first GPU; an instance has room for eight parts.
_FIRST, _OF_A_GPU, _OF_AN_INSTANCE = 3, 135, 9


@record
class Instance:
    """One MIG instance. `minors`: of the two files that give access to it and to its compute part."""

    gpu: int
    profile: str
    minors: tuple[int, int]

    @property
    def files(self) -> str:
        return ",".join([f"/dev/nvidia{self.gpu}", *(f"/dev/nvidia-caps/nvidia-cap{minor}" for minor in self.minors)])


def instances(gpus: GpuSet | None) -> Iterator[Instance]:
    """The MIG instances of a node, GPU by GPU."""
    for gpu, layout in enumerate(gpus.mig if gpus else ()):
        profiles = [name for name, count in layout.profiles.items() for _ in range(count)] if layout else []
        for number, profile in enumerate(profiles):
            access = _FIRST + gpu * _OF_A_GPU + number * _OF_AN_INSTANCE
            yield Instance(gpu, profile, (access, access + 1))


def by_device_file(document: Document, cluster: Cluster) -> None:
    """Puts a line for every instance where NVML would find it; the other node types keep theirs."""
    hosts: dict[str, list[str]] = {}
    for entry in document["nodes"]:
        hosts.setdefault(entry["type"], []).extend(expand(entry["name"]))
    lines: list[dict[str, Any]] = []
    for kind in cluster.gpu_types:
        if kind.name not in hosts:
            continue
        has_mig = any(kind.gpus.mig if kind.gpus else ())
        keys = list(_lines(kind)) if has_mig else [line.keys for line in device_lines(cluster, kind)]
        lines += [{**line, "NodeName": compress(hosts[kind.name])} for line in keys]
    document["slurm"]["gres_lines"] = [{"NodeName": line.pop("NodeName"), **line} for line in lines]


def _lines(node_type: NodeType) -> Iterator[Mapping[str, str]]:
    gpus = node_type.gpus
    assert gpus is not None
    parts = list(instances(gpus))
    for gpu in range(gpus.count):
        cores = {"Cores": gpus.cores[gpu]} if gpus.cores else {}
        both = {**cores, "Flags": "nvidia_gpu_env"}
        if not gpus.mig[gpu]:
            yield {"Name": "gpu", **_type(gpus.gres_type), "File": f"/dev/nvidia{gpu}", **both}
        for part in parts:
            if part.gpu == gpu:
                yield {"Name": "gpu", **_type(gpus.instance_type(part.profile)), "MultipleFiles": part.files, **both}


def _type(name: str) -> dict[str, str]:
    return {"Type": name} if name else {}
