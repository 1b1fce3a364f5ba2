"""The parts of a file of Slurm's, and its possible errors.

The rules, as Slurm's own parser applies them, in this order:

1. A line ends at a newline; a NUL hides the rest of it. `#` starts a comment anywhere, inside quotes too, unless an odd
   number of backslashes stands before it.
2. A line whose last visible character is a backslash that no other one escapes goes on in the next line.
3. Then every backslash is dropped and the character behind it kept as it is: `\\#` is `#`, `\\` is `\\`. A quote
   cannot be escaped: `\"` is a quote like any other.
4. `Include NAME` counts at the very start of a line only.
5. All else is `Key=Value`. Blanks around `=` are skipped, so an empty value takes the next word; `+=`, `-=`, `*=`, `/=`
   exist. A value in double quotes may hold blanks and no quote; any other one runs up to the next blank, and quotes in
   it are part of it. Keys are letters, digits, `_` and `.`; their case does not count.
6. A key that opens a block (`NodeName`) takes further pairs behind it in its line; all others stand alone.

Slurm refuses a file with an unknown key or with anything that it could not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, TypeAlias

KeyTables: TypeAlias = Mapping[str, Iterable[str]]
"""The keys that a file may hold: `""` gives those that start a line, `"NodeName"` those behind NodeName in its line. A
key without an entry of its own stands alone."""

BLANKS = " \t\n\v\f\r"
PAIR = re.compile(
    rf"[{BLANKS}]*([A-Za-z0-9_.]+)[{BLANKS}]*([-*+/]?=)[{BLANKS}]*"
    rf'(?:"([^"]*+)"(?=[{BLANKS}]|\Z)|([^{BLANKS}]++))',
)
"""Groups: key, operator, quoted value, unquoted value."""


class ProblemKind(StrEnum):
    """The kind of a problem with a line: Slurm refuses the file (`fatal`), or reads the line otherwise than it was
    meant.
    """

    NOT_A_PAIR = "not-a-pair"
    VALUE_MISSING = "value-missing"
    EXTRA_TEXT = "extra-text"
    KEY_UNKNOWN = "key-unknown"
    INCLUDE_FAILED = "include-failed"
    INCLUDE_OUTSIDE = "include-outside"
    INCLUDE_UNTERMINATED = "include-unterminated"
    VALUE_SWALLOWED = "value-swallowed"
    STRAY_QUOTE = "stray-quote"
    NUL_BYTE = "nul-byte"

    @property
    def fatal(self) -> bool:
        """True if Slurm refuses the file for it, and with it every daemon and command."""
        return self in _FATAL


_FATAL = frozenset(ProblemKind) - {ProblemKind.VALUE_SWALLOWED, ProblemKind.STRAY_QUOTE, ProblemKind.NUL_BYTE}


class Span(NamedTuple):
    """A span of one physical line. All count from 1, in characters; `end_column` is the first one behind the span."""

    line: int
    column: int
    end_column: int


class Problem(NamedTuple):
    """One thing that Slurm refuses in a line, or reads otherwise than it looks."""

    kind: ProblemKind
    message: str
    hint: str | None
    at: Span


class Pair(NamedTuple):
    """`Key=Value`. `operator` is `=`, `+=`, `-=`, `*=` or `/=`; `value` has quotes and escapes resolved.

    `line` and `column` are those of the key, the others those of the value without its quotes; a value that goes on
    in the next line ends with the first.
    """

    key: str
    operator: str
    value: str
    quoted: bool
    line: int
    column: int
    value_line: int
    value_column: int
    value_end: int

    @property
    def key_at(self) -> Span:
        return Span(self.line, self.column, self.column + len(self.key))

    @property
    def value_at(self) -> Span:
        return Span(self.value_line, self.value_column, self.value_end)


class Line(NamedTuple):
    """One logical line that is neither blank nor a comment alone. `number` is that of its first physical line.

    `include` is the file that an Include line names, as written; `include_at` is its place.
    """

    file: str
    number: int
    pairs: tuple[Pair, ...]
    problems: tuple[Problem, ...] = ()
    include: str | None = None
    include_at: Span | None = None

    @property
    def key(self) -> str:
        """The first key in lower case: what kind of line it is. Empty for Include and for what cannot be read."""
        return self.pairs[0].key.lower() if self.pairs else ""

    def get(self, key: str) -> str | None:
        """The value of a key, whatever its case; the last one, as for Slurm; None where the line does not have it."""
        pair = self.pair(key)
        return pair.value if pair else None

    def pair(self, key: str) -> Pair | None:
        """The pair that `get` finds, with its places."""
        lower = key.lower()
        return next((pair for pair in reversed(self.pairs) if pair.key.lower() == lower), None)
