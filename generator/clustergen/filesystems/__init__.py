"""File systems: a package per kind, with a module for each stage that has to know more of it than its name.

A stage does not ask which kind an entry is. It loads its own module of the entry's kind, or asks the descriptor:

    model    the model of the manifest
    entry    the record of a resolved entry, `resolve`, which makes it, and `FILE_SYSTEM`, the descriptor
    rules    its rules, which also stand in other modules `*rules`; `reached`, the hosts that a client has to reach
    views    `mount_units` and `FILES`
    quotas   `tool`, what the script of quotas runs on a client, where it is not the kind's name
    checks   `CHECKS`, for files that a program can read

`model`, `entry` and `views` are required. Modules import what their stage may import, so that imports stay one-way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from clustergen.filesystems.descriptor import FileSystem

KINDS = ("lustre", "beegfs", "nfs", "weka", "cephfs", "storage_scale", "local")
"""In the order of the manifest's schema."""


@cache
def part(kind: str, stage: str) -> ModuleType | None:
    """The module of a kind of file system for one stage; None where it has none."""
    name = f"{__name__}.{kind}.{stage}"
    return import_module(name) if find_spec(name) else None


def parts(stage: str) -> Iterator[ModuleType]:
    """The modules of all kinds for one stage."""
    return (module for kind in KINDS if (module := part(kind, stage)) is not None)


def file_system(kind: str) -> FileSystem:
    """The descriptor of a kind."""
    descriptor: FileSystem = import_module(f"{__name__}.{kind}.entry").FILE_SYSTEM
    return descriptor


def file_systems() -> tuple[FileSystem, ...]:
    """The descriptors of all kinds."""
    return tuple(map(file_system, KINDS))
