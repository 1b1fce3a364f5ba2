"""Tuning of node types: settings that have nothing to act on, or that take memory from jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.operating_systems import AARCH64
from clustergen.cluster.host import KernelSettings
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.tuning.resolved import Tuning, Tunings

_OF_PORTS = ("interrupts", "rings", "channels", "max_read_request", "relaxed_ordering")
_OF_ETHERNET = ("rings", "channels")
_FIELD_OF = {
    "iommu": "iommu",
    "iommu.passthrough": "iommu",
    "hugepages": "hugepages_1gib",
    "hugepagesz": "hugepages_1gib",
}


def _tuned(cluster: Cluster) -> Iterator[tuple[NodeType, Tuning, ManifestPath]]:
    for node_type in cluster.node_types:
        if node_type.is_resolved:
            yield node_type, cluster.of(Tunings).of(node_type), ("node_types", node_type.name, "tuning")


def tuning_without_ports(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.networks.fabric
    infiniband = fabric is not None and fabric.type == "infiniband"
    for kind, tuning, path in _tuned(cluster):
        ports = kind.data_ports()
        has_ethernet = any(port.network != "fabric" or not infiniband for port in ports)
        for field in _OF_PORTS:
            if getattr(tuning, field) is None or (has_ethernet if field in _OF_ETHERNET else ports):
                continue
            article = "Ethernet port" if ports else "port"
            yield Finding(
                "tuning-without-ports",
                (*path, field),
                f"'{kind.name}' has no {article} in the fabric or the storage network to set this on",
                "remove the setting" if ports else "add its ports under `nics`, or remove the setting",
            )


def kernel_option_twice(cluster: Cluster) -> Iterator[Finding]:
    for _, tuning, path in _tuned(cluster):
        for index, option in enumerate(tuning.kernel_options):
            name = option.partition("=")[0]
            field = _FIELD_OF.get(name)
            if option in tuning.kernel_options[:index]:
                yield Finding("kernel-option-twice", (*path, "kernel_options", index), f"{option} is listed twice")
            elif field and getattr(tuning, field) is not None:
                yield Finding(
                    "kernel-option-twice",
                    (*path, "kernel_options", index),
                    f"{name} is already set by `{field}`",
                    "remove one of the two",
                )


def kernel_option_contradicts(cluster: Cluster) -> Iterator[Finding]:
    """Options of the kernel command line that take away what the node type states."""
    for kind, tuning, path in _tuned(cluster):
        for index, option in enumerate(tuning.kernel_options):
            if reason := _contradiction(option, kind, tuning):
                where = (*path, "kernel_options", index)
                hint = "remove it, or correct the node type"
                yield Finding("kernel-option-contradicts", where, f"{option}: {reason}", hint)


def _contradiction(option: str, node_type: NodeType, tuning: Tuning) -> str:
    name, _, value = option.partition("=")
    if option in ("intel_iommu=off", "amd_iommu=off") and tuning.iommu:
        return f"the IOMMU is off, but `iommu: {tuning.iommu}` requires it"
    if name == "nosmt" and node_type.threads_per_core > 1:
        return (
            f"'{node_type.name}' has {node_type.threads_per_core} threads per core, so slurmd would register fewer CPUs"
        )
    if name in ("maxcpus", "nr_cpus") and value.isdigit() and int(value) < node_type.cpus:
        return f"'{node_type.name}' has {node_type.cpus} CPUs, so slurmd would register fewer"
    limit = re.fullmatch(r"(\d{1,15})([KMGT]?)", value, re.IGNORECASE) if name == "mem" else None
    if limit:
        mib = int(limit[1]) * 1024 ** "_KMGT".index(limit[2].upper() or "_") >> 20
        if mib < node_type.real_memory_mib:
            return f"slurmd would register less than RealMemory, {node_type.real_memory_mib} MiB"
    return ""


def governor_not_available(cluster: Cluster) -> Iterator[Finding]:
    """intel_pstate, the driver of Xeon processors, has two governors unless it is passive."""
    for kind, tuning, path in _tuned(cluster):
        is_passive = any(option.startswith("intel_pstate=") for option in tuning.kernel_options)
        if tuning.governor in ("schedutil", "ondemand") and "Xeon" in kind.cpu_model and not is_passive:
            yield Finding(
                "governor-not-available",
                (*path, "governor"),
                f"{tuning.governor} does not exist with intel_pstate, which is the driver of {kind.cpu_model}",
                "write performance or powersave, or add kernel_options: [intel_pstate=passive]",
            )


def idle_latency_zero(cluster: Cluster) -> Iterator[Finding]:
    for _, tuning, path in _tuned(cluster):
        if tuning.idle_latency_us == 0:
            yield Finding(
                "idle-latency-zero",
                (*path, "idle_latency"),
                "idle CPUs spin instead of sleeping: they draw full power, and the others lose their boost",
                "write 2, which keeps C1: waking up takes 1 or 2 µs",
            )


def huge_pages(cluster: Cluster) -> Iterator[Finding]:
    """Slurm counts huge pages as memory of jobs, and cgroups do not count them at all."""
    small = cluster.of(KernelSettings).huge_pages
    for kind, tuning, path in _tuned(cluster):
        pages = tuning.hugepages_1gib or 0
        taken = pages * 1024 + small * 2
        if taken and taken >= kind.real_memory_mib:
            most = max(1, (kind.real_memory_mib - small * 2) >> 10)
            yield Finding(
                "huge-pages-exceed-memory",
                (*path, "hugepages_1gib") if pages else ("host", "hugepages"),
                f"huge pages take {taken} MiB, and '{kind.name}' has RealMemory {kind.real_memory_mib} MiB",
                f"write less than {most}" if pages else "reduce their number",
            )
        elif pages and taken > kind.reserved_mib and cluster.has(Slurm):
            yield Finding(
                "huge-pages-not-reserved",
                (*path, "hugepages_1gib"),
                f"huge pages take {taken} MiB, but only {kind.reserved_mib} MiB of '{kind.name}' are reserved: jobs are"
                " promised memory that they cannot use",
                f"set reserved: {{memory: {-(-taken // 1024) + 2}GiB}} for this node type",
            )


def page_size(cluster: Cluster) -> Iterator[Finding]:
    """Pages of 64 KiB are a matter of the kernel: aarch64 has such kernels, and not every distribution ships one."""
    for kind, tuning, path in _tuned(cluster):
        if tuning.page_size is None:
            continue
        where, os = (*path, "page_size"), kind.os
        if os.arch != AARCH64:
            message = f"'{kind.name}' is {os.arch}, whose pages are 4 KiB in every kernel"
            yield Finding("page-size-unfit", where, message, "remove page_size, or use transparent_hugepages", key=True)
        elif not os.packages("kernel_64k"):
            yield Finding(
                "page-size-not-available",
                where,
                f"{os.id} has no kernel with pages of 64 KiB, so the nodes keep the pages of theirs",
                "use ubuntu-24.04 on these nodes, or remove page_size",
            )
        elif not os.fact("kernel_64k_flavour"):
            package = os.packages("kernel_64k")[0]
            yield Finding(
                "page-size-not-available",
                where,
                f"{package} is installed on {os.id}, but nothing makes it the kernel that boots",
                "run `grubby --set-default` on the nodes, or build it into their image",
            )


def grace_kernel(cluster: Cluster) -> Iterator[Finding]:
    """NVIDIA recommends pages of 64 KiB for Grace; drivers are built for the kernel that the headers belong to."""
    for kind, tuning, path in _tuned(cluster):
        if "Grace" in kind.cpu_model and kind.gpus and tuning.page_size is None and kind.os.fact("kernel_64k_flavour"):
            yield Finding(
                "grace-kernel",
                path,
                f"'{kind.name}' boots a kernel with pages of 4 KiB; NVIDIA recommends 64 KiB for Grace",
                f"add tuning: {{page_size: 64k, iommu: pt}} to node type '{kind.name}'",
            )
