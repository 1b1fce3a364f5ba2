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
        """A hint that names `count` consecutive addresses that are not in use, the lowest behind one that is: gateways
        and switches often have those before.
        """
        if network is None:
            return "give each host an address of its own"
        if self._used is None:
            self._used = {address_of(text) for text in self._addresses()}
        low, _ = ends(network)
        inside = [number[1] for number in self._used if number and is_inside(number, network)]
        last = self._run(network, min(inside, default=low), count) or self._run(network, low, count)
        if last is not None and count > 1:
            return f"use unused addresses, such as {network[last - low - count + 1]} to {network[last - low]}"
        if last is not None:
            return f"use an unused address, such as {network[last - low]}"
        lacking = f"{count} unused addresses in a row" if count > 1 else "unused address"
        return f"use a larger network: {network} has no {lacking}"

    def _run(self, network: IpNetwork, start: int, count: int) -> int | None:
        """The last of the first `count` addresses in a row from `start` on that are not in use."""
        assert self._used is not None
        low, high = ends(network)
        edge = 1 if network.version == 4 and network.prefixlen < 31 else 0
        length = 0
        for value in range(max(start, low + edge), min(high - edge, start + _MOST_TRIED) + 1):
            length = 0 if (network.version, value) in self._used else length + 1
            if length == count:
                return value
        return None
