"""gres.conf, compared device by device on each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clustergen.catalogue.slurm_meanings import meaning
from clustergen.diff.change import Change, changed, folded
from clustergen.diff.lines import Settings, Sides, settings
from clustergen.diff.values import canonical, differing
from clustergen.slurmconf.config import Config, Setting
from clustergen.slurmconf.scalars import files_of, hosts_of

_OPENERS = ("NodeName", "Name", "AutoDetect")
_OF_A_DEVICE = ("Type", "Cores", "Flags", "Links")
_ANY_NODE = ""

Thing = tuple[str, str]
"""The name of a gres and one of its device files; for one that is only counted, its type in place of a file."""


class Device(NamedTuple):
    """One device of a node, or a number of things without files."""

    by: str
    """File or MultipleFiles; Count for things without files."""
    texts: Settings


class Node(NamedTuple):
    """One node's reading of the file."""

    detect: str
    devices: dict[Thing, Device]


class Gres:
    """One gres.conf: which of its lines each node reads, and the devices that they come to."""

    def __init__(self, config: Config) -> None:
        self._lines: list[Settings] = []
        self._everywhere: list[int] = []
        self._of: dict[str, list[int]] = {}
        self._made: dict[tuple[int, ...], Node] = {}
        for line in config.lines:
            opener = next((key for key in _OPENERS if key.lower() == line.key), None)
            if opener is None:
                continue
            pairs = [Setting(line.file, pair) for pair in reversed(line.pairs)]
            self._lines.append(settings("gres.conf", "NodeName", pairs))
            index = len(self._lines) - 1
            if opener == "NodeName":
                for host in hosts_of(line.pairs[0].value):
                    self._of.setdefault(host, []).append(index)
            else:
                self._everywhere.append(index)

    def names(self) -> Iterable[str]:
        """The nodes that have lines of their own."""
        return self._of

    def lines_of(self, node: str) -> tuple[int, ...]:
        return tuple(sorted([*self._everywhere, *self._of.get(node, ())]))

    def node(self, lines: tuple[int, ...]) -> Node:
        """One node's reading of these lines."""
        if lines not in self._made:
            detect = ""
            devices: dict[Thing, Device] = {}
            for index in lines:
                line = self._lines[index]
                detect = line.get("AutoDetect", detect)
                if name := line.get("Name", "").lower():
                    _add(devices, name, line)
            self._made[lines] = Node(detect, devices)
        return self._made[lines]


def _add(devices: dict[Thing, Device], name: str, line: Settings) -> None:
    texts = {key: line[key] for key in _OF_A_DEVICE if key in line}
    if "MultipleFiles" in line:  # one device made of several files
        devices[name, ",".join(files_of(line["MultipleFiles"]))] = Device("MultipleFiles", texts)
        return
    files = files_of(line.get("File", ""))
    for file in files:
        each = dict(texts)
        if line.get("Count", "").isdigit() and name != "gpu":  # shards and MPS: how many share each device
            each["Count"] = str(int(line["Count"]) // len(files))
        devices[name, file] = Device("File", each)
    if not files:
        devices[name, line.get("Type", "").lower()] = Device("Count", {**texts, "Count": line.get("Count", "1")})


def gres(sides: Sides, nodes: Iterable[str] | None) -> Iterator[Change]:
    """Changes of the nodes that are there before and after; None where no slurm.conf says which these are."""
    old, new = Gres(sides.old), Gres(sides.new)
    common = [_ANY_NODE, *sorted({*old.names(), *new.names()})] if nodes is None else list(nodes)
    pairs: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for node in common:
        pairs.setdefault((old.lines_of(node), new.lines_of(node)), []).append(node)
    merged: dict[tuple[str, str, str | None, str | None], list[str]] = {}
    for (before, after), names in pairs.items():
        for difference in _compared(old.node(before), new.node(after)):
            merged.setdefault(difference, []).extend(names)
    for (name, key, previous, current), names in merged.items():
        listed = None if _ANY_NODE in names else folded(names)
        yield changed(
            sides.release,
            sides.file,
            "NodeName",
            key,
            previous,
            current,
            kind="gres" if name else "key",
            name=name,
            nodes=listed,
            what=differing(meaning("gres.conf", "NodeName", key), key, previous, current),
        )


def _compared(old: Node, new: Node) -> Iterator[tuple[str, str, str | None, str | None]]:
    """(name, key, old, new) of each difference of two nodes."""
    if old.detect.lower() != new.detect.lower():
        yield "", "AutoDetect", old.detect or None, new.detect or None
    removed = [thing for thing in old.devices if thing not in new.devices]
    added = [thing for thing in new.devices if thing not in old.devices]
    for name in dict.fromkeys(name for name, _ in (*removed, *added)):
        ways = [old.devices[thing].by for thing in removed if thing[0] == name]
        ways += [new.devices[thing].by for thing in added if thing[0] == name]
        yield name, ways[0], _all(name, old), _all(name, new)
    differing: dict[tuple[str, str, str | None, str | None], None] = {}
    for thing, device in old.devices.items():
        if thing not in new.devices:
            continue
        before, after = device.texts, new.devices[thing].texts
        for key in sorted({*before, *after}):
            how = meaning("gres.conf", "NodeName", key)
            previous, current = before.get(key), after.get(key)
            if canonical(how, key, previous or "") != canonical(how, key, current or ""):
                differing[thing[0], key, previous, current] = None
    yield from differing


def _all(name: str, node: Node) -> str | None:
    """All devices of that name: their files, folded, or how many there are."""
    parts: list[str] = []
    files: dict[str, list[str]] = {}
    for (owner, file), device in node.devices.items():
        if owner != name:
            continue
        if device.by == "File":
            directory, slash, base = file.rpartition("/")
            files.setdefault(directory + slash, []).append(base)
        else:
            parts.append(file if device.by == "MultipleFiles" else f"{file}:{device.texts['Count']}".lstrip(":"))
    parts += [directory + part for directory, names in files.items() for part in (folded(names),)]
    return ",".join(parts) or None
