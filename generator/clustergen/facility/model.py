"""The shapes of a machine room. Lengths are in metres, rates in Gb/s, power in watts, units in rack units from 1.

Ends and cables are named tuples: a large fabric has 50,000 of them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from clustergen.catalogue.cabling import Medium
from clustergen.records import record


class Place(NamedTuple):
    """Where a device stands."""

    rack: str
    unit: int  # the lowest one
    height: int
    derived: bool  # False where the manifest says it


@record
class Device:
    """A node or a switch. `model` is the catalogue's id, empty where nobody knows it."""

    name: str
    kind: Literal["node", "switch"]
    model: str
    title: str
    power_w: int | None
    weight_kg: float | None
    height: int
    rack: str | None  # what the manifest says; it may have no room
    place: Place | None
    type: str = ""  # of a node
    depth_mm: int | None = None
    unconfirmed: frozenset[str] = frozenset()  # power, weight, height, depth: figures of the catalogue without a source


@record
class Fixture:
    """A part of a rack that is sold whole: an NVLink switch tray or a power shelf. No manifest lists it."""

    name: str
    kind: Literal["switch", "shelf"]
    title: str
    watts: int  # what a switch tray draws, and what a shelf supplies
    rack: str
    place: Place | None
    inlet: str = ""  # of a shelf
    unconfirmed: frozenset[str] = frozenset()  # power, place


class End(NamedTuple):
    """One end of a cable: a port of a device. `number` counts from 1; on switches it is InfiniBand's port number."""

    device: str
    port: str  # as printed on the device, where the catalogue knows it
    number: int
    cage: str  # two ports may share one
    connector: str  # of the cage, as in the catalogue; empty where nobody knows it


class Link(NamedTuple):
    """A link between two ports. `a` is the lower end: a node, or the switch of the lower tier."""

    network: str
    technology: str  # infiniband or ethernet
    rail: int | None
    a: End
    b: End
    gbit: int | None


class Cable(NamedTuple):
    """A link with its length and what carries it."""

    network: str
    technology: str
    rail: int | None
    a: End
    b: End
    gbit: int | None
    derived_m: float | None  # by geometry; None where an end has no place
    length_m: float | None  # what to order: the next length in stock
    medium: Medium | None  # None where nothing reaches, fits, or is known
