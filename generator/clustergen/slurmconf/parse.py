"""One text in Slurm's grammar → its lines, each pair with its place. Never raises: what is wrong is in the lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from clustergen.slurmconf.grammar import BLANKS, PAIR, KeyTables, Line, Pair, Problem, ProblemKind, Span

_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*+#")
_INCLUDE = re.compile(rf"include[{BLANKS}]+([^{BLANKS}]*)", re.IGNORECASE)
_LATE_INCLUDE = re.compile(rf"[\ufeff{BLANKS}]*(include[{BLANKS}])", re.IGNORECASE)
_NO_VALUE = re.compile(rf"[{BLANKS}]*([A-Za-z0-9_.]+[{BLANKS}]*[-*+/]?=)[{BLANKS}]*\Z")

Blocks = dict[str, frozenset[str]]


class _Text:
    """The text of one logical line, and where it stands."""

    __slots__ = ("body", "columns", "commented", "number", "numbers")

    def __init__(self, body: str, number: int, commented: bool) -> None:
        self.body = body
        self.number = number
        self.commented = commented
        """True: a comment ended it."""
        self.numbers: list[int] = []
        """The line and column of each character and of the end; empty where all stand in `number`, in order."""
        self.columns: list[int] = []

    def at(self, start: int, end: int) -> Span:
        if not self.numbers:
            return Span(self.number, start + 1, end + 1)
        line = self.numbers[start]
        if end <= start:
            return Span(line, self.columns[start], self.columns[start])
        last = min(end, bisect_right(self.numbers, line)) - 1
        return Span(line, self.columns[start], self.columns[last] + 1)


def decode(data: bytes) -> str:
    """The text of a file. Bytes that are not UTF-8 become lone surrogates: nothing is lost and nothing fails."""
    return data.decode("utf-8", "surrogateescape")


def parse(text: str, file: str, *, key_tables: KeyTables | None = None) -> list[Line]:
    """Every logical line of a file that is neither blank nor a comment, in order.

    With `key_tables` a key that they lack is a problem, and only keys that open a block take further pairs in their
    line; without them every key does. `file` is what the lines call their file.
    """
    blocks = _lower(key_tables) if key_tables is not None else None
    lines: list[Line] = []
    last = text.count("\n") + 1
    physical = enumerate(text.split("\n"), 1)
    for number, raw in physical:
        problems: list[Problem] = []
        if "\\" not in raw and "\0" not in raw:
            body, hash_sign, _ = raw.partition("#")
            logical = _Text(body, number, bool(hash_sign))
        else:
            logical = _join(number, raw, physical, problems)
        if logical.body.strip(BLANKS):
            if named := _INCLUDE.match(logical.body):
                lines.append(_include(file, logical, named, last, problems))
            else:
                pairs = _pairs(logical, blocks, problems)
                lines.append(Line(file, number, pairs, tuple(problems)))
        elif problems:
            lines.append(Line(file, number, (), tuple(problems)))
    return lines


def _lower(tables: KeyTables) -> Blocks:
    return {block.lower(): frozenset(key.lower() for key in keys) for block, keys in tables.items()}


def _join(number: int, raw: str, physical: Iterator[tuple[int, str]], problems: list[Problem]) -> _Text:
    """A logical line with backslashes or NULs in it, which may take further physical lines."""
    first = number
    chars: list[str] = []
    numbers: list[int] = []
    columns: list[int] = []
    while True:
        nul = raw.find("\0")
        if nul >= 0:
            message = "a NUL byte: Slurm does not see the rest of this line"
            problems.append(Problem(ProblemKind.NUL_BYTE, message, None, Span(number, nul + 1, nul + 2)))
            raw = raw[:nul]
        comment = _COMMENT.search(raw)
        if comment:
            raw = raw[: comment.end() - 1]
        visible = raw.rstrip(BLANKS)
        goes_on = (len(visible) - len(visible.rstrip("\\"))) % 2 == 1
        escaped = False
        for column, char in enumerate(visible[:-1] if goes_on else raw, 1):
            escaped = char == "\\" and not escaped
            if not escaped:
                chars.append(char)
                numbers.append(number)
                columns.append(column)
        following = next(physical, None) if goes_on else None
        if following is None:
            break
        number, raw = following
    numbers.append(number)
    columns.append(len(raw) + 1)

    logical = _Text("".join(chars), first, comment is not None)
    logical.numbers, logical.columns = numbers, columns
    return logical


def _include(file: str, logical: _Text, named: re.Match[str], last: int, problems: list[Problem]) -> Line:
    body, name, end = logical.body, named[1], named.end()
    at = logical.at(*named.span(1)) if name else logical.at(0, len("include"))
    if not name:
        problems.append(Problem(ProblemKind.INCLUDE_FAILED, "Include has no file name", None, at))
    elif end == len(body) and (logical.commented or at.line == last):
        message = "this file name does not end with a blank or newline, so Slurm reads leftover text after it"
        hint = "end the line with a newline, and put the comment on a separate line"
        problems.append(Problem(ProblemKind.INCLUDE_UNTERMINATED, message, hint, at))
    elif rest := body[end:].strip(BLANKS):
        start = body.index(rest, end)
        where = logical.at(start, start + len(rest))
        hint = "write one file name without quotes"
        problems.append(Problem(ProblemKind.EXTRA_TEXT, "Slurm cannot read the text after the file name", hint, where))
    return Line(
        file=file, number=logical.number, pairs=(), problems=tuple(problems), include=name or None, include_at=at
    )


def _pairs(logical: _Text, blocks: Blocks | None, problems: list[Problem]) -> tuple[Pair, ...]:
    body, number, moved = logical.body, logical.number, bool(logical.numbers)
    pairs: list[Pair] = []
    allowed: frozenset[str] | None = None  # behind the first key; None: any
    alone = False
    pos = 0
    while not alone and (match := PAIR.match(body, pos)):
        key, operator, value, run = match.groups()
        start, pos = match.span(4 if value is None else 3)
        if moved:
            key_line, key_column, _ = logical.at(*match.span(1))
            value_line, value_column, value_end = logical.at(start, pos)
        else:
            key_line = value_line = number
            key_column, value_column, value_end = match.start(1) + 1, start + 1, pos + 1
        pair = Pair(
            key=key,
            operator=operator,
            value=run or value,
            quoted=not run,
            line=key_line,
            column=key_column,
            value_line=value_line,
            value_column=value_column,
            value_end=value_end,
        )
        pairs.append(pair)
        pos = match.end()
        if run and '"' in run:
            problems.append(_stray_quote(pair, logical.commented))
        if blocks is None:
            continue
        name = key.lower()
        if len(pairs) > 1:
            if allowed is not None and name not in allowed:
                message = f"'{key}' is not a key of a {pairs[0].key} line"
                problems.append(Problem(ProblemKind.KEY_UNKNOWN, message, None, pair.key_at))
        elif name in blocks.get("", ()):
            allowed = blocks.get(name)
            alone = allowed is None
        else:
            problems.append(Problem(ProblemKind.KEY_UNKNOWN, f"'{key}' is not a key", None, pair.key_at))
        if run and allowed and "=" in run and body[start - 1] in BLANKS and run.partition("=")[0].lower() in allowed:
            problems.append(_swallowed(pair))
    if body[pos:].strip(BLANKS):
        problems.append(_leftover(logical, pos, pairs, alone))
    return tuple(pairs)


def _stray_quote(pair: Pair, commented: bool) -> Problem:
    message = f"this quote does not enclose the value; Slurm reads it as part of {pair.key}"
    hint = 'quote the whole value: Key="a value"'
    if commented and pair.value.count('"') % 2:
        hint = r"write \#: # starts a comment even inside quotes"
    return Problem(ProblemKind.STRAY_QUOTE, message, hint, pair.value_at)


def _swallowed(pair: Pair) -> Problem:
    message = f"{pair.key} has no value, so Slurm reads '{pair.value[:40]}' as its value"
    return Problem(ProblemKind.VALUE_SWALLOWED, message, f'write {pair.key}="" or remove it', pair.value_at)


def _leftover(logical: _Text, pos: int, pairs: list[Pair], alone: bool) -> Problem:
    """Why Slurm cannot read what follows `pos`."""
    body, places = logical.body, logical.at
    start = len(body) - len(body[pos:].lstrip(BLANKS))
    at = places(start, len(body.rstrip(BLANKS)))
    word = re.split(f"[{BLANKS}]", body[start : start + 40], maxsplit=1)[0]
    if not pairs and (late := _LATE_INCLUDE.match(body)):
        message = "Slurm reads Include only at the very start of a line"
        return Problem(ProblemKind.INCLUDE_FAILED, message, "remove the text before it", places(*late.span(1)))
    if not pairs and body.startswith("\ufeff"):
        hint = "save the file as UTF-8 without one"
        return Problem(ProblemKind.NOT_A_PAIR, "the file starts with a byte order mark", hint, places(0, 1))
    if not alone and (bare := _NO_VALUE.match(body, pos)):
        key = bare[1].rstrip("-*+/=").rstrip(BLANKS)
        hint = f'write {key}="" or remove it'
        return Problem(ProblemKind.VALUE_MISSING, f"{key} has no value", hint, places(*bare.span(1)))
    if pairs and not pairs[-1].quoted and not PAIR.match(body, pos):
        key, value = pairs[-1].key, pairs[-1].value.strip('"')
        hint = f'quote a value with blanks: {key}="{value} {word.strip(chr(34))}"'
        return Problem(ProblemKind.EXTRA_TEXT, f"'{word}' is not part of the value of {key}", hint, at)
    if alone:
        message = f"{pairs[0].key} must be the only key on its line; Slurm stops at '{word}'"
        return Problem(ProblemKind.EXTRA_TEXT, message, "write it on a separate line", at)
    return Problem(ProblemKind.NOT_A_PAIR, f"'{word}' is not Key=Value", None, at)
