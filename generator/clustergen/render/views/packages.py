"""Packages for the nodes of each group, by purpose; a system's table has the names of the packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.contributions import Package
from clustergen.cluster.dcgm import Dcgm
from clustergen.cluster.exports import server_of
from clustergen.cluster.features.acceptance import Acceptance
from clustergen.cluster.features.containers import OciJobs
from clustergen.cluster.features.gpu import DirectPci, Driver
from clustergen.cluster.file_system import file_systems
from clustergen.cluster.groups import clients_of, entry_group, mount_group
from clustergen.cluster.interfaces import configured
from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domain_nodes
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.jobs import Pyxis
from clustergen.render.tree import Outline
from clustergen.render.views.host.tuning import tuning_packages
from clustergen.render.views.slurm.containers import PLUGIN
from clustergen.render.views.slurm.power_saving import uses_ipmi
from clustergen.render.views.units import units_by_group

# A unit that is to run comes with the package of this purpose.
_OF_UNIT = {
    "munge.service": "munge",
    "mariadb.service": "mariadb",
    "slurmctld.service": "slurmctld",
    "slurmdbd.service": "slurmdbd",
    "docker.service": "docker",
    "slurmd.service": "slurmd",
    "sackd.service": "sackd",
    "chrony.service": "chrony",
    "chronyd.service": "chrony",
    "prometheus-node-exporter.service": "node_exporter",
    "irqbalance.service": "irqbalance",
    "prometheus.service": "prometheus",
    "prometheus-alertmanager.service": "alertmanager",
    "alertmanager.service": "alertmanager",
    "grafana-server.service": "grafana",
    "nfs-server.service": "nfs_server",
    "rsyslog.service": "rsyslog",
    "clustergen-nftables.service": "nftables",
    "clustergen-disk-metrics.timer": "smartmontools",
    "prometheus-ipmi-exporter.service": "ipmi_exporter",
    "prometheus-blackbox-exporter.service": "blackbox_exporter",
    "prometheus-snmp-exporter.service": "snmp_exporter",
    "opensm.service": "opensm",
    "nvidia-dcgm-exporter.service": "dcgm_exporter",
    "clustergen-dcgm-guard.service": "dcgm_guard",
    "nvidia-fabricmanager.service": "nvidia_fabricmanager",
    "nvidia-imex.service": "nvidia_imex",
    "nvidia-mig-manager.service": "mig_manager",
}
_FABRIC_MANAGER_RENAMED = 580  # driver branch
_NVLINK_BY_SUBNET_MANAGER = 5  # generation of NVLink
_PROGRAMS = ("prometheus", "alertmanager")  # programs that some systems have no package of


class Provision(NamedTuple):
    """One operating system: purpose → packages; and purpose → repository, where it is not the distribution's own."""

    packages: dict[str, list[str]]
    repositories: dict[str, str]


def packages_by_group(cluster: Cluster, outline: Outline) -> dict[str, tuple[str, ...]]:
    """Group → purposes. One that all hosts have is named there alone."""
    packages: dict[str, dict[str, None]] = {name: {} for name in outline.groups}
    for group, purpose in _requested(cluster, outline):
        if group in packages:
            packages[group][purpose] = None
    general = packages.get("all", {})
    return {
        name: purposes
        for name, named in packages.items()
        if (purposes := tuple(purpose for purpose in named if name == "all" or purpose not in general))
    }


def _requested(cluster: Cluster, outline: Outline) -> Iterator[tuple[str, str]]:
    for name, units in units_by_group(cluster, outline).items():
        for unit in units:
            if unit == "nvidia-dcgm.service":
                yield name, f"dcgm_{cluster.of(Dcgm).version[0]}"
            elif unit in _OF_UNIT:
                yield name, _OF_UNIT[unit]
    yield from _slurm(cluster, outline)
    yield from _gpus(cluster)
    yield "fabric_node", "rdma"
    yield from _containers(cluster)
    if configured(cluster):
        yield "all", "network"
    if any(network.bond for network in configured(cluster).values()):
        yield "all", "bond"
    if uses_ipmi(cluster):
        yield "slurm_controller", "ipmitool"
    for node_type in cluster.node_types:
        yield from ((node_type.group, purpose) for purpose in tuning_packages(cluster, node_type))
    yield from _storage(cluster)
    yield "user_node", "virtual_environments"  # for commands of the guide
    yield from ((package.group, package.purpose) for package in cluster.needs(Package))
    if cluster.has(Acceptance):
        yield "slurm_compute", "acceptance"
        yield "slurm_controller", "acceptance"
        if "hpcc" in cluster.of(Acceptance).benchmarks:
            yield "slurm_compute", "hpcc"


def _slurm(cluster: Cluster, outline: Outline) -> Iterator[tuple[str, str]]:
    yield "slurm_node", "slurm_client"
    for file in outline.files.values():
        if file.group is not None and file.target == "/etc/pam.d/sshd":
            yield file.group, "pam_slurm_adopt"
    if cluster.has(Pyxis):
        yield "slurm_node", "compiler"
        yield "slurm_node", "slurm_headers"
        yield "slurm_compute", "enroot"
        yield "gpu_node", "nvidia_container_toolkit"


def _containers(cluster: Cluster) -> Iterator[tuple[str, str]]:
    yield "podman_node", "podman"
    yield "apptainer_node", "apptainer"
    yield "cdi_node", "nvidia_container_toolkit"
    if cluster.has(OciJobs):
        yield "slurm_compute", cluster.of(OciJobs).runtime


def _gpus(cluster: Cluster) -> Iterator[tuple[str, str]]:
    driver = cluster.of(Driver)
    yield "gpu_node", "kernel_headers"
    if driver.branch:
        yield "gpu_node", "nvidia_pinning"
    yield "gpu_node", f"nvidia_driver_{driver.kernel_modules}"
    if cluster.has(DirectPci):
        yield "gpu_node", "pci"
    for node_type in cluster.gpu_types:
        if node_type.gpus is None:
            continue
        if node_type.gpus.autodetect == "nvml":
            yield node_type.group, "gpu_nvml"
        switched = node_type.gpus.nvlink == "nvswitch" and domain_nodes(node_type) == 1
        if switched and (node_type.gpus.model.nvlink_gen or 0) >= _NVLINK_BY_SUBNET_MANAGER:
            yield node_type.group, "nvidia_nvlink5"


def _storage(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for kind in file_systems():
        for purpose in kind.packages:
            yield kind.client_group, purpose
    for name, entry in cluster.storage.items():
        for scope, purpose in entry.packages:
            yield entry_group(scope, name), purpose


def paths_by_group(cluster: Cluster, outline: Outline) -> dict[str, tuple[str, ...]]:
    """Group → what roles make that is neither a package nor a file of the tree: a node without one is behind."""
    collected: dict[str, tuple[str, ...]] = {}
    if cluster.has(Pyxis):
        collected["slurm_node"] = (PLUGIN,)
    collected |= {kind.client_group: kind.paths for kind in file_systems() if kind.paths}
    archived = [
        tuple(f"/usr/local/bin/{name}" for name in _PROGRAMS if group.type.os.fact(f"repository_{name}") == "archive")
        for group in outline.groups.get("monitoring", ())
    ]
    if archived and all(archived):
        collected["monitoring"] = archived[0]
    collected |= {export["group"]: (export["path"],) for export in exports(cluster)}
    return {name: paths for name, paths in collected.items() if name in outline.groups}


def exports(cluster: Cluster) -> list[dict[str, str]]:
    """Exports of nodes of the cluster: `zpool` is the pool that clustergen-zpool creates, or empty."""
    return [
        {
            "name": name,
            "group": entry_group("export", name),
            "path": exported.path,
            "zpool": exported.pool,
        }
        for name, entry in cluster.storage.items()
        if (exported := entry.exported()) and server_of(cluster, entry)
    ]


def disks(cluster: Cluster) -> list[dict[str, str]]:
    """Disks of clients: `device` as the manifest has it, a path or LABEL= or UUID=."""
    return [
        {"name": name, "group": mount_group(name), "device": disk.device, "filesystem": disk.filesystem}
        for name, entry in cluster.storage.items()
        if (disk := entry.disk()) and clients_of(cluster, name)
    ]


def provision(cluster: Cluster, os: OperatingSystem) -> Provision:
    """A system's packages as this cluster wants them: whose Slurm, and which driver branch."""
    cells = {name.removeprefix("package_"): text for name, text in os.facts.items() if name.startswith("package_")}
    origins = {
        name.removeprefix("repository_"): text for name, text in os.facts.items() if name.startswith("repository_")
    }
    repository = {name.removeprefix("schedmd_"): text for name, text in cells.items() if name.startswith("schedmd_")}
    distributed = from_distribution(cluster, os)
    for purpose, text in repository.items():
        cells.pop(f"schedmd_{purpose}")
        cells[purpose] = cells[purpose] if distributed else text
        # A plugin may have an origin of its own: Debian has that for NVML in contrib.
        origins[purpose] = origins.get(purpose, origins["slurm"]) if distributed else "slurm"
    origins.pop("slurm")
    cells.pop("manager", None)
    before = cells.pop("nvidia_fabricmanager_before_580")
    branch = cluster.of(Driver).branch
    if branch and int(branch) < _FABRIC_MANAGER_RENAMED:
        cells["nvidia_fabricmanager"] = before
    packages = {purpose: text.replace("{branch}", branch or "").split() for purpose, text in cells.items()}
    return Provision(packages, {purpose: origin for purpose, origin in origins.items() if origin})
