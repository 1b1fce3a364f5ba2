"""Contributions of container runtimes to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import (
    AddressPool,
    Group,
    JobRuntime,
    NodePath,
    Package,
    PackageOf,
    SpankPlugin,
    Substitution,
    Sysctl,
    Use,
    UserDirectory,
    Variables,
    WrittenPath,
)
from clustergen.cluster.directories import SQUATTED
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.containers.pyxis_resolved import PLUGIN, Pyxis
from clustergen.features.containers.resolved import Apptainer, Docker, OciJobs, Podman

_CACHE, _RUNTIME, _DOCKER, _PODMAN = (
    Use(noun, example, SQUATTED, outlives_boot=False, role="slurm-compute", is_private=True)
    for noun, example in (
        ("the cache of enroot", "/var/lib/enroot"),
        ("the directory of pyxis", "/run/pyxis"),
        ("the image store of Docker", "/raid/docker"),
        ("the image store of Podman's users", "/raid/podman"),
    )
)


def groups(cluster: Cluster) -> Iterator[Group]:
    def running(*runtimes: type[Docker | Podman | Apptainer]) -> tuple[NodeGroup, ...]:
        roles = {role for runtime in runtimes if cluster.has(runtime) for role in cluster.of(runtime).roles}
        return tuple(group for group in cluster.groups if any(map(group.has, roles)))

    yield Group("docker_node", running(Docker))
    yield Group("podman_node", running(Podman))
    yield Group("apptainer_node", running(Apptainer))
    yield Group("registry_client", running(Podman, Apptainer))  # they read registries.conf
    with_cdi = (group for group in running(Docker, Podman) if group.type.gpus is not None)
    yield Group("cdi_node", tuple(group for group in with_cdi if group.has("slurm-compute")))


def packages(cluster: Cluster) -> Iterator[Package]:
    if cluster.has(Pyxis):
        yield Package("slurm_node", "compiler")
        yield Package("slurm_node", "slurm_headers")
        yield Package("slurm_compute", "enroot")
        yield Package("gpu_node", "nvidia_container_toolkit")
    yield Package("podman_node", "podman")
    yield Package("apptainer_node", "apptainer")
    yield Package("cdi_node", "nvidia_container_toolkit")
    if cluster.has(OciJobs):
        yield Package("slurm_compute", cluster.of(OciJobs).runtime)


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("docker.service", "docker")


def node_paths(_: Pyxis) -> Iterator[NodePath]:
    yield NodePath("slurm_node", PLUGIN)


def variables(cluster: Cluster, _: Slurm) -> Iterator[Variables]:
    yield Variables("Slurm", {"slurm_pyxis": cluster.has(Pyxis)})


def plugins(pyxis: Pyxis) -> Iterator[SpankPlugin]:
    yield SpankPlugin(PLUGIN, (f"runtime_path={pyxis.runtime_path}", f"container_scope={pyxis.scope}"))


def runtimes(cluster: Cluster) -> Iterator[JobRuntime]:
    if cluster.has(Pyxis):
        yield JobRuntime("pyxis")
    for name, runtime in (("podman", cluster.get(Podman)), ("apptainer", cluster.get(Apptainer))):
        if runtime and "slurm-compute" in runtime.roles:
            yield JobRuntime(name, maps_ids=name == "podman")


def pools(docker: Docker) -> Iterator[AddressPool]:
    if pool := docker.address_pool:
        yield AddressPool("Docker", ("containers", "docker", "address_pool"), pool)


def paths(cluster: Cluster) -> Iterator[WrittenPath]:
    if cluster.has(Docker) and (data := cluster.of(Docker).data):
        yield WrittenPath(("containers", "docker", "data"), data, _DOCKER)
    if cluster.has(Podman) and (storage := cluster.of(Podman).storage):
        yield WrittenPath(("containers", "podman", "storage"), storage, _PODMAN)
    if cluster.has(Pyxis):
        yield WrittenPath(("slurm", "pyxis", "runtime_path"), cluster.of(Pyxis).runtime_path, _RUNTIME)
        yield WrittenPath(("slurm", "pyxis", "cache"), cluster.of(Pyxis).cache, _CACHE)


def sysctls(_: Pyxis) -> Iterator[Sysctl]:
    """The settings that enroot needs; its package has a profile for distributions that restrict user namespaces by
    AppArmor.
    """
    title = "Containers without root"
    why = "enroot starts containers in user namespaces, which hardened systems disable"
    yield Sysctl(title, "user.max_user_namespaces", "65536", why)
    # Only kernels of Debian and Ubuntu know it: the dash keeps others from being an error.
    why = "Debian's switch for user namespaces, if the kernel has it"
    yield Sysctl(title, "-kernel.unprivileged_userns_clone", "1", why, "debian")


def user_directories(cluster: Cluster) -> Iterator[UserDirectory]:
    pyxis = cluster.get(Pyxis)
    cache = pyxis.cache.rstrip("/") if pyxis else ""
    for directory in ("/run/enroot", f"{cache}/cache", f"{cache}/data") if pyxis else ():
        yield UserDirectory(directory, "user-UID")
    if cluster.has(OciJobs):
        yield UserDirectory("/run/slurm-oci", "UID")
    podman = cluster.get(Podman)
    if podman and podman.storage and "slurm-compute" in podman.roles:
        yield UserDirectory(podman.storage, "USER")
    if pyxis:
        yield UserDirectory(pyxis.runtime_path, "", "size=20%,nr_inodes=100k")  # images; what systemd gives /run


def substitutions(cluster: Cluster) -> Iterator[Substitution]:
    if cluster.has(Pyxis):
        yield Substitution(
            "no pyxis and enroot",
            "they come from their vendors' packages, and enroot requires nested containers",
            lambda document: document["slurm"].update(pyxis={"enabled": False}),
        )
    if cluster.has(Docker) or cluster.has(Apptainer):
        yield Substitution(
            "no Docker and Apptainer",
            "Docker requires nested containers, and Apptainer comes from its vendor; Podman is real",
            variables={
                "cluster_without_units": ["docker.service"],
                "cluster_without_packages": ["docker", "apptainer"],
                "cluster_without_files": ["/etc/docker/*", "/etc/apptainer/*", "/etc/systemd/system/docker.socket.d/*"],
            },
        )
