"""Output of sacctmgr on a cluster's accounting: `sacctmgr dump`, and the table of `sacctmgr -P show qos`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from errno import EFBIG
from pathlib import Path
from typing import Literal, cast

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError
from clustergen.importer.comments import readable
from clustergen.records import record
from clustergen.regular_file import reason_of

Kind = Literal["QOS", "Cluster", "Account", "User"]
_ROOT = "root"
_LARGEST = 256 << 20
_LINE = re.compile(r"(?:sacctmgr: )?(QOS|Cluster|Parent|Account|User) - '(.*?)'(?=:|$)(.*)")
# A value is quoted, or has colons in types of GRES only.
_OPTION = re.compile(r":([A-Za-z]+)=(?:'(.*?)'(?=:[A-Za-z]+=|$)|((?:gres/[^:=,]+:(?=[^:=,]+=)|[^:'])*))")
_COLUMN = re.compile(r"[A-Z][A-Za-z ]*")
_COLUMNS = {
    "descr": "Description",
    "maxtres": "MaxTRESPerJob",
    "maxtresmins": "MaxTRESMinsPerJob",
    "maxtrespu": "MaxTRESPerUser",
    "maxtrespa": "MaxTRESPerAccount",
    "maxtresrunminspu": "MaxTRESRunMinsPerUser",
    "maxtresrunminspa": "MaxTRESRunMinsPerAccount",
    "maxsubmitpu": "MaxSubmitJobsPU",
    "maxsubmitpa": "MaxSubmitJobsPA",
    "maxwall": "MaxWallDurationPerJob",
    "mintres": "MinTRESPerJob",
    "grpsubmit": "GrpSubmitJobs",
    "usagethres": "UsageThreshold",
}
"""Columns of `show qos`, in lower case, that a dump calls otherwise."""
_HINT = "sacctmgr dump CLUSTER file=FILE, and with a Slurm before 25.05 a second file: sacctmgr -P show qos"


@record
class Entry:
    """A QOS, account or user of an account, or the cluster, whose settings are those of the account root."""

    kind: Kind
    name: str
    account: str
    """The account that an account or user hangs below."""
    options: Mapping[str, str]
    """By the names that a dump has for them."""
    place: str


@record
class AccountingDump:
    """All that the files say."""

    cluster: Entry | None
    qos: tuple[Entry, ...]
    accounts: tuple[Entry, ...]
    users: tuple[Entry, ...]
    unread: tuple[tuple[str, str], ...]
    """Place of a line that says nothing, and why."""
    latin: tuple[str, ...]
    """Places of lines that are not UTF-8, and are read as Latin-1."""


def read_dump(paths: Iterable[Path], needed: Iterable[str]) -> AccountingDump:
    """Each file is a dump of the same cluster, a table of QOS, or both. ClustergenError where one cannot be read, or is
    neither. `needed`: columns that a table of QOS has to have, by the names of a dump.
    """
    unread: list[tuple[str, str]] = []
    latin: list[str] = []
    collected: list[Entry] = []
    for path in paths:
        lines = _lines(path)
        latin += [f"{path}:{number}" for number, line in enumerate(lines, 1) if readable(line) is not line]
        entries = list(_entries(str(path), map(readable, lines), set(needed), unread))
        if not entries:
            raise ClustergenError(f"{path}:1: neither a sacctmgr dump nor a table of QOS", _HINT)
        collected += entries
    clusters = [entry for entry in collected if entry.kind == "Cluster"]
    if len({entry.name for entry in clusters}) > 1:
        first, other = clusters[0], next(entry for entry in clusters if entry.name != clusters[0].name)
        raise ClustergenError(f"{other.place}: a second cluster, '{other.name}', after '{first.name}'", _HINT)
    if not clusters and (lost := next((entry for entry in collected if entry.kind != "QOS"), None)):
        words = "accounts without a cluster: the line that starts with Cluster is missing"
        raise ClustergenError(f"{lost.place}: {words}", "pass the whole dump")
    return AccountingDump(
        cluster=clusters[0] if clusters else None,
        qos=tuple(_of("QOS", collected, unread)),
        accounts=tuple(_of("Account", collected, unread)),
        users=tuple(entry for entry in collected if entry.kind == "User"),
        unread=tuple(unread),
        latin=tuple(latin),
    )


def _lines(path: Path) -> list[str]:
    try:
        content = regular_file.read(path, _LARGEST, follow_links=True)
    except OSError as err:
        raise ClustergenError(f"{path}: {reason_of(err)}", _HINT if err.errno == EFBIG else None) from None
    text = content.decode("utf-8-sig", "surrogateescape")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _of(kind: Kind, entries: list[Entry], unread: list[tuple[str, str]]) -> Iterator[Entry]:
    """Each name once, as the first says it: the dump of a newer release and a table both have the QOS."""
    by_name: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind == kind and by_name.setdefault(entry.name, entry) is not entry and kind == "Account":
            unread.append((entry.place, f"account {entry.name} is already defined at {by_name[entry.name].place}"))
    yield from by_name.values()


def _entries(file: str, lines: Iterable[str], needed: set[str], unread: list[tuple[str, str]]) -> Iterator[Entry]:
    account = _ROOT
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        place = f"{file}:{number}"
        dumped = _LINE.fullmatch(line)
        if not line.strip() or line.startswith("#"):
            continue
        if "\0" in line:
            unread.append((place, "a line contains a NUL byte"))
        elif dumped:
            kind, name, rest = dumped.groups()
            options = _options(rest)
            if options is None or not name:
                unread.append((place, f"cannot be read: {line}"))
            elif kind == "Parent":
                account = name
            else:
                above = account if kind in ("Account", "User") else ""
                yield Entry(cast("Kind", kind), name, above, options, place)
        elif "|" in line and (header := _header(line, place)):
            columns = header
            if lacking := sorted(needed.difference(columns)):
                words = f"the table of QOS has no column {', '.join(lacking)}, so the database would lose these values"
                raise ClustergenError(f"{place}: {words}", "run sacctmgr -P show qos without format")
        elif "|" in line and columns:
            yield from _row(line, columns, place, unread)
        elif "|" in line:
            words = "the first line of the table does not contain the column names"
            raise ClustergenError(f"{place}: {words}", "run sacctmgr -P show qos without -n")
        else:
            unread.append((place, f"this line belongs neither to a dump nor to a table: {line}"))


def _options(text: str) -> dict[str, str] | None:
    """`:Fairshare=1:QOS='a,b'`; None where something is left over."""
    options: dict[str, str] = {}
    at = 0
    while match := _OPTION.match(text, at):
        options[match[1]] = match[2] if match[2] is not None else match[3]
        at = match.end()
    return options if at == len(text) else None


def _header(line: str, place: str) -> list[str]:
    """The columns of a table of QOS, as a dump has them; none where the line is no header."""
    words = line.removesuffix("|").split("|")
    if not all(_COLUMN.fullmatch(word) for word in words):
        return []
    if "Account" in words:
        raise ClustergenError(f"{place}: a table of accounts does not contain their parents", _HINT)
    return [_COLUMNS.get(word.lower(), word) for word in words] if "Name" in words else []


def _row(line: str, columns: list[str], place: str, unread: list[tuple[str, str]]) -> Iterator[Entry]:
    cells = line.split("|")
    if len(cells) == len(columns) + 1 and not cells[-1]:
        del cells[-1]  # -p ends lines with a bar
    row = dict(zip(columns, cells, strict=False))
    name = row.pop("Name", "")
    if len(cells) != len(columns) or not name:
        unread.append((place, f"{len(cells)} cells in a table of {len(columns)} columns: {line}"))
    else:
        yield Entry("QOS", name, "", row, place)
