"""Markdown in which text stays text, in GitHub, in GitLab, and as it stands in a mail."""

from __future__ import annotations

import re

from clustergen.diff.messages import cut

LONGEST_COMMENT = 65_536
"""Characters that GitHub takes in one comment."""
_ROOM = 536  # for the remark on what was left out
_GAP = "<!-- -->"  # shown by nobody
_RANGES = r"\[[\d,-]+\](?![(\[:])"  # as in n[01-08]: no link
_MARKUP = re.compile(rf"{_RANGES}|[\\`*\[<]|~~|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
# Mentions and references are looked for behind escapes; only a gap stops that. A `&` might begin an entity.
_REFERENCE = re.compile(r"[@#!$%&~](?=\w)|(?<=:)(?=//)|\bwww(?=\.)", re.IGNORECASE)


def plain(text: str) -> str:
    """Text in a sentence: markup and HTML lose their meaning, nobody is mentioned, nothing is linked."""
    out = _MARKUP.sub(_escaped, " ".join(text.split()))
    return _REFERENCE.sub(rf"\g<0>{_GAP}", out)


def _escaped(match: re.Match[str]) -> str:
    text = match[0]
    return text if len(text) > 2 and text[0] == "[" else "".join(f"\\{sign}" for sign in text)


def code(text: str, longest: int = 200) -> str:
    """Text in a fixed font, on one line; nothing in it is markup."""
    shown = cut(text, longest)
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if not shown or "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown or '(empty)'}{pad}{fence}"


def block(text: str, language: str) -> str:
    """Lines as they are, in a fence that none of them can close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def within_comment(text: str, command: str) -> str:
    """The text, cut after a line where it is too long for a comment; `command` shows the rest."""
    if len(text) <= LONGEST_COMMENT - _ROOM:
        return text
    return f"{text[: LONGEST_COMMENT - _ROOM].rpartition(chr(10))[0]}\n\n…and more: {code(command)} shows it."


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
