"""clustergen.conf of LBNL NHC: the hardware of the node type by NHC's own checks, and our scripts for the rest.

On aarch64, /proc/cpuinfo names no sockets, and NHC counts every processor as one. Every line matches with `*`,
because each node type has its own file: NHC 1.4.3 silently skips a line whose match has several ranges.
"""

from __future__ import annotations

from clustergen.catalogue.operating_systems import X86_64
from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.views.slurm import health


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


def nhc(cluster: Cluster, kind: NodeType) -> Nhc | None:
    if not cluster.manifest.health.nhc or not kind.is_resolved:
        return None
    values = health.values(cluster, kind)
    is_infiniband = (
        cluster.manifest.networks.fabric is not None and cluster.manifest.networks.fabric.type == "infiniband"
    )
    entries = {name: entry for group in cluster.of_type[kind.name] for name, entry in mounts(cluster, group).items()}
    scripts = {
        "10-gpu-count": health.checks_gpu_count(cluster, kind),
        "15-gpu-settings": health.checks_gpu_settings(cluster, kind),
        "20-gpu-errors": health.checks_gpu_errors(cluster, kind),
        "25-nvlink": health.checks_nvlink(cluster, kind),
        "40-fabric": not is_infiniband and health.checks_fabric(cluster, kind),
    }
    has_sockets = kind.os.arch == X86_64
    return Nhc(
        sockets=kind.sockets if has_sockets else kind.cpus,
        cores=kind.cores if has_sockets else kind.cpus,
        threads=kind.cpus,
        memory_mib=kind.real_memory_mib,
        memory_most_mib=max(kind.memory_mib, kind.real_memory_mib) + _shared_mib(kind),
        ports=values.fabric_devices if values and values.fabric_gbit_s and is_infiniband else (),
        gbit=values.fabric_gbit_s if values else 0,
        mounts=tuple((entry.mount, not entry.read_only) for entry in entries.values() if entry.required),
        scripts=tuple(name for name, is_made in scripts.items() if is_made),
    )


def _shared_mib(kind: NodeType) -> int:
    """Memory of GPUs that Linux may add to that of Grace processors."""
    if kind.os.arch == X86_64 or not kind.gpus:
        return 0
    return kind.gpus.count * (kind.gpus.model.memory_gb or 0) * 1024


FILES = (File("slurm_compute/etc/nhc/clustergen.conf", nhc, per="type"),)
