"""Prints a site's own templates, all in one confined process, and says where one of them fails."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import TracebackType

from jinja2 import TemplateNotFound, TemplateSyntaxError
from jinja2.filters import FILTERS
from jinja2.sandbox import MAX_RANGE
from jinja2.tests import TESTS

from clustergen.cluster.model import Cluster
from clustergen.diagnostics.words import did_you_mean, printable, shortened
from clustergen.records import record
from clustergen.render.bounded import LARGEST, LimitError, TimeLimitError, bounded, memory_limit, size_limit, time_limit
from clustergen.render.formats import Format, RenderError
from clustergen.render.site_environment import SiteEnvironment, path_of
from clustergen.render.site_values import plain

_TEXT, _FAILURE = b"T", b"F"
_ADDRESS = re.compile(r"<[^<>\n]* at 0x[0-9a-f]+>")


@record
class SiteTemplate:
    """A template of a group: its path below the group's directory, and the files of the group, which it may include."""

    name: str
    files: Mapping[str, bytes]
    format: Format


@record
class Failure:
    """The error of a template, at a line (0: as a whole) of a file of its group."""

    message: str
    name: str
    line: int = 0
    hint: str | None = None


def print_site_templates(templates: Sequence[SiteTemplate], cluster: Cluster) -> list[bytes | Failure]:
    """The text of each template, all printed by one process that reaches nothing of this machine."""
    import clustergen.cluster.slurm.keys.lines  # noqa: F401  # of values that are worked out when a template reads them

    cluster.catalogue.switch_names()
    variables = {"cluster": plain(cluster)}
    answers = bounded(lambda number: _answer(templates[number], variables), len(templates))
    return [_checked(template, answer) for template, answer in zip(templates, answers, strict=True)]


def _checked(template: SiteTemplate, answer: bytes | LimitError) -> bytes | Failure:
    """Check a child's answer, which an attacker may have written."""
    if isinstance(answer, LimitError):
        return Failure(str(answer), template.name)
    if answer[:1] == _TEXT:
        return answer[1:]
    try:
        match json.loads(answer[1:]):
            case [str(message), str(name), int(line), None | str() as hint]:
                name = name if name in template.files else template.name
                return Failure(shortened(printable(message)), name, line, hint and shortened(printable(hint)))
    except (ValueError, RecursionError):
        pass
    return Failure("its process has no valid answer", template.name)


def _answer(template: SiteTemplate, variables: Mapping[str, object]) -> bytes:
    """The text, or what is wrong, for `_checked`."""
    sandbox = SiteEnvironment(template.files, template.format)
    try:
        text = sandbox.get_template(template.name).render(variables)
        if len(text) > LARGEST:
            raise size_limit()
        if address := _ADDRESS.search(text):  # differs with each process; a tree is reproducible
            raise RenderError(f"it prints {address[0]}, an object of Python")
        return _TEXT + text.encode()
    except TemplateSyntaxError as err:
        message, name, line = err.message or "syntax error", err.name, err.lineno
        message, hint = _lacking(message, sandbox) or (message, None)
    except (Exception, TimeLimitError) as err:  # noqa: BLE001 - a template is a program, and may raise anything
        message, hint = _words(err), getattr(err, "hint", None)
        message, hint = _lacking(message, sandbox) or (message, hint)
        name, line = _innermost(err.__traceback__)
    return _FAILURE + json.dumps([message, path_of(name or template.name), line, hint]).encode()


def _lacking(message: str, sandbox: SiteEnvironment) -> tuple[str, str | None] | None:
    """Message and hint where Jinja misses a filter or a test."""
    lacking = re.match(r"No (filter|test) named '(\w+)'", message)
    if lacking is None:
        return None
    what, name = lacking.groups()
    if name in (FILTERS if what == "filter" else TESTS):
        return f"the {what} '{name}' of Jinja is not available in site templates", None
    return f"there is no {what} '{name}'", did_you_mean(name, sandbox.filters if what == "filter" else sandbox.tests)


def _words(err: BaseException) -> str:
    match err:
        case TimeLimitError():
            return str(time_limit())
        case MemoryError():
            return str(memory_limit())
        case RecursionError():
            return "its recursion or nesting is too deep"
        case OverflowError() if str(err).startswith("Range too big"):
            return f"a range can have at most {MAX_RANGE:,} items"
        case NameError(name="inf" | "nan"):  # Jinja's own code for such a literal
            return "infinity is no number that a file can contain"
        case TemplateNotFound(name=name):
            return f"template '{name}' is not in the directory of this group"
    return str(err) or type(err).__name__


def _innermost(trace: TracebackType | None) -> tuple[str | None, int]:
    """The template and its line in which an error was raised."""
    name, line = None, 0
    while trace is not None:
        if template := trace.tb_frame.f_globals.get("__jinja_template__"):
            name, line = template.name, template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return name, line
