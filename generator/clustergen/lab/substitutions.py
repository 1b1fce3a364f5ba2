"""Substitutions of a lab: what a container cannot provide, and its replacement. Everything else in a lab is real."""

from __future__ import annotations

import platform
import re
import resource
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from posixpath import dirname
from typing import Any

from clustergen.catalogue import slurm
from clustergen.catalogue.operating_systems import AARCH64, X86_64, architectures
from clustergen.catalogue.system_paths import OF_PACKAGES
from clustergen.cluster import contributions
from clustergen.cluster.dcgm import Dcgm
from clustergen.cluster.host import UserLimits
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.associations import Associations
from clustergen.hostlist import names_of
from clustergen.lab import accounting, file_servers, file_systems, mig
from clustergen.records import record
from clustergen.slurmconf.scalars import files_of

Document = dict[str, Any]
_DEVICE = re.compile(r"/dev/nvidia(\d+)")


@record
class Machine:
    """The abilities of this machine for containers."""

    hybrid: bool  # control groups of version 1 hold the controllers
    raises_limits: bool  # of resources, as root as a rule may
    neighbours: Collection[str] = ()  # addresses of nodes of other labs


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


def device_files(cluster: Cluster) -> dict[str, int]:
    """Host → how many files /dev/nvidia* it has: one for each GPU, or as many as its lines of gres.conf number."""
    count = {host: group.type.gpus.count for group in cluster.groups if group.type.gpus for host in group.hosts}
    for line in cluster.slurm.gres_lines or ():
        keys = {key.lower(): str(value) for key, value in line.items()}
        matches = map(_DEVICE.fullmatch, files_of(keys.get("file", "")))
        highest = max((int(match[1]) + 1 for match in matches if match), default=0)
        for host in names_of(keys.get("nodename", "")) if highest else ():
            count[host] = max(highest, count.get(host, 0))
    return count


def _has_gpus(cluster: Cluster, _: Machine) -> bool:
    return bool(device_files(cluster))


def _has_mig(cluster: Cluster, _: Machine) -> bool:
    return cluster.slurm.gres_lines is None and any(any(k.gpus.mig) for k in cluster.gpu_types if k.gpus)


def people(cluster: Cluster) -> list[str]:
    """The users of the manifest's accounts, each once."""
    return sorted({user for account in cluster.of(Associations).accounts.values() for user in account.users} - {"root"})


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


def _daemons(document: Document, cluster: Cluster) -> None:
    needed = ["daemons", *(["accounting", "users"] if cluster.slurm.slurmdbd_hosts else [])]
    document["manage"] = list(dict.fromkeys([*document["manage"], *needed]))


def _always(_: Cluster, __: Machine) -> bool:
    return True


_FIRST: tuple[Substitution, ...] = (
    Substitution(
        "Slurm's daemons and their database, which the manifest does not manage",
        "the cluster has them already, but containers are bare",
        lambda cluster, _: cluster.managed is not None and "daemons" not in cluster.managed,
        edit=_daemons,
    ),
    Substitution(
        "the management network of the nodes' addresses, or addresses in that of --subnet",
        "Slurm's files do not contain it",
        lambda cluster, _: cluster.networks.management.cidr is None,
    ),
    Substitution(
        f"arch: {this_architecture()} on all nodes",
        "containers run programs of this machine's architecture, with its packages and paths",
        _is_foreign,
        edit=_this_architecture,
    ),
    Substitution(
        "slurmdbd and its database on a node of the lab, in place of one outside of the manifest",
        "nodes reach the slurmdbd of another lab, by its address, and no other; a new slurmctld waits for it",
        lambda cluster, machine: accounting.slurmdbd_elsewhere(cluster, machine.neighbours),
        edit=accounting.bring_slurmdbd,
    ),
    Substitution(
        "the accounting database on the first node with slurmdbd, which alone runs it",
        "the database's host is not part of the manifest",
        lambda cluster, _: accounting.database_elsewhere(cluster),
        edit=accounting.bring_database,
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
        "no containers for nodes without an address",
        "they exist only while a cloud runs them, and get their address then",
        lambda cluster, _: any(not group.addresses for group in cluster.groups),
    ),
    Substitution(
        "device files /dev/nvidia* without a driver, and an nvidia-smi that lists them",
        "this machine has no GPUs; GRES allocation, device constraints and scripts are real, computation is not",
        _has_gpus,
        variables=lambda cluster: {
            "cluster_without_units": ["nvidia-*", "dcgm*", "clustergen-cdi.service", "clustergen-dcgm-guard.service"],
            "cluster_without_packages": ["nvidia_*", "dcgm*", "kernel_headers", "gpu_nvml", "mig_manager"],
            "cluster_without_files": ["/etc/modprobe.d/*", "/etc/modules-load.d/*"],
        },
    ),
    Substitution(
        "Prometheus does not read the DCGM exporters of GPUs",
        "they require a driver, and an alert about each would be the lab's own",
        lambda cluster, machine: _has_gpus(cluster, machine) and cluster.has(Dcgm),
        variables=lambda _: {"cluster_without_files": ["/etc/prometheus/sd/dcgm.yml"]},
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
        "no fabric: its interfaces, subnet manager and health check are omitted",
        "this machine has no RDMA hardware; jobs still get the NCCL and UCX settings",
        lambda cluster, machine: cluster.networks.fabric is not None,
        variables=lambda cluster: {
            "cluster_without_units": ["clustergen-fabric-*", "clustergen-roce*", "opensm*", "openibd*", "rdma-*"],
            "cluster_without_packages": ["rdma", "opensm", "doca*"],
            "cluster_without_files": ["/etc/slurm/health.d/40-fabric", "/etc/udev/rules.d/*"],
        },
    ),
)
_LAST: tuple[Substitution, ...] = (
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


def _contributed(cluster: Cluster) -> Iterator[Substitution]:
    """The substitutions that features contribute."""
    for each in cluster.needs(contributions.Substitution):
        yield Substitution(
            each.what,
            each.why,
            _always,
            lambda document, _, edit=each.edit: edit and edit(document),  # type: ignore[misc]
            lambda _, variables=each.variables: variables,  # type: ignore[misc]
        )


def _directories(real: Collection[str]) -> Substitution:
    """In place of all file systems but `real`."""
    excepted = f" except {', '.join(sorted(real))}" if real else ""
    return Substitution(
        f"a directory that the containers share in place of each file system{excepted}; a private one for a local disk",
        "file systems require kernel modules that a container cannot load; mount points, checks and scripts are real",
        lambda cluster, _: bool(file_systems.replaced(cluster)),
        variables=lambda cluster: file_systems.without(cluster, real),
    )


def _limits(cluster: Cluster) -> Substitution:
    """Limits that this machine keeps its processes from raising; one that may raise them has them all."""
    files, locked = (resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_MEMLOCK))
    lower = [f"nofile {files}"] * (0 <= files < cluster.of(UserLimits).nofile)
    lower += [f"memlock {locked // 1024} KiB"] * (locked >= 0)
    return Substitution(
        f"limits of daemons and jobs: at most {' and '.join(lower)}",
        "this machine does not allow its processes more",
        lambda _, machine: bool(lower) and not machine.raises_limits,
    )


def _programs(document: Document, site: Path) -> Substitution:
    """For programs and plugins of slurm.conf that are on the site's nodes, and neither in the tree nor in packages."""
    missing = _missing_programs(document, site)

    def edit(lab: Document, _: Cluster) -> None:
        for key in missing:
            del lab["slurm"]["options"][key]

    keys = ", ".join(f"{key}={value}" for key, value in missing.items())
    return Substitution(
        f"slurm.conf without files that only the nodes have: {keys}",
        "neither the tree nor a package contains them; the lab uses those below site/",
        lambda *_: bool(missing),
        edit=edit,
    )


def _missing_programs(document: Document, site: Path) -> dict[str, str]:
    """Key of slurm.options → value, for those that name a file which containers lack."""
    missing = {}
    for key, value in ((document.get("slurm") or {}).get("options") or {}).items():
        row = slurm.key("slurm.conf", key)
        form = row.program.form if row and row.program else ""
        paths = str(value).split(":" if form == "directories" else ",")
        if form in ("program", "directories") and not all(_is_present(path, site) for path in paths):
            missing[key] = str(value)
    return missing


def _is_present(path: str, site: Path) -> bool:
    """True for a program of a package or of clustergen, and for a site file; a path may be a pattern."""
    is_of_package = dirname(path) in OF_PACKAGES or "/clustergen" in path or not path.startswith("/")
    return is_of_package or any(True for suffix in ("", ".j2") for _ in site.glob(f"*{path}{suffix}"))


def asked(cluster: Cluster, system: str | None, slurm: str | None, *, installed: bool) -> list[Substitution]:
    """The changes that the user requests to the manifest."""

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
        systems = f"{cluster.slurm.release}, build: {cluster.slurm.build}"
        what = f"Slurm {slurm} as the distribution packages it"
        requests.append(Substitution(what, f"--slurm; the manifest has {systems}", _always, another_slurm))
    if installed:
        what = "the packages of all roles, installed on every node; services run where the roles have them"
        requests.append(Substitution(what, "--installed; apply would install those of each node's roles", _always))
    return requests


def chosen(
    cluster: Cluster, machine: Machine, real: Collection[str], document: Document, site: Path
) -> list[Substitution]:
    """The substitutions that this cluster needs on this machine.

    `real`: file systems that the nodes mount. `document`: the manifest. `site`: the directory of the site's own files.
    """
    items = (*_FIRST, _programs(document, site), *_contributed(cluster), *_LAST, _directories(real), _limits(cluster))
    return [item for item in items if item.applies(cluster, machine)]


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
