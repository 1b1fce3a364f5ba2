"""Contributions of Slurm's daemons to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm_values
from clustergen.cluster.contributions import (
    Daemon,
    Package,
    PackageOf,
    Repository,
    SafeWriter,
    Secret,
    Service,
    Source,
    Unit,
    ports_of_jobs,
    range_of_ports,
)
from clustergen.cluster.directories import state_is_mounted
from clustergen.cluster.groups import group_name
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.cluster.slurm.model import ROLES

_EPHEMERAL = "32768-60999"  # ip_local_port_range of Linux: srun listens there if it has no range of its own


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    slurm = cluster.slurm
    for name, daemon in slurm.daemons.items():
        yield Daemon(daemon.port, daemon.port_at, name, group_name(ROLES[name]))
    slurmd = slurm.daemons["slurmd"].port
    stated = {str(group.slurm_options["Port"]) for group in cluster.compute if "Port" in group.slurm_options}
    spans = {span for text in stated for span in text.strip("[]").split(",")}  # Port=[7001-7003]: one for each host
    for span in sorted(spans - {str(slurmd)}):
        yield range_of_ports("slurmd", "slurm_compute", span)
    srun = slurm.srun_ports or _EPHEMERAL
    yield range_of_ports("srun, salloc", "slurm_controller", srun)
    yield ports_of_jobs(cluster, "jobs: srun, MPI, NCCL and users' programs")
    if all(group.addresses for group in cluster.compute):
        callers: Source = (
            "controllers" if all(group.addresses for group in cluster.with_role("slurm-controller")) else "cluster"
        )
        yield range_of_ports("slurmctld to srun of jobs", "slurm_compute", srun, callers)
    yield range_of_ports("srun, salloc", "login", srun)
    yield Daemon(slurmd, slurm.daemons["slurmd"].port_at, "sackd", "sackd_node")


def units(cluster: Cluster) -> Iterator[Unit]:
    if cluster.slurm.auth == "munge":
        yield Unit("slurm_node", "munge.service")
        yield Unit("slurm_accounting", "munge.service")
    for daemon in ("slurmctld", "slurmd"):
        yield Unit(group_name(ROLES[daemon]), f"{daemon}.service")


def services(_: Cluster) -> Iterator[Service]:
    yield Service("sackd_node", "sackd")


_OF_UNIT = {
    "munge.service": "munge",
    "slurmctld.service": "slurmctld",
    "slurmd.service": "slurmd",
    "sackd.service": "sackd",
}


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    for item, purpose in _OF_UNIT.items():
        yield PackageOf(item, purpose)


def packages(cluster: Cluster) -> Iterator[Package]:
    yield Package("slurm_node", "slurm_client")
    for key, purpose in _plugins(cluster, "slurm.conf"):
        yield Package("slurm_node", purpose)
        if key.startswith("Auth"):  # who has a token asks slurmdbd as well
            yield Package("slurm_accounting", purpose)
    for _, purpose in _plugins(cluster, "slurmdbd.conf"):
        yield Package("slurm_accounting", purpose)


def _plugins(cluster: Cluster, file: str) -> Iterator[tuple[str, str]]:
    """Keys with purposes of plugins that the daemons' packages of a distribution lack."""
    systems = {group.type.os.key: group.type.os for group in cluster.groups}.values()
    distributed = [os for os in systems if from_distribution(cluster, os)]
    for setting in settings_of(cluster, file).rows:
        for value in setting.value.split(",") if slurm_values.has_plugins(setting.key) else ():
            plugin = slurm_values.plugin(setting.key, value)
            if plugin and any(plugin.packages_beside(os) for os in distributed):
                yield setting.key, plugin.purpose


def repositories(_: Cluster) -> Iterator[Repository]:
    yield Repository("slurm")


def safe_writers(cluster: Cluster) -> Iterator[SafeWriter]:
    if state_is_mounted(cluster):
        yield SafeWriter("slurmctld")


def secrets(cluster: Cluster) -> Iterator[Secret]:
    slurm = cluster.slurm
    members = ("slurm_node", "slurm_accounting") if slurm.accounting_hosts else ("slurm_node",)
    if slurm.auth == "munge":
        yield Secret("munge", "/etc/munge/munge.key", members, owner="munge", mode="0400", origin="made")
    else:
        yield Secret("slurm", "/etc/slurm/slurm.key", members, owner=slurm.user, mode="0600", origin="made")
    if path := _jwt_key(cluster):
        yield Secret("jwt", path, ("slurm_controller", *members[1:]), owner=slurm.user, mode="0600", origin="made")


def _has_jwt(cluster: Cluster) -> bool:
    """True if slurm.conf lets users authenticate by tokens."""
    return "auth/jwt" in settings_of(cluster, "slurm.conf").text("AuthAltTypes").split(",")


def _jwt_key(cluster: Cluster) -> str | None:
    """Where slurm.conf names the key of auth/jwt; None where that is not used."""
    words = settings_of(cluster, "slurm.conf").text("AuthAltParameters").split(",") if _has_jwt(cluster) else ()
    return next((word.removeprefix("jwt_key=") for word in words if word.startswith("jwt_key=")), None)
