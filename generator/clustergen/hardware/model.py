"""The facts of a fabric: devices, and the links between their ports, as the machines show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clustergen.records import record

SWITCH, ADAPTER, ROUTER = "switch", "adapter", "router"


@record
class Device:
    """A switch, or one network adapter of a host. `line` is where its section starts, 0 where there is none."""

    id: str
    kind: str  # switch, adapter or router
    name: str  # node description, or the system name that LLDP announces
    line: int


class End(NamedTuple):
    """One end of a link. `port` is a number on InfiniBand, and the name of an interface on Ethernet."""

    device: str
    port: str


class Link(NamedTuple):
    """A link that is up. `rate` is as printed, as `4xNDR`; `gbit` is None where it is unknown."""

    a: End
    b: End
    rate: str
    gbit: float | None
    line: int

    def other(self, end: End) -> End:
        return self.b if end == self.a else self.a


@record
class Facts:
    """A whole fabric.

    `is_complete`: nothing is known to be left out, so that what is absent from the facts is absent from the fabric.
    `sources` are the devices that were asked; empty where one program asked all of them.
    """

    file: str
    devices: Mapping[str, Device]
    links: tuple[Link, ...]
    is_complete: bool = True
    sources: frozenset[str] = frozenset()
