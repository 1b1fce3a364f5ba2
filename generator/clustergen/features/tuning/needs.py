"""Contributions of tuning to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import BootOption, FirmwareValue, Package, PackageOf
from clustergen.cluster.model import Cluster
from clustergen.features.tuning.resolved import Tunings


def boot_options(cluster: Cluster) -> Iterator[BootOption]:
    for node_type in cluster.node_types:
        name, tuning = node_type.name, cluster.of(Tunings).of(node_type)
        if tuning.iommu:
            why = "devices access memory without translation; virtual machines still can have devices"
            yield BootOption(name, "iommu=pt", why)
        if pages := tuning.hugepages_1gib:
            yield BootOption(name, "hugepagesz=1G", "pages of the count that follows; the default size stays 2 MiB")
            yield BootOption(
                name, f"hugepages={pages}", f"{pages} GiB, which the kernel cannot find in one piece later"
            )
        for option in tuning.kernel_options:
            yield BootOption(name, option, "stated in the manifest")


def firmware(cluster: Cluster) -> Iterator[FirmwareValue]:
    for name, tuning in cluster.of(Tunings).by_type.items():
        if tuning.iommu:
            yield FirmwareValue(name, "iommu", is_on=True)
        if tuning.relaxed_ordering is not None:
            yield FirmwareValue(name, "relaxed-ordering", tuning.relaxed_ordering)


def packages(cluster: Cluster) -> Iterator[Package]:
    from clustergen.features.tuning.files import script  # which validate does not load

    for node_type in cluster.node_types:
        if settings := script(cluster, node_type):
            if settings.uses_ethtool:
                yield Package(node_type.group, "ethtool")
            if settings.uses_setpci:
                yield Package(node_type.group, "pci")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("irqbalance.service", "irqbalance")
