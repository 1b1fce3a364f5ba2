"""The patterns of the manifest in words: a message never shows a regular expression."""

from __future__ import annotations

import re

from clustergen.records import record


@record
class Sample:
    """A value that a hint proposes for a missing key: a value in YAML, after the names in a section of the manifest."""

    text: str
    section: str = ""


_FORMS: dict[str, str] = {}


def describe(pattern: str, hint: str) -> None:
    """Registers the hint that a text gets which does not match `pattern`. ValueError where it has another one."""
    if _FORMS.setdefault(pattern, hint) != hint:
        raise ValueError(f"{pattern}: {hint!r} and {_FORMS[pattern]!r}")


def form_of(pattern: str) -> str | None:
    """The hint for a pattern, None for one that nobody described."""
    return _FORMS.get(pattern)


def odd_character(value: str, pattern: str) -> int | None:
    """Where a text first has a character that its pattern has no place for; None where the order is wrong. A letter is
    no such character where the pattern has words of its own, as `tcp`: then the word is wrong.
    """
    body = pattern.removeprefix("^").removesuffix("$")
    classes = re.findall(r"\[(?:\\.|[^\]\\])+\]|\\[dwsDWS.]", body)
    outside = re.sub(r"\[(?:\\.|[^\]\\])+\]|\\[dwsDWS]|\{[0-9,]+\}|\(\?[:i]+|[()|*+?$^]", "\0", body).replace("\\", "")
    has_words = re.search("[A-Za-z]{2}", outside) is not None
    literals = set(outside) - {"\0"}
    try:
        allowed = re.compile("|".join(classes) or "(?!)")
        if body.startswith("[") and value and not re.match(classes[0], value):
            return 0
    except re.error:
        return None
    if "." in body.replace("\\.", "").replace("[.]", "") and not classes:
        return None
    odd = (index for index, char in enumerate(value) if char not in literals and not allowed.match(char))
    return next((index for index in odd if not (has_words and value[index].isalnum())), None)
