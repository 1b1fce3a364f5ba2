"""Packages for the nodes of each group, by purpose; a system's table has the names of the packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.slurm_values import plugins_by_purpose
from clustergen.cluster.contributions import NodePath, Package, PackageOf
from clustergen.cluster.entry import Entry
from clustergen.cluster.exports import server_of
from clustergen.cluster.groups import clients_of, entry_group, mount_group
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.model import Slurm
from clustergen.render.tree import Outline
from clustergen.render.views.units import units_by_group


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
    purposes = {package.item: package.purpose for package in cluster.needs(PackageOf)}
    for name, units in units_by_group(cluster, outline).items():
        yield from ((name, purposes[unit]) for unit in units if unit in purposes)
    for file in outline.files.values():
        if file.group is not None and file.target in purposes:
            yield file.group, purposes[file.target]
    yield from ((package.group, package.purpose) for package in cluster.needs(Package))


def paths_by_group(cluster: Cluster, outline: Outline) -> dict[str, tuple[str, ...]]:
    """Group → what roles make that is neither a package nor a file of the tree: a node without one is behind."""
    collected: dict[str, list[str]] = {}
    for made in cluster.needs(NodePath):
        collected.setdefault(made.group, []).append(made.path)
    return {name: tuple(paths) for name, paths in collected.items() if name in outline.groups}


def exports(cluster: Cluster) -> list[dict[str, str]]:
    """Exports of nodes of the cluster: `zpool` is the pool that clustergen-zpool creates, or empty."""
    return [
        {
            "name": name,
            "group": entry_group("export", name),
            "path": exported.path,
            "zpool": exported.pool,
        }
        for name, entry in _storage(cluster)
        if (exported := entry.exported()) and server_of(cluster, entry)
    ]


def disks(cluster: Cluster) -> list[dict[str, str]]:
    """Disks of clients: `device` as the manifest has it, a path or LABEL= or UUID=."""
    return [
        {"name": name, "group": mount_group(name), "device": disk.device, "filesystem": disk.filesystem}
        for name, entry in _storage(cluster)
        if (disk := entry.disk()) and clients_of(cluster, name)
    ]


def _storage(cluster: Cluster) -> Iterable[tuple[str, Entry]]:
    return cluster.storage.items() if cluster.manages("storage") else ()


_BY_BRANCH = "_by_branch"  # ends the purposes whose packages have the driver's branch in their names
_BY_RELEASE = "_by_release"  # ends those with another release, which the purpose of each has: cuda_toolkit_12-8


@once_per_cluster
def _branches(cluster: Cluster) -> Mapping[str, Sequence[int]]:
    """Key of a system → driver branches of its node types."""
    by_system: dict[str, set[int]] = {}
    for kind in cluster.gpu_types:
        if kind.gpus and kind.gpus.driver.branch:
            by_system.setdefault(kind.os.key, set()).add(kind.gpus.driver.branch)
    return {key: sorted(branches) for key, branches in by_system.items()}


@once_per_cluster
def _purposes(cluster: Cluster) -> Sequence[str]:
    """Purposes of packages that features ask for."""
    return list(dict.fromkeys(package.purpose for package in cluster.needs(Package)))


def provision(cluster: Cluster, os: OperatingSystem) -> Provision:
    """A system's packages as this cluster wants them: whose Slurm, and which driver branch."""
    cells = {name.removeprefix("package_"): text for name, text in os.facts.items() if name.startswith("package_")}
    origins = {
        name.removeprefix("repository_"): text for name, text in os.facts.items() if name.startswith("repository_")
    }
    repository = {name.removeprefix("schedmd_"): text for name, text in cells.items() if name.startswith("schedmd_")}
    distributed = not cluster.has(Slurm) or from_distribution(cluster, os)
    for purpose, text in repository.items():
        cells.pop(f"schedmd_{purpose}")
        cells[purpose] = cells[purpose] if distributed else text
        # A plugin may have an origin of its own: Debian has that for NVML in contrib.
        origins[purpose] = origins.get(purpose, origins["slurm"]) if distributed else "slurm"
    origins.pop("slurm")
    cells.pop("manager", None)
    branches, requested = _branches(cluster).get(os.key, ()), _purposes(cluster)
    packages: dict[str, list[str]] = {}
    for purpose in requested:
        if plugin := plugins_by_purpose().get(purpose):
            packages[purpose] = list(plugin.packages_beside(os)) if distributed else []
    for name, text in cells.items():
        if (purpose := name.removesuffix(_BY_RELEASE)) != name:
            for one in requested:
                if one.startswith(f"{purpose}_"):
                    packages[one] = text.replace("{release}", one.removeprefix(f"{purpose}_")).split()
                    origins[one] = origins.get(purpose, "")
            continue
        purpose = name.removesuffix(_BY_BRANCH)
        if purpose == name:
            packages[name] = text.split()
            continue
        for branch in branches:
            packages[f"{purpose}_{branch}"] = text.replace("{branch}", str(branch)).split()
            origins[f"{purpose}_{branch}"] = origins.get(purpose, "")
    return Provision(packages, {purpose: origin for purpose, origin in origins.items() if origin})
