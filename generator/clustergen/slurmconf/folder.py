"""A folder of Slurm's files, read as Slurm reads it: every value with its place, DEFAULT lines applied.

Who lints or imports hand-written files starts here:

    folder = open_folder(Path("/etc/slurm"), key_tables)     # catalogue.slurm.key_tables: what each file may hold
    conf = folder.config("slurm.conf")                       # Include followed; None where there is no such file
    conf.value("SelectType")                                 # the one that counts: a Setting, or None
    conf.settings("SlurmctldHost")                           # all of them, in order
    for node in conf.entries("NodeName"):                    # one per line, folded as written; DEFAULT lines left out
        node.names, node.value("RealMemory", "…alias…")      # its own value, or that of the DEFAULT lines above it
        node.hosts()                                         # expanded, when somebody asks

A Setting knows `file`, `key_at` and `value_at` (line and columns); `folder.texts` has the text of every file that was
read, for comments and excerpts, and `folder.shown(file)` its path as a user knows it. What Slurm could not read is in
`line.problems`. Files of another grammar (plugstack.conf, topology.yaml) are got with `folder.text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from clustergen.hostlist import HostlistError, count, expand
from clustergen.slurmconf.bounds import refuse_too_much
from clustergen.slurmconf.grammar import KeyTables, Line, Pair, Span
from clustergen.slurmconf.include import read_config
from clustergen.slurmconf.parse import decode
from clustergen.slurmconf.reading import Reader

TablesOf = Callable[[str], KeyTables | None]
"""File name → the keys that it may hold; None for a file whose keys nobody knows."""

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
        """As written."""
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
        """What DEFAULT lines set, by key in lower case; lines under the same DEFAULT lines share it."""
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
        """What the line begins with."""
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
        """As `value`, the text alone."""
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
        """As `value`, the text alone."""
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


class Folder:
    """The files of one folder. A file is read when it is asked for; OSError where it is there and cannot be read."""

    def __init__(self, path: Path, main: str, tables_of: TablesOf, *, beside_includer: bool = False) -> None:
        self.path = path
        self.main = main
        """The file that is the slurm.conf, as it is called here."""
        self.texts: dict[str, str] = {}
        """File, as `Line.file` calls it → its text; bytes that are not UTF-8 are lone surrogates."""
        self._tables_of = tables_of
        self._beside_includer = beside_includer
        self._configs: dict[str, Config | None] = {}
        self._reader = Reader(path)
        self._shown: dict[str, str] = {}

    def has(self, name: str) -> bool:
        return self._reader.has(self._called(name))

    def config(self, name: str) -> Config | None:
        """A file and all that it includes, by the name that Slurm gives it; None where there is none.

        OSError also where they are more, or stand for more, than `reading` and `bounds` allow.
        """
        if name not in self._configs:
            called = self._called(name)
            if self._reader.has(called):
                lines = read_config(
                    called, self._read, key_tables=self._tables_of(name), beside_includer=self._beside_includer
                )
                config = Config(name, lines, self._tables_of(name))
                refuse_too_much(config)
                self._configs[name] = config
            else:
                self._configs[name] = None
        return self._configs[name]

    def text(self, name: str) -> str | None:
        """The text of a file; None where there is none."""
        called = self._called(name)
        if called not in self.texts:
            if not self._reader.has(called):
                return None
            self._read(called)
        return self.texts[called]

    def content(self, name: str, most: int) -> bytes:
        """The bytes of a file of at most that many. Raises OSError, as for links that lead out of the directory."""
        return self._reader.read(name, most)

    def where(self, file: str) -> Path:
        """The path of a file, as `Line.file` calls it."""
        return self.path / self._inside(file)

    def shown(self, file: str) -> str:
        """The same for messages, in the words in which the folder was given."""
        if file not in self._shown:
            self._shown[file] = str(self.where(file))
        return self._shown[file]

    def _called(self, name: str) -> str:
        return self.main if name == "slurm.conf" else name

    def _read(self, name: str) -> bytes:
        data = self._reader.read(self._inside(name))
        self.texts.setdefault(name, decode(data))
        return data

    def _inside(self, name: str) -> str:
        """An absolute name as a name in the directory: it is a copy, and its place on the node is unknown.

        The longest end of the name that is a file here; the name itself where there is none.
        """
        if not name.startswith("/"):
            return name
        parts = [part for part in name.split("/") if part]
        ends = ("/".join(parts[start:]) for start in range(len(parts)) if ".." not in parts[start:])
        return next((end for end in ends if self._reader.has(end)), name)


def open_folder(path: Path, tables_of: TablesOf, *, main: str = "slurm.conf", beside_includer: bool = False) -> Folder:
    """The folder of a slurm.conf and its kin. `main`: what slurm.conf is called there.

    `beside_includer`: before Slurm 23.02 Include was relative to the including file. Nothing is read yet.
    """
    return Folder(path, main, tables_of, beside_includer=beside_includer)
