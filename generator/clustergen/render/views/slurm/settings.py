"""Rows of Slurm's files: a key, its value, and why.

What the release does not know is left out, by the catalogue's tables; what the manifest says in `options` takes the
place of our value, or is added, and no key is printed twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clustergen.catalogue.slurm import key as catalogue_key
from clustergen.catalogue.slurm_values import token as catalogue_token
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record, replace
from clustergen.render.formats import Safe, comment_text, slurm_value

Value = str | int | float
Pairs = Sequence[tuple[str, Value | None]]
_COMMENT_COLUMN = 48
OWN_VALUE = "set in the manifest"


@record
class Setting:
    """One line: `Key=Value  # why`."""

    key: str
    value: Value
    why: str = ""

    @property
    def line(self) -> Safe:
        text = f"{self.key}={slurm_value(self.value)}"
        return Safe(f"{text:<{_COMMENT_COLUMN}}  # {comment_text(self.why)}" if self.why else text)


@record
class Section:
    """Lines on one topic."""

    title: str
    rows: tuple[Setting, ...]

    @property
    def lines(self) -> tuple[Safe, ...]:
        return tuple(row.line for row in self.rows)


def knows(file: str, key: str, release: SlurmRelease, block: str = "") -> bool:
    """True if daemons of that release read the key without complaint."""
    row = catalogue_key(file, key, block)
    return row is not None and row.state(release) == "known"


def words(key: str, requested: Iterable[str], release: SlurmRelease) -> str:
    """A list value of the words that the release knows, each once; others are ignored without a sound, or fatal."""
    accepted = [
        word for word in requested if (row := catalogue_token(key, word)) is None or row.state(release) == "known"
    ]
    return ",".join(dict.fromkeys(accepted))


def section(title: str, file: str, release: SlurmRelease, rows: Iterable[Setting | None]) -> Section:
    """The rows that the release knows and that have a value."""
    kept = (row for row in rows if row is not None and row.value != "")
    return Section(title, tuple(row for row in kept if knows(file, row.key, release)))


def with_options(sections: Iterable[Section], options: Mapping[str, Value], where: str) -> tuple[Section, ...]:
    """The manifest's own values: in the place of ours, other keys in a section of their own. Empty sections go."""
    stated = {key.lower(): (key, value) for key, value in options.items()}
    placed: set[str] = set()
    result = []
    for part in sections:
        rows = []
        for row in part.rows:
            name = row.key.lower()
            if name not in stated:
                rows.append(row)
            elif name not in placed:
                placed.add(name)
                rows.append(replace(row, value=stated[name][1], why=f"{OWN_VALUE}: {where}"))
        result.append(Section(part.title, tuple(rows)))
    more = tuple(Setting(key, value) for name, (key, value) in stated.items() if name not in placed)
    result.append(Section(f"Set in the manifest: {where}", more))
    return tuple(part for part in result if part.rows)


def block(file: str, release: SlurmRelease, pairs: Pairs, options: Mapping[str, Value] | None = None) -> Safe:
    """A line such as NodeName's, whose first key opens it.

    Keys without a value and keys that the release does not know are left out; options take the place of ours, and other
    options come last.
    """
    opening = pairs[0][0]
    stated = {key.lower(): (key, value) for key, value in (options or {}).items()}
    settings = []
    for key, value in pairs:
        if key.lower() in stated:
            settings.append(_word(*stated.pop(key.lower())))
        elif value is not None and value != "" and (key == opening or knows(file, key, release, opening)):
            settings.append(_word(key, value))
    return Safe(" ".join([*settings, *(_word(key, value) for key, value in stated.values())]))


def own_lines(mappings: Iterable[Mapping[str, Value]]) -> tuple[Safe, ...]:
    """Whole lines of the manifest's own."""
    return tuple(Safe(" ".join(_word(key, value) for key, value in line.items())) for line in mappings if line)


def _word(key: str, value: Value) -> str:
    return f"{key}={slurm_value(value)}"
