"""Container runtimes beside enroot and pyxis: Docker, Podman, Apptainer, Slurm's OCI jobs, and registry mirrors."""

from typing import Annotated, Literal

from clustergen.catalogue.roles import Role
from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, Cidr, Section, SlurmName, Url, field, section, text

Registry = Annotated[
    str, text(r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$", "write the host of the registry, as docker.io")
]
DOCKER_HUB = "docker.io"
_ROLES: tuple[Role, ...] = ("slurm-compute", "login")


class Docker(Section):
    """Docker Engine. Its containers run outside of Slurm's jobs, with rights of root."""

    roles: tuple[Role, ...] = field(("slurm-compute",), "Nodes that get it, by role.")
    group: SlurmName | None = field(
        None, "Group whose members may use Docker; they can become root on these nodes. Default: only root may use it."
    )
    data: AbsolutePath | None = field(None, "Directory of images and containers; default /var/lib/docker.")
    address_pool: Cidr | None = field(
        None,
        "Network from which Docker's bridges get theirs, of /24 each; default: Docker's own, from 172.17.0.0/16 on.",
    )


class Podman(Section):
    """Podman, without a daemon and without root. In jobs, its containers stay within the job's limits."""

    roles: tuple[Role, ...] = field(_ROLES, "Nodes that get it, by role.")
    storage: AbsolutePath | None = field(
        None,
        "Local directory in which each user gets a directory of images and containers; default: the home directory,"
        " which must not be on a network file system.",
    )


class Apptainer(Section):
    """Apptainer: images are files, and containers are processes of the user."""

    roles: tuple[Role, ...] = field(_ROLES, "Nodes that get it, by role.")
    setuid: bool = field(
        False, "Whether its setuid program may mount images; default: user namespaces, without rights of root."
    )
    binds: tuple[AbsolutePath, ...] = field((), "Directories of the node that every container gets.")


class Containers(Section):
    """Container runtimes of nodes; enroot and pyxis are in slurm.pyxis."""

    docker: Annotated[Docker | None, NOT_EMPTY] = field(
        None, "Docker Engine; none unless the section is present, which can be {}."
    )
    podman: Annotated[Podman | None, NOT_EMPTY] = field(
        None, "Podman; none unless the section is present, which can be {}."
    )
    apptainer: Annotated[Apptainer | None, NOT_EMPTY] = field(
        None, "Apptainer; none unless the section is present, which can be {}."
    )
    oci_jobs: Literal["crun", "runc"] | None = field(
        None,
        "Runtime of srun --container, which starts OCI bundles in jobs; the oldest releases of Slurm cannot.",
    )
    mirrors: dict[Registry, Url] = field(
        {}, 'Registry → mirror that is asked first, as {docker.io: "https://registry.example.org:5000"}.'
    )


PLACES = {"containers": (Containers, section(Containers, "Container runtimes."))}
