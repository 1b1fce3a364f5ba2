"""Prepares a directory of Slurm's files for the daemons of a newer release than the one that they are written for.

Keys and values that only the newer release refuses are removed from the copy and named; those that the release of the
files refuses, and the newer one may accept, are complaints. Both follow from the catalogue's table of keys by release.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record
from clustergen.slurmconf import Line, Pair, decode, parse
from clustergen.slurmrules import Outcome, Remark, keys, values

_READERS = {"slurmdbd.conf": "slurmdbd", "gres.conf": "slurmd"}  # slurmctld reads all others


@record
class Prepared:
    """`complaints` by the release of the files, as "daemon: fatal: words"; `left_out`: a sentence per removed pair."""

    complaints: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def prepare(directory: Path, release: SlurmRelease, newer: SlurmRelease) -> Prepared:
    """Judges the files below `directory` by the rules of `release`, and removes from them what only `newer` refuses."""
    complaints: dict[str, None] = {}
    left_out: dict[str, None] = {}
    for file in sorted(directory.rglob("*.conf")):
        tables = slurm.key_tables(file.name)
        if tables is None:
            continue
        physical = decode(file.read_bytes()).split("\n")
        for line in parse("\n".join(physical), file.name, key_tables=tables):
            for index, pair in reversed(tuple(enumerate(line.pairs))):
                mine = [*_refusals(line, index, pair, release)]
                theirs = [*_refusals(line, index, pair, newer)]
                level = "fatal" if any(remark.outcome == Outcome.STOPS for remark in mine) else "error"
                for remark in mine:
                    reader = _READERS.get(file.name, "slurmctld")
                    complaints[f"{reader}: {level}: {file.name}:{line.number}: {remark.message}"] = None
                if theirs and not mine:
                    left_out[f"{file.name}: {pair.key}={pair.value} was omitted: {theirs[0].message}"] = None
                    _cut(physical, pair)
        file.write_bytes("\n".join(physical).encode("utf-8", "surrogateescape"))
    return Prepared(tuple(complaints), tuple(left_out))


def _refusals(line: Line, index: int, pair: Pair, release: SlurmRelease) -> Iterator[Remark]:
    """Lines for which a release stops or logs an error."""
    head = slurm.key(line.file, line.pairs[0].key) if index else None
    row = slurm.key(line.file, pair.key, head.key if head else "")
    if row is None:
        return  # the daemon itself refuses a key that no release has
    is_known = row.state(release) == "known"
    remarks = values.value(release, row, pair.value) if is_known else keys.state(row, release)
    yield from (remark for remark in remarks if remark.outcome in (Outcome.STOPS, Outcome.LOGS))


def _cut(physical: list[str], pair: Pair) -> None:
    """Removes a pair from its line; one that goes on in the next line stays, for the daemon to judge."""
    if pair.line == pair.value_line:
        text = physical[pair.line - 1]
        end = pair.value_end - 1 + pair.quoted
        physical[pair.line - 1] = text[: pair.column - 1] + text[end:]
