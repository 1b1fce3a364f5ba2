"""Container runtimes as resolved. The record of a runtime that no node gets is absent."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.containers.section import DOCKER_HUB, Containers
from clustergen.records import copied, record


@record
class Docker:
    """Docker Engine."""

    roles: tuple[str, ...]
    group: str
    data: str | None  # None: Docker's own
    address_pool: str | None  # None: Docker's own
    mirror: str | None  # of Docker Hub


@record
class Podman:
    """Podman without root. `storage`: directory of users' images; None: in their home directories."""

    roles: tuple[str, ...]
    storage: str | None


@record
class Apptainer:
    """`setuid`: its program with rights of root may mount images. `binds`: directories that every container gets."""

    roles: tuple[str, ...]
    setuid: bool
    binds: tuple[str, ...]


@record
class OciJobs:
    """Bundles that `srun --container` starts."""

    runtime: str  # crun or runc


@record
class Mirror:
    """A mirror of a registry."""

    registry: str  # that it mirrors
    location: str  # host, port and path
    insecure: bool  # by HTTP


@record
class Mirrors:
    """Mirrors that are asked before their registries. Absent where there are none."""

    mirrors: tuple[Mirror, ...]  # in order of the manifest


def resolve_docker(section: Containers, _: Cluster) -> Docker | None:
    if (docker := section.docker) is None:
        return None
    # Docker asks mirrors for images of Docker Hub only.
    return copied(Docker, docker, group=docker.group or "root", mirror=section.mirrors.get(DOCKER_HUB))


def resolve_podman(section: Containers, _: Cluster) -> Podman | None:
    podman = section.podman
    return Podman(podman.roles, podman.storage and podman.storage.rstrip("/")) if podman else None


def resolve_apptainer(section: Containers, _: Cluster) -> Apptainer | None:
    return copied(Apptainer, section.apptainer) if section.apptainer else None


def resolve_oci_jobs(section: Containers, cluster: Cluster) -> OciJobs | None:
    return OciJobs(section.oci_jobs) if section.oci_jobs and cluster.has(Slurm) else None


def resolve_mirrors(section: Containers, _: Cluster) -> Mirrors | None:
    mirrors = tuple(
        Mirror(registry, url.partition("://")[2].rstrip("/"), url.startswith("http:"))
        for registry, url in section.mirrors.items()
    )
    return Mirrors(mirrors) if mirrors else None


RECORDS = {
    Docker: resolve_docker,
    Podman: resolve_podman,
    Apptainer: resolve_apptainer,
    OciJobs: resolve_oci_jobs,
    Mirrors: resolve_mirrors,
}
