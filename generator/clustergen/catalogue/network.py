"""Ports that services listen on."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import NOTHING, table
from clustergen.records import record


@record
class Port:
    """One port, and who has to reach it."""

    name: str
    port: int
    protocols: tuple[str, ...]
    unit: str
    """The systemd unit behind it, without `.service`."""
    peers: tuple[str, ...]
    """login, compute, controller, storage, monitoring; `site` for people; `none` where only the host itself does."""
    note: str = ""
    unverified: frozenset[str] = NOTHING


@cache
def ports() -> dict[str, Port]:
    """All ports by name."""
    return {port.name: port for port in table("ports.tsv", Port)}


def port(name: str) -> Port | None:
    """The port of that name, such as `slurmctld` or `dcgm-exporter`."""
    return ports().get(name)
