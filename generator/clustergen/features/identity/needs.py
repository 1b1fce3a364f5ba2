"""Contributions of the directory's users to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import (
    Certificate,
    Exported,
    Group,
    Package,
    Requisite,
    SafeWriter,
    Secret,
    Substitution,
    Unit,
)
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.identity.resolved import Identity

UNIT = "sssd.service"
DOMAIN = "directory"
"""Its name in sssd.conf; SSSD's caches are called by it."""
PASSWORD = "/etc/sssd/conf.d/60-clustergen-bind.conf"
USERS, SERVICES = "identity_users", "identity_services"
"""Groups of nodes: those that users log in to, and all others."""
TEXTFILE = "directory.prom"
METRICS = ("clustergen_directory_online",)
"""Metrics that the script writes."""


def groups(cluster: Cluster) -> Iterator[Group]:
    if cluster.has(Identity):
        roles = cluster.of(Identity).roles
        yield Group(USERS, tuple(group for group in cluster.groups if any(map(group.has, roles))))
        yield Group(SERVICES, tuple(group for group in cluster.groups if not any(map(group.has, roles))))


def secrets(cluster: Cluster) -> Iterator[Secret]:
    if cluster.has(Identity) and cluster.of(Identity).bind:
        form = f"[domain/{DOMAIN}]\nldap_default_authtok = {{}}\n"
        yield Secret("ldap", PASSWORD, ("all",), "root", "0600", "given", form, f"restart:{UNIT}")


def requisites(cluster: Cluster) -> Iterator[Requisite]:
    if ca := _ca(cluster):
        yield Requisite("certificate of the LDAP servers' authority", ("all",), ca)


def certificates(cluster: Cluster) -> Iterator[Certificate]:
    if ca := _ca(cluster):
        yield Certificate(ca)


def packages(cluster: Cluster) -> Iterator[Package]:
    if cluster.has(Identity):
        yield Package("all", "sssd")


def units(cluster: Cluster) -> Iterator[Unit]:
    if cluster.has(Identity):
        yield Unit("all", UNIT)


def exported(cluster: Cluster) -> Iterator[Exported]:
    if cluster.has(Identity) and cluster.has(NodeExporter):
        yield Exported(METRICS)


def writers(cluster: Cluster) -> Iterator[SafeWriter]:
    if cluster.has(Identity) and cluster.has(NodeExporter):
        yield SafeWriter("clustergen-directory-metrics")


def substitutions(cluster: Cluster) -> Iterator[Substitution]:
    if cluster.has(Identity):
        yield Substitution(
            "no directory of users",
            "its servers are outside of the cluster",
            lambda document: document.pop("identity"),
        )


def _ca(cluster: Cluster) -> str | None:
    return cluster.of(Identity).ca if cluster.has(Identity) else None
