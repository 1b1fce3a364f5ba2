"""Tuning of node types: settings that have nothing to act on, or that take memory from jobs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeType
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.tuning import Tuning

_OF_PORTS = ("interrupts", "rings", "channels", "max_read_request", "relaxed_ordering")
_FIELD_OF = {"iommu": "iommu", "hugepages": "hugepages_1gib", "hugepagesz": "hugepages_1gib"}


def _tuned(cluster: Cluster) -> Iterator[tuple[NodeType, Tuning, ManifestPath]]:
    for kind in cluster.node_types:
        if kind.is_resolved and kind.name in cluster.manifest.node_types:
            yield kind, cluster.manifest.node_types[kind.name].tuning, ("node_types", kind.name, "tuning")


def without_ports(cluster: Cluster) -> Iterator[Finding]:
    for kind, tuning, path in _tuned(cluster):
        if kind.data_ports():
            continue
        for field in _OF_PORTS:
            if getattr(tuning, field) is not None:
                yield Finding(
                    "tuning-without-ports",
                    (*path, field),
                    f"'{kind.name}' has no port in the fabric or the storage network to set this on",
                    "add its ports under `nics`, or remove the setting",
                )


def kernel_options(cluster: Cluster) -> Iterator[Finding]:
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


def huge_pages(cluster: Cluster) -> Iterator[Finding]:
    """Slurm counts huge pages as memory of jobs, and cgroups do not count them at all."""
    small = cluster.manifest.host.hugepages
    for kind, tuning, path in _tuned(cluster):
        pages = tuning.hugepages_1gib or 0
        taken = pages * 1024 + small * 2
        if pages and taken > kind.reserved_mib:
            yield Finding(
                "huge-pages-not-reserved",
                (*path, "hugepages_1gib"),
                f"huge pages take {taken} MiB, but only {kind.reserved_mib} MiB of '{kind.name}' are reserved: jobs are"
                " promised memory that they cannot use",
                f"set reserved: {{memory: {-(-taken // 1024) + 2}GiB}} for this node type",
            )


RULES = (without_ports, kernel_options, huge_pages)
