"""Values on one line, in YAML's flow style, for people: in findings, explanations and drafts of manifests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CONSTANTS = {True: "true", False: "false", None: "null"}


def plain(value: Any) -> str:
    """A key, or a value that is neither a mapping nor a list, without quotes."""
    return _CONSTANTS[value] if value is None or isinstance(value, bool) else str(value)


def flow(value: Any, scalar: Callable[[Any], str] = plain) -> str:
    """`{max_time: 30, nodes: [c1, c2]}`; `scalar` writes the keys and all that is neither a mapping nor a list."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(inner, scalar)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(inner, scalar) for inner in value) + "]"
    return scalar(value)
