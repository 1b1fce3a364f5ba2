"""Users of an LDAP directory, as written."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.catalogue.roles import Role
from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, Endpoint, OptionName, Section, UserName, field, text

DistinguishedName = Annotated[
    str,
    text(
        r"^[A-Za-z][A-Za-z0-9-]*=[A-Za-z0-9._@ -]+(,[A-Za-z][A-Za-z0-9-]*=[A-Za-z0-9._@ -]+)*$",
        "write a distinguished name without blanks around the commas, as ou=people,dc=example,dc=org",
    ),
]
UserIds = Annotated[str, text(r"^[1-9][0-9]{0,9}-[1-9][0-9]{0,9}$", "write the first and the last UID, as 5000-8999")]
HomeTemplate = Annotated[
    str,
    text(r"^(/([A-Za-z0-9_.-]|%l)+)*/%u$", "write a path that ends in %u, as /home/%u; %l is its first letter"),
]
SssdValue = Annotated[
    str,
    text(
        r"^[A-Za-z0-9_./:=,@%+^~!*()|&<>?$-]([A-Za-z0-9_./:=,@%+^~!*()|&<>?$ -]*[A-Za-z0-9_./:=,@%+^~!*()|&<>?$-])?$",
        "write one line without quotes, brackets, # and ;",
        1023,
    ),
]


class Identity(Section):
    """Users of an LDAP directory, by SSSD on all nodes. The password of `bind` is the secret `ldap`."""

    servers: tuple[Endpoint, ...] = field(
        ...,
        "LDAP servers by the names in their certificates, or host:port, in the order in which they are tried.",
        min_length=1,
        sample="[ldap1.example.org]",
    )
    base: DistinguishedName = field(..., "Where to look for users and groups.", sample="dc=example,dc=org")
    bind: DistinguishedName | None = field(
        None, "Account that reads the directory. Default: none, which few directories allow.",
        examples=["cn=reader,dc=example,dc=org"],
    )  # fmt: skip
    tls: Literal["ldaps", "starttls"] = field("ldaps", "Encryption: TLS from the start, or StartTLS on LDAP's port.")
    ca: AbsolutePath | None = field(
        None,
        "Certificate of the servers' authority, a file on every node; default: those that the operating system trusts.",
    )
    group_members: Literal["memberUid", "member"] = field(
        "memberUid", "How groups list members: memberUid has logins (RFC 2307), member has names (RFC 2307bis)."
    )
    uids: UserIds | None = field(
        None,
        "UIDs of the directory, as 5000-8999: each gets 65,536 subordinate IDs on all nodes, for users in containers.",
    )
    groups: tuple[UserName, ...] = field(
        (), "Groups whose members may log in on nodes of `roles`. Default: all users of the directory."
    )
    roles: tuple[Role, ...] = field(
        ("login", "slurm-compute"), "Nodes that users may log in to, by role; others admit host.admin_group alone."
    )
    home: HomeTemplate | None = field(
        None, "Home directories, as /home/%u. Default: those of the directory, and /home/%u where it has none."
    )
    shell: AbsolutePath | None = field(
        None, "Login shell of all users. Default: that of the directory, and /bin/bash where it has none."
    )
    make_homes: bool = field(
        False,
        "Whether a login on nodes of `roles` creates a missing home directory, for which root needs rights there.",
    )
    cached_days: Annotated[int, Field(ge=0, le=365)] = field(
        2, "Days for which the last password of a user is accepted on a node while no server responds; 0: never."
    )
    options: dict[OptionName, SssdValue | int | bool] = field(
        {}, "Further options of the domain in sssd.conf, as {ldap_user_search_base: ou=people,dc=example,dc=org}."
    )


PLACES = {
    "identity": (
        Annotated[Identity | None, NOT_EMPTY],
        field(None, "Users of an LDAP directory; without the section, clustergen installs none."),
    )
}
