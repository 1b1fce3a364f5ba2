"""The Jinja environment: strict, a guard per file format, and a cache, since compiling costs more than printing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from stat import S_IWGRP, S_IWOTH
from traceback import extract_tb

from jinja2 import (
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
)

from clustergen import __version__
from clustergen.diagnostics import ClustergenError
from clustergen.feature import extensions, failure
from clustergen.render.formats import FILTERS, Format, RenderError


@cache
def carried(directory: str) -> Path:
    """`templates/` or `programs/` of the checkout, or of the installed wheel."""
    package = Path(__file__).resolve().parents[1]
    for place in (package / f"_{directory}", package.parents[1] / directory):
        if place.is_dir():
            return place
    raise ClustergenError(f"the {directory} are missing from this installation", hint="install clustergen again")


@cache
def program_text(name: str) -> str:
    """The text of a file of `programs/`, or of an extension's, whose names begin with its own."""
    place = carried("programs") / name
    if not place.is_file():
        owner, _, rest = name.partition("/")
        place = next((each.directory / "programs" / rest for each in extensions() if each.name == owner), place)
    return place.read_text(encoding="utf-8")


def _bytecode_cache() -> BytecodeCache | None:
    """Jinja's cache of compiled templates in the user's cache directory; None where others may write there.

    The cache holds code that Python executes: under `sudo` with a kept HOME it would be another user's.
    """
    try:
        parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute()
        directory = parent / "clustergen" / f"bytecode-{__version__}"
        if not _is_private(directory):
            return None
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileSystemBytecodeCache(str(directory)) if _is_private(directory) else None
    except (OSError, RuntimeError):
        return None


def _is_private(directory: Path) -> bool:
    """True if the effective user owns the directory and alone may write to it, or may create it so: no directory above
    belongs to another user, except root.
    """
    owners = {0, os.geteuid()}
    if any(above.stat().st_uid not in owners for above in directory.parents if above.exists()):
        return False
    if not directory.exists():
        return True
    status = directory.stat()
    return status.st_uid == os.geteuid() and status.st_mode & (S_IWGRP | S_IWOTH) == 0


@cache
def _base() -> Environment:
    others = {each.name: FileSystemLoader(each.directory / "templates") for each in extensions()}
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(carried("templates")), PrefixLoader(others)]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
        bytecode_cache=_bytecode_cache(),
        cache_size=-1,
    )
    environment.filters.update(FILTERS)
    return environment


@cache
def environment(form: Format) -> Environment:
    return _base().overlay(finalize=form.guard)


def print_template(template: str, form: Format, variables: Mapping[str, object]) -> str:
    """The text of one template, named below `templates/` without its `.j2`."""
    try:
        return environment(form).get_template(template + ".j2").render(variables)
    except RenderError as err:
        raise RenderError(f"{template}: {err}") from err
    except Exception as err:
        owner, _, rest = template.partition("/")
        if extension := next((each for each in extensions() if each.name == owner), None):
            raise failure(extension, err, f"templates/{rest}.j2{_line(err, rest)}: ") from err
        raise (RenderError(f"{template}: {err}") if isinstance(err, TemplateError) else err) from err


def _line(err: Exception, template: str) -> str:
    """The line of a template where an error arose, as `:12`; empty where it is unknown."""
    frames = extract_tb(err.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename.endswith(f"/{template}.j2")]
    line = err.lineno if isinstance(err, TemplateSyntaxError) else lines[-1] if lines else None
    return f":{line}" if line else ""
