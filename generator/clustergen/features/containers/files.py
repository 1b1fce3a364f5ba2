"""Container runtimes: settings of Docker, Podman and Apptainer, registry mirrors, GPUs by CDI, and Slurm's OCI jobs."""

from __future__ import annotations

import json
from typing import Any

from clustergen.cluster.contributions import ContainerFile, GpuUnit
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.containers.pyxis_resolved import Pyxis
from clustergen.features.containers.resolved import Apptainer, Docker, Mirrors, OciJobs, Podman
from clustergen.records import replace
from clustergen.render.effects import CREATE, DAEMON_RELOAD, Effect, restart, run
from clustergen.render.file import Context, File
from clustergen.render.formats import JSON, SLURM, Safe
from clustergen.render.slurm_files import configuration
from clustergen.render.views.user_directories import SOURCE, UserDirectories

_PROGRAM = "usr/local/sbin/clustergen-user-directories"


DOCKER = "docker.service"
CDI = "clustergen-cdi.service"


def docker(_: Cluster, node_type: NodeType, engine: Docker) -> Context:
    """A JSON file."""
    settings: dict[str, Any] = {
        # Containers keep running while the daemon restarts; their output cannot fill the disk.
        "live-restore": True,
        "log-driver": "local",
    }
    if engine.data:
        settings["data-root"] = engine.data
    if engine.address_pool:
        settings["default-address-pools"] = [{"base": engine.address_pool, "size": 24}]
    if engine.mirror:
        settings["registry-mirrors"] = [engine.mirror]
    if node_type.gpus:
        settings["runtimes"] = {"nvidia": {"path": "nvidia-container-runtime", "args": []}}
    return {"text": Safe(json.dumps(settings, indent=2))}


def docker_socket(cluster: Cluster) -> Context | None:
    """systemd opens Docker's socket, so that the daemon's own setting of its group has no effect."""
    return {"group": cluster.of(Docker).group} if cluster.has(Docker) else None


def registries(cluster: Cluster) -> Mirrors | None:
    return cluster.get(Mirrors)


def enroot_mounts(cluster: Cluster, node_type: NodeType) -> Context | None:
    """A container has its own /etc, so files of it are mounted into it."""
    files = _node_files(cluster, node_type)
    return {"files": files} if files else None


def _node_files(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """Files that containers on the nodes of a type need."""
    if not cluster.has(Pyxis):
        return ()
    return tuple(each.path for each in cluster.needs_by_type(ContainerFile).get(node_type.name, ()))


def podman(cluster: Cluster, node_type: NodeType) -> Context | None:
    """`files`: of the node, that every container gets."""
    return {"files": _node_files(cluster, node_type)} if cluster.has(Podman) else None


def apptainer(cluster: Cluster, node_type: NodeType, runtime: Apptainer) -> Apptainer:
    return replace(runtime, binds=(*_node_files(cluster, node_type), *runtime.binds))


def cdi_unit(cluster: Cluster, node_type: NodeType) -> Context:
    """`after`: units that make the devices."""
    units = [unit.name for unit in cluster.needs_by_type(GpuUnit).get(node_type.name, ()) if unit.makes_devices]
    return {"after": " ".join(("nvidia-persistenced.service", *units))}


def oci_jobs(_: Cluster, oci_jobs: OciJobs) -> Context:
    """`command`: of the runtime, with its options."""
    runtime = oci_jobs.runtime
    # The container stays in the control group that slurmd made for the step.
    manager = " --cgroup-manager=disabled" if runtime == "crun" else ""
    return {"command": f"{runtime} --rootless=true{manager} --root=/run/slurm-oci/%U"}


def podman_storage(_: Cluster, podman: Podman) -> Context | None:
    return {"directory": podman.storage} if podman.storage else None


def at_login(_: Cluster, podman: Podman) -> UserDirectories | None:
    """Directories of Podman's users, which root creates at a login without a job."""
    return UserDirectories(((podman.storage, "USER"),)) if podman.storage else None


def login(_: Cluster, podman: Podman) -> Context | None:
    return {"program": f"/{_PROGRAM}"} if podman.storage else None


FILES: tuple[File, ...] = (
    File("gpu_node/etc/enroot/mounts.d/50-clustergen.fstab", enroot_mounts, per="type"),
    File("docker_node/etc/docker/daemon.json", docker, restart(DOCKER), per="type", format=JSON),
    File("docker_node/etc/systemd/system/docker.socket.d/50-clustergen.conf", docker_socket, restart("docker.socket")),
    File("registry_client/etc/containers/registries.conf.d/50-clustergen.conf", registries),
    File("podman_node/etc/containers/containers.conf.d/50-clustergen.conf", podman, per="type"),
    File("apptainer_node/etc/apptainer/apptainer.conf", apptainer, per="type"),
    File(f"cdi_node/etc/systemd/system/{CDI}", cdi_unit, run(CDI), per="type"),
    *configuration("oci.conf", oci_jobs, Effect("restart-slurmd"), SLURM),
    File("slurm_compute/etc/tmpfiles.d/clustergen-oci.conf", oci_jobs, CREATE),
    File(f"podman_node/{_PROGRAM}", at_login, mode=0o755, program=SOURCE),
    File("podman_node/etc/clustergen/login-directories.sh", at_login, values=True),
    File("podman_node/etc/systemd/system/user-runtime-dir@.service.d/50-clustergen.conf", login, DAEMON_RELOAD),
    File("podman_node/etc/containers/storage.conf", podman_storage),
    File("podman_node/etc/tmpfiles.d/clustergen-podman.conf", podman_storage, CREATE),
)
