"""The tables of `facility/` in a tree, read back: devices, cables, feeds and parts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from clustergen.diagnostics import ClustergenError

FACILITY = "facility/"
_DEVICES, _CABLES, _FEEDS, _PARTS = "devices.csv", "cables.csv", "power-feeds.csv", "bom.csv"
_SWITCH = "-switch"  # ending of the roles of switches
_TYPE_OF_NODES = re.compile(r" \([a-z][a-z0-9_-]*\)$")  # DGX H100 (training): the node type where several share a model
_METRES = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
_LOAD = re.compile(
    r"(?:at least )?([0-9]{1,9}) W of [0-9]{1,9} W \(([0-9]{1,9}) %\)(?:; ([0-9]{1,9}) % if the other side fails)?"
)

End = tuple[str, str]
"""A device and its port."""


class Device(NamedTuple):
    """A node or switch; `rack` and `unit` are empty where it has no place."""

    role: str
    model: str
    rack: str
    unit: str

    @property
    def is_switch(self) -> bool:
        return self.role.endswith(_SWITCH)

    @property
    def place(self) -> str:
        return f"{self.rack} U{self.unit}" if self.unit else self.rack


class Cable(NamedTuple):
    """A row of cables.csv: one link. `medium` and `length` are empty where they are not known."""

    network: str
    a: End
    b: End
    medium: str
    length: str

    @property
    def metres(self) -> float:
        return float(self.length or 0)

    def __str__(self) -> str:
        """`mm-ndr 10 m`; empty where nobody knows."""
        return f"{self.medium} {self.metres:g} m" if self.medium and self.length else self.medium


class Feed(NamedTuple):
    """The load of a feed of a rack; percentages of what it carries continuously."""

    rack: str
    watts: int
    percent: int
    percent_alone: int | None
    """With the other side failed; None without one."""


class Part(NamedTuple):
    """A line of the bill of materials."""

    category: str
    name: str
    length: str


class Tables:
    """The tables of one tree, each parsed when something asks for it. ClustergenError for a table of another form."""

    def __init__(self, name: str, files: Mapping[str, str], renamed: Mapping[str, str] = MappingProxyType({})) -> None:
        self._name = name
        self.files = files
        """Text by path below `facility/`."""
        self._renamed = renamed

    def with_names(self, renamed: Mapping[str, str]) -> Tables:
        """The same machines and cables, where machines get other names."""
        return Tables(self._name, self.files, renamed)

    @cached_property
    def devices(self) -> dict[str, Device]:
        columns = ("name", "role", "manufacturer", "device_type", "rack", "position")
        return {
            self._renamed.get(name, name): Device(role, f"{maker} {_TYPE_OF_NODES.sub('', model)}", rack, unit)
            for name, role, maker, model, rack, unit in self._rows(_DEVICES, columns)
        }

    @cached_property
    def cables(self) -> dict[End, Cable]:
        """By the lower end: a port of a node, or of the switch of the lower tier."""
        columns = ("side_a_device", "side_a_name", "side_b_device", "side_b_name", "type", "length", "description")
        rows: dict[End, Cable] = {}
        for a, port, b, other, kind, length, text in self._rows(_CABLES, columns):
            network = text.partition(";")[0]
            medium = text.rpartition("; ")[2].partition(",")[0] if kind else ""
            if length and not _METRES.fullmatch(length):
                raise self._malformed(_CABLES, f"{length!r} is not a length")
            end = (self._renamed.get(a, a), port)
            rows[end] = Cable(network, end, (self._renamed.get(b, b), other), medium, length)
        return rows

    @cached_property
    def feeds(self) -> dict[str, Feed]:
        """The feeds whose load is known."""
        if not self.has_loads:
            return {}
        loads = ((rack, name, _LOAD.match(text)) for rack, name, text in self._rows(_FEEDS, ("rack", "name", _TEXT)))
        return {
            name: Feed(rack, int(load[1]), int(load[2]), int(load[3]) if load[3] else None)
            for rack, name, load in loads
            if load
        }

    @property
    def has_loads(self) -> bool:
        """False for a tree whose feeds have no such column."""
        header = self.files.get(_FEEDS, "").partition("\n")[0]
        return not header or _TEXT in header

    @cached_property
    def parts(self) -> dict[Part, int]:
        columns = ("category", "description", "part", "length", "count")
        counts: dict[Part, int] = {}
        for category, text, part, length, count in self._rows(_PARTS, columns):
            key = Part(category, part or text, length)
            counts[key] = counts.get(key, 0) + (int(count) if re.fullmatch(r"[0-9]{1,9}", count) else 0)
        return counts

    def ports_left(self) -> dict[str, int]:
        """Network → free ports for nodes on the switches that have nodes; without switches of unknown models."""
        used: dict[str, set[str]] = {}
        of_nodes: dict[str, set[str]] = {}
        networks: dict[str, str] = {}
        for cable in self.cables.values():
            for device, port in (cable.a, cable.b):
                used.setdefault(device, set()).add(port)
            lower = self.devices.get(cable.a[0])
            if lower is not None and not lower.is_switch:
                networks[cable.b[0]] = cable.network
                of_nodes.setdefault(cable.b[0], set()).add(cable.b[1])
        left: dict[str, int] = {}
        for switch, network in networks.items():
            model = self.devices.get(switch)
            ports = self._ports.get(model.model) if model else None
            if ports:
                kinds = {ports.get(port) for port in of_nodes[switch]}
                free = sum(kind in kinds for port, kind in ports.items() if _is_free(port, used[switch]))
                left[network] = left.get(network, 0) + free
        return left

    @cached_property
    def _ports(self) -> dict[str, dict[str, str]]:
        """Model of switch → port → its type."""
        import yaml

        models = {device.model for device in self.devices.values() if device.is_switch}
        ports: dict[str, dict[str, str]] = {}
        for path, text in self.files.items():
            if path.startswith("device-types/"):
                try:
                    kind = yaml.safe_load(text)
                    model = f"{kind['manufacturer']} {kind['model']}"
                    if model in models:
                        ports[model] = {str(port["name"]): str(port["type"]) for port in kind["interfaces"]}
                except (yaml.YAMLError, ValueError, RecursionError, KeyError, TypeError):
                    raise self._malformed(path, "it is not a device type") from None
        return ports

    def _rows(self, file: str, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        lines = csv.reader(self.files.get(file, "").splitlines(), strict=True)
        try:
            header = next(lines, None)
            if header is None:
                return
            places = [header.index(column) for column in columns]
            for row in lines:
                yield tuple(row[place] for place in places)
        except (csv.Error, ValueError, IndexError) as err:
            raise self._malformed(file, str(err)) from None

    def _malformed(self, path: str, what: str) -> ClustergenError:
        message = f"{self._name}: {FACILITY}{path} is not in clustergen's format: {what}"
        return ClustergenError(message, "render the tree again")


_TEXT = "description"


def _is_free(port: str, used: set[str]) -> bool:
    """A port is taken with a plug of a splitter in it, and a plug's place with a whole cable in the port."""
    parts = port.split("/")
    if any("/".join(parts[:depth]) in used for depth in range(1, len(parts) + 1)):
        return False
    return not any(f"{port}/{plug}" in used for plug in range(1, 9))
