"""Ports of BeeGFS by release: what the manifest states of them, else the defaults of the release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clustergen.catalogue.network import ports
from clustergen.filesystems.descriptor import Listening, Scope
from clustergen.manifest.base import Options

_BOTH = ("tcp", "udp")
_LAST = 65535


def split_port(endpoint: str) -> tuple[str, str]:
    """Host and port of `host:port`; the management server's own port where none is stated, as in an IPv6 address."""
    default = str(ports()["beegfs-mgmtd"].port)
    host, colon, port = endpoint.rpartition(":")
    return (host, port or default) if colon and ":" not in host else (endpoint, default)


def grpc_address(endpoint: str) -> str:
    """Where the management server of 8 listens for the program `beegfs`."""
    host, port = split_port(endpoint)[0], ports()["beegfs-grpc"].port
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def rank(storage: Mapping[str, Any], name: str) -> int:
    """The place of an entry among those of BeeGFS."""
    return [key for key, entry in storage.items() if entry.type == "beegfs"].index(name)


def client_port(storage: Mapping[str, Any], name: str) -> int:
    """Each file system of a node needs a client port of its own."""
    return ports()["beegfs-client"].port + 10 * rank(storage, name)


def listening(storage: Mapping[str, Any], name: str) -> Iterator[Listening]:
    """Servers send to a port of the client. All servers of an entry have the ports of all its daemons open."""
    entry = storage[name]
    yield from _daemon("mount", "client", entry.client_options, client_port(storage, name), ("udp",))
    if (spec := entry.servers) is None:
        return
    yield Listening("serve", "beegfs-mgmtd", split_port(entry.mgmtd)[1], _BOTH)
    if entry.is_8:
        grpc = ports()["beegfs-grpc"]
        yield Listening("serve", "beegfs-grpc", grpc.span, grpc.protocols)
    for daemon, options in (("meta", spec.metadata_options), ("storage", spec.storage_options)):
        yield from _daemon("serve", daemon, options, ports()[f"beegfs-{daemon}"].port, _BOTH)


def _daemon(
    scope: Scope, daemon: str, options: Options, default: int, protocols: tuple[str, ...]
) -> Iterator[Listening]:
    """The keys of its file: conn…Port, up to 7.4 one for each protocol, and what is added to all ports."""
    key = f"conn{daemon.capitalize()}Port"
    numbers: dict[int, list[str]] = {}
    for protocol in protocols:
        port = _number(options, key, _number(options, f"{key}{protocol.upper()}", default))
        numbers.setdefault(port + _number(options, "connPortShift", 0), []).append(protocol)
    for number, same in numbers.items():
        if number <= _LAST:
            yield Listening(scope, f"beegfs-{daemon}", str(number), tuple(same))


def _number(options: Options, key: str, default: int) -> int:
    """The default for what cannot be a port: no daemon listens on that, and nft would refuse all rules for it."""
    text = str(options.get(key, default))
    return int(text) if re.fullmatch("[0-9]{1,5}", text) and int(text) <= _LAST else default
