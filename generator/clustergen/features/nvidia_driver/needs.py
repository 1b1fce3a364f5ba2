"""Contributions of NVIDIA's driver to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Package, Service, Unit, Variables
from clustergen.cluster.gpu_settings import DriverModule
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


def loads_peermem(cluster: Cluster, node_type: NodeType) -> bool:
    """DMA-BUF, which takes its place, requires the open kernel modules."""
    stated, gpus = cluster.of(DriverModule).peermem, node_type.gpus
    if stated is not None or gpus is None:
        return bool(stated)
    has_rdma = cluster.networks.has_rdma_fabric and bool(node_type.fabric_ports())
    return has_rdma and gpus.driver.kernel_modules == "proprietary"


def packages(cluster: Cluster) -> Iterator[Package]:
    yield Package("gpu_node", "kernel_headers")
    if cluster.has(DirectPci):
        yield Package("gpu_node", "pci")
    for node_type in cluster.gpu_types:
        gpus, group = node_type.gpus, node_type.group
        if gpus is None:
            continue
        if gpus.driver.branch:
            yield Package(group, gpus.driver.purpose("nvidia_pinning"))
        yield Package(group, f"nvidia_driver_{gpus.driver.kernel_modules}")
        if gpus.autodetect == "nvml" and cluster.has(Slurm):
            yield Package(group, "gpu_nvml")
        if has_fabric_manager(node_type):
            yield Package(group, gpus.driver.purpose("nvidia_fabricmanager"))
            if (gpus.model.nvlink_gen or 0) >= _NVLINK_BY_SUBNET_MANAGER:
                yield Package(group, gpus.driver.purpose("nvidia_nvlink5"))


def variables(cluster: Cluster) -> Iterator[Variables]:
    drivers = {kind.group: kind.gpus.driver for kind in cluster.gpu_types if kind.gpus}
    if drivers:
        branches = {group: str(driver.branch) for group, driver in drivers.items() if driver.branch}
        modules = {group: driver.kernel_modules for group, driver in drivers.items()}
        yield Variables("GPUs", {"nvidia_driver_branches": branches or None, "nvidia_kernel_modules": modules})
