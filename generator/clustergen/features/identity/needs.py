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


def groups(cluster: Cluster, identity: Identity) -> Iterator[Group]:
    roles = identity.roles
    yield Group(USERS, tuple(group for group in cluster.groups if any(map(group.has, roles))))
    yield Group(SERVICES, tuple(group for group in cluster.groups if not any(map(group.has, roles))))


def secrets(identity: Identity) -> Iterator[Secret]:
    if identity.bind:
        form = f"[domain/{DOMAIN}]\nldap_default_authtok = {{}}\n"
        yield Secret(
            "ldap", PASSWORD, ("all",), owner="root", mode="0600", origin="given", form=form, effect=f"restart:{UNIT}"
        )


def requisites(identity: Identity) -> Iterator[Requisite]:
    if identity.ca:
        yield Requisite("certificate of the LDAP servers' authority", ("all",), identity.ca)


def certificates(identity: Identity) -> Iterator[Certificate]:
    if identity.ca:
        yield Certificate(identity.ca)


def packages(_: Identity) -> Iterator[Package]:
    yield Package("all", "sssd")


def units(_: Identity) -> Iterator[Unit]:
    yield Unit("all", UNIT)


def exported(_: Identity, __: NodeExporter) -> Iterator[Exported]:
    yield Exported(METRICS)


def writers(_: Identity, __: NodeExporter) -> Iterator[SafeWriter]:
    yield SafeWriter("clustergen-directory-metrics")


def substitutions(_: Identity) -> Iterator[Substitution]:
    yield Substitution(
        "no directory of users",
        "its servers are outside of the cluster",
        lambda document: document.pop("identity"),
    )
