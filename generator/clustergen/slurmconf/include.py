"""A directory of Slurm's files → the lines that Slurm sees, with `Include` followed as it follows it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from posixpath import dirname, join, normpath

from clustergen.regular_file import reason_of
from clustergen.slurmconf.grammar import KeyTables, Line, Problem, ProblemKind
from clustergen.slurmconf.parse import decode, parse
from clustergen.slurmconf.reading import MOST_BYTES, MOST_LINES

Reader = Callable[[str], bytes]
"""The content of a file by the name that Include gives it, relative to the directory of slurm.conf or absolute; OSError
where there is none."""

_MOST_FILES = 1_000
_DEEPEST = 100


def read_config(
    main: str, read: Reader, *, key_tables: KeyTables | None = None, beside_includer: bool = False
) -> list[Line]:
    """The lines of `main` in the order in which Slurm sees them: behind each Include line those of the file it names.

    Names are relative to the directory of slurm.conf, also inside included files; before Slurm 23.02 to that of the
    file that includes, which is `beside_includer`. `%c` is the cluster's name in lower case, from the last ClusterName
    above it. A file that cannot be read, a loop, a pattern with `*`, a `%c` before any name: problems of the Include
    line. OSError where `main` itself cannot be read, or all that is included is too much.
    """
    following = _Following(read, key_tables, beside_includer)
    following.follow(main, read(main), (normpath(main),))
    return following.lines


class _Following:
    """The lines so far, and what they mean for the Include lines below them."""

    def __init__(self, read: Reader, key_tables: KeyTables | None, beside_includer: bool) -> None:
        self.lines: list[Line] = []
        self._read = read
        self._key_tables = key_tables
        self._beside_includer = beside_includer
        self._cluster: str | None = None
        self._opened = 0
        self._bytes = 0
        self._physical = 0
        self._parsed: dict[tuple[str, bytes], list[Line]] = {}  # a file may be included again and again

    def follow(self, file: str, data: bytes, above: tuple[str, ...]) -> None:
        """Adds the lines of one file and of those that it includes. `above`: the files on the way, this one last."""
        self._opened += 1
        self._bytes += len(data)
        self._physical += data.count(b"\n")
        if self._physical > MOST_LINES:
            raise OSError(errno.EFBIG, f"more than {MOST_LINES:,} lines, with all that is included")
        if self._bytes > MOST_BYTES:
            raise OSError(errno.EFBIG, f"more than {MOST_BYTES:,} bytes, with all that is included")
        if (file, data) not in self._parsed:
            self._parsed[file, data] = parse(decode(data), file, key_tables=self._key_tables)
        for line in self._parsed[file, data]:
            self.lines.append(line)
            if line.key == "clustername":
                self._cluster = line.pairs[0].value.lower()
            if line.include is not None:
                self._include(line, self._named(line.include, file), above)

    def _named(self, include: str, file: str) -> str:
        """The name of the included file, from the directory of slurm.conf."""
        name = include if self._cluster is None else include.replace("%c", self._cluster)
        return join(dirname(file), name) if self._beside_includer else name

    def _include(self, line: Line, name: str, above: tuple[str, ...]) -> None:
        reason, kind = _refusal(name, above), ProblemKind.INCLUDE_FAILED
        if self._opened >= _MOST_FILES or len(above) >= _DEEPEST:
            reason = ("too many files include one another", None)
        if reason is None:
            try:
                content = self._read(name)
            except OSError as err:
                hint = (
                    "create the file, or remove the line: Slurm waits a minute for it and then stops"
                    if isinstance(err, FileNotFoundError)
                    else None
                )
                reason = (f"'{name}' cannot be read: {reason_of(err)}", hint)
                if err.errno == errno.EXDEV:
                    kind = ProblemKind.INCLUDE_OUTSIDE
            else:
                self.follow(name, content, (*above, normpath(name)))
        if reason is not None and line.include_at is not None:
            problem = Problem(kind, *reason, line.include_at)
            self.lines[-1] = line._replace(problems=(*line.problems, problem))


def _refusal(name: str, above: tuple[str, ...]) -> tuple[str, str | None] | None:
    """Why Slurm would not even open an included file: a message and a hint."""
    if "%c" in name:
        return "%c is used before ClusterName is set", "move ClusterName above this line"
    if "*" in name:
        return "Slurm does not expand patterns in Include", "write an Include line for each file"
    if normpath(name) in above:
        return f"'{name}' includes itself", f"remove one Include of {' → '.join((*above, name))}"
    return None
