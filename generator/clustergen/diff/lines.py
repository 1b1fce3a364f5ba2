"""The settings of one line or file, and how two of them differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_meanings import meaning, spelled
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.values import canonical, differing
from clustergen.records import record
from clustergen.slurmconf.config import Config, Setting

Settings = dict[str, str]
"""Key as the catalogue writes it → text."""


@record
class Sides:
    """One file before and after, each with its release; an absent file is an empty one."""

    file: str
    """The path on the node."""
    old: Config
    new: Config
    old_release: SlurmRelease
    release: SlurmRelease

    @property
    def base(self) -> str:
        return self.file.rpartition("/")[2]


class Difference(NamedTuple):
    """A key with another meaning. `what`: which words of the table of effects fit."""

    key: str
    old: str | None
    new: str | None
    what: tuple[str, ...]


def settings(file: str, block: str, line: Iterable[Setting]) -> Settings:
    """The values of a line by key, those that count first; old names are the keys that they stand for."""
    by_key: dict[str, Setting] = {}
    for setting in line:
        for key in spelled(file, block, setting.key):
            by_key.setdefault(key, setting)
    in_file_order = sorted(by_key.items(), key=lambda item: (item[1].pair.line, item[1].pair.column))
    return {key: setting.text for key, setting in in_file_order}


def differences(sides: Sides, block: str, old: Settings, new: Settings) -> Iterator[Difference]:
    """The keys whose meaning differs, in order of their names; an absent key counts as its default."""
    file = sides.base
    same_release = sides.old_release == sides.release
    for key in sorted({*old, *new}):
        if same_release and old.get(key) == new.get(key):
            continue
        how = meaning(file, block, key)
        before = old.get(key) or slurm.default(file, block, key, sides.old_release)
        after = new.get(key) or slurm.default(file, block, key, sides.release)
        row = None if same_release else slurm.key(file, key, block)
        is_fatal = row is not None and row.stops(sides.release) and not row.stops(sides.old_release)
        if is_fatal or canonical(how, key, before or "") != canonical(how, key, after or ""):
            yield Difference(key, before, after, differing(how, key, before, after))


def own_lines(file: str, config: Config, *, leave: frozenset[str] = frozenset()) -> Settings:
    """The keys that stand alone in their lines; one that may be repeated has its values joined, in order."""
    blocks = {block.lower() for block in slurm.files().get(file, ())}
    settings_by_key: Settings = {}
    for key in list(config.keys()):
        if key in blocks or key in leave:
            continue
        values = config.settings(key)
        row = slurm.key(file, key)
        repeated = row is not None and row.type == "array"
        text = ",".join(value.text for value in values) if repeated else values[-1].text
        for name in spelled(file, "", values[-1].key):
            settings_by_key.setdefault(name, text)
    return settings_by_key


def shown(values: Mapping[str, str]) -> str:
    """The settings as one line."""
    return " ".join(f"{key}={value}" for key, value in values.items())


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """`-LINE` and `+LINE` of lines that only one side has, side by side where they stand; in linear time.

    A line that is moved is not shown.
    """
    old_lines, new_lines = set(old), set(new)
    shown: list[str] = []
    before = after = 0
    while before < len(old) or after < len(new):
        while before < len(old) and old[before] not in new_lines:
            shown.append(f"-{old[before]}")
            before += 1
        while after < len(new) and new[after] not in old_lines:
            shown.append(f"+{new[after]}")
            after += 1
        before, after = before + 1, after + 1
    return shown
