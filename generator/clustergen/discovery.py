"""Modules that are found by their directory, so that no list has to name them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType


@cache
def modules_of(package: str, attribute: str) -> tuple[ModuleType, ...]:
    """The modules of a package that have an attribute, by name."""
    directory = Path(str(import_module(package).__file__)).parent
    paths = *directory.glob("[!_]*.py"), *(init.parent for init in directory.glob("*/__init__.py"))
    names = sorted(path.stem for path in paths)
    return tuple(module for name in names if hasattr(module := import_module(f"{package}.{name}"), attribute))
