"""Another management network for a lab: every address of the manifest that lies in the old one moves along."""

from __future__ import annotations

import ipaddress
from typing import Any, TypeAlias

from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import HostlistError, compress, expand
from clustergen.lab.scale import Document

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def network(text: str, what: str) -> Network:
    """Raises ClustergenError with exit code 2 where the text is no network."""
    try:
        return ipaddress.ip_network(text)
    except ValueError as err:
        raise ClustergenError(f"{what}: {err}", "write a network as 10.89.7.0/24", 2) from None


def management(document: Document) -> Network:
    """The management network of a manifest. Raises ClustergenError with exit code 2 where it has none."""
    cidr = document["networks"]["management"].get("cidr")
    if not cidr:
        hint = "set networks.management.cidr, and address of every node"
        raise ClustergenError("the manifest has no management network", hint, 2)
    return network(cidr, "networks.management.cidr")


def moved(document: Document, new: Network) -> Document:
    """A copy in which the management network is `new`.

    An address keeps its distance from the network's first, or from its last where the new one is smaller. Raises
    ClustergenError with exit code 2 where one has no place.
    """
    old = management(document)
    result = _moved(document, old, new)
    assert isinstance(result, dict)
    return result


def addressed(document: Document, subnet: str | None) -> Document:
    """A copy that has a management network, as a manifest made of Slurm's files has none: the smallest from /24 to /16
    with the addresses of its nodes, or `subnet`, of which nodes without an address get one.

    Raises ClustergenError with exit code 2 where the addresses lie apart, or nodes have none and `subnet` is None.
    """
    entries = [{**entry, "name": str(entry["name"])} for entry in document["nodes"]]
    has = [ipaddress.ip_address(one) for entry in entries if "address" in entry for one in expand(entry["address"])]
    if len(has) == sum(len(expand(entry["name"])) for entry in entries):
        networks = (ipaddress.ip_network((has[0].packed, prefix), strict=False) for prefix in range(24, 15, -1))
        around = next((one for one in networks if all(address in one for address in has)), None)
    else:
        around = network(subnet, f"--subnet {subnet}") if subnet else None
    if around is None:
        hint = "pass --subnet 10.99.0.0/24, or set networks.management.cidr and address of every node"
        raise ClustergenError("the manifest has no management network, and its nodes have no addresses in one", hint, 2)
    free = (str(one) for one in around.hosts() if one not in has)
    for entry in entries:
        if "address" not in entry:
            names = expand(entry["name"])
            chosen = [next(free, "") for _ in names]
            if "" in chosen:
                raise ClustergenError(f"{around} has no addresses for all nodes", "pass a larger --subnet", 2)
            entry["address"] = compress(chosen)
    stated = document["networks"]
    management = {**stated["management"], "cidr": str(around)}
    return {**document, "nodes": entries, "networks": {**stated, "management": management}}


def gateway(document: Document, taken: set[str]) -> str:
    """The bridge's own address: the manifest's gateway, else the last of the network that no node has."""
    inside = management(document)
    stated = document["networks"]["management"].get("gateway")
    if stated and stated not in taken and ipaddress.ip_address(stated) in inside:
        return str(stated)
    last = int(inside.broadcast_address) - 1
    for number in range(last, int(inside.network_address), -1):
        if (text := str(type(inside.network_address)(number))) not in taken:
            return text
    raise ClustergenError(f"{inside} has no free address for the bridge", "pass a larger network with --subnet", 2)


def _moved(value: Any, old: Network, new: Network) -> Any:
    if isinstance(value, dict):
        return {_moved(key, old, new): _moved(item, old, new) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_moved(item, old, new) for item in value]
    return _text(value, old, new) if isinstance(value, str) else value


def _text(text: str, old: Network, new: Network) -> str:
    if text == str(old):
        return str(new)
    if "/" in text:
        return _prefix(text, old, new)
    if not text[:1].isalnum() or not ("." in text or ":" in text):
        return text
    try:
        addresses = [ipaddress.ip_address(item) for item in expand(text)]
    except (ValueError, HostlistError):
        return text
    if not any(item in old for item in addresses):
        return text
    return compress(str(_shifted(item, old, new)) if item in old else str(item) for item in addresses)


def _prefix(text: str, old: Network, new: Network) -> str:
    """A part of the network, as 10.0.0.11/32 or 10.0.0.128/25, keeps its place in it; one that would lie outside
    becomes all of the new network. What is no part of the old one stays.
    """
    try:
        part = ipaddress.ip_network(text)
    except ValueError:
        return text
    if part.network_address not in old or part.prefixlen < old.prefixlen:
        return text
    if part.num_addresses == 1:
        return f"{_shifted(part.network_address, old, new)}/{part.prefixlen}"
    first = int(new.network_address) + int(part.network_address) - int(old.network_address)
    network = ipaddress.ip_network((type(new.network_address)(first).packed, part.prefixlen), strict=False)
    return str(network) if network.network_address in new and network.prefixlen >= new.prefixlen else str(new)


def _shifted(address: Address, old: Network, new: Network) -> Address:
    number = int(address) - int(old.network_address)
    if number >= new.num_addresses - 1:  # gateways and the like sit at the end of a network
        number -= old.num_addresses - new.num_addresses
    moved_address = type(new.network_address)(int(new.network_address) + number) if number > 0 else None
    if moved_address is None or moved_address not in new:
        raise ClustergenError(f"{address} does not fit into {new}", f"pass a network as large as {old}", 2)
    return moved_address
