"""Substitutions of a lab: what a container cannot provide, and its replacement. Everything else in a lab is real."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

from clustergen import filesystems
from clustergen.catalogue.operating_systems import AARCH64, X86_64, architectures
from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster
from clustergen.cluster.nfs import serves
from clustergen.filesystems.nfs.model import Nfs
from clustergen.lab import file_servers, mig
from clustergen.records import record
from clustergen.render.unit_names import mount_unit

Document = dict[str, Any]


@record
class Machine:
    """What this machine lets containers do."""

    hybrid: bool  # control groups of version 1 hold the controllers


@record
class Substitution:
    """One row of the list. `edit` changes the manifest's document, of that cluster; `variables` go to Ansible."""

    what: str
    why: str
    applies: Callable[[Cluster, Machine], bool]
    edit: Callable[[Document, Cluster], None] = lambda _, __: None
    variables: Callable[[Cluster], Mapping[str, list[str] | bool | int]] = lambda _: {}


def _slurm(document: Document, section: str) -> dict[str, Any]:
    options: dict[str, Any] = document["slurm"].setdefault(section, {})
    return options


def _any_hardware(document: Document, cluster: Cluster) -> None:
    options = _slurm(document, "options")
    # The manifest's own value takes the place of what the tree would say.
    ours = "numa_node_as_socket" if any(group.type.numa_as_socket for group in cluster.compute) else ""
    parameters = str(options.get("SlurmdParameters", ours))
    options["SlurmdParameters"] = ",".join(filter(None, [parameters, "config_overrides"]))


def _devices_only(document: Document, _: Cluster) -> None:
    _slurm(document, "cgroup_options").update(
        ConstrainCores="no", ConstrainRAMSpace="no", ConstrainSwapSpace="no", ConstrainDevices="yes"
    )
    _slurm(document, "accounting")["gather"] = "linux"


def _has_gpus(cluster: Cluster, _: Machine) -> bool:
    return bool(cluster.gpu_types)


def _has_mig(cluster: Cluster, _: Machine) -> bool:
    return cluster.manifest.slurm.gres_lines is None and any(any(k.gpus.mig) for k in cluster.gpu_types if k.gpus)


def people(cluster: Cluster) -> list[str]:
    """The users of the manifest's accounts, each once."""
    return sorted({user for account in cluster.manifest.slurm.accounts.values() for user in account.users} - {"root"})


def file_systems(cluster: Cluster) -> dict[str, str]:
    """Name → mount point of those that no container can mount: all of them, since each takes a kernel module."""
    entries = cluster.manifest.storage.items()
    return {name: entry.mount for name, entry in entries if any(name in mounts(cluster, g) for g in cluster.groups)}


def _volumes(cluster: Cluster) -> Mapping[str, list[str] | bool | int]:
    declared = file_systems(cluster)
    units = [str(mount_unit(mount)) for mount in declared.values()]
    units += [f"clustergen-*-{name}.service" for name in declared]
    kinds = filesystems.file_systems()
    entries = cluster.manifest.storage
    awaited = [name for name in declared if filesystems.file_system(entries[name].type).ready_unit]
    return {
        "cluster_without_units": [*units, *(unit for kind in kinds for unit in kind.lab_units)],
        # systemd finds the shared folders mounted, and needs no units for that.
        "cluster_without_files": [
            *(f"/etc/systemd/system/{unit}" for unit in units),
            *(file for kind in kinds for file in kind.lab_files),
            # slurmd does not wait for what no daemon mounts here.
            *(f"/etc/systemd/system/slurmd.service.d/40-mount-{name}.conf" for name in awaited),
        ],
        "cluster_without_packages": ["kernel_headers", *(purpose for kind in kinds for purpose in kind.lab_packages)],
        "install_storage": False,
    }


def _no_pyxis(document: Document, _: Cluster) -> None:
    document["slurm"]["pyxis"] = {"enabled": False}


def _no_grafana(document: Document, _: Cluster) -> None:
    document["monitoring"]["grafana"] = {"enabled": False}


def this_architecture() -> str:
    """This machine's, as the catalogue names it."""
    machine = {"arm64": AARCH64}.get(platform.machine(), platform.machine())
    return machine if machine in architectures() else X86_64


def _is_foreign(cluster: Cluster, _: Machine) -> bool:
    return any(kind.os.arch != this_architecture() for kind in cluster.node_types)


def _this_architecture(document: Document, _: Cluster) -> None:
    document["arch"] = this_architecture()
    for kind in (document.get("node_types") or {}).values():
        kind["arch"] = this_architecture()


def _always(_: Cluster, __: Machine) -> bool:
    return True


LIST: tuple[Substitution, ...] = (
    Substitution(
        f"arch: {this_architecture()} on all nodes",
        "containers run programs of this machine's architecture, with its packages and paths",
        _is_foreign,
        edit=_this_architecture,
    ),
    Substitution(
        "SlurmdParameters=config_overrides",
        "a container has this machine's CPUs and memory; Slurm sees the hardware of the manifest",
        _always,
        edit=_any_hardware,
    ),
    Substitution(
        "jobs are not confined to cores and memory; slurmd sees cgroup v2 only",
        "this machine uses cgroup v1, which Slurm's cgroup/v2 does not read; devices are confined",
        lambda cluster, machine: machine.hybrid,
        edit=_devices_only,
    ),
    Substitution(
        "no storage servers",
        "their targets are disks, served by kernel modules that no container can load",
        lambda cluster, _: bool(file_servers.hosts(cluster)),
        edit=file_servers.remove,
    ),
    Substitution(
        "device files /dev/nvidia* without a driver, and an nvidia-smi that lists them",
        "this machine has no GPUs; GRES allocation, device constraints and scripts are real, computation is not",
        _has_gpus,
        variables=lambda cluster: {
            "cluster_without_units": ["nvidia-*", "dcgm*", "clustergen-cdi.service"],
            "cluster_without_packages": ["nvidia_*", "dcgm*", "kernel_headers", "gpu_nvml", "mig_manager"],
            "cluster_without_files": ["/etc/modprobe.d/*", "/etc/modules-load.d/*"],
        },
    ),
    Substitution(
        "MIG instances as device files /dev/nvidia-caps/*, listed in gres.conf in place of AutoDetect=nvml",
        "NVML requires GPUs; types, counts and constraints are real, but jobs see no MIG-… names",
        _has_mig,
        edit=mig.by_device_file,
        # slurmd would wait for the program that divides the GPUs.
        variables=lambda _: {"cluster_without_files": ["/etc/systemd/system/slurmd.service.d/60-clustergen-gpu.conf"]},
    ),
    Substitution(
        "a directory that the containers share in place of each file system; a private one for a local disk",
        "file systems require kernel modules that a container cannot load; mount points, checks and scripts are real",
        lambda cluster, machine: bool(file_systems(cluster)),
        variables=_volumes,
    ),
    Substitution(
        "no fabric: its interfaces, subnet manager and health check are omitted",
        "this machine has no RDMA hardware; jobs still get the NCCL and UCX settings",
        lambda cluster, machine: cluster.manifest.networks.fabric is not None,
        variables=lambda cluster: {
            "cluster_without_units": ["clustergen-fabric-*", "clustergen-roce*", "opensm*", "openibd*", "rdma-*"],
            "cluster_without_packages": ["rdma", "opensm", "doca*"],
            "cluster_without_files": ["/etc/slurm/health.d/40-fabric", "/etc/udev/rules.d/*"],
        },
    ),
    Substitution(
        "no pyxis and enroot",
        "they come from their vendors' packages, and enroot requires nested containers",
        lambda cluster, machine: cluster.manifest.slurm.pyxis.enabled,
        edit=_no_pyxis,
    ),
    Substitution(
        "no Docker and Apptainer",
        "Docker requires nested containers, and Apptainer comes from its vendor; Podman is real",
        lambda cluster, machine: bool(cluster.manifest.containers.docker or cluster.manifest.containers.apptainer),
        variables=lambda _: {
            "cluster_without_units": ["docker.service"],
            "cluster_without_packages": ["docker", "apptainer"],
            "cluster_without_files": ["/etc/docker/*", "/etc/apptainer/*", "/etc/systemd/system/docker.socket.d/*"],
        },
    ),
    Substitution(
        "no Grafana",
        "it comes from its vendor's repository; Prometheus, its rules and alerts are real",
        lambda cluster, machine: cluster.manifest.monitoring.active_grafana is not None,
        edit=_no_grafana,
    ),
    Substitution(
        "the users of slurm.accounts, numbered from 2001",
        "in production they come from the site's directory service",
        lambda cluster, _: bool(people(cluster)),
    ),
    Substitution(
        "no reboots, and this machine's kernel settings",
        "containers share the kernel of this machine, which stays unchanged",
        _always,
        variables=lambda cluster: {
            "cluster_reboots": False,
            "packages_cache_age": 10**9,  # the image has the packages
            "cluster_without_files": [
                "/etc/sysctl.d/*",
                "/etc/modprobe.d/*",
                "/etc/modules-load.d/*",
                "/etc/default/grub.d/*",
                "/etc/clustergen/kernel-options",
            ],
            "cluster_without_units": [
                "systemd-modules-load.service",
                "clustergen-gpu-*",
                "clustergen-tuning.service",
                "irqbalance.service",
            ],
        },
    ),
)


def asked(cluster: Cluster, system: str | None, slurm: str | None, *, installed: bool) -> list[Substitution]:
    """What the user wants to be otherwise than in the manifest."""

    def another_system(document: Document, _: Cluster) -> None:
        document["os"] = system
        for kind in (document.get("node_types") or {}).values():
            kind.pop("os", None)

    def another_slurm(document: Document, _: Cluster) -> None:
        document["slurm"].update(version=slurm, build="distribution")

    requests = []
    if system:
        systems = " and ".join(sorted({kind.os.id for kind in cluster.node_types}))
        requests.append(
            Substitution(f"{system} on all nodes", f"--os; the manifest has {systems}", _always, another_system)
        )
    if slurm:
        systems = f"{cluster.release}, build: {cluster.manifest.slurm.build}"
        what = f"Slurm {slurm} as the distribution packages it"
        requests.append(Substitution(what, f"--slurm; the manifest has {systems}", _always, another_slurm))
    if installed:
        what = "the packages of all roles, installed on every node; services run where the roles have them"
        requests.append(Substitution(what, "--installed; apply would install those of each node's roles", _always))
    return requests


def chosen(cluster: Cluster, machine: Machine) -> list[Substitution]:
    return [item for item in LIST if item.applies(cluster, machine)]


def variables(cluster: Cluster, items: list[Substitution]) -> dict[str, list[str] | bool | int]:
    """Ansible's variables; lists of several substitutions are joined."""
    values: dict[str, list[str] | bool | int] = {}
    for item in items:
        for name, value in item.variables(cluster).items():
            have = values.get(name)
            if isinstance(value, list) and isinstance(have, list):
                have += [one for one in value if one not in have]
            else:
                values[name] = list(value) if isinstance(value, list) else value
    return values


def shared_folders(cluster: Cluster) -> dict[str, list[tuple[str, str]]]:
    """Host → (folder, mount point) of what stands for file systems; a local disk's folder is the node's own, and a
    server's is where it serves it too.
    """
    folders: dict[str, list[tuple[str, str]]] = {}
    for name, mount in file_systems(cluster).items():
        entry = cluster.manifest.storage[name]
        for group in cluster.groups:
            places = [mount] if name in mounts(cluster, group) else []
            if isinstance(entry, Nfs) and serves(cluster, group, entry):
                places.append(entry.path)
            for host in group.hosts:
                folder = f"{name}@{host}" if not filesystems.file_system(entry.type).is_shared else name
                folders.setdefault(host, []).extend((folder, place) for place in dict.fromkeys(places))
    return folders
