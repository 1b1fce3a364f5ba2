"""Slurm by release: which keys its parser knows, and which releases talk to each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from clustergen.catalogue.tables import Indexed, listed
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record

KeyState = Literal["known", "too-new", "defunct", "refused", "removed"]


@record
class SlurmText:
    """The form of a key's text, by the name that slurmrules.forms knows, and what a daemon does with any other text."""

    form: str
    beyond: str


@record
class SlurmProgram:
    """The user as whom Slurm runs or loads the file of a key. The head of slurm_keys.tsv explains the words."""

    user: str
    form: str
    condition: str = ""


@record
class SlurmKey:
    """One key of one file. A release outside since … removed stops on it, and takes every daemon and command along."""

    file: str
    """slurm.conf, gres.conf, cgroup.conf …; the keys of job_container.conf also make namespace.yaml."""
    block: str
    """The key that opens the line it stands on (NodeName, PartitionName …); empty for a line of its own."""
    key: str
    type: str
    """string, boolean, array (may be repeated), float, uint16, uint32, uint64, long."""
    since: SlurmRelease | None = None
    defunct: SlurmRelease | None = None
    """From here on it is an error in the log and nothing else."""
    refused: SlurmRelease | None = None
    """From here on the daemons stop on it although the parser reads it."""
    removed: SlurmRelease | None = None
    """From here on the parser does not know it."""
    unit: str = ""
    instead: str = ""
    """The key that took its place."""
    defaults: tuple[tuple[SlurmRelease | None, str], ...] = ()
    """The values that Slurm takes where the key is absent, each from a release on."""
    meaning: str = ""
    """How a value is read, where that is more than its text or the type."""
    same: tuple[tuple[str, str], ...] = ()
    """Word, in lower case → the word that it means as well; an empty one where it is as good as absent."""
    text: SlurmText | None = None
    program: SlurmProgram | None = None
    note: str = ""
    source: str = ""

    def state(self, release: SlurmRelease) -> KeyState:
        """How the release treats the key; of the bad answers only `defunct` lets the daemons start."""
        return state_in(release, self.since, self.defunct, self.refused, self.removed)

    def stops(self, release: SlurmRelease) -> bool:
        """True if the release's daemons stop at the key."""
        return self.state(release) in ("too-new", "refused", "removed")


def _defaults(text: str) -> tuple[tuple[SlurmRelease | None, str], ...]:
    pairs = (_SINCE.fullmatch(word) for word in text.split())
    return tuple((SlurmRelease(pair[1]) if pair[1] else None, pair[2]) for pair in pairs if pair)


def _same(text: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for group in text.lower().split():
        first, *others = group.split("=")
        pairs += [(other, first) for other in others if other]
        if others == [""]:
            pairs.append((first, ""))
    return tuple(pairs)


_SINCE = re.compile(r"(?:(\d+\.\d+):)?(.+)")
_READERS: dict[str, Callable[[str], Any]] = {
    "defaults": _defaults,
    "same": _same,
    "text": lambda text: SlurmText(*text.split()),
    "program": lambda text: SlurmProgram(*text.split()),
}


def state_in(
    release: SlurmRelease,
    since: SlurmRelease | None,
    defunct: SlurmRelease | None,
    refused: SlurmRelease | None,
    removed: SlurmRelease | None,
) -> KeyState:
    """Where a release stands in the life of a name; None for a step that has not come, or came before the first one."""
    if since is not None and release < since:
        return "too-new"
    if removed is not None and release >= removed:
        return "removed"
    if refused is not None and release >= refused:
        return "refused"
    if defunct is not None and release >= defunct:
        return "defunct"
    return "known"


@record
class _Release:
    """A release, and the older ones that its daemons accept."""

    release: SlurmRelease
    accepts: frozenset[SlurmRelease]
    status: Literal["read", "announced"]


_releases = listed("slurm_releases.tsv", _Release, accepts=lambda text: frozenset(map(SlurmRelease, text.split())))


@cache
def releases() -> dict[SlurmRelease, frozenset[SlurmRelease]]:
    """Every release, oldest first → itself and the older ones that its daemons accept."""
    return {row.release: row.accepts | {row.release} for row in _releases()}


@cache
def read_releases() -> tuple[SlurmRelease, ...]:
    """The releases whose keys, words and plugins were read, oldest first; others are announced only."""
    return tuple(row.release for row in _releases() if row.status == "read")


def accepts(newer: SlurmRelease, older: SlurmRelease) -> bool | None:
    """True if daemons of `newer` take messages, state and databases of `older`; None where a release is not known.

    slurmdbd must be as new as slurmctld, slurmctld as new as slurmd and the commands.
    """
    all_releases = releases()
    if newer not in all_releases or older not in all_releases:
        return None
    return older in all_releases[newer]


_keys = Indexed("slurm_keys.tsv", SlurmKey, lambda row: [((row[0], row[1]), row[2].lower())], **_READERS)
"""By file and block, and key in lower case."""


def key(file: str, name: str, block: str = "") -> SlurmKey | None:
    """The key of that name, in any case: `key("slurm.conf", "gres", "NodeName")` is Gres on a NodeName line."""
    return _keys.row((file, block), name.lower())


def default(file: str, block: str, name: str, release: SlurmRelease) -> str | None:
    """The release's default of an absent key; None if the default or the key is not known."""
    row = key(file, name, block)
    stated = row.defaults if row is not None else ()
    return next((value for since, value in reversed(stated) if since is None or release >= since), None)


@cache
def keys(file: str, block: str = "") -> tuple[SlurmKey, ...]:
    """All keys of a file's own lines, or of the lines that `block` opens, in the order of the table."""
    return _keys.rows((file, block))


@cache
def key_tables(file: str) -> dict[str, tuple[str, ...]] | None:
    """The tables that `slurmconf.parse` needs for a file: block → the keys that any release reads there; None where its
    keys are not in the catalogue. For one release, see `key`.
    """
    rows = _keys.cells.items()
    tables = {block: tuple(row[2] for row in names.values()) for (name, block), names in rows if name == file}
    return tables or None


@cache
def files() -> dict[str, tuple[str, ...]]:
    """Every file with keys here → the blocks that it has besides its own lines."""
    blocks_by_file: dict[str, list[str]] = {}
    for file, block in _keys.cells:
        blocks = blocks_by_file.setdefault(file, [])
        if block:
            blocks.append(block)
    return {file: tuple(blocks) for file, blocks in blocks_by_file.items()}
