"""A directory of Slurm's files, read as Slurm reads it: every value with its place, DEFAULT lines applied.

Who lints or imports hand-written files starts here:

    directory = open_directory(Path("/etc/slurm"), key_tables)     # catalogue.slurm.key_tables: what each file may hold
    conf = directory.config("slurm.conf")                       # Include followed; None where there is no such file
    conf.value("SelectType")                                 # the one that counts: a Setting, or None
    conf.settings("SlurmctldHost")                           # all of them, in order
    for node in conf.entries("NodeName"):                    # one per line, folded as written; DEFAULT lines left out
        node.names, node.value("RealMemory", "…alias…")      # its own value, or that of the DEFAULT lines above it
        node.hosts()                                         # expanded, when somebody asks

A Setting knows `file`, `key_at` and `value_at` (line and columns); `directory.texts` has the text of every file that
was read, for comments and excerpts, and `directory.shown(file)` its path as a user knows it. What Slurm could not read
is in `line.problems`. Files of another grammar (plugstack.conf, topology.yaml) are got with `directory.text`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clustergen.slurmconf.bounds import refuse_too_much
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.grammar import KeyTables
from clustergen.slurmconf.include import read_config
from clustergen.slurmconf.parse import decode
from clustergen.slurmconf.reading import Reader

TablesOf = Callable[[str], KeyTables | None]
"""File name → the keys that it may hold; None for a file whose keys nobody knows."""


class ConfigDirectory:
    """The files of one directory. A file is read when it is asked for; OSError where it is there and cannot be read."""

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
        self._left_out: set[str] = set()

    def has(self, name: str) -> bool:
        return name not in self._left_out and self._reader.has(self._called(name))

    def leave_out(self, name: str) -> None:
        """From now on, this file counts as absent."""
        self._left_out.add(name)

    def config(self, name: str) -> Config | None:
        """A file and all that it includes, by the name that Slurm gives it; None where there is none.

        OSError also where they are more, or stand for more, than `reading` and `bounds` allow.
        """
        if name not in self._configs:
            called = self._called(name)
            if self.has(name):
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
            if not self.has(name):
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
        """The same for messages, in the words in which the directory was given."""
        if file not in self._shown:
            self._shown[file] = str(self.where(file))
        return self._shown[file]

    def show_as(self, file: str, name: str) -> None:
        """Lets messages call a file by another name than its path."""
        self._shown[file] = name

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


def open_directory(
    path: Path, tables_of: TablesOf, *, main: str = "slurm.conf", beside_includer: bool = False
) -> ConfigDirectory:
    """The directory of a slurm.conf and related files. `main`: what slurm.conf is called there.

    `beside_includer`: before Slurm 23.02 Include was relative to the including file. Nothing is read yet.
    """
    return ConfigDirectory(path, main, tables_of, beside_includer=beside_includer)
