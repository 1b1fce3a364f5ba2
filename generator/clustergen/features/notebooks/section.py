"""Notebooks as written."""

from typing import Annotated

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import (
    NOT_EMPTY,
    AbsolutePath,
    AnyName,
    HostName,
    PortNumber,
    Section,
    Url,
    UserName,
    field,
)
from clustergen.units import Bytes, Minutes


class NotebooksTls(Section):
    """Certificate of JupyterHub's HTTPS."""

    certificate: AbsolutePath = field(..., "File on the node of the hub: the certificate and its chain.")
    key: AbsolutePath = field(..., "File on the node of the hub: the private key, readable by the user jupyterhub.")


class Notebooks(Section):
    """JupyterHub, whose users start notebooks as Slurm jobs. They log in with their password on the hub's node."""

    group: UserName = field(..., "Unix group of the users who may log in; the site creates it.", sample="notebooks")
    host: HostName | None = field(None, "Node of the hub, with the role login or slurm-controller; default: the first.")
    port: PortNumber = field(ports()["jupyterhub"].port, "Port for browsers.")
    hub_port: PortNumber = field(ports()["jupyterhub-hub"].port, "Port of the hub for notebooks on compute nodes.")
    url: Url | None = field(
        None, "URL under which browsers reach the hub, as behind a reverse proxy; default: host name and port."
    )
    tls: Annotated[NotebooksTls | None, NOT_EMPTY] = field(
        None, "HTTPS by the hub itself; default: HTTP on localhost, for a reverse proxy there or an ssh tunnel."
    )
    partitions: tuple[AnyName, ...] = field((), "Partitions to choose from; default: the default partition.")
    gpus: tuple[Annotated[int, Field(ge=0, le=16)], ...] = field(
        (0, 1), "Numbers of GPUs to choose from; each brings its share of CPUs and memory. 0: a notebook without."
    )
    cpus: Annotated[int, Field(ge=1, le=1024)] = field(2, "CPUs of a notebook without GPUs.")
    memory: Bytes = field("8GiB", "Memory of a notebook without GPUs.", validate_default=True)
    max_time: Minutes = field(
        "8h", "Longest run time to choose; Slurm's own limits hold as well.", validate_default=True
    )
    idle: Minutes = field("1h", "Time after which a notebook that nobody uses is stopped.", validate_default=True)
    backup: AbsolutePath | None = field(
        None,
        "Existing directory of the user jupyterhub, mode 0700, for a daily copy of the hub's database; default: none.",
    )
    backup_days: Annotated[int, Field(ge=1, le=3650)] = field(
        14, "Days after which a copy is removed; the last three always stay."
    )
    job_qos: AnyName | None = field(None, "QOS of the jobs, which can limit them; default: that of the user's account.")


PLACES = {
    "notebooks": (
        Annotated[Notebooks | None, NOT_EMPTY],
        field(None, "Notebooks in the browser; none unless the section is present."),
    )
}
