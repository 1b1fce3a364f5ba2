"""The addresses that hosts of a network can have, and those that no host has yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TypeAlias

from clustergen.hostlist.addresses import Address, address_of

IpNetwork: TypeAlias = IPv4Network | IPv6Network
_MOST_TRIED = 262_144


def network_of(text: str | None) -> IpNetwork | None:
    return ip_network(text) if text else None


def ends(network: IpNetwork) -> tuple[int, int]:
    return int(network.network_address), int(network.broadcast_address)


def is_inside(number: Address, network: IpNetwork) -> bool:
    low, high = ends(network)
    return number[0] == network.version and low <= number[1] <= high


def host_range(network: IpNetwork) -> str:
    """The first and the last address that a host can have there."""
    edge = 1 if network.version == 4 and network.prefixlen < 31 else 0
    return f"{network.network_address + edge} to {network.broadcast_address - edge}"


class Unused:
    """Addresses that are not in use. `addresses` lists those in use; it is called only after a mistake."""

    def __init__(self, addresses: Callable[[], Iterable[str]]) -> None:
        self._addresses = addresses
        self._used: set[Address | None] | None = None

    def hint(self, network: IpNetwork | None, count: int) -> str:
        """A hint that names the lowest `count` consecutive addresses that are not in use."""
        if network is None:
            return "give each host an address of its own"
        if self._used is None:
            self._used = {address_of(text) for text in self._addresses()}
        low, high = ends(network)
        edge = 1 if network.version == 4 and network.prefixlen < 31 else 0
        length = 0
        for value in range(low + edge, min(high - edge, low + _MOST_TRIED) + 1):
            length = 0 if (network.version, value) in self._used else length + 1
            if length == count:
                first, last = network[value - low - count + 1], network[value - low]
                return (
                    f"use unused addresses, such as {first} to {last}"
                    if count > 1
                    else f"use an unused address, such as {last}"
                )
        lacking = f"{count} unused addresses in a row" if count > 1 else "unused address"
        return f"use a larger network: {network} has no {lacking}"
