"""Secrets that nodes need and the tree never holds: where each lies, whose it is, and who makes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from clustergen.cluster.entry import SecretFile
from clustergen.cluster.features.monitoring import Alertmanager, Grafana, Snmp
from clustergen.cluster.groups import clients_of, entry_group, mount_group
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, Accounting
from clustergen.records import record
from clustergen.render.views import grafana, probes
from clustergen.render.views.slurm.power_saving import BMC_PASSWORD, needs_password


@record
class Secret:
    """One file. `origin`: made at random when the tree is applied, or given by the site (Ansible Vault).

    `form`: the file's text around a given secret; `effect`: what another one takes, as in the lock file.
    """

    name: str
    path: str
    groups: tuple[str, ...]
    owner: str
    mode: str
    origin: Literal["made", "given"]
    form: str = "{}"
    effect: str = "none"


def secrets(cluster: Cluster) -> Iterator[Secret]:
    """All of them, in the order in which they are needed."""
    slurm = cluster.slurm
    members = ("slurm_node", "slurm_accounting") if slurm.accounting_hosts else ("slurm_node",)
    if slurm.auth == "munge":
        yield Secret("munge", "/etc/munge/munge.key", members, "munge", "0400", "made")
    else:
        yield Secret("slurm", "/etc/slurm/slurm.key", members, slurm.user, "0600", "made")
    if path := _jwt_key(cluster):
        yield Secret("jwt", path, ("slurm_controller", *members[1:]), slurm.user, "0600", "made")
    if needs_password(cluster):
        yield Secret("bmc", BMC_PASSWORD, ("slurm_controller",), slurm.user, "0400", "given")
    if slurm.accounting_hosts and cluster.of(Accounting).has_password:
        form = "StoragePass={}\n"
        yield Secret(
            name="slurmdbd",
            path=PASSWORD_FILE,
            groups=("slurm_accounting",),
            owner=slurm.user,
            mode="0600",
            origin="given",
            form=form,
            effect="restart-slurmdbd",
        )
    for name, entry in cluster.storage.items():
        if not clients_of(cluster, name):
            continue
        if file := entry.secret:
            servers = (entry_group("serve", name),) if entry.server_hosts else ()
            yield Secret(name, file.path, (mount_group(name), *servers), "root", file.mode, "given")
    if cluster.has(Alertmanager):
        for name, receiver in cluster.of(Alertmanager).receivers.items():
            for path in (receiver.webhook_url_file, receiver.slack_url_file):
                if path:
                    yield Secret(f"alerts-{name}", path, ("monitoring",), "prometheus", "0400", "given")
    yield from _of_servers(cluster)
    if cluster.has(Grafana):
        yield Secret(grafana.SECRET, grafana.PASSWORD, ("monitoring",), "grafana", "0400", "given")
    if cluster.has(Snmp):
        path, effect = probes.SNMP_AUTHS, f"restart:{probes.SNMP}"
        yield Secret(probes.SNMP_SECRET, path, ("monitoring",), "prometheus", "0400", "given", effect=effect)


def _of_servers(cluster: Cluster) -> Iterator[Secret]:
    """Each once, for the servers of all entries that have it."""
    groups: dict[tuple[str, SecretFile], list[str]] = {}
    for name, entry in cluster.storage.items():
        for secret in entry.server_secrets:
            groups.setdefault(secret, []).append(entry_group("serve", name))
    for (name, file), members in groups.items():
        yield Secret(name, file.path, tuple(members), "root", file.mode, "given")


def _jwt_key(cluster: Cluster) -> str | None:
    """Where slurm.conf names the key of auth/jwt; None where that is not used."""
    options = cluster.slurm.options
    if "auth/jwt" not in str(options.get("AuthAltTypes", "")).split(","):
        return None
    words = str(options.get("AuthAltParameters", "")).split(",")
    return next((word.removeprefix("jwt_key=") for word in words if word.startswith("jwt_key=")), None)
