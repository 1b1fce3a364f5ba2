"""Which image each node of a lab starts from, and what packages it has."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import yaml

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.diagnostics import ClustergenError
from clustergen.lab import images, substitutions
from clustergen.lab.engine import Engine
from clustergen.lab.model import Lab, Wish
from clustergen.lab.prepare import left_out, purposes
from clustergen.render.views.inventory import os_group


def images_of(lab: Lab, wish: Wish) -> dict[str, str]:
    """Operating system → the image of its nodes: the user's, or the one that is built."""
    packages = packages_of(lab)
    systems = {node_type.os.id: node_type.os for node_type in lab.cluster.node_types}
    return {
        name: wish.images.get(name, wish.images.get("", ""))
        or images.name_of(system, packages[name], installed=wish.installed)
        for name, system in systems.items()
    }


def ensure(engine: Engine, lab: Lab, wish: Wish, report: Callable[[str], None]) -> dict[str, str]:
    """The same; those that have to be made are made side by side."""
    systems = {node_type.os.id: node_type.os for node_type in lab.cluster.node_types}
    packages = packages_of(lab)
    common = packages_of(lab, only_common=True) if wish.installed else packages
    chosen = images_of(lab, wish)
    of_user = [image for image in dict.fromkeys(chosen.values()) if image in wish.images.values()]
    for image in of_user:
        if not images.exists(engine, image):
            report(f"fetching {image}")
            engine.run("pull", image, timeout=600)

    def build(name: str) -> None:
        images.ensure(engine, systems[name], packages[name], common[name], report, installed=wish.installed)

    with ThreadPoolExecutor(2) as pool:
        try:
            list(pool.map(build, (name for name, image in chosen.items() if image not in of_user)))
        except BaseException:
            images.abandon()
            raise
    return chosen


def possible(lab: Lab, wish: Wish) -> None:
    """Raises ClustergenError with exit code 2 where a node's system has no image, or no packages of Slurm's release."""
    cluster = lab.cluster
    systems = sorted({node_type.os.id for node_type in cluster.node_types})
    for name, image in wish.images.items():
        if not image or (name and name not in systems):
            raise ClustergenError(
                f"--image {name}={image}: not an image of {' or '.join(systems)}", "write [OS=]IMAGE", 2
            )
    for node_type in cluster.node_types:
        system = node_type.os
        if not (images.can_make(system) or wish.images.get(system.id) or wish.images.get("")):
            raise ClustergenError(
                f"the lab cannot build an image of {system.id}",
                f"pass --os debian-13 for all nodes, or --image {system.id}=REF, an image with systemd, ssh and Python",
                2,
            )
        minor = system.fact("slurm").rpartition(".")[0]
        if not from_distribution(cluster, system) and "repositories_slurm_url" not in wish.variables:
            built = ", built as SchedMD does" if cluster.slurm.build == "schedmd" else ""
            offer = f"pass --slurm {minor} to use those, or " if SlurmRelease(minor).has("cgroup-v2") else ""
            raise ClustergenError(
                f"the manifest requires Slurm {cluster.slurm.release}{built}; {system.id} has packages of {minor}",
                f"{offer}pass --set repositories_slurm_url=URL, a repository with {cluster.slurm.release} for"
                f" {system.id}",
                2,
            )


def packages_of(lab: Lab, *, only_common: bool = False) -> dict[str, list[str]]:
    """Operating system → packages of the distribution that an image for its nodes has downloaded, or those of them that
    the images of most labs have.
    """
    directory = lab.work.tree / "inventory/group_vars"
    patterns = substitutions.variables(lab.cluster, list(lab.substitutions)).get("cluster_without_packages")
    further = () if only_common else purposes(lab.work)
    needed = {*images.COMMON, *further}.difference(left_out(lab.work, patterns))
    packages = {}
    for node_type in lab.cluster.node_types:
        place = directory / f"{os_group(node_type.os)}.yml"
        names = yaml.safe_load(place.read_text(encoding="utf-8"))["os_packages"] if place.exists() else {}
        packages[node_type.os.id] = sorted({package for purpose in needed for package in names.get(purpose, ())})
    return packages
