"""Users of an LDAP directory, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.features.identity import section as manifest
from clustergen.records import copied, record

SUBORDINATE_IDS = 65536
"""Of a user: what containers need for users of their own, and what useradd grants local ones."""
FIRST_SUBORDINATE_ID = 1 << 30
"""Above the subordinate IDs that useradd grants local users (up to 600,100,000) and those that systemd-nspawn picks."""
LAST_ID = (1 << 31) - 1
"""IDs above are negative numbers to some programs."""
FIRST_USER = 1000


@record
class Identity:
    """Users of an LDAP directory. `uids`: first and last UID of users with subordinate IDs."""

    servers: tuple[str, ...]
    base: str
    bind: str | None
    tls: str
    ca: str | None
    group_members: str
    uids: tuple[int, int] | None
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    home: str | None
    shell: str | None
    make_homes: bool
    cached_days: int
    options: Mapping[str, str | int | bool]


def resolve(section: manifest.Identity, _: Cluster) -> Identity:
    first, _dash, last = (section.uids or "").partition("-")
    return copied(Identity, section, uids=(int(first), int(last)) if section.uids else None)


RECORDS = {Identity: resolve}
