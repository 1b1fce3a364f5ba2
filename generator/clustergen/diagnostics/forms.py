"""The patterns of the manifest in words: a message never shows a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from clustergen.records import record


@record
class Sample:
    """A value that a hint proposes for a missing key: a value in YAML, after the names in a section of the manifest."""

    text: str
    section: str = ""


def sample_of(declared: Any) -> Sample | None:
    """The value that a hint proposes for a field; None for one without."""
    return next((part for part in getattr(declared, "metadata", ()) if isinstance(part, Sample)), None)


Rewrite: TypeAlias = Callable[[str, Callable[[str], bool]], str | None]
"""From a text that does not match a pattern, and a test of others, the hint with the text that is meant, or None."""


@record
class Form:
    """A pattern in words: what to write for a text that does not match it."""

    hint: str
    rewrite: Rewrite | None = None
    others: Mapping[str, str] = MappingProxyType({})
    """Texts that match, but that people write for another one: `gpu` for `gres/gpu`."""
    is_path: bool = False


_FORMS: dict[str, Form] = {}


def describe(pattern: str, form: Form) -> None:
    """Registers the form of a pattern. ValueError where it has another one."""
    if _FORMS.setdefault(pattern, form) != form:
        raise ValueError(f"{pattern}: {form.hint!r} and {_FORMS[pattern].hint!r}")


def form_of(pattern: str) -> Form | None:
    """The form of a pattern, None for one that nobody described."""
    return _FORMS.get(pattern)


def text_hint(value: str, pattern: str) -> str | None:
    """The hint for a text that does not match: the text that is meant, if its form knows it."""
    form = form_of(pattern)
    if form is None:
        return None
    if re.search(r"\{\{|\$[{(]|^\$[A-Z_]+$", value):
        return "write the value itself: a manifest has no variables"
    fits: Callable[[str], bool] = lambda text: re.search(pattern, text) is not None  # noqa: E731
    meant = form.rewrite(value, fits) if form.rewrite else None
    return meant or (None if form.hint.startswith("use ") else _tidied(value, fits)) or form.hint


def _tidied(value: str, fits: Callable[[str], bool]) -> str | None:
    """The same text without what surrounds it, or in other letters."""
    plain = value.strip(" \t'\"`<>,;")
    tries = (plain, plain.lower(), plain.upper())
    return next((f"write {text}" for text in tries if text != value and fits(text)), None)


def meant_by(text: str, pattern: str) -> str:
    """The text that is meant by one that matches a pattern: `gres/gpu` by `gpu`."""
    form = form_of(pattern)
    return form.others.get(text, text) if form else text


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
