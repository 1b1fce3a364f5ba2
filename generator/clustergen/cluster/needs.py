"""Contributions of the ground, and of what is no feature yet, to files of others: see `cluster.contributions`."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from clustergen.catalogue.network import ports
from clustergen.cluster.ansible import Ssh
from clustergen.cluster.contributions import (
    BmcAccount,
    Daemon,
    NodePath,
    Package,
    Repository,
    Secret,
    Source,
    Variables,
    ports_of_jobs,
    range_of_ports,
)
from clustergen.cluster.entry import SecretFile
from clustergen.cluster.exports import server_of
from clustergen.cluster.file_system import file_systems
from clustergen.cluster.groups import clients_of, entry_group, mount_group
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, Accounting
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.cluster.slurm.model import Slurm
from clustergen.records import replace

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


def storage_daemons(cluster: Cluster) -> Iterator[Daemon]:
    for name, entry in cluster.storage.items():
        for row in entry.listening(cluster.storage):
            daemon = range_of_ports(row.service, entry_group(row.scope, name), row.ports)
            yield replace(daemon, protocols=row.protocols, networks=row.networks)


def repositories(_: Cluster) -> Iterator[Repository]:
    for kind in file_systems():
        yield from map(Repository, kind.repositories)


def packages(cluster: Cluster) -> Iterator[Package]:
    for kind in file_systems():
        for purpose in kind.packages:
            yield Package(kind.client_group, purpose)
    for name, entry in cluster.storage.items():
        for scope, purpose in entry.packages:
            yield Package(entry_group(scope, name), purpose)


def paths(cluster: Cluster) -> Iterator[NodePath]:
    for kind in file_systems():
        for path in kind.paths:
            yield NodePath(kind.client_group, path)
    for name, entry in cluster.storage.items():
        if (exported := entry.exported()) and server_of(cluster, entry):
            yield NodePath(entry_group("export", name), exported.path)


def secrets(cluster: Cluster) -> Iterator[Secret]:
    if cluster.has(Slurm):
        yield from _secrets_of_slurm(cluster)
    for name, entry in cluster.storage.items():
        if (file := entry.secret) and clients_of(cluster, name):
            servers = (entry_group("serve", name),) if entry.server_hosts else ()
            yield Secret(name, file.path, (mount_group(name), *servers), "root", file.mode, "given")
    yield from _secrets_of_servers(cluster)


def _secrets_of_slurm(cluster: Cluster) -> Iterator[Secret]:
    slurm = cluster.slurm
    members = ("slurm_node", "slurm_accounting") if slurm.accounting_hosts else ("slurm_node",)
    if slurm.auth == "munge":
        yield Secret("munge", "/etc/munge/munge.key", members, "munge", "0400", "made")
    else:
        yield Secret("slurm", "/etc/slurm/slurm.key", members, slurm.user, "0600", "made")
    if path := _jwt_key(cluster):
        yield Secret("jwt", path, ("slurm_controller", *members[1:]), slurm.user, "0600", "made")
    if slurm.accounting_hosts and cluster.of(Accounting).has_password:
        form, effect = "StoragePass={}\n", "restart-slurmdbd"
        yield Secret("slurmdbd", PASSWORD_FILE, ("slurm_accounting",), slurm.user, "0600", "given", form, effect)


def _secrets_of_servers(cluster: Cluster) -> Iterator[Secret]:
    """Each once, for the servers of all entries that have it."""
    groups: dict[tuple[str, SecretFile], list[str]] = {}
    for name, entry in cluster.storage.items():
        for secret in entry.server_secrets:
            groups.setdefault(secret, []).append(entry_group("serve", name))
    for (name, file), members in groups.items():
        yield Secret(name, file.path, tuple(members), "root", file.mode, "given")


def _jwt_key(cluster: Cluster) -> str | None:
    """Where slurm.conf names the key of auth/jwt; None where that is not used."""
    conf = settings_of(cluster, "slurm.conf")
    if "auth/jwt" not in conf.text("AuthAltTypes").split(","):
        return None
    words = conf.text("AuthAltParameters").split(",")
    return next((word.removeprefix("jwt_key=") for word in words if word.startswith("jwt_key=")), None)


def variables(cluster: Cluster) -> Iterator[Variables]:
    yield from _bmc_variables(cluster)
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
