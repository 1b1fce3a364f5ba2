"""Modules that are found by their directory, so that no list has to name them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType


@cache
def modules_of(package: str, attribute: str, first: Sequence[str] = ()) -> tuple[ModuleType, ...]:
    """The modules of a package that have an attribute: those of `first` in that order, then the others by name."""
    directory = Path(str(import_module(package).__file__)).parent
    paths = *directory.glob("[!_]*.py"), *(init.parent for init in directory.glob("*/__init__.py"))
    names = sorted(path.stem for path in paths)
    names.sort(key=lambda name: first.index(name) if name in first else len(first))
    return tuple(module for name in names if hasattr(module := import_module(f"{package}.{name}"), attribute))
