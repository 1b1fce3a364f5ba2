"""Container runtimes as resolved. The record of a runtime that no node gets is absent."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.containers import DOCKER_HUB
from clustergen.manifest.model import Manifest
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


def resolve_docker(manifest: Manifest, _: Cluster) -> Docker | None:
    section, mirrors = manifest.containers.docker, manifest.containers.mirrors
    if section is None:
        return None
    # Docker asks mirrors for images of Docker Hub only.
    return copied(Docker, section, group=section.group or "root", mirror=mirrors.get(DOCKER_HUB))


def resolve_podman(manifest: Manifest, _: Cluster) -> Podman | None:
    section = manifest.containers.podman
    return Podman(section.roles, section.storage and section.storage.rstrip("/")) if section else None


def resolve_apptainer(manifest: Manifest, _: Cluster) -> Apptainer | None:
    section = manifest.containers.apptainer
    return copied(Apptainer, section) if section else None


def resolve_oci_jobs(manifest: Manifest, _: Cluster) -> OciJobs | None:
    runtime = manifest.containers.oci_jobs
    return OciJobs(runtime) if runtime else None


def resolve_mirrors(manifest: Manifest, _: Cluster) -> Mirrors | None:
    mirrors = tuple(
        Mirror(registry, url.partition("://")[2].rstrip("/"), url.startswith("http:"))
        for registry, url in manifest.containers.mirrors.items()
    )
    return Mirrors(mirrors) if mirrors else None
