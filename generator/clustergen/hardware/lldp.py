"""Reads what lldpd knows of a machine's neighbours: `lldpcli show neighbors -f json`, a file per host or switch.

lldpcli writes lists of one entry as the entry itself and names as keys; `-f json0` always writes lists. Both are read.
The name of a file, without .json, is the host whose neighbours it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clustergen.diagnostics import Diagnostic, Place
from clustergen.hardware.discovery.plain import json_of
from clustergen.hardware.model import ADAPTER, SWITCH, Device, End, Facts, Link
from clustergen.regular_file import reason_of

MOST_BYTES = 4 << 20
MOST_BYTES_OF_ALL = 128 << 20
MOST_LINKS = 200_000
_MANAGEMENT = re.compile(r"(?:eth|ma|mgmt|Management)\d(?:/\d)*")  # of a switch, beside its front ports
_FRONT_PORT = re.compile(r"swp(\d{1,4})(?:s(\d))?")
HINT = "run lldpcli show neighbors -f json on each host, and save its output as HOST.json"


def read(files: Mapping[str, bytes], name: str, hosts: frozenset[str]) -> tuple[Facts | None, list[Diagnostic]]:
    """The links that the files name. `hosts` are the nodes: any other name is a switch's."""
    devices: dict[str, Device] = {}
    links: dict[frozenset[End], Link] = {}
    diagnostics: list[Diagnostic] = []
    sources = set()
    size = 0
    for host in sorted(files):
        file = f"{name}/{host}.json" if len(files) > 1 or not name.endswith(".json") else name
        try:
            if not host.partition(".")[0]:
                raise ValueError("the name of the file names no host")
            raw = files[host]  # a directory reads the file now, so that one is held at a time
            size += len(raw)
            pairs = list(_neighbours(raw)) if size <= MOST_BYTES_OF_ALL else []
            if any(not system.partition(".")[0] for _, (system, _) in pairs):
                raise ValueError("a neighbour has no name before its first dot")
        except OSError as err:
            message = f"the file cannot be read: {reason_of(err)}"
            diagnostics.append(Diagnostic.of("discovery-unreadable", Place(file), message, HINT))
            continue
        except ValueError as err:
            diagnostics.append(Diagnostic.of("discovery-unreadable", Place(file), str(err), HINT))
            continue
        if size > MOST_BYTES_OF_ALL or len(links) + len(pairs) > MOST_LINKS:
            message = f"more than {MOST_BYTES_OF_ALL:,} bytes or {MOST_LINKS:,} links are not one fabric"
            return None, [*diagnostics, Diagnostic.of("discovery-unreadable", Place(name), message, HINT)]
        sources.add(host)
        for interface, (system, port) in pairs:
            if _MANAGEMENT.fullmatch(port) or (host not in hosts and _MANAGEMENT.fullmatch(interface)):
                continue
            ends = [_end(one, ifname, hosts, devices) for one, ifname in ((host, interface), (system, port))]
            links.setdefault(frozenset(ends), Link(ends[0], ends[1], "", None, 0))
    if not sources:
        return None, diagnostics
    return Facts(name, devices, tuple(links.values()), True, frozenset(sources)), diagnostics


def _end(system: str, interface: str, hosts: frozenset[str], devices: dict[str, Device]) -> End:
    """A node's interface is a device of its own, as an adapter is on InfiniBand."""
    short = system.partition(".")[0]
    host = next((one for one in (system, short, short.lower()) if one in hosts), None)
    if host is None:
        devices.setdefault(short, Device(short, SWITCH, short, 0))
        return End(short, _number(interface))
    device_id = f"{host} {interface}"
    devices.setdefault(device_id, Device(device_id, ADAPTER, device_id, 0))
    return End(device_id, "1")


def _number(interface: str) -> str:
    """The port as its switch is labelled, where Linux names its front ports: swp17 is 17, swp17s1 is 17/2."""
    match = _FRONT_PORT.fullmatch(interface)
    if match is None:
        return interface
    return f"{match[1]}/{int(match[2]) + 1}" if match[2] else match[1]


def _neighbours(raw: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    """Interface → the neighbour's name and port. Raises ValueError with what is wrong."""
    if len(raw) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes are not the neighbours of one machine")
    try:
        document = json_of(raw.decode("utf-8-sig"))
    except ValueError:
        raise ValueError("this is not JSON") from None
    top = _one(document.get("lldp")) if isinstance(document, dict) else None
    if not isinstance(top, dict):
        raise ValueError("this is not output of lldpcli: it has no key lldp")
    for interface, entry in _named(top.get("interface")):
        if str(entry.get("via", "LLDP")).upper() not in ("LLDP", "UNKNOWN"):
            continue  # CDP and its kind name ports in their own way
        system = next((name for name, _ in _chassis(entry.get("chassis"))), "")
        port = _one(entry.get("port"))
        text = _port(port) if isinstance(port, dict) else ""
        if system and text:
            yield interface, (system, text)


def _one(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _named(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Entries by name, of `{"eth0": {…}}`, of a list of such, and of `[{"name": "eth0", …}]`."""
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("name"), str):
            yield item["name"], item
            continue
        for name, entry in item.items():
            for one in entry if isinstance(entry, list) else [entry]:
                if isinstance(one, dict):
                    yield name, one


def _chassis(value: Any) -> Iterator[tuple[str, Any]]:
    """Names of neighbours: keys with json, a list of values with json0."""
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        name = _one(item.get("name"))
        if isinstance(name, dict) and isinstance(name.get("value"), str):
            yield name["value"], item
        elif "id" not in item:
            yield from ((key, entry) for key, entry in item.items() if isinstance(entry, dict))


def _port(port: Mapping[str, Any]) -> str:
    """A port's interface name; its description where the id is a MAC address."""
    identity, description = _one(port.get("id")), _one(port.get("descr"))
    if isinstance(description, dict):
        description = description.get("value")
    if isinstance(identity, dict) and identity.get("type") in ("ifname", "local", "ifalias"):
        return str(identity.get("value", ""))
    return str(description or "")
