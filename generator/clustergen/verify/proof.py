"""docs/proof.md: which program has read each kind of file, in which version, and which files no program could read.

It is made of verify's rows alone, so that it cannot claim what was not done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from clustergen.catalogue.operating_systems import X86_64
from clustergen.records import record
from clustergen.render.registry import files
from clustergen.render.tree import LOCK
from clustergen.verify.checks import CHECKS, Check
from clustergen.verify.files import TreeDirectory, read_tree
from clustergen.verify.node_roots import system_and_arch
from clustergen.verify.rows import Row

_ITEM = re.compile(r"\\\{\w+\\\}")  # as re.escape leaves it
_OS = "os_"


@record
class Cluster:
    """A tree with its rows."""

    tree: TreeDirectory
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, directory: Path, rows: Sequence[Row]) -> Cluster:
        return cls(read_tree(directory), tuple(rows))

    def kinds(self, row: Row) -> Iterator[str]:
        for path in row.files:
            entry = self.tree.entries.get(path)
            kind = kind_of(path, entry.source if entry else "")
            if kind is not None:
                yield kind


@cache
def kinds() -> tuple[str, ...]:
    """Every kind of file that can be made, by its template, and the lock file."""
    return (*sorted({_kind(file.origin) for file in files()}), LOCK)


def _kind(origin: str) -> str:
    return origin.removeprefix("templates/").removesuffix(".j2")


@cache
def _tree_kinds() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of the files at the top of the tree, those of one path first."""
    top = [file for file in files() if file.scope == "tree"]
    top.sort(key=lambda file: "{" in file.path)
    return tuple((re.compile(_ITEM.sub(".+", re.escape(f.path))), _kind(f.origin)) for f in top)


def kind_of(path: str, source: str) -> str | None:
    """The kind of a file of a tree; None for a site's own."""
    if path == LOCK:
        return LOCK
    if source:
        return _kind(source) if source.startswith(("templates/", "programs/", "values/")) else None
    return next((kind for pattern, kind in _tree_kinds() if pattern.fullmatch(path)), None)


def document(clusters: Sequence[Cluster]) -> str:
    """The page's text."""
    readers = _readers(clusters)
    parts = [
        _HEAD,
        _clusters(clusters),
        _BY_FILE,
        _by_file(readers),
        _SHOWS,
        _shows(clusters),
        _NOBODY,
        _unread(clusters),
    ]
    if missing := [kind for kind in kinds() if kind not in readers]:
        parts += [_MISSING, "".join(f"- `{kind}`\n" for kind in missing)]
    return "\n".join(parts)


def _rows(check: Check, clusters: Sequence[Cluster], status: str) -> list[tuple[Cluster, Row]]:
    return [
        (cluster, row)
        for cluster in clusters
        for row in cluster.rows
        if (row.check, row.status) == (check.name, status)
    ]


Readers = Mapping[str, Mapping[str, set[str]]]
"""Kind → parser that passed it → its versions; a kind that nobody has read is there, too."""


def _readers(clusters: Sequence[Cluster]) -> Readers:
    readers: dict[str, dict[str, set[str]]] = {}
    for cluster in clusters:
        for row in cluster.rows:
            for kind in cluster.kinds(row):
                parsers = readers.setdefault(kind, {})
                if row.status == "passed":
                    parsers.setdefault(row.parser, set()).add(row.version)
    return readers


def _by_file(readers: Readers) -> str:
    lines = ["| template | read by |\n|---|---|\n"]
    for kind, parsers in sorted(readers.items()):
        parser_versions = [
            f"{parser} {', '.join(sorted(versions, key=_numbers))}" for parser, versions in parsers.items()
        ]
        lines.append(f"| `{kind}` | {'; '.join(parser_versions) or '**not read**'} |\n")
    return "".join(lines)


def _shows(clusters: Sequence[Cluster]) -> str:
    lines = ["| files | parser | what it proves |\n|---|---|---|\n"]
    lines += [
        f"| {check.what} | {check.parser} | {check.proves} |\n" for check in CHECKS if _rows(check, clusters, "passed")
    ]
    return "".join(lines)


def _clusters(clusters: Sequence[Cluster]) -> str:
    lines = ["| cluster | nodes | systems | Slurm |\n|---|---|---|---|\n"]
    for cluster in clusters:
        tree = cluster.tree
        systems = sorted(_system(name) for name in tree.inventory.groups if name.startswith(_OS))
        name = tree.variables.get("cluster_name", tree.directory.name)
        cells = (name, len(tree.inventory.hosts), ", ".join(systems), tree.slurm_release)
        lines.append(f"| {' | '.join(map(str, cells))} |\n")
    return "".join(lines)


def _system(group: str) -> str:
    system, arch = system_and_arch(group)
    shown = system.replace("_", " ", 1).replace("_", ".")
    return shown if arch == X86_64 else f"{shown} {arch}"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _unread(clusters: Sequence[Cluster]) -> str:
    unread: dict[tuple[str, str, str], set[str]] = {}
    for check in CHECKS:
        for cluster, row in _rows(check, clusters, "no parser"):
            unread.setdefault((row.what, row.parser, " ".join(row.words)), set()).update(cluster.kinds(row))
    lines = ["| files | program | why it has not read them |\n|---|---|---|\n"]
    for (what, parser, why), covered in unread.items():
        listed = ", ".join(f"`{kind}`" for kind in sorted(covered))
        lines.append(f"| {what}: {listed} | {parser} | {why} |\n")
    return "".join(lines)


_HEAD = """\
# Which programs have read the files

`clustergen proof` generates this page from the rows of `clustergen verify`; do not edit it. It states how far the files
are known to be correct, and nothing in this project claims more. The programs of `clustergen setup parsers` have read
these clusters and reported no errors:
"""
_BY_FILE = """\
## File by file

For every template, this table lists the programs that have read its rendered files, with their versions.
"""
_SHOWS = """\
## What each check proves
"""
_NOBODY = """\
## Files without a parser

The programs of these files are not available as packages that a test can install, or require the hardware. For some of
the files, another program has checked the form, as listed above. WEKA's client has only a mount unit and a drop-in,
which systemd has read, but not WEKA.
"""
_MISSING = """\
## Files that none of these clusters has
"""
