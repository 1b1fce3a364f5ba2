"""gres.conf and topology.conf line by line, for what the manifest has no fields for; lines alike but for names fold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from clustergen.catalogue import slurm
from clustergen.diagnostics import ManifestPath
from clustergen.hostlist import MAX_HOSTS, HostlistError, compress, expand
from clustergen.importer.draft import Draft, Origin
from clustergen.importer.originals import Originals
from clustergen.importer.settings import option_value
from clustergen.slurmconf.scalars import files_of
from clustergen.units.digits import whole

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
    directory: str | None = None
    """Of all files; None where there are several, or no files."""


def import_lines(draft: Draft, originals: Originals, file: str) -> None:
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
        collected = _Line({}, {})
        for pair in line.pairs:
            row = slurm.key(file, pair.key, "" if pair is line.pairs[0] else block)
            key = row.key if row else pair.key
            collected.pairs[key] = pair.value
            collected.origins[key] = [
                Origin(
                    file=line.file,
                    line=line.number,
                    block=line.key,
                    name=line.pairs[0].value,
                    key=pair.key,
                    text=pair.value,
                )
            ]
        yield collected


def _folded(lines: list[_Line]) -> list[_Line]:
    """Lines of gres.conf that differ in their device file or their node only become one; each node reads its lines in
    the order that it had.
    """
    return _by_node(_by_file(lines))


def _by_file(lines: list[_Line]) -> list[_Line]:
    collected: list[_Line] = []
    taken: set[str] = set()  # the files of the last of them
    for line in lines:
        line.files = files_of(line.pairs.get("File", ""))
        directories = {file.rpartition("/")[0] for file in line.files}
        line.directory = directories.pop() if len(directories) == 1 else None
        last = collected[-1] if collected else None
        if last is None or not taken.isdisjoint(line.files) or not _are_on_like_devices(last, line):
            collected.append(line)
            taken = set(line.files)
            continue
        each = _each(last)
        last.files += line.files
        taken.update(line.files)
        if each:
            last.pairs["Count"] = str(each * len(last.files))
        _add_origins(last, line)
    for line in collected:
        if len(line.origins.get("File", ())) > 1:
            line.pairs["File"] = f"{line.directory}/{compress(file.rpartition('/')[2] for file in line.files)}"
    return collected


def _are_on_like_devices(one: _Line, other: _Line) -> bool:
    """True if a line differs from another in its device files alone, which are in one directory."""
    return (
        _are_alike(one, other, "File", "Count")
        and _each(one) == _each(other) is not None
        and "Links" not in one.pairs
        and one.directory == other.directory is not None
    )


def _each(line: _Line) -> int | None:
    """The count of a line for each of its files; 0 where it counts the files, None where it is not known."""
    text = line.pairs.get("Count")
    if text is None:
        return 0
    shared = line.pairs.get("Name", "").lower() in _SHARED and text.isascii() and text.isdigit()
    each, rest = divmod(whole(text), len(line.files)) if shared and line.files else (0, 1)
    return each if each and not rest else None


def _by_node(lines: list[_Line]) -> list[_Line]:
    collected: list[_Line] = []
    last: dict[str, int] = {}  # host → where its last line stands
    alike: dict[frozenset[tuple[str, str]], list[int]] = {}  # all but the nodes → where such lines stand
    for line in lines:
        try:
            line.hosts = expand(line.pairs["NodeName"]) if "NodeName" in line.pairs else []
        except HostlistError:
            return lines
        after = max((last.get(host, -1) for host in (*line.hosts, _EVERYWHERE)), default=-1)
        rest = frozenset((key, text) for key, text in line.pairs.items() if key != "NodeName")
        places = alike.setdefault(rest, []) if line.hosts else []
        index = bisect_right(places, after)
        if index == len(places) or len(collected[places[index]].hosts) + len(line.hosts) > MAX_HOSTS:
            collected.append(line)
            place = len(collected) - 1
            places.append(place)
        else:
            place = places[index]
            collected[place].hosts += line.hosts
            _add_origins(collected[place], line)
        last |= dict.fromkeys(line.hosts or [_EVERYWHERE], place)
    for line in collected:
        if len(line.origins.get("NodeName", ())) > 1:
            line.pairs["NodeName"] = compress(line.hosts)
    return collected


def _are_alike(one: _Line, other: _Line, *but: str) -> bool:
    blank = dict.fromkeys(but, "")
    return but[0] in one.pairs and {**one.pairs, **blank} == {**other.pairs, **blank}


def _add_origins(line: _Line, more: _Line) -> None:
    for key, origins in more.origins.items():
        line.origins[key] += origins
