"""Recognition of IP addresses among names: both occur in the same lists."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = tuple[int, int]
"""IP version and number."""


def address_of(text: str) -> Address | None:
    """The address that a text is, None where it is none; there may be 65,536 of them, so those alike share the work."""
    head, _, last = text.rpartition(".")
    if last.isdigit() and len(last) < 4 and text.isascii() and (last[0] != "0" or last == "0"):
        network, number = _beginning(head), int(last)
        if network is not None:
            return (4, network + number) if number < 256 else None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.version, int(address)


def addresses_in(hosts_file: str) -> dict[str, str]:
    """The addresses of an /etc/hosts by name; the first line that has a name counts."""
    table: dict[str, str] = {}
    for line in hosts_file.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        for name in names:
            table.setdefault(name, address)
    return table


def is_loopback(address: Address) -> bool:
    """True if only the machine itself can reach it."""
    version, number = address
    return number >> 24 == 127 if version == 4 else number == 1


@lru_cache(maxsize=4096)
def _beginning(text: str) -> int | None:
    """The number of an IPv4 address of which the last part is still to be added."""
    try:
        return int(IPv4Address(f"{text}.0"))
    except ValueError:
        return None


def cidr_problem(text: str) -> tuple[str, str] | None:
    """Message and hint for what is no network; None for one."""
    try:
        wider = ip_network(text, strict=False)
    except ValueError:
        address, _, length = text.partition("/")
        if address_of(address) and length.isdecimal():
            longest = 128 if ":" in address else 32
            return f"/{length} is longer than an address", f"write a prefix length of at most {longest}"
        return f"'{text}' is not an IP network", "write a network address with its prefix length, as 10.0.0.0/24"
    if address_of(text.partition("/")[0]) == (wider.version, int(wider.network_address)):
        return None
    return f"'{text}' is a host address, not a network address", f"did you mean {wider}?"


def host_of(endpoint: str) -> str:
    """The host of `host:port`; an IPv6 address has no port here."""
    return endpoint if endpoint.count(":") > 1 else endpoint.partition(":")[0]
