"""One file of Slurm's with all that it includes: settings, entries, and what DEFAULT lines add to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from clustergen.hostlist import HostlistError, count, expand
from clustergen.slurmconf.grammar import KeyTables, Line, Pair, Span

# Blocks with DEFAULT lines → the keys, in lower case, that only a line's own value sets.
_WITH_DEFAULTS = {
    "nodename": frozenset(("nodename", "nodeaddr", "nodehostname", "bcastaddr", "gresconf")),
    "partitionname": frozenset(
        (
            "partitionname",
            "disablerootjobs",
            "exclusiveuser",
            "exclusivetopo",
            "powerdownonidle",
            "selecttypeparameters",
            "suspendtime",
        )
    ),
}


class Setting(NamedTuple):
    """One `Key=Value` of one file."""

    file: str
    pair: Pair

    @property
    def key(self) -> str:
        """The key as written."""
        return self.pair.key

    @property
    def text(self) -> str:
        """The value, with quotes and escapes resolved."""
        return self.pair.value

    @property
    def key_at(self) -> Span:
        return self.pair.key_at

    @property
    def value_at(self) -> Span:
        return self.pair.value_at


_NOTHING: Mapping[str, Setting] = MappingProxyType({})


class Entry:
    """One line that a block key opens (NodeName, PartitionName, SwitchName …), with what DEFAULT lines add to it."""

    __slots__ = ("_above", "_hosts", "_pairs", "_stated", "block", "inherited", "line")

    def __init__(
        self, line: Line, stated: Sequence[Line] = (), above: int = 0, inherited: Mapping[str, Setting] = _NOTHING
    ) -> None:
        self.line = line
        self.block = line.key
        self._stated = stated
        self._above = above
        self._pairs = {pair.key.lower(): pair for pair in line.pairs}
        self.inherited = inherited
        """Values of DEFAULT lines, by key in lower case; lines under the same DEFAULT lines share it."""
        self._hosts: list[str] | None = None

    @property
    def defaults(self) -> tuple[Line, ...]:
        """The DEFAULT lines above it, the latest first."""
        return tuple(reversed(self._stated[: self._above]))

    @property
    def file(self) -> str:
        return self.line.file

    @property
    def name(self) -> Setting:
        """The first word of the line."""
        return Setting(self.line.file, self.line.pairs[0])

    @property
    def names(self) -> str:
        """The value of the block key: one name, or a host list."""
        return self.line.pairs[0].value

    def hosts(self) -> list[str]:
        """The names expanded. HostlistError for a text that is no host list."""
        if self._hosts is None:
            self._hosts = expand(self.names)
        return self._hosts

    def size(self) -> int:
        """How many names those are, without expanding them; 1 for a text that is no host list."""
        try:
            return count(self.names)
        except HostlistError:
            return 1

    def own_value(self, *keys: str) -> Setting | None:
        """The line's own value of the first of these keys that it has; keys in any case."""
        for key in keys:
            pair = self._pairs.get(key.lower())
            if pair is not None:
                return Setting(self.line.file, pair)
        return None

    def value(self, *keys: str) -> Setting | None:
        """The value that counts: of the first of these keys on the line itself, then on DEFAULT lines."""
        setting = self.own_value(*keys)
        if setting is None and self.inherited:
            return next((self.inherited[low] for key in keys if (low := key.lower()) in self.inherited), None)
        return setting

    def text(self, *keys: str) -> str | None:
        """The text of a value alone."""
        setting = self.value(*keys)
        return setting.text if setting is not None else None

    def settings(self) -> Iterator[Setting]:
        """Every value that counts, behind the name: the line's own first, then those of DEFAULT lines, in order."""
        for key, pair in self._pairs.items():
            if key != self.block:
                yield Setting(self.line.file, pair)
        for key, setting in self.inherited.items():
            if key not in self._pairs:
                yield setting


class Config:
    """One file of Slurm's with all that it includes."""

    def __init__(self, name: str, lines: list[Line], tables: KeyTables | None = None) -> None:
        self.name = name
        self.lines = tuple(lines)
        self._tables = {block.lower(): frozenset(map(str.lower, keys)) for block, keys in (tables or {}).items()}

    @cached_property
    def _by_key(self) -> dict[str, list[Line]]:
        lines: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.pairs:
                lines.setdefault(line.key, []).append(line)
        return lines

    @cached_property
    def _entries(self) -> dict[str, tuple[list[Entry], list[Line]]]:
        return {}

    def keys(self) -> list[str]:
        """The keys that begin lines, in lower case, in order of first use."""
        return list(self._by_key)

    def settings(self, *keys: str) -> list[Setting]:
        """Every value of these keys at the start of lines, in order."""
        lines = [line for key in keys for line in self._by_key.get(key.lower(), ())]
        return [Setting(line.file, line.pairs[0]) for line in lines]

    def value(self, *keys: str) -> Setting | None:
        """The value that counts, the last one, of the first of these keys that the file has."""
        for key in keys:
            lines = self._by_key.get(key.lower())
            if lines:
                return Setting(lines[-1].file, lines[-1].pairs[0])
        return None

    def text(self, *keys: str) -> str | None:
        """The text of a value alone."""
        setting = self.value(*keys)
        return setting.text if setting is not None else None

    def entries(self, block: str) -> list[Entry]:
        """The lines that a block key opens, in order, without the DEFAULT lines; those stand in `Entry.defaults`."""
        return self._block(block)[0]

    def default_lines(self, block: str) -> list[Line]:
        """The `NodeName=DEFAULT` or `PartitionName=DEFAULT` lines, in order."""
        return self._block(block)[1]

    def _block(self, block: str) -> tuple[list[Entry], list[Line]]:
        key = block.lower()
        if key not in self._entries:
            entries: list[Entry] = []
            stated: list[Line] = []
            inherited: dict[str, Setting] = {}
            shared = False  # whether an entry holds `inherited`, which is then never changed again
            private = _WITH_DEFAULTS.get(key, frozenset())
            readable = self._tables.get(key)
            for line in self._by_key.get(key, ()):
                if key in _WITH_DEFAULTS and line.pairs[0].value.lower() == "default":
                    stated.append(line)
                    inherited, shared = dict(inherited) if shared else inherited, False
                    for pair in line.pairs:
                        name = pair.key.lower()
                        if name not in private and (readable is None or name in readable):
                            inherited[name] = Setting(line.file, pair)
                else:
                    entries.append(Entry(line, stated, len(stated), inherited))
                    shared = True
            self._entries[key] = entries, stated
        return self._entries[key]
