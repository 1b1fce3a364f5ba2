"""Finds what looks like a secret, and masks it: manifests and trees are read by many people and kept in git for ever.

The one detector for manifests, options, site files and imported files; `secret_shapes` has the names and forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from clustergen.diagnostics.codes import CODES
from clustergen.diagnostics.model import Finding, ManifestPath
from clustergen.diagnostics.secret_shapes import assignments_in, holds_secret, is_random, is_reference, shapes_in
from clustergen.diagnostics.words import quote

_PEM = r"(?s:-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END|\Z))"
_NAMED = r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]{0,63})[\"']?[ \t]*[:=][ \t]*(?=(?P<rest>[^\s#]))"
# Where a message repeats what a file has: in quotes, behind a colon or an equals sign, and behind the verb of a hint
# unless a path such as slurm.accounting follows.
_REPEATED = r"(?<!\w)(['\"]).*?\1(?!\w)|[:=][ \t]*\S+|\b(?:write|set|add) (?!\w+\.\w).*"
_SIGNS = "!*&@%{}[]\"',:;|>"
_SHORTEST = 4  # a shorter word would cover ordinary text
_WINDOW = 2000  # characters around a place, more than an excerpt shows
_HINT = "keep it in Ansible Vault, or let the playbook generate it on the controller"
# Where a key of the manifest ends in a file that everybody can read, what to do instead.
_HINTS: tuple[tuple[ManifestPath, str], ...] = (
    (
        ("slurm", "accounting"),
        "set slurm.accounting.password: true, and pass the password to Ansible as secrets_given.slurmdbd",
    ),
    (
        ("slurm",),
        "use a plugin that needs no password in slurm.conf, which every user of the cluster can read,"
        " such as accounting by slurmdbd",
    ),
    (("ansible", "variables"), "keep it in Ansible Vault, and pass it with `ansible-playbook -e @secrets.yml`"),
)
# Keys of a mapping below a secret's name that hold the secret itself.
_CONTAINERS = ("content", "data", "default", "literal", "plain", "plaintext", "raw", "string", "text", "value")


def find_secrets(data: Any, shaped: bool) -> Iterator[Finding]:
    """Every scalar of a manifest that looks like a secret by its key, and where it may be `shaped`, by itself."""
    yield from _walk(data, (), "", shaped)


def _walk(value: Any, path: ManifestPath, key: str, shaped: bool) -> Iterator[Finding]:
    if isinstance(value, dict):
        for name, inner in value.items():
            inherited = key and isinstance(name, str) and _inherits(key, name)
            yield from _walk(inner, (*path, name), key if inherited else str(name), shaped)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*path, index), key, shaped)
    elif _is_named_secret(key, value):
        yield Finding("secret-in-manifest", path, f"{quote(key)} looks like a secret", _hint(path), key=True)
    elif shaped and isinstance(value, str) and secret_spans(value):
        yield Finding("secret-in-manifest", path, "this value looks like a secret", _hint(path), key=True)


def _inherits(key: str, name: str) -> bool:
    """Whether a key of a mapping below a secret's name holds the secret: its value, or one of several passwords."""
    return bool(holds_secret(key)) and (name.lower() in _CONTAINERS or holds_secret(f"password_{name}") is True)


def _hint(path: ManifestPath) -> str:
    return next((hint for start, hint in _HINTS if path[: len(start)] == start), _HINT)


def is_secret(key: str, text: str) -> bool:
    """Whether a setting of a configuration file is one, by its name or by its text."""
    return _is_named_secret(key, text) or bool(secret_spans(text))


def _is_named_secret(key: str, value: Any) -> bool:
    """Whether the name of a key makes its value a secret. Numbers count, booleans and references do not."""
    verdict = holds_secret(key) if key else False
    if verdict is False or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        counted = key.lower().endswith(("token", "tokens", "pass")) and abs(value) < 1_000_000
        return verdict is True and not counted
    if not isinstance(value, str):
        return False
    return is_random(value) if verdict is None else not is_reference(value)


def secret_spans(text: str, *, strict: bool = False) -> list[tuple[int, int]]:
    """Where a text of any kind holds something that looks like a secret, in order.

    `strict` counts a sentence too, such as "the password: ask the operators".
    """
    return sorted({*shapes_in(text), *assignments_in(text, strict)})


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


def spans_near(text: str, positions: Iterable[int]) -> list[tuple[int, int]]:
    """What to mask in a text that could not be parsed: all behind a secret's name, on the lines around positions."""
    spans = [match.span() for match in re.finditer(_PEM, text)] if "-----BEGIN" in text else []
    for position in positions:
        start, end = max(position - _WINDOW, 0), position + _WINDOW
        start = max(text.rfind("\n", start, position) + 1, start)
        end = text.find("\n", position, end) if "\n" in text[position:end] else min(end, len(text))
        spans += ((start + first, start + last) for first, last in shapes_in(text[start:end]))
        for match in re.compile(_NAMED).finditer(text, start, end):
            if holds_secret(match["name"]):
                spans.append((match.start("rest"), end))
                break
    return spans


def words_of(text: str, spans: Iterable[tuple[int, int]]) -> frozenset[str]:
    """The words in these spans, with and without the signs before them, as a message may repeat them."""
    words = {word for start, end in spans for word in text[start:end].split()}
    return frozenset(word for word in (*words, *(word.strip(_SIGNS) for word in words)) if len(word) >= _SHORTEST)


def masked(text: str, words: Iterable[str]) -> str:
    """A message with these words covered, except where it has one of `_vocabulary` outside quotes and values."""
    repeated = [match.span() for match in re.finditer(_REPEATED, text)]
    spans = []
    for word in sorted(words, key=len, reverse=True):
        for match in re.finditer(re.escape(word), text):
            start, end = match.span()
            is_repeated = any(first < end and start < last for first, last in repeated)
            if is_repeated or word not in _vocabulary():
                spans.append((start, end))
    return mask(text, spans)


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    """Words that messages have of their own: those of the codes' titles. Any other word may be the secret."""
    return frozenset(word for code in CODES.values() for word in re.findall(r"[a-z]{4,}", code.title.lower()))
