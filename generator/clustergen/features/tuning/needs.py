"""Contributions of tuning to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.operating_systems import AARCH64
from clustergen.cluster.contributions import BootKernel, BootOption, FirmwareValue, Package, PackageOf
from clustergen.cluster.model import Cluster
from clustergen.features.tuning.resolved import Tunings


def boot_options(cluster: Cluster) -> Iterator[BootOption]:
    for node_type in cluster.node_types:
        name, tuning = node_type.name, cluster.of(Tunings).of(node_type)
        if tuning.iommu:
            why = "devices access memory without translation; virtual machines still can have devices"
            yield BootOption(name, "iommu.passthrough=1" if node_type.os.arch == AARCH64 else "iommu=pt", why)
        if pages := tuning.hugepages_1gib:
            yield BootOption(name, "hugepagesz=1G", "pages of the count that follows; the default size stays 2 MiB")
            yield BootOption(
                name, f"hugepages={pages}", f"{pages} GiB, which the kernel cannot find in one piece later"
            )
        for option in tuning.kernel_options:
            yield BootOption(name, option, "stated in the manifest")


def boot_kernels(cluster: Cluster) -> Iterator[BootKernel]:
    for node_type in cluster.node_types:
        flavour = node_type.os.fact("kernel_64k_flavour")
        if cluster.of(Tunings).of(node_type).page_size and node_type.os.arch == AARCH64 and flavour:
            why = "pages of 64 KiB: fewer misses of the TLB, as NVIDIA recommends for Grace"
            yield BootKernel(node_type.name, flavour, why)


def firmware(cluster: Cluster) -> Iterator[FirmwareValue]:
    for name, tuning in cluster.of(Tunings).by_type.items():
        if tuning.iommu:
            yield FirmwareValue(name, "iommu", is_on=True)
        if tuning.relaxed_ordering is not None:
            yield FirmwareValue(name, "relaxed-ordering", tuning.relaxed_ordering)


def packages(cluster: Cluster) -> Iterator[Package]:
    from clustergen.features.tuning.files import script  # which validate does not load

    for node_type in cluster.node_types:
        has_64k = node_type.os.arch == AARCH64 and node_type.os.packages("kernel_64k")
        if cluster.of(Tunings).of(node_type).page_size and has_64k:
            yield Package(node_type.group, "kernel_64k")
        if settings := script(cluster, node_type):
            if settings.uses_ethtool:
                yield Package(node_type.group, "ethtool")
            if settings.uses_setpci:
                yield Package(node_type.group, "pci")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("irqbalance.service", "irqbalance")
