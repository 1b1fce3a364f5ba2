"""SSSD for users of an LDAP directory, and what makes the operating system ask it."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, textfile
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.identity.needs import DOMAIN, SERVICES, TEXTFILE, UNIT, USERS
from clustergen.features.identity.resolved import FIRST_SUBORDINATE_ID, FIRST_USER, SUBORDINATE_IDS, Identity
from clustergen.records import record
from clustergen.render.effects import restart, run
from clustergen.render.file import Context, File
from clustergen.render.timers import timed

_ONESHOT = "clustergen-identity.service"
_PROGRAM = "/usr/local/sbin/clustergen-identity"


@record
class Option:
    """A line of sssd.conf, with the reason where it is not the manifest's."""

    name: str
    value: str


@record
class Sssd:
    """sssd.conf. `local`: users that never are in the directory; `domain`: the options of its domain."""

    name: str
    local: tuple[str, ...]
    cached_days: int
    domain: tuple[Option, ...]


@record
class Switch:
    """Values of the program that makes the operating system ask SSSD. `first_uid`: 0 without subordinate IDs."""

    family: str
    make_homes: bool
    first_uid: int
    last_uid: int
    first_subordinate_id: int
    subordinate_ids: int


def of_users(cluster: Cluster, identity: Identity) -> Sssd:
    groups, admins = identity.groups, _admins(cluster)
    return _sssd(cluster, tuple(dict.fromkeys((*groups, *admins))) if groups else None)


def of_services(cluster: Cluster, _: Identity) -> Sssd:
    return _sssd(cluster, _admins(cluster))


def _admins(cluster: Cluster) -> tuple[str, ...]:
    group = cluster.of(NodeLogins).admin_group
    return (group,) if group else ()


def _sssd(cluster: Cluster, groups: tuple[str, ...] | None) -> Sssd:
    """`groups`: whose members may log in; None for everybody."""
    identity = cluster.of(Identity)
    options = {**_server(identity), **_access(groups), **_user(identity)}
    options |= {name: _text(value) for name, value in identity.options.items()}
    local = ("root", "munge", cluster.slurm.user) if cluster.has(Slurm) else ("root",)
    lines = tuple(Option(name, value) for name, value in options.items())
    return Sssd(DOMAIN, tuple(dict.fromkeys(local)), identity.cached_days, lines)


def _server(identity: Identity) -> dict[str, str]:
    scheme = "ldaps" if identity.tls == "ldaps" else "ldap"
    options = {
        "id_provider": "ldap",
        "auth_provider": "ldap",
        "ldap_uri": ", ".join(f"{scheme}://{_host(server)}" for server in identity.servers),
        "ldap_search_base": identity.base,
        "ldap_schema": "rfc2307" if identity.group_members == "memberUid" else "rfc2307bis",
        "ldap_tls_reqcert": "demand",
    }
    if scheme == "ldap":
        options["ldap_id_use_start_tls"] = "true"
    if identity.ca:
        options["ldap_tls_cacert"] = identity.ca
    if identity.bind:
        options["ldap_default_bind_dn"] = identity.bind
    return options | {"ldap_network_timeout": "3", "ldap_opt_timeout": "6"}


def _host(server: str) -> str:
    return f"[{server}]" if server.count(":") > 1 else server


def _access(groups: tuple[str, ...] | None) -> dict[str, str]:
    if groups is None:
        return {"access_provider": "permit"}
    return {"access_provider": "simple", "simple_allow_groups": ", ".join(groups)} if groups else {
        "access_provider": "deny"
    }  # fmt: skip


def _user(identity: Identity) -> dict[str, str]:
    return {
        "min_id": str(FIRST_USER),
        "cache_credentials": "true" if identity.cached_days else "false",
        **({"override_homedir": identity.home} if identity.home else {"fallback_homedir": "/home/%u"}),
        **({"override_shell": identity.shell} if identity.shell else {"default_shell": "/bin/bash"}),
    }


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def program(_: Cluster, __: Identity) -> Context:
    """Runs as a unit."""
    return {"script": _PROGRAM}


def of_node_of_users(_: Cluster, os: OperatingSystem, identity: Identity) -> Switch:
    return _switch(os, identity, makes_homes=identity.make_homes)


def of_service_node(_: Cluster, os: OperatingSystem, identity: Identity) -> Switch:
    return _switch(os, identity, makes_homes=False)


def _switch(os: OperatingSystem, identity: Identity, *, makes_homes: bool) -> Switch:
    first, last = identity.uids or (0, 0)
    return Switch(
        family=os.fact("family"),
        make_homes=makes_homes,
        first_uid=first,
        last_uid=last,
        first_subordinate_id=FIRST_SUBORDINATE_ID,
        subordinate_ids=SUBORDINATE_IDS,
    )


def metrics(cluster: Cluster, os: OperatingSystem, _: Identity, __: NodeExporter) -> Context:
    """Values of the program that reports whether SSSD reaches a server."""
    return {"domain": DOMAIN, "metrics_file": textfile(cluster, os, TEXTFILE)}


_CONF, _VALUES = "etc/sssd/sssd.conf", "etc/clustergen/identity.sh"
FILES: tuple[File, ...] = (
    File(f"{USERS}/{_CONF}", of_users, restart(UNIT), mode=0o600, source=f"all/{_CONF}"),
    File(f"{SERVICES}/{_CONF}", of_services, restart(UNIT), mode=0o600, source=f"all/{_CONF}"),
    File(f"{USERS}/{_VALUES}", of_node_of_users, run(_ONESHOT), values=True, per="os"),
    File(f"{SERVICES}/{_VALUES}", of_service_node, run(_ONESHOT), values=True, per="os"),
    File(f"all{_PROGRAM}", program, run(_ONESHOT), mode=0o755, program="identity/clustergen-identity.sh"),
    File(f"all/etc/systemd/system/{_ONESHOT}", program, run(_ONESHOT)),
    File(f"all/etc/systemd/system/{UNIT}.d/50-clustergen.conf", program, restart(UNIT)),
    *timed("all", "identity/clustergen-directory-metrics.sh", metrics),
)
