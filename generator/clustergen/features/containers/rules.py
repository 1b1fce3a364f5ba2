"""Container runtimes: who becomes root by them, where users' images are, mirrors, networks and releases."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.versions import since
from clustergen.cluster.groups import mounts
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.diagnostics import Finding
from clustergen.features.containers.pyxis_resolved import Pyxis
from clustergen.features.containers.resolved import Apptainer, Docker, Mirrors, OciJobs, Podman
from clustergen.features.containers.section import DOCKER_HUB

_OCI = "oci-run"


def docker_group_is_root(_: Cluster, docker: Docker) -> Iterator[Finding]:
    if (group := docker.group) != "root":
        yield Finding(
            "docker-group-is-root",
            ("containers", "docker", "group"),
            f"members of group '{group}' can become root on these nodes, and use GPUs outside of jobs",
            "use podman for users, and remove `group`: then only root may use Docker",
        )


def podman_storage_shared(cluster: Cluster, podman: Podman) -> Iterator[Finding]:
    if podman.storage:
        return
    for group in cluster.groups:
        if not any(group.has(role) for role in podman.roles):
            continue
        for entry in mounts(cluster, group).values():
            if entry.mount.rstrip("/") == "/home" and entry.is_shared:
                yield Finding(
                    "podman-storage-shared",
                    ("containers", "podman"),
                    f"{group.folded} has /home on {entry.type}, where Podman cannot store images",
                    "set storage to a directory on a local disk, as /raid/podman",
                    key=True,
                )
                return


def mirrors(cluster: Cluster, stated: Mirrors) -> Iterator[Finding]:
    docker = cluster.has(Docker)
    reads_file = cluster.has(Podman) or cluster.has(Apptainer)
    for mirror in stated.mirrors:
        path = ("containers", "mirrors", mirror.registry)
        if not reads_file and not (docker and mirror.registry == DOCKER_HUB):
            yield Finding(
                "container-mirror-unused",
                path,
                f"no runtime of this cluster uses a mirror of {mirror.registry}"
                + (": Docker has mirrors of docker.io only" if docker else ""),
                "remove it, or add podman or apptainer",
                key=True,
            )
        elif docker and mirror.registry == DOCKER_HUB and "/" in mirror.location:
            yield Finding(
                "container-mirror-path",
                path,
                "Docker does not start with a mirror that has a path",
                "give the mirror a host or port of its own",
            )


def oci_release(cluster: Cluster, _: OciJobs) -> Iterator[Finding]:
    if not cluster.slurm.release.has(_OCI):
        yield Finding(
            "slurm-feature-too-new",
            ("containers", "oci_jobs"),
            f"these settings of oci.conf require Slurm {since(_OCI)} or newer; this is {cluster.slurm.release}",
            "remove it",
        )


def user_directories_missing(cluster: Cluster) -> Iterator[Finding]:
    """Directories that a user cannot create: below those of root."""
    podman = cluster.get(Podman)
    uses: dict[tuple[str, ...], object] = {
        ("slurm", "pyxis", "enabled"): cluster.has(Pyxis),
        ("containers", "oci_jobs"): cluster.has(OciJobs),
        ("containers", "podman", "storage"): podman and podman.storage and "slurm-compute" in podman.roles,
    }
    if not cluster.has(Scripts) or cluster.of(Scripts).prolog:
        return
    for path, is_used in uses.items():
        if is_used:
            yield Finding(
                "user-directories-missing",
                path,
                "slurm.scripts.prolog is false, so that nothing creates the directory of a job's user for containers",
                "run /etc/slurm/prolog.d/45-user-directories in your own prolog, or remove `prolog: false`",
            )
