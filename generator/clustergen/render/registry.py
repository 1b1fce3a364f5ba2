"""All files that a render can make: `FILES` of each module and package of `render/views`, and of each
feature."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import ModuleType

from clustergen.discovery import modules_of
from clustergen.feature import (
    Attributed,
    ExtensionError,
    area,
    check_fields,
    extension_of,
    modules,
    name_of,
    requirement,
)
from clustergen.records import replace
from clustergen.render.engine import carried
from clustergen.render.file import File


@cache
def files() -> tuple[File, ...]:
    """All rows of the registry, family by family."""
    parts = [(module, "") for module in modules_of("clustergen.render.views", "FILES")]
    parts += [(module, name_of(module).partition(".")[2]) for module in modules("files")]
    return tuple(file for module, kind in parts for file in _rows(module, kind))


def _rows(module: ModuleType, kind: str) -> Iterator[File]:
    """The rows of a module; templates and programs of an extension are below its name."""
    extension = extension_of(module.__name__)
    for file in getattr(module, "FILES", ()):
        if extension is not None:
            with Attributed(module.__name__):
                file = _checked(file, module)
        required, part = requirement(module.__name__), file.area or area(module.__name__)
        row = replace(file, kind=kind, requires=required, area=part) if kind or required or part else file
        if extension is None or row.values:
            yield row
            continue
        where, key = ("programs", "program") if row.program else ("templates", "source")
        name = f"{extension.name}/{row.program or row.source or row.template}"
        if (carried(where) / (name if row.program else f"{name}.j2")).exists():
            raise ExtensionError(f"clustergen and the extension {extension} both have {where}/{name}", "rename yours")
        yield replace(row, **{key: name})


def _checked(file: object, module: ModuleType) -> File:
    """A row of an extension with its module; TypeError if it is none."""
    if not isinstance(file, File):
        raise TypeError(f"FILES: {file!r} is no File")
    check_fields(file)
    if not 0 < file.mode <= 0o7777:
        raise TypeError(f"FILES: {file.template}: {file.mode} is no mode")
    return replace(file, module=module.__name__)
