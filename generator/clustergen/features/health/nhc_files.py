"""clustergen.conf of LBNL NHC: the hardware of the node type by NHC's own checks, and our scripts for the rest.

On aarch64, /proc/cpuinfo names no sockets, and NHC counts every processor as one. Every line matches with `*`,
because each node type has its own file: NHC 1.4.3 silently skips a line whose match has several ranges.
"""

from __future__ import annotations

from clustergen.catalogue.operating_systems import X86_64
from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.health import files as health
from clustergen.features.health.resolved import Health
from clustergen.records import record
from clustergen.render.file import File


@record
class Nhc:
    """`mounts`: mount point and whether it is writable; `scripts`: programs of health.d."""

    sockets: int
    cores: int
    threads: int
    memory_mib: int
    memory_most_mib: int
    ports: tuple[str, ...]
    gbit: int
    mounts: tuple[tuple[str, bool], ...]
    scripts: tuple[str, ...]


def nhc(cluster: Cluster, node_type: NodeType) -> Nhc | None:
    if not cluster.of(Health).nhc or not node_type.is_resolved:
        return None
    values = health.values(cluster, node_type)
    is_infiniband = cluster.networks.fabric is not None and cluster.networks.fabric.type == "infiniband"
    entries = {
        name: entry for group in cluster.of_type[node_type.name] for name, entry in mounts(cluster, group).items()
    }
    scripts = {
        "10-gpu-count": health.checks_gpu_count(cluster, node_type),
        "15-gpu-settings": health.checks_gpu_settings(cluster, node_type),
        "20-gpu-errors": health.checks_gpu_errors(cluster, node_type),
        "25-nvlink": health.checks_nvlink(cluster, node_type),
        "40-fabric": not is_infiniband and health.checks_fabric(cluster, node_type),
        "45-system": health.is_enabled(cluster),
    }
    has_sockets = node_type.os.arch == X86_64
    return Nhc(
        sockets=node_type.sockets if has_sockets else node_type.cpus,
        cores=node_type.cores if has_sockets else node_type.cpus,
        threads=node_type.cpus,
        memory_mib=node_type.real_memory_mib,
        memory_most_mib=max(node_type.memory_mib, node_type.real_memory_mib) + _shared_mib(node_type),
        ports=values.fabric_devices if values and values.fabric_gbit_s and is_infiniband else (),
        gbit=values.fabric_gbit_s if values else 0,
        mounts=tuple((entry.mount, not entry.read_only) for entry in entries.values() if entry.required),
        scripts=tuple(name for name, is_made in scripts.items() if is_made),
    )


def _shared_mib(node_type: NodeType) -> int:
    """Memory of GPUs that Linux may add to that of Grace processors."""
    if node_type.os.arch == X86_64 or not node_type.gpus:
        return 0
    return node_type.gpus.count * (node_type.gpus.model.memory_gb or 0) * 1024


FILES = (File("slurm_compute/etc/nhc/clustergen.conf", nhc, per="type"),)
