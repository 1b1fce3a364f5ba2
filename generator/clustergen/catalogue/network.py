"""Ports that services listen on."""

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import NOTHING, marks, number, rows, words


class Port(NamedTuple):
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
    return {
        r["name"]: Port(
            name=r["name"],
            port=number(r["port"]) or 0,
            protocols=words(r["protocols"]),
            unit=r["unit"],
            peers=words(r["peers"]),
            note=r["note"],
            unverified=marks(r["unverified"]),
        )
        for r in rows("ports.tsv")
    }


def port(name: str) -> Port | None:
    """The port of that name, such as `slurmctld` or `dcgm-exporter`."""
    return ports().get(name)
