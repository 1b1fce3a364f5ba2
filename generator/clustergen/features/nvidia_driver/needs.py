"""Contributions of NVIDIA's driver to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package, PackageOf, Service, Unit, Variables
from clustergen.cluster.gpu_settings import Driver
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.nvlink import domain_nodes
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.nvidia_driver.resolved import DirectPci, GpuSettings

FABRIC_MANAGER = "nvidia-fabricmanager.service"
_NVLINK_BY_SUBNET_MANAGER = 5  # generation of NVLink


def has_fabric_manager(node_type: NodeType) -> bool:
    """NVSwitches inside the node need it; those of a rack are run by the switch trays."""
    return node_type.gpus is not None and node_type.gpus.nvlink == "nvswitch" and domain_nodes(node_type) == 1


def units(cluster: Cluster) -> Iterator[Unit]:
    for node_type in filter(has_fabric_manager, cluster.gpu_types):
        yield Unit(node_type.group, FABRIC_MANAGER)


def services(cluster: Cluster) -> Iterator[Service]:
    if cluster.of(GpuSettings).persistence:
        yield Service("gpu_node", "nvidia-persistenced")


def packages(cluster: Cluster) -> Iterator[Package]:
    driver = cluster.of(Driver)
    yield Package("gpu_node", "kernel_headers")
    if driver.branch:
        yield Package("gpu_node", "nvidia_pinning")
    yield Package("gpu_node", f"nvidia_driver_{driver.kernel_modules}")
    if cluster.has(DirectPci):
        yield Package("gpu_node", "pci")
    for node_type in cluster.gpu_types:
        if node_type.gpus is None:
            continue
        if node_type.gpus.autodetect == "nvml" and cluster.has(Slurm):
            yield Package(node_type.group, "gpu_nvml")
        if has_fabric_manager(node_type) and (node_type.gpus.model.nvlink_gen or 0) >= _NVLINK_BY_SUBNET_MANAGER:
            yield Package(node_type.group, "nvidia_nvlink5")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf(FABRIC_MANAGER, "nvidia_fabricmanager")


def variables(cluster: Cluster) -> Iterator[Variables]:
    if cluster.gpu_types:
        driver = cluster.of(Driver)
        values = {"nvidia_driver_branch": driver.branch, "nvidia_kernel_modules": driver.kernel_modules}
        yield Variables("GPUs", values)
