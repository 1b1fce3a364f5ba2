"""NodeName lines of slurm.conf, compared node by node and folded again."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen import hostlist
from clustergen.diff.change import Change, changed, folded
from clustergen.diff.lines import Difference, Settings, Sides, differences, settings, shown
from clustergen.slurmconf.bounds import OF_EACH_NODE
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.scalars import hosts_of

_BLOCK = "NodeName"


class Nodes:
    """The nodes of one slurm.conf: which line each stands on, and what the lines say."""

    def __init__(self, config: Config) -> None:
        self.line_of: dict[str, int] = {}
        """In the order of the file, which is that of Slurm's node index."""
        self.lines: list[Settings] = []
        self._values: dict[str, dict[str, str]] = {key: {} for key in OF_EACH_NODE}
        for index, entry in enumerate(config.entries(_BLOCK)):
            hosts = hosts_of(entry.names)
            self.line_of.update(dict.fromkeys(hosts, index))
            keys = settings("slurm.conf", _BLOCK, entry.settings())
            for key in OF_EACH_NODE:
                if key in keys:
                    self._values[key].update(_each(hosts, keys.pop(key)))
            self.lines.append(_layout(keys))

    def value_of(self, key: str, node: str) -> str | None:
        """A value of the node's own. Where nobody says, a host is called like its node and reached by that name."""
        value = self._values[key].get(node)
        if value is None and key == "NodeAddr":
            return self.value_of("NodeHostname", node)
        return value or (node if key == "NodeHostname" else None)

    def owns(self, key: str) -> bool:
        return bool(self._values[key])

    def with_features(self, features: frozenset[str]) -> list[str]:
        lines = {
            index
            for index, line in enumerate(self.lines)
            if features & {word.strip() for word in line.get("Feature", "").split(",")}
        }
        return [node for node, index in self.line_of.items() if index in lines]


def _each(hosts: list[str], text: str) -> dict[str, str]:
    values = hosts_of(text)
    if len(values) == 1:  # one port for all; of other keys Slurm refuses it
        values *= len(hosts)
    return dict(zip(hosts, values, strict=False))


def _layout(line: Settings) -> Settings:
    """Sockets, cores and threads as Slurm makes them out of what is given."""
    numbers = {key: _number(line.get(key)) for key in ("CPUs", "Boards", "Sockets", "SocketsPerBoard")}
    cores, threads = (_number(line.get(key)) or 1 for key in ("CoresPerSocket", "ThreadsPerCore"))
    boards = numbers["Boards"] or 1
    sockets = numbers["Sockets"] or (numbers["SocketsPerBoard"] or 0) * boards
    cpus = numbers["CPUs"]
    if not sockets:
        sockets = max(1, (cpus or 1) // (cores * threads))
    rest = {key: value for key, value in line.items() if key not in ("CPUs", "Sockets", "SocketsPerBoard")}
    out = {"Sockets": str(sockets), **rest}
    if cpus in (sockets, sockets * cores) and cpus != sockets * cores * threads:
        out["CPUs"] = str(cpus)
    return out


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def nodes(sides: Sides, old: Nodes, new: Nodes) -> Iterator[Change]:
    release, file = sides.release, sides.file
    yield from _came_or_went(sides, old, new, "removed")
    yield from _came_or_went(sides, old, new, "added")
    common = [node for node in old.line_of if node in new.line_of]
    pairs: dict[tuple[int, int], list[str]] = {}
    for node in common:
        pairs.setdefault((old.line_of[node], new.line_of[node]), []).append(node)
    merged: dict[Difference, list[str]] = {}
    for (before, after), names in pairs.items():
        for difference in differences(sides, _BLOCK, old.lines[before], new.lines[after]):
            if difference.key == "MemSpecLimit" and _for_jobs(new.lines[after]) >= _for_jobs(old.lines[before]):
                difference = difference._replace(what=("outweighed",))
            merged.setdefault(difference, []).extend(names)
    for (key, previous, current, what), names in merged.items():
        listed = folded(names)
        yield changed(release, file, _BLOCK, key, previous, current, name=listed, nodes=listed, what=what)
    for key in OF_EACH_NODE:
        if old.owns(key) or new.owns(key):
            yield from _own_values(sides, key, old, new, common)
    in_new_order = [node for node in new.line_of if node in old.line_of]
    if common != in_new_order:
        moved = [node for node, other in zip(common, in_new_order, strict=True) if node != other]
        listed = folded(moved)
        texts = _in_order(common), _in_order(in_new_order)
        yield changed(release, file, _BLOCK, "order", *texts, name=listed, nodes=listed, what=("order",))


def _for_jobs(line: Settings) -> int:
    """MiB of a node that jobs can allocate."""
    return (_number(line.get("RealMemory")) or 1) - (_number(line.get("MemSpecLimit")) or 0)


def _in_order(names: list[str]) -> str:
    return hostlist.folded(names, sort=False, suffixes=True)


def _came_or_went(sides: Sides, old: Nodes, new: Nodes, word: str) -> Iterator[Change]:
    side, other = (old, new) if word == "removed" else (new, old)
    by_line: dict[int, list[str]] = {}
    for node, index in side.line_of.items():
        if node not in other.line_of:
            by_line.setdefault(index, []).append(node)
    what = (word, "fewer") if word == "removed" and len(new.line_of) < len(old.line_of) else (word,)
    for index, names in by_line.items():
        text = shown(side.lines[index])
        texts = (text, None) if word == "removed" else (None, text)
        listed = folded(names)
        yield changed(sides.release, sides.file, _BLOCK, "", *texts, name=listed, nodes=listed, what=what)


def _own_values(sides: Sides, key: str, old: Nodes, new: Nodes, common: list[str]) -> Iterator[Change]:
    rows = [
        (node, before_value, after_value)
        for node in common
        if (before_value := old.value_of(key, node)) != (after_value := new.value_of(key, node))
    ]
    if rows:
        before, after = ([text for text in side if text] for side in ([f[1] for f in rows], [f[2] for f in rows]))
        listed = folded(node for node, _, _ in rows)
        texts = _in_order(before) or None, _in_order(after) or None
        yield changed(sides.release, sides.file, _BLOCK, key, *texts, name=listed, nodes=listed)
