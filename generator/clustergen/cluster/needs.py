"""Contributions of the ground, and of what is no feature yet, to files of others: see `cluster.contributions`."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from clustergen.catalogue.network import ports
from clustergen.cluster.ansible import Ssh
from clustergen.cluster.contributions import BmcAccount, Daemon, Secret, Source, Unit, Variables, ports_of_jobs
from clustergen.cluster.groups import group_name
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, Accounting
from clustergen.cluster.slurm.model import ROLES, Slurm

_BOTH = ("tcp", "udp")
_ALL = "all"


def _catalogued(name: str, group: str, source: Source | None = "cluster", title: str = "") -> Daemon:
    row = ports()[name]
    return Daemon(row.port, None, title or name, group, source, protocols=row.protocols)


def system_daemons(cluster: Cluster) -> Iterator[Daemon]:
    """The firewall's main file opens the port of ssh."""
    ssh = cluster.of(Ssh)
    yield Daemon(ssh.port, ssh.port_at, "sshd", _ALL, None)


def jobs(cluster: Cluster) -> Iterator[Daemon]:
    """Slurm's daemons have these among their own."""
    if cluster.compute and not cluster.has(Slurm):
        yield ports_of_jobs(cluster, "jobs: MPI, NCCL and users' programs")


def variables(cluster: Cluster) -> Iterator[Variables]:
    yield from _bmc_variables(cluster)
    yield from _wake_variables(cluster)
    if not cluster.has(Slurm):
        return
    slurm = cluster.slurm
    yield Variables(
        "Slurm",
        {
            "slurm_release": str(slurm.release),
            "slurm_build": slurm.build,
            "slurm_controllers": list(slurm.controllers),
            "slurm_user": slurm.user,
            "slurm_configless": slurm.configless,
        },
    )


def units(cluster: Cluster) -> Iterator[Unit]:
    """Slurm's daemons that others install: they have to read its files again, or restart, after a change."""
    if not (cluster.has(Slurm) and cluster.manages("slurm")):
        return
    for daemon, part in (("slurmctld", "daemons"), ("slurmd", "daemons"), ("slurmdbd", "accounting")):
        if not cluster.manages(part):
            yield Unit(group_name(ROLES[daemon]), f"{daemon}.service")


def secrets(cluster: Cluster) -> Iterator[Secret]:
    """The password of the database, which slurmdbd.conf includes, MariaDB gets and backups read."""
    if not (cluster.has(Slurm) and any(map(cluster.manages, ("slurm", "accounting", "backups")))):
        return
    slurm = cluster.slurm
    if slurm.accounting_hosts and cluster.of(Accounting).has_password:
        form, effect = "StoragePass={}\n", "restart-slurmdbd"
        yield Secret(
            "slurmdbd",
            PASSWORD_FILE,
            ("slurm_accounting",),
            owner=slurm.user,
            mode="0600",
            origin="given",
            form=form,
            effect=effect,
        )


def _wake_variables(cluster: Cluster) -> Iterator[Variables]:
    """Where the playbook clustergen.cluster.power sends packets that wake nodes; the addresses are with the hosts."""
    block = ip_network(cluster.networks.management.cidr) if cluster.networks.management.cidr else None
    if block is not None and block.version == 4 and any(group.macs for group in cluster.groups):
        yield Variables("Wake-on-LAN", {"wake_broadcast": str(block.broadcast_address)})


def _bmc_variables(cluster: Cluster) -> Iterator[Variables]:
    """The facts that the playbook clustergen.cluster.bmc compares; the addresses are with the hosts."""
    if (network := cluster.networks.bmc) is None:
        return
    block = ip_network(network.cidr) if network.cidr else None
    account = next(iter(cluster.needs(BmcAccount)), None)
    yield Variables(
        "BMCs",
        {
            "bmc_protocol": network.protocol,
            "bmc_netmask": str(block.netmask) if block and block.version == 4 else None,
            "bmc_gateway": network.gateway,
            "bmc_vlan": network.vlan,
            "bmc_user": account.user if account else None,
            "bmc_check_certificates": False if account and not account.check_certificates else None,
        },
    )
