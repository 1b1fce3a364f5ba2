"""gres.conf and topology.conf line by line, for what the manifest has no fields for; lines alike but for names fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clustergen.adopt.draft import Draft, Origin
from clustergen.adopt.originals import Originals
from clustergen.adopt.settings import option_value
from clustergen.catalogue import slurm
from clustergen.diagnostics import ManifestPath
from clustergen.hostlist import HostlistError, expand, fold
from clustergen.plan.values import files_of

PLACES: dict[str, ManifestPath] = {
    "gres.conf": ("slurm", "gres_lines"),
    "topology.conf": ("slurm", "topology", "lines"),
}
_EVERYWHERE = ""
_SHARED = ("shard", "mps")
"""Gres whose Count is shared out evenly among the files of a line."""


@dataclass(slots=True)
class _Line:
    pairs: dict[str, str]
    origins: dict[str, list[Origin]]
    """By key."""
    hosts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def take_lines(draft: Draft, originals: Originals, file: str) -> None:
    """A file as it is: what was made of it before goes."""
    path = PLACES[file]
    guessed = (("slurm", "gres_options"),) if file == "gres.conf" else ()
    for item in [item for place in (path, *guessed) for item in draft.below(place)]:
        draft.remove(item)
    if file == "gres.conf":
        for item in list(draft.items.values()):
            if item.path[0] == "node_types" and item.path[-1] in ("autodetect", "numa", "links"):
                draft.remove(item)
    lines = list(_read(originals, file))
    for index, line in enumerate(_folded(lines) if file == "gres.conf" else lines):
        for key, text in line.pairs.items():
            draft.set((*path, index, key), option_value(text), line.origins[key])


def _read(originals: Originals, file: str) -> Iterator[_Line]:
    for line in originals.configs[file].lines:
        if not line.pairs or any(problem.kind.fatal for problem in line.problems):
            continue
        block = next((name for name in slurm.files().get(file, ()) if name.lower() == line.key), "")
        found = _Line({}, {})
        for pair in line.pairs:
            known = slurm.key(file, pair.key, "" if pair is line.pairs[0] else block)
            key = known.key if known else pair.key
            found.pairs[key] = pair.value
            found.origins[key] = [Origin(line.file, line.number, line.key, line.pairs[0].value, pair.key, pair.value)]
        yield found


def _folded(lines: list[_Line]) -> list[_Line]:
    """Lines of gres.conf that differ in their device file or their node only become one; each node reads its lines in
    the order that it had.
    """
    return _by_node(_by_file(lines))


def _by_file(lines: list[_Line]) -> list[_Line]:
    found: list[_Line] = []
    for line in lines:
        line.files = files_of(line.pairs.get("File", ""))
        last = found[-1] if found else None
        if last is None or not _are_on_like_devices(last, line):
            found.append(line)
            continue
        each = _each(last)
        last.files += line.files
        folder = line.files[0].rpartition("/")[0]
        last.pairs["File"] = f"{folder}/{fold(file.rpartition('/')[2] for file in last.files)}"
        if each:
            last.pairs["Count"] = str(each * len(last.files))
        _add_origins(last, line)
    return found


def _are_on_like_devices(one: _Line, other: _Line) -> bool:
    folders = {file.rpartition("/")[0] for file in (*one.files, *other.files)}
    return (
        _are_alike(one, other, "File", "Count")
        and _each(one) == _each(other) is not None
        and "Links" not in one.pairs
        and len(folders) == 1
        and not set(one.files) & set(other.files)
    )


def _each(line: _Line) -> int | None:
    """What a line counts of each of its files; 0 where it counts the files, None where nobody knows."""
    text = line.pairs.get("Count")
    if text is None:
        return 0
    shared = line.pairs.get("Name", "").lower() in _SHARED and text.isascii() and text.isdigit()
    each, rest = divmod(int(text), len(line.files)) if shared and line.files else (0, 1)
    return each if each and not rest else None


def _by_node(lines: list[_Line]) -> list[_Line]:
    found: list[_Line] = []
    last: dict[str, int] = {}  # host → where its last line stands
    for line in lines:
        try:
            line.hosts = expand(line.pairs["NodeName"]) if "NodeName" in line.pairs else []
        except HostlistError:
            return lines
        after = max((last.get(host, -1) for host in (*line.hosts, _EVERYWHERE)), default=-1)
        place = next(
            (at for at, other in enumerate(found) if at > after and line.hosts and _are_alike(other, line, "NodeName")),
            None,
        )
        if place is None:
            found.append(line)
            place = len(found) - 1
        else:
            found[place].hosts += line.hosts
            found[place].pairs["NodeName"] = fold(found[place].hosts)
            _add_origins(found[place], line)
        last |= dict.fromkeys(line.hosts or [_EVERYWHERE], place)
    return found


def _are_alike(one: _Line, other: _Line, *but: str) -> bool:
    blank = dict.fromkeys(but, "")
    return but[0] in one.pairs and {**one.pairs, **blank} == {**other.pairs, **blank}


def _add_origins(line: _Line, more: _Line) -> None:
    for key, origins in more.origins.items():
        line.origins[key] += origins
