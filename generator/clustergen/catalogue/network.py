"""Ports that services listen on, and networks that no machine is in."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from clustergen.catalogue.tables import NOTHING, keyed, table
from clustergen.records import record


@record
class Port:
    """One port or range of ports, and who has to reach it."""

    name: str
    port: int
    last: int | None  # of a range
    protocols: tuple[str, ...]
    units: tuple[str, ...]
    """The systemd units behind it, without `.service`; systems may have different names for one."""
    peers: tuple[str, ...]
    """login, compute, controller, storage, monitoring; `site` for people; `none` where only the host itself does."""
    note: str = ""
    unverified: frozenset[str] = NOTHING

    @property
    def span(self) -> str:
        """The port range in the syntax of nft: `988` or `6800-7568`."""
        return f"{self.port}-{self.last}" if self.last else str(self.port)


ports = keyed("ports.tsv", Port, lambda row: row.name)
"""All ports by name, such as `slurmctld` or `dcgm-exporter`."""


@record
class DocumentationNetwork:
    """A network that is reserved for examples."""

    network: str


@cache
def _documentation_networks() -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(row.network) for row in table("documentation_networks.tsv", DocumentationNetwork))


def documentation_network(address: str) -> IPv4Network | IPv6Network | None:
    """The network reserved for examples that an address is in; None for any other address, and for a name."""
    try:
        number = ip_address(address)
    except ValueError:
        return None
    return next((network for network in _documentation_networks() if number in network), None)
