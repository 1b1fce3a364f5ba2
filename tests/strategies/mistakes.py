"""Clusters with unusual options whose values are all wrong in the same way, and what `validate` finds in them.

The mistakes of a section do not hide those of others: each is made in the whole manifest, and misspelt names in each
section alone as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from clustergen.compile import validate
from clustergen.diagnostics import Diagnostic
from strategies import odd_manifests
from strategies.findings import OF_SMALL_MANIFESTS, words
from strategies.unusual import MANIFESTS

Change = Callable[[Any], Any]


def _names(data: Any) -> Iterator[str]:
    """Keys of mappings, and names of entries: what another value can refer to."""
    if isinstance(data, dict):
        yield from (key for key in data if isinstance(key, str))
        yield from (value for key, value in data.items() if key == "name" and isinstance(value, str))
        for value in data.values():
            yield from _names(value)
    elif isinstance(data, list):
        for value in data:
            yield from _names(value)


def _misspelt(names: Set[str], value: Any) -> Any:
    """One letter more in a name, hosts that do not exist."""
    if isinstance(value, str) and value in names:
        return re.sub(r"(\d+)\]$", r"\g<1>7]", value) if value.endswith("]") else f"{value}x"
    return value


CHANGES: dict[str, Change] = {
    "numbers a thousand times larger": lambda value: value * 1000 if type(value) is int else value,
    "numbers are 0": lambda value: 0 if type(value) is int else value,
    "switches the other way": lambda value: not value if isinstance(value, bool) else value,
    "texts with a blank": lambda value: f"{value} y" if isinstance(value, str) else value,
}


def _changed(data: Any, change: Change) -> Any:
    """The values of a document, changed; `name` and what `extends` says stay."""
    if isinstance(data, dict):
        return {key: value if key in ("name", "extends") else _changed(value, change) for key, value in data.items()}
    if isinstance(data, list):
        return [_changed(value, change) for value in data]
    return change(data)


def manifests(name: str) -> Iterator[tuple[str, str]]:
    """Each mistake and the manifest that has it."""
    data = yaml.safe_load(MANIFESTS[name].read_text(encoding="utf-8"))
    misspelt = partial(_misspelt, frozenset(_names(data)))
    for title, change in {"names are misspelt": misspelt, **CHANGES}.items():
        yield title, yaml.safe_dump(_changed(data, change), sort_keys=False, width=200)
    for section in data:
        changed = {**data, section: _changed(data[section], misspelt)}
        if section != "name" and changed != data:
            yield f"names are misspelt in {section}", yaml.safe_dump(changed, sort_keys=False, width=200)


def findings(name: str) -> dict[str, str]:
    """Mistake → a line for each finding: place, severity, code, message and hint."""
    return {f"{name}: {title}": _findings(text) for title, text in manifests(name)}


def odd_findings() -> dict[str, str]:
    """The same for small clusters in which much is wrong at once."""
    return {f"odd: {title}": _findings(text) for title, text in odd_manifests.MANIFESTS.items()}


def _findings(text: str) -> str:
    listed = validate(Path("/nowhere/manifest.yaml"), raw=text.encode()).diagnostics
    lines = [f"{_place(one)} {words([one])}" for one in listed if one.code not in OF_SMALL_MANIFESTS]
    return "".join(lines) or "nothing\n"


def _place(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.place.line}:{diagnostic.place.column}" if diagnostic.place else "-"
