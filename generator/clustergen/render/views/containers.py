"""Container runtimes: settings of Docker, Podman and Apptainer, registry mirrors, GPUs by CDI, and Slurm's OCI jobs."""

from __future__ import annotations

import json
from typing import Any

from clustergen.cluster.model import Cluster, NodeType
from clustergen.manifest.containers import DOCKER_HUB
from clustergen.records import record
from clustergen.render.effects import CREATE, Effect, restart, run
from clustergen.render.file import File
from clustergen.render.formats import JSON, SLURM, Safe
from clustergen.render.views.nccl import enroot_mounts
from clustergen.render.views.slurm.placing import configuration

DOCKER = "docker.service"
CDI = "clustergen-cdi.service"


@record
class Document:
    """A JSON file."""

    text: Safe


def docker(cluster: Cluster, node_type: NodeType) -> Document | None:
    spec = cluster.manifest.containers.docker
    if spec is None:
        return None
    settings: dict[str, Any] = {
        # Containers keep running while the daemon restarts; their output cannot fill the disk.
        "live-restore": True,
        "log-driver": "local",
    }
    if spec.data:
        settings["data-root"] = spec.data
    if spec.address_pool:
        settings["default-address-pools"] = [{"base": spec.address_pool, "size": 24}]
    # Docker asks mirrors for images of Docker Hub only.
    if mirror := cluster.manifest.containers.mirrors.get(DOCKER_HUB):
        settings["registry-mirrors"] = [mirror]
    if node_type.gpus:
        settings["runtimes"] = {"nvidia": {"path": "nvidia-container-runtime", "args": []}}
    return Document(Safe(json.dumps(settings, indent=2)))


@record
class Socket:
    group: str


def docker_socket(cluster: Cluster) -> Socket | None:
    """systemd opens Docker's socket, so that the daemon's own setting of its group has no effect."""
    spec = cluster.manifest.containers.docker
    return Socket(spec.group or "root") if spec else None


@record
class Mirror:
    registry: str
    location: str  # host, port and path
    insecure: bool


@record
class Mirrors:
    mirrors: tuple[Mirror, ...]


def registries(cluster: Cluster) -> Mirrors | None:
    mirrors = tuple(
        Mirror(registry, url.partition("://")[2].rstrip("/"), url.startswith("http:"))
        for registry, url in cluster.manifest.containers.mirrors.items()
    )
    return Mirrors(mirrors) if mirrors else None


def _nccl_files(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """Settings of NCCL that containers on the nodes of a type need."""
    files = enroot_mounts(cluster, node_type) if node_type.gpus else None
    return files.files if files else ()


@record
class Podman:
    files: tuple[str, ...]  # of the node, that every container gets


def podman(cluster: Cluster, node_type: NodeType) -> Podman | None:
    return Podman(_nccl_files(cluster, node_type)) if cluster.manifest.containers.podman else None


@record
class Apptainer:
    setuid: bool
    binds: tuple[str, ...]


def apptainer(cluster: Cluster, node_type: NodeType) -> Apptainer | None:
    spec = cluster.manifest.containers.apptainer
    return Apptainer(spec.setuid, (*_nccl_files(cluster, node_type), *spec.binds)) if spec else None


@record
class CdiUnit:
    after: str  # units that make the devices


def cdi_unit(_cluster: Cluster, node_type: NodeType) -> CdiUnit:
    is_split = node_type.gpus is not None and any(node_type.gpus.mig)
    return CdiUnit("nvidia-persistenced.service" + (" nvidia-mig-manager.service" if is_split else ""))


@record
class OciJobs:
    """`command`: of the runtime, with its options."""

    command: str


def oci_jobs(cluster: Cluster) -> OciJobs | None:
    runtime = cluster.manifest.containers.oci_jobs
    if runtime is None:
        return None
    # The container stays in the control group that slurmd made for the step.
    manager = " --cgroup-manager=disabled" if runtime == "crun" else ""
    return OciJobs(f"{runtime} --rootless=true{manager} --root=/run/slurm-oci/%U")


FILES: tuple[File, ...] = (
    File("docker_node/etc/docker/daemon.json", docker, restart(DOCKER), per="type", format=JSON),
    File("docker_node/etc/systemd/system/docker.socket.d/50-clustergen.conf", docker_socket, restart("docker.socket")),
    File("registry_client/etc/containers/registries.conf.d/50-clustergen.conf", registries),
    File("podman_node/etc/containers/containers.conf.d/50-clustergen.conf", podman, per="type"),
    File("apptainer_node/etc/apptainer/apptainer.conf", apptainer, per="type"),
    File(f"cdi_node/etc/systemd/system/{CDI}", cdi_unit, run(CDI), per="type"),
    *configuration("oci.conf", oci_jobs, Effect("restart-slurmd"), SLURM),
    File("slurm_compute/etc/tmpfiles.d/clustergen-oci.conf", oci_jobs, CREATE),
)
