"""Users of an LDAP directory: who could read it, ranges of IDs, and options that have a field."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import JobRuntime
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.identity.resolved import FIRST_SUBORDINATE_ID, FIRST_USER, LAST_ID, SUBORDINATE_IDS
from clustergen.features.identity.section import Identity

_MOST_USERS = (LAST_ID + 1 - FIRST_SUBORDINATE_ID) // SUBORDINATE_IDS
_FIELDS = {
    "id_provider": "",
    "auth_provider": "",
    "access_provider": "groups: [hpc]",
    "simple_allow_groups": "groups: [hpc]",
    "ldap_uri": "servers: [ldap1.example.org]",
    "ldap_search_base": "base: dc=example,dc=org",
    "ldap_default_bind_dn": "bind: cn=reader,dc=example,dc=org",
    "ldap_tls_cacert": "ca: /etc/ssl/ldap.pem",
    "ldap_tls_reqcert": "",
    "ldap_id_use_start_tls": "tls: starttls",
    "ldap_schema": "group_members: member",
    "cache_credentials": "cached_days: 0",
    "override_homedir": "home: /home/%u",
    "fallback_homedir": "home: /home/%u",
    "override_shell": "shell: /bin/bash",
    "default_shell": "shell: /bin/bash",
}
"""Option of the domain → field of the manifest that decides it, with a value; empty: none does."""


def directory_anonymous(_: Cluster, section: Identity) -> Iterator[Finding]:
    if section.bind is None:
        yield Finding(
            "directory-anonymous",
            ("identity",),
            "SSSD reads the directory without an account; most servers answer such a client that there are no users",
            "add bind: cn=reader,dc=example,dc=org, and its password as the secret ldap",
            key=True,
        )


def uids(_: Cluster, section: Identity) -> Iterator[Finding]:
    if section.uids is None:
        return
    first, last = map(int, section.uids.split("-"))
    message = hint = ""
    if last < first:
        message, hint = f"the last UID {last} is before the first, {first}", f"write {last}-{first}"
    elif first < FIRST_USER:
        message = f"UIDs below {FIRST_USER} are those of the operating system"
        hint = f"write {FIRST_USER}-{max(last, FIRST_USER)}"
    elif last >= FIRST_SUBORDINATE_ID:
        message = f"UIDs from {FIRST_SUBORDINATE_ID} on are subordinate IDs"
        hint = f"write {min(first, FIRST_SUBORDINATE_ID - _MOST_USERS)}-{FIRST_SUBORDINATE_ID - 1}"
    elif last - first >= _MOST_USERS:
        message = f"{last - first + 1} UIDs leave less than {SUBORDINATE_IDS} subordinate IDs for each"
        hint = f"write {first}-{first + _MOST_USERS - 1}, {_MOST_USERS} UIDs at most"
    if message:
        yield Finding("value-out-of-range", ("identity", "uids"), message, hint)


def subordinate_ids_missing(cluster: Cluster, section: Identity) -> Iterator[Finding]:
    if section.uids is None and (runtimes := [each.name for each in cluster.needs(JobRuntime) if each.maps_ids]):
        yield Finding(
            "subordinate-ids-missing",
            ("identity",),
            f"users of the directory have no subordinate IDs, which {runtimes[0]} needs for users in containers",
            "add uids: 5000-8999, with the first and the last UID of the directory",
            key=True,
        )


def directory_users_nowhere(cluster: Cluster, section: Identity) -> Iterator[Finding]:
    if not any(any(map(group.has, section.roles)) for group in cluster.groups):
        yield Finding(
            "setting-unused",
            ("identity", "roles"),
            f"no node has one of the roles {', '.join(section.roles)}: no user of the directory can log in",
            "name a role that nodes have",
        )


def directory_option_managed(_: Cluster, section: Identity) -> Iterator[Finding]:
    for name in section.options:
        if name in _FIELDS:
            example = _FIELDS[name]
            yield Finding(
                "directory-option-managed",
                ("identity", "options", name),
                f"clustergen sets {name} itself",
                f"remove it, and write {example} under identity" if example else "remove it",
                key=True,
            )
