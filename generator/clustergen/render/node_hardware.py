"""The hardware of a node type, as the lock file keeps it for `clustergen verify`: what slurmd would find there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clustergen.cluster.slurm.model import Slurm
from clustergen.records import record

if TYPE_CHECKING:  # on nodes that pull, the playbooks read lock files without pydantic
    from clustergen.cluster.model import Cluster, NodeType

_LIMIT = 4096  # of every number but memory and disk: far more than any machine has
_MOST_MIB = 1 << 30
_WORDS = re.compile(r"[ -~]{0,80}")
_CPUS = re.compile(r"\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*")
_DEVICE = re.compile(r"/dev(?:/(?!\.)[A-Za-z0-9_.:,-]{1,80}){1,4}")
_NUMBERINGS = ("sockets", "alternating", "siblings")
_MOST_GPUS = 64
_MOST_CPUS = 8192


@record
class Hardware:
    """Processors, and GPUs where there are any. Cores are per socket, threads per core, NUMA nodes per socket."""

    sockets: int
    cores: int
    threads: int
    numa: int
    numbering: str
    """How Linux numbers CPUs: sockets, alternating or siblings."""
    memory: int = 0
    """Fitted MiB; 0 where nobody knows."""
    disk: int = 0
    """MiB of the disks on which the file system of TmpDisk can be; 0 where nobody knows."""
    gpu: str = ""
    """The name that NVML reports; empty where there are no GPUs, or nobody knows them."""
    mig_family: str = ""
    switch_links: int = 0
    """NVLinks of a GPU that end at a switch."""
    cpus: tuple[str, ...] = ()
    """By GPU: the Linux CPUs next to it, as `0-55,112-167`."""
    links: tuple[tuple[int, ...], ...] = ()
    """By GPU: NVLinks to each other one, -1 for itself; empty where there are none between GPUs."""
    devices: tuple[str, ...] = ()
    """Device files of other GRES."""

    def document(self) -> dict[str, Any]:
        """For the lock file, without what is empty."""
        fields = {name: getattr(self, name) for name in Hardware.__annotations__}
        return {name: value for name, value in fields.items() if value not in ("", 0, ())}


def hardware(cluster: Cluster) -> dict[str, Hardware]:
    """The inventory's group → hardware, for the types of nodes that register with Slurm."""
    if not cluster.has(Slurm):
        return {}
    used = {group.type.name: group.type for group in cluster.compute}
    kinds = {name: kind for name, kind in used.items() if kind.is_resolved and kind.cpus <= _MOST_CPUS}
    return {kind.group: _of_type(cluster, kind) for kind in kinds.values()}


def _of_type(cluster: Cluster, node_type: NodeType) -> Hardware:
    cpu = (
        node_type.sockets,
        node_type.cores_per_socket,
        node_type.threads_per_core,
        node_type.numa_per_socket,
        node_type.cpu_numbering,
        node_type.memory_mib,
    )
    gpus = node_type.gpus
    if gpus is None:
        return Hardware(*cpu, disk=_disk(cluster, node_type), devices=_devices(cluster, node_type))
    return Hardware(
        *cpu,
        disk=_disk(cluster, node_type),
        devices=_devices(cluster, node_type),
        gpu=gpus.model.nvml_name if gpus.model.slurm_type else "",
        mig_family=gpus.model.mig_family,
        switch_links=(gpus.model.nvlink_links or 0) if gpus.nvlink == "nvswitch" else 0,
        cpus=_cpus(node_type),
        links=gpus.links,
    )


def _disk(cluster: Cluster, node_type: NodeType) -> int:
    """The largest file system that fits on the disks of one use; 0 where TmpFS is not on disks."""
    from clustergen.catalogue.system_paths import is_below
    from clustergen.cluster.groups import mounts
    from clustergen.cluster.named_rows import Configurations
    from clustergen.cluster.slurm.keys.table import settings_of

    place = settings_of(cluster, "slurm.conf").text("TmpFS") or "/tmp"
    groups = (group for group in cluster.of_type[node_type.name] if group.has("slurm-compute"))
    entries = (entry for group in groups for entry in mounts(cluster, group).values())
    shared = any(entry.is_shared and is_below(place, entry.mount) for entry in entries)
    types = cluster.of(Configurations).of_type
    if shared or node_type.name not in types:
        return 0
    sizes: dict[str, int] = {}
    for disk in types[node_type.name].disks:
        sizes[disk.use] = sizes.get(disk.use, 0) + disk.size.mib
    return min(max(sizes.values(), default=0), _MOST_MIB)


def _devices(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """Files of the type's GRES, or where the manifest has lines of gres.conf, those of its first node."""
    from clustergen.hostlist import names_of
    from clustergen.slurmconf.scalars import files_of

    texts = [one.files for one in node_type.gres]
    host = next(group.hosts[0] for group in cluster.of_type[node_type.name] if group.has("slurm-compute"))
    for line in cluster.slurm.gres_lines or ():
        keys = {key.lower(): str(value) for key, value in line.items()}
        if host in names_of(keys.get("nodename", host)):
            texts += (keys[key] for key in ("file", "multiplefiles") if key in keys)
    files = dict.fromkeys(file for text in texts for file in files_of(text))
    # Those of the driver follow from the GPUs.
    return tuple(file for file in files if _DEVICE.fullmatch(file) and not file.startswith("/dev/nvidia"))[:_MOST_GPUS]


def _cpus(node_type: NodeType) -> tuple[str, ...]:
    """The CPUs as measured on the system, where its GPUs are where the catalogue has them; else as NUMA nodes imply."""
    from clustergen.catalogue.systems import system
    from clustergen.cluster.cores import linux_cpus, ranges

    gpus = node_type.gpus
    assert gpus is not None
    base = system(node_type.system) if node_type.system else None
    if (
        base is not None
        and base.cpu.counts
        == (node_type.sockets, node_type.cores_per_socket, node_type.threads_per_core, node_type.numa_per_socket)
        and gpus.numa == tuple(place.numa for place in base.gpus)
        and all(place.cpus for place in base.gpus)
        and node_type.cpu_numbering == "sockets"
    ):
        return tuple(place.cpus for place in base.gpus)
    numa = node_type.cores_per_socket // node_type.numa_per_socket
    core_ranges = [range(n * numa, (n + 1) * numa) for n in gpus.numa] or [
        range(n * node_type.cores_per_socket, (n + 1) * node_type.cores_per_socket) for n in gpus.sockets
    ]
    return tuple(ranges(linux_cpus(node_type, cores)) for cores in core_ranges)


def read_hardware(group: str, document: Any) -> Hardware:
    """Raises ValueError for everything that `document` does not write."""
    problem = ValueError(f"hardware of {group!a:.80} is not as clustergen writes it")
    if not isinstance(document, dict) or not document.keys() <= Hardware.__annotations__.keys():
        raise problem
    fields = dict(document)
    sizes_mib = [fields.get("memory", 0), fields.get("disk", 0)]
    lists = {name: fields.pop(name, []) for name in ("cpus", "links", "devices")}
    if not all(isinstance(value, list) and len(value) <= _MOST_GPUS for value in lists.values()):
        raise problem
    cpus, links, devices = lists.values()
    rows = [row if isinstance(row, list) and len(row) <= _MOST_GPUS else [None] for row in links]
    sizes = [fields.get(name) for name in ("sockets", "cores", "threads", "numa")]
    numbers = [*sizes, fields.get("switch_links", 0), *(number for row in rows for number in row)]
    texts = [fields.get("gpu", ""), fields.get("mig_family", "")]
    if (
        not all(type(number) is int and -1 <= number <= _LIMIT for number in numbers)
        or not all(type(mib) is int and 0 <= mib <= _MOST_MIB for mib in sizes_mib)
        or not all(size and size > 0 for size in sizes)
        or not all(isinstance(text, str) and _WORDS.fullmatch(text) for text in texts)
        or not all(isinstance(text, str) and _CPUS.fullmatch(text) for text in cpus)
        or not all(isinstance(text, str) and _DEVICE.fullmatch(text) for text in devices)
        or fields.get("numbering") not in _NUMBERINGS
        or any(len(row) != len(cpus) for row in rows)
        or len(rows) not in (0, len(cpus))
    ):
        raise problem
    hardware = Hardware(**fields, cpus=tuple(cpus), links=tuple(map(tuple, rows)), devices=tuple(devices))
    if hardware.sockets * hardware.cores * hardware.threads > _MOST_CPUS:
        raise problem
    return hardware
