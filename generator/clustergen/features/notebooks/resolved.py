"""Notebooks as resolved: the hub, and where its notebooks run."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.job_site import partition_of
from clustergen.diagnostics import ManifestPath
from clustergen.features.notebooks import section as manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen.units import Bytes

ROLES = ("login", "slurm-controller")
"""Of the node of the hub, which submits jobs: the first that the cluster has is the default."""


@record
class Tls:
    """Files on the node of the hub."""

    SECTIONS = ("NotebooksTls",)
    certificate: str
    key: str


@record
class Notebooks(Listener):
    """JupyterHub."""

    group: str
    host: str
    hub_port: int
    hub_port_at: ManifestPath | None
    address: str  # where browsers reach it, without a slash at its end
    tls: Tls | None
    partitions: tuple[str, ...]
    gpus: tuple[int, ...]
    cpus: int
    memory: Bytes
    max_minutes: int | None  # None: Slurm's limits alone
    idle_minutes: int | None  # None: notebooks are not stopped
    qos: str  # of the jobs; empty: that of the user's account
    backup: str  # directory; empty: no copies of the database
    backup_days: int


def resolve(section: manifest.Notebooks, cluster: Cluster) -> Notebooks:
    host = section.host or next((host for role in ROLES for host in cluster.hosts(role)), "")
    scheme, name = ("https", host) if section.tls else ("http", "localhost")
    return copied(
        Notebooks,
        section,
        port_at=stated_at(section, "notebooks", "port"),
        hub_port_at=stated_at(section, "notebooks", "hub_port"),
        host=host,
        address=(section.url or f"{scheme}://{name}:{section.port}").rstrip("/"),
        tls=copied(Tls, section.tls) if section.tls else None,
        partitions=_partitions(section, cluster),
        gpus=tuple(dict.fromkeys(section.gpus)),
        max_minutes=section.max_time.minutes,
        idle_minutes=section.idle.minutes,
        qos=section.job_qos or "",
        backup=(section.backup or "").rstrip("/"),
    )


def _partitions(section: manifest.Notebooks, cluster: Cluster) -> tuple[str, ...]:
    """The section's partitions that have nodes; the default partition if it lists none."""
    partitions = (partition_of(cluster, name) for name in section.partitions or (None,))
    return tuple(dict.fromkeys(partition.name for partition in partitions if partition))


RECORDS = {Notebooks: resolve}
