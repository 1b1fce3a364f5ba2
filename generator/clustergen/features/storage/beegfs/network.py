"""Ports of BeeGFS by release, which the manifest states or the release has by default, and lines that clients and
servers have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clustergen.catalogue.network import ports
from clustergen.cluster.entry import Listening, Scope

if TYPE_CHECKING:
    from clustergen.features.storage.beegfs.resolved import Beegfs


Pairs = list[tuple[str, str]]


def authentication(entry: Beegfs) -> Pairs:
    return [("connAuthFile", entry.secret_path), ("connDisableAuthentication", yes(not entry.secret_path))]


def yes(value: bool) -> str:
    return "true" if value else "false"


_BOTH = ("tcp", "udp")
_LAST = 65535


def split_port(endpoint: str) -> tuple[str, str]:
    """Host and port of `host:port`; the management server's own port where none is stated, as in an IPv6 address."""
    default = str(ports()["beegfs-mgmtd"].port)
    host, colon, port = endpoint.rpartition(":")
    return (host, port or default) if colon and ":" not in host else (endpoint, default)


def listening(entry: Beegfs) -> Iterator[Listening]:
    """Servers send to a port of the client. All servers of an entry have the ports of all its daemons open."""
    yield from _daemon("mount", "client", entry.client_options, entry.client_port, ("udp",))
    if (spec := entry.servers) is None:
        return
    yield Listening("serve", "beegfs-mgmtd", split_port(entry.mgmtd)[1], _BOTH)
    if entry.is_8:
        grpc = ports()["beegfs-grpc"]
        yield Listening("serve", "beegfs-grpc", grpc.span, grpc.protocols)
    for daemon, options in (("meta", spec.metadata_options), ("storage", spec.storage_options)):
        yield from _daemon("serve", daemon, options, ports()[f"beegfs-{daemon}"].port, _BOTH)


def _daemon(
    scope: Scope, daemon: str, options: Mapping[str, str], default: int, protocols: tuple[str, ...]
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


def _number(options: Mapping[str, str], key: str, default: int) -> int:
    """The default for what cannot be a port: no daemon listens on that, and nft would refuse all rules for it."""
    text = options.get(key, str(default))
    return int(text) if re.fullmatch("[0-9]{1,5}", text) and int(text) <= _LAST else default
