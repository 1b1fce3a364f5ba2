"""Keeps secrets out of what is printed: excerpts of a text that has some, and messages that repeat its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile

from clustergen.diagnostics.codes import CODES
from clustergen.diagnostics.model import Diagnostic
from clustergen.diagnostics.secret_names import check_of, is_misspelt
from clustergen.diagnostics.secret_values import could_be_secret, is_reference_in_text
from clustergen.diagnostics.secrets import Spans, is_secret, secret_spans
from clustergen.records import replace

_NAMED = r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]{0,63})[\"']?[ \t]*[:=][ \t]*(?=(?P<rest>[^\s#]))"
# Where a message repeats what a file has: in quotes, behind a colon or an equals sign, and behind the verb of a hint
# unless a path such as slurm.accounting follows.
_REPEATED = r"(?<!\w)(['\"]).*?\1(?!\w)|[:=][ \t]*\S+|\b(?:write|set|add) (?!\w+\.\w).*"
_SIGNS = "!*&@%{}[]\"',:;|>"
_TAGS = {"!vault", "!vault-encrypted"}  # of what is encrypted already
_SHORTEST = 4  # a shorter word would cover ordinary text, unless it is in quotes
_PROBE = 20  # characters by which a longer word is found that a message has cut
_MOST_WORDS = 1000  # with more, messages repeat nothing
_WINDOW = 2000  # characters around a place, more than an excerpt shows
_VALUE = r"[\"'][^\"'\n]{0,200}[\"']?|[^,;}\]\n]{1,200}"
_WHOLE_VALUE = r"[\"'][^\"'\n]*[\"']?|[^,;}\]\n]+"
_VALUE_BEHIND = rf"[\"']?[ \t]*[:=][ \t]*[\"']?(?P<value>[^\s\"',}}\]]{{1,{_WINDOW}}})"
# A key or a word that nobody knows: its value may be a secret in the wrong place.
_DOUBTED = frozenset(
    (
        "key-unknown",
        "slurm-key-unknown",
        "slurm-plugin-unknown",
        "slurm-word-unknown",
        "slurm-value-wrong",
        "type-wrong",
    )
)


class Redaction:
    """The hidden parts of one text. `text` is for excerpts, with the same length; `message` for texts that repeat
    words.
    """

    def __init__(self, text: str, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._original = self._shown = text
        self._spans: Spans = []
        self._waiting = False
        self._words: set[str] = set()
        self._lines: set[tuple[int, int]] = set()
        self.hide(spans)

    @property
    def text(self) -> str:
        if self._waiting:
            self._shown, self._waiting = mask(self._original, self._spans), False
        return self._shown

    def hide(self, spans: Iterable[tuple[int, int]]) -> None:
        added = list(spans)
        if added:
            self._spans += added
            self._waiting = True
            self._words |= words_of(self._original, added)

    def hide_line(self, place: int) -> None:
        """Hides what is behind a secret's name, also a misspelt one, on the line of a position."""
        line = _line_around(self._original, place)
        if line not in self._lines:
            self._lines.add(line)
            self.hide(_secrets_of_line(self._original, *line))

    def hide_misspelt(self, place: int) -> None:
        """Hides what is behind a misspelt secret's name on the line of a position; the others are hidden already."""
        line = _line_around(self._original, place)
        if line not in self._lines:
            self._lines.add(line)
            self.hide(_misspelt(self._original, *line))

    def hide_doubted(
        self, code: str, start: int, end: int, is_harmless: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Hides the value of a key, or the word, at a span that a diagnostic is about, if it could be a password."""
        if code not in _DOUBTED:
            return
        behind = re.compile(_VALUE_BEHIND).match(self._original, end)
        first, last = behind.span("value") if behind else (start, end)
        value = self._original[first:last].strip("\"'")
        if could_be_secret(value) and not is_harmless(value):
            self.hide([(first, last)])

    def message(self, text: str) -> str:
        """A message with the hidden words covered."""
        if len(self._words) > _MOST_WORDS:
            return mask(text, (match.span() for match in re.finditer(_REPEATED, text)))
        return masked(text, self._words) if self._words else text

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic with the hidden words covered in its message and hint."""
        if not self._words:
            return diagnostic
        hint = self.message(diagnostic.hint) if diagnostic.hint else diagnostic.hint
        return replace(diagnostic, message=self.message(diagnostic.message), hint=hint)


class Redactions:
    """Diagnostics about foreign files: what their lines hold under the name of a secret is in no excerpt or message."""

    def __init__(self, texts: Mapping[str, str], diagnostics: Iterable[Diagnostic]) -> None:
        self._of_files = {file: Redaction(text) for file, text in texts.items()}
        starts = {file: _line_starts(text) for file, text in texts.items()}
        for diagnostic in dict.fromkeys(diagnostics):
            place = diagnostic.place
            if place is None or not 0 < place.line <= len(starts.get(place.file, ())):
                continue
            start = starts[place.file][place.line - 1] + place.column - 1
            self._of_files[place.file].hide_line(start)
            self._of_files[place.file].hide_doubted(diagnostic.code, start, start + place.end_column - place.column)

    @property
    def texts(self) -> dict[str, str]:
        return {file: redaction.text for file, redaction in self._of_files.items()}

    def message(self, text: str) -> str:
        """A message with the hidden words of all files covered."""
        for redaction in self._of_files.values():
            text = redaction.message(text)
        return text

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic with these words covered in its message and hint."""
        for redaction in self._of_files.values():
            diagnostic = redaction.diagnostic(diagnostic)
        return diagnostic


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with all but the blanks of these spans covered, character by character."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        start = max(start, done)
        if start < end:
            parts += text[done:start], re.sub(r"\S", "•", text[start:end])
            done = end
    return "".join((*parts, text[done:]))


def redacted(text: str) -> str:
    """A text that comes from elsewhere without what looks like a secret, also behind a misspelt name."""
    return mask(text, (*secret_spans(text), *_misspelt(text, 0, len(text))))


def redacted_value(key: str, text: str) -> str:
    """The value of a key as `redacted` shows it; nothing of it where the key is a secret's."""
    return mask(text, [(0, len(text))]) if is_secret(key, text) else redacted(text)


def _misspelt(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    whole = start
    for match in re.compile(_NAMED).finditer(text, start, end):
        if is_misspelt(match["name"]):
            value = re.compile(_VALUE).match(text, match.start("rest"), end)
            if value and not is_reference_in_text(value[0]):
                yield value.span()
                if value.start() >= whole:  # once for all values that end together
                    longer = re.compile(_WHOLE_VALUE).match(text, value.start(), end)
                    whole = longer.end() if longer else whole
                    yield value.start(), whole


def _line_around(text: str, place: int) -> tuple[int, int]:
    """Where the line of a position begins and ends, or as much of it as an excerpt shows."""
    start = max(place - place % _WINDOW - _WINDOW, 0)  # positions near each other share one part
    end = min(start + 3 * _WINDOW, len(text))
    ends = (text.find(sign, place, end) for sign in "\r\n")
    start = max(start, *(text.rfind(sign, start, place) + 1 for sign in "\r\n"))
    return start, min((at for at in ends if at >= 0), default=end)


def _secrets_of_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """All behind a secret's name, also a misspelt one; the line may be part of a text that could not be parsed."""
    yield from ((start + first, start + last) for first, last in secret_spans(text[start:end]))
    rest = named_secret(text, start, end)
    if rest is not None:
        yield rest, end


def named_secret(text: str, start: int, end: int) -> int | None:
    """Where on a line the first value behind a secret's name begins, also behind a misspelt one."""
    for match in re.compile(_NAMED).finditer(text, start, end):
        if check_of(match["name"]) == "any" or is_misspelt(match["name"]):
            return match.start("rest")
    return None


def words_of(text: str, spans: Iterable[tuple[int, int]]) -> frozenset[str]:
    """The words in these spans, with and without the signs before them, as a message may repeat them."""
    words = {word for start, end in spans for word in text[start:end].split()} - _TAGS
    return frozenset(filter(None, (*words, *(word.strip(_SIGNS) for word in words))))


def masked(text: str, words: Iterable[str]) -> str:
    """A message with these words covered, except where it has one of `_vocabulary` outside quotes and values."""
    repeated = [match.span() for match in re.finditer(_REPEATED, text)]
    spans = []
    for word in sorted(words, key=len, reverse=True):
        for start, end in _places(text, word):
            is_repeated = any(first < end and start < last for first, last in repeated)
            if is_repeated or word not in _vocabulary():
                spans.append((start, end))
    return mask(text, spans)


def _places(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Where a message has a word; of a long one, its beginning or its end, as messages cut what is long."""
    if len(word) < _SHORTEST:
        yield from (match.span(1) for match in re.finditer(rf"'({re.escape(word)})'", text))
        return
    yield from _beginnings(text, word)
    if len(word) > _PROBE:
        size = len(text)
        yield from ((size - end, size - start) for start, end in _beginnings(text[::-1], word[::-1]))


def _beginnings(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Where a text has the beginning of a word; each character once, however often it repeats itself."""
    start = text.find(word[:_PROBE])
    while start >= 0:
        end = start + _common(text[start : start + len(word)], word)
        yield start, end
        start = text.find(word[:_PROBE], end)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    """Words that messages have of their own: those of the codes' titles. Any other word may be the secret."""
    return frozenset(word for code in CODES.values() for word in re.findall(r"[a-z]{4,}", code.title.lower()))
