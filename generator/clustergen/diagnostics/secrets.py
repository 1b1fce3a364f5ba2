"""Finds what looks like a secret, and hides it: a manifest is reviewed by many and kept in git for ever."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from clustergen.diagnostics.model import Finding, ManifestPath
from clustergen.diagnostics.words import quote

# Patterns stay text until one is needed: almost no manifest needs any, and compiling them would slow every run.
_WORDS = (
    "passwords?|passwd|passphrase|secrets?|tokens?|credentials?|munge[-_]?key|private[-_]?keys?|secret[-_]?keys?"
    "|access[-_]?keys?|api[-_]?keys?|storage[-_]?pass"
)
_KEY = rf"(?i:{_WORDS})$"
# What says where a secret is and not what it is: a path, a reference to a variable, nothing.
_HARMLESS = r"\s*(/.*|\{\{.*\}\}|\$\{?\w+\}?)?\s*"
_VALUE = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----"
    r"|\$ANSIBLE_VAULT;"
    r"|\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]+:[^\s/@{$]+@"  # a password in a URL
    r"|\b(?:ghp_|gho_|ghs_|github_pat_|glpat-|nvapi-|hf_|xox[bp]-)[A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
)
_LINE = rf"(?i:{_WORDS})[\"']?[ \t]*[:=][ \t]*([^\s#][^\n\r]*)"
_PEM = r"(?s:-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END|\Z))"
# Without one of these in the text, in lower case and without - and _, no pattern above can match.
_STEMS = ("passw", "passphrase", "secret", "token", "credential", "mungekey", "privatekey", "accesskey", "apikey")
_MARKS = (
    "storagepass",
    "private key",
    "$ansiblevault",
    "ghp",
    "gho",
    "ghs",
    "githubpat",
    "glpat",
    "nvapi",
    "hf",
    "xox",
)
_WINDOW = 2000  # characters around a place, more than an excerpt shows
_HINT = "keep it in Ansible Vault, or let it be made on the controller when the tree is applied"


def find_secrets(text: str, data: Any) -> Iterator[Finding]:
    """Every scalar that looks like a secret, by its key or by itself. `text` is the file that `data` was read from."""
    lower = text.lower().replace("-", "").replace("_", "")
    if any(word in lower for word in (*_STEMS, *_MARKS, "akia")) or ("://" in text and "@" in text):
        yield from _walk(data, (), None)


def _walk(value: Any, path: ManifestPath, key: str | None) -> Iterator[Finding]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, (*path, name), name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*path, index), key)
    elif key and re.search(_KEY, key) and _could_be(value):
        yield Finding("secret-in-manifest", path, f"{quote(key)} looks like a secret", _HINT, key=True)
    elif isinstance(value, str) and re.search(_VALUE, value):
        yield Finding("secret-in-manifest", path, "this value looks like a secret", _HINT, key=True)


def _could_be(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and not re.fullmatch(_HARMLESS, value, re.DOTALL))


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


def mask_lines(text: str, positions: Iterable[int]) -> str:
    """The same for a text that could not be parsed: on the lines around these positions, covers what follows a key."""
    positions = list(positions)
    if not positions:
        return text
    spans = [match.span() for match in re.finditer(_PEM, text)] if "-----BEGIN" in text else []
    line, value = re.compile(_LINE), re.compile(_VALUE)
    for position in positions:
        start, end = max(position - _WINDOW, 0), position + _WINDOW
        start = max(text.rfind("\n", start, position) + 1, start)
        end = text.find("\n", position, end) if "\n" in text[position:end] else end
        spans += (match.span(1) for match in line.finditer(text, start, end))
        spans += (match.span() for match in value.finditer(text, start, end))
    return mask(text, spans)
