"""YAML that a manifest may not have: tags, odd keys, unknown aliases; in words for who does not read YAML's grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clustergen.diagnostics.model import Problem
from clustergen.diagnostics.words import did_you_mean, quote


def explain_key(text: str, start: int) -> Problem:
    """A mapping, a list or an alias where a key must be."""
    if text.startswith("{", start) and text[start - 1 : start] == "{":
        hint = "write the value itself: a manifest has no variables; put text for another program in quotes"
        return Problem("yaml-syntax", start - 1, 2, "'{{' opens a mapping in YAML", hint)
    if text.startswith("*", start):
        hint = "put a value that begins with '*' in quotes"
        return Problem("yaml-syntax", start, 1, "a key cannot be an alias", hint)
    return Problem("yaml-syntax", start, 1, "a key must be plain text", "put it in quotes if it is meant as text")


def explain_tag(text: str, start: int, value: str | None = None) -> Problem:
    """A tag that is not YAML's own, or one that does not fit its `value`. `start` is where the tag stands."""
    match = re.compile(r"!\S*").search(text, start)
    at, tag = (match.start(), match.group()) if match else (start, "!")
    tag = tag.rstrip(",]}")
    if value is not None:
        return Problem("yaml-tag", at, len(tag), f"{quote(value)} does not fit its tag {quote(tag)}")
    hint = "remove the tag; put a value that begins with '!' in quotes"
    if tag in ("!vault", "!vault-encrypted"):
        hint = "keep secrets in Ansible Vault, not in the manifest"
    elif tag.startswith(("!include", "!env", "!ENV", "!reference")):
        hint = "write extends: FILE at the top: sections of that file apply where this one has none"
    return Problem("yaml-tag", at, len(tag), f"the tag {quote(tag)} is not allowed", hint)


def explain_alias(start: int, end: int, name: str, anchors: Iterable[str]) -> Problem:
    """An alias to an anchor that does not stand before it."""
    hint = did_you_mean(name, anchors) or "put a value that begins with '*' in quotes"
    return Problem("yaml-syntax", start, end - start, f"anchor {quote('&' + name)} is not defined before this", hint)
