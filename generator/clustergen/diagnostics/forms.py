"""What a pattern of the manifest means, in words: a message never shows a regular expression."""

from __future__ import annotations

_FORMS: dict[str, str] = {}


def describe(pattern: str, hint: str) -> None:
    """Registers the hint that a text gets which does not match `pattern`. ValueError where it has another one."""
    if _FORMS.setdefault(pattern, hint) != hint:
        raise ValueError(f"{pattern}: {hint!r} and {_FORMS[pattern]!r}")


def form_of(pattern: str) -> str | None:
    """The hint for a pattern, None for one that nobody described."""
    return _FORMS.get(pattern)
