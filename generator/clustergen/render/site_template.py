"""A site's own templates: jinja2 in a sandbox, with the cluster as its only variable, and errors with their line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from clustergen.diagnostics import did_you_mean
from clustergen.render.bounded import MEMORY, LimitError, bounded
from clustergen.render.formats import FILTERS, Format


class SiteTemplateError(Exception):
    """What is wrong with a site's template, at a line of it (0: of the file as a whole)."""

    def __init__(self, message: str, line: int = 0, hint: str | None = None) -> None:
        super().__init__(message, line, hint)
        self.message = message
        self.line = line
        self.hint = hint


def print_site_template(path: Path, root: Path, form: Format, variables: Mapping[str, object]) -> str:
    """The text of a template: it sees the cluster, and nothing of the machine. Raises SiteTemplateError."""
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

    def render() -> str:
        try:
            return sandbox.get_template(path.relative_to(root).as_posix()).render(variables)
        except TemplateSyntaxError as err:
            raise SiteTemplateError(err.message or "syntax error", err.lineno) from None
        except MemoryError:
            raise LimitError(f"it requires more than {MEMORY >> 20} MiB of memory") from None
        except RecursionError:
            raise SiteTemplateError("its recursion or nesting is too deep") from None
        except Exception as err:  # noqa: BLE001 - a template is a program, and may raise anything
            raise SiteTemplateError(_words(err), _line_in(path, err), hints[-1] if hints else None) from None

    try:
        return bounded(render)
    except LimitError as err:
        raise SiteTemplateError(str(err)) from None


def _words(err: Exception) -> str:
    """The message without the names of our modules."""
    if isinstance(err, TemplateNotFound):
        return f"template '{err.name}' is not in the directory of this group"
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
