"""The Jinja environment: strict, with a guard per file format, and a cache, since compiling costs more than printing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import (
    BytecodeCache,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
    Undefined,
)
from jinja2.utils import missing

from clustergen import __version__
from clustergen.diagnostics import ClustergenError
from clustergen.render.formats import FILTERS, Format, RenderError


@cache
def template_root() -> Path:
    """`templates/` of the checkout, or of the installed wheel."""
    package = Path(__file__).resolve().parents[1]
    for place in (package / "_templates", package.parents[1] / "templates"):
        if place.is_dir():
            return place
    raise ClustergenError("the templates are missing from this installation", hint="install clustergen again")


def _bytecode_cache() -> BytecodeCache | None:
    """In the user's own cache folder; without one that can be written, templates are compiled each time."""
    folder = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clustergen" / f"templates-{__version__}"
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None
    except (OSError, RuntimeError):
        return None


@cache
def _base() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(template_root()),
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
    except (RenderError, TemplateError) as err:
        raise RenderError(f"{template}: {err}") from err


class SiteTemplateError(Exception):
    """What is wrong with a site's template, at a line of it (0: of the file as a whole)."""

    def __init__(self, message: str, line: int = 0, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint


def print_site_template(path: Path, root: Path, form: Format, variables: Mapping[str, object]) -> str:
    """A site's own `.j2` file, in a sandbox: it sees the cluster, and nothing of the machine. Raises SiteTemplateError."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    hints: list[str | None] = []

    def finalize(value: object) -> str:
        if isinstance(value, Undefined):
            hints.append(_near_name(value, variables))
            value._fail_with_undefined_error()
        return form.guard(value)

    sandbox = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(root),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalize,
    )
    sandbox.filters.update(FILTERS)
    try:
        return sandbox.get_template(path.relative_to(root).as_posix()).render(variables)
    except TemplateSyntaxError as err:
        raise SiteTemplateError(err.message or "syntax error", err.lineno) from err
    except (RenderError, TemplateError, OverflowError, MemoryError, TypeError, ValueError, OSError) as err:
        raise SiteTemplateError(_words(err), _line_in(path, err), hints[-1] if hints else None) from err


def _words(err: Exception) -> str:
    """The message without the names of our modules."""
    return re.sub(r"'clustergen\.[\w.]*?(\w+) object'", r"\1", str(err)) or type(err).__name__


def _near_name(value: Undefined, variables: Mapping[str, object]) -> str | None:
    owner = value._undefined_obj
    names = [name for name in dir(owner) if not name.startswith("_")] if owner is not missing else list(variables)
    return did_you_mean(str(value._undefined_name), names)


def _line_in(path: Path, err: BaseException) -> int:
    """The line of the template in which an error was raised: jinja puts its lines into the traceback."""
    trace, line = err.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
