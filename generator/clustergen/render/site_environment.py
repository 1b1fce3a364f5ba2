"""Jinja for a site's templates: it sees values, and nothing that can be called but filters.

Templates are written by people who may propose a change, not by those who may merge it. So no expression of a template
reads an attribute of a Python object: names are looked up in mappings and in a short list of Jinja's own objects.
"""

from __future__ import annotations

import codecs
import difflib  # noqa: F401 - what Jinja and messages import late, a confined process cannot import
import html  # noqa: F401
import pprint  # noqa: F401
import textwrap  # noqa: F401
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial, wraps
from types import MethodType
from typing import Any, Never

from jinja2 import BaseLoader, StrictUndefined, Template, TemplateNotFound, Undefined, UndefinedError
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.loaders import split_template_path
from jinja2.runtime import LoopContext, Macro, TemplateReference
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS as JINJA_TESTS
from jinja2.utils import Namespace, missing

from clustergen.diagnostics import did_you_mean
from clustergen.render.formats import FILTERS, Format, RenderError
from clustergen.render.site_objects import BlockReference, Context, Cycler, Joiner, Range, without_text
from clustergen.render.site_values import Values, names_of_cluster, names_of_slurm

for _codec in ("ascii", "unicode-escape"):  # loads them, for the literals of templates
    codecs.lookup(_codec)

_FILTER_NAMES = (
    "abs batch capitalize center count d default dictsort e escape filesizeformat first float forceescape format "
    "groupby indent int items join last length list lower map max min pprint reject rejectattr replace reverse round "
    "safe select selectattr slice sort string striptags sum title tojson trim truncate unique upper urlencode urlize "
    "wordcount wordwrap xmlattr"
)
"""Of Jinja, without `attr`, which reads attributes of Python objects, and `random`: a tree is reproducible."""
_TEST_NAMES = (
    "!= < <= == > >= boolean callable defined divisibleby eq equalto escaped even false filter float ge greaterthan "
    "gt in integer iterable le lessthan lower lt mapping ne none number odd sameas sequence string test true undefined "
    "upper"
)

_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    LoopContext: (
        *("index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0"),
        *("previtem", "nextitem", "cycle", "changed"),
    ),
    Cycler: ("current", "next", "reset"),
    BlockReference: ("super",),
}
"""Jinja's own objects → what of them a template may read."""
_CALLABLE_TYPES = (Macro, LoopContext, BlockReference, Joiner, Undefined)  # the last to raise its own error
_RANGE = Range()
_CALLABLES: tuple[object, ...] = (_RANGE, dict, Namespace, Cycler, Joiner)
_CALLABLE_METHODS = (LoopContext.cycle, LoopContext.changed, Cycler.next, Cycler.reset)

_INSTEAD = {
    "append": "{% set names = names + [name] %}, or {% set state.names = state.names + [name] %} of a namespace",
    "capitalize": "text | capitalize",
    "center": "text | center(20)",
    "count": "list | select('eq', value) | list | length",
    "endswith": "text is endswith('.org')",
    "extend": "{% set names = names + others %}, or {% set state.names = state.names + others %} of a namespace",
    "format": "'%s' | format(value)",
    "get": "mapping['key'] | default(1)",
    "index": "{% for item in list %}, and loop.index0 there",
    "isdigit": "text | int(-1) >= 0",
    "items": "{% for key, value in mapping | items %}",
    "join": "list | join(',')",
    "keys": "mapping | list",
    "lower": "text | lower",
    "lstrip": "text | trim",
    "pop": "list[:-1]",
    "replace": "text | replace('old', 'new')",
    "rstrip": "text | trim",
    "sort": "list | sort",
    "split": "text | split(',')",
    "splitlines": "text | split('\\n')",
    "startswith": "text is startswith('gpu')",
    "strip": "text | trim",
    "title": "text | title",
    "update": "dict(mapping, key=value)",
    "upper": "text | upper",
    "values": "mapping | values",
}
"""Method of Python → an example of what does the same."""
_MOVED = {
    ("Cluster", "manifest"): "cluster.SECTION: `clustergen resolve` prints the sections",
    ("Cluster", "slurm_name"): "cluster.slurm.cluster_name",
    ("Partition", "spec"): "partition.max_nodes for partition.spec.max_nodes, partition.max_time_minutes for max_time",
}
"""Name that earlier versions had → what has its values."""
_OF_MANIFEST = {
    "ansible": "ansible ssh pull",
    "arch": "os.arch",
    "containers": "docker podman apptainer oci_jobs mirrors",
    "description": "description.text",
    "gpu": "driver driver_module gpu_settings mig_plans",
    "manage": "managed",
    "host": "time_zone chrony user_limits kernel_settings hosts_file firewall node_logins",
    "monitoring": "monitoring dcgm scraping thresholds prometheus alertmanager grafana",
    "networks": "management_network bmc_network fabric storage_network",
    "nodes": "groups",
    "site": "site_files",
    "slurm": "slurm accounting associations scheduler priority preemption topology resources scripts timeouts",
    "ups": "ups_shutdown",
}
"""Section of the manifest → those of the cluster, where they have other names."""


def path_of(name: str) -> str:
    """The path of an included file below the directory of its group, without `./` and `//`."""
    return "/".join(split_template_path(name))


class _Loader(BaseLoader):
    """The files of a group, which were read before."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def get_source(self, environment: object, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        content = self.files.get(path_of(template))
        if content is None:
            raise TemplateNotFound(template)
        return content.decode(), None, None


class _MissingError(UndefinedError):
    """A name that does not exist; `hint` proposes another."""

    def __init__(self, owner: object, name: object, message: str) -> None:
        super().__init__(message)
        self.hint = _instead(owner, str(name))


def _instead(owner: object, name: str) -> str | None:
    """The replacement for a name that does not exist."""
    if owner is missing:
        place = "cluster" if name in names_of_cluster() else "cluster.slurm" if name in names_of_slurm() else ""
        return f"write {place}.{name}" if place else did_you_mean(name, ["cluster"])
    if moved := _moved(owner, name):
        return f"write {moved}"
    called = _kind(owner)
    if _is_method(owner, name):
        example = _INSTEAD[name]
        return f"write {example.replace('mapping', called) if '.' in called else example}"
    names = [key for key in owner if isinstance(key, str)] if isinstance(owner, Mapping) else []
    if dashed := [f"{called}[{key!r}]" for key in names if key.startswith(f"{name}-")]:
        return f"write {' or '.join(dashed)}"
    return did_you_mean(name, names)


def _moved(owner: object, name: str) -> str | None:
    """Where templates find what earlier versions had under a name."""
    kind, (first, _, section) = _kind(owner), name.partition(".")
    if kind == "Cluster" and section:
        sections = _OF_MANIFEST.get(section, section).split()
        return " or ".join(f"cluster.{each}" for each in sections if each.partition(".")[0] in names_of_cluster())
    if kind == "Cluster" and first in names_of_slurm():
        return f"cluster.slurm.{first}"
    return _MOVED.get((kind, first))


def _is_method(owner: object, name: object) -> bool:
    """True if Python has it for values of this kind."""
    kinds = ((Mapping, dict), (list | tuple | range, list), (str, str))
    return name in _INSTEAD and any(isinstance(owner, kind) and hasattr(type_, str(name)) for kind, type_ in kinds)


class _RefusedError(SecurityError, RenderError):
    """An operation that a template may not do; `hint` names one that does the same."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class _Missing(StrictUndefined):
    __slots__ = ()

    def __init__(self, hint: str | None = None, obj: Any = missing, name: str | None = None) -> None:
        super().__init__(hint, obj, name, partial(_MissingError, obj, name))  # type: ignore[arg-type]


class SiteEnvironment(ImmutableSandboxedEnvironment):
    """Jinja without methods: a name is a key of a mapping, or one of `_ATTRIBUTES`."""

    context_class = Context

    def __init__(self, files: Mapping[str, bytes], form: Format) -> None:
        super().__init__(
            loader=_Loader(files),
            undefined=_Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            finalize=partial(_finalize, form),
        )
        self.globals = {
            "range": _RANGE,
            "dict": dict,
            "namespace": Namespace,
            "cycler": Cycler,
            "joiner": Joiner,
        }
        self.filters = {
            **{name: _without_iterators(JINJA_FILTERS[name]) for name in _FILTER_NAMES.split()},
            **FILTERS,
            "split": lambda text, separator=None: tuple(str(text).split(separator)),
            "values": lambda mapping: tuple(mapping[name] for name in mapping),
        }
        self.tests = {
            **{name: JINJA_TESTS[name] for name in _TEST_NAMES.split()},
            "startswith": lambda text, start: str(text).startswith(start),
            "endswith": lambda text, end: str(text).endswith(end),
        }
        self.policies["json.dumps_kwargs"] = {"sort_keys": True, "default": dict, "allow_nan": False}

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Undefined):
            if obj._undefined_name == "manifest":
                owner = obj._undefined_obj
                raise _MissingError(owner, f"manifest.{argument}", _why_missing(owner, "manifest"))
            obj._fail_with_undefined_error()
        if isinstance(obj, Mapping):
            if argument in obj:
                return obj[argument]
        elif isinstance(argument, int | slice):
            if isinstance(obj, str | tuple | list | range):
                with suppress(IndexError):
                    return obj[argument]
        elif isinstance(argument, str) and not argument.startswith("_"):
            value = _of_jinja(obj, argument)
            if value is not missing:
                return value
        return self.undefined(_why_missing(obj, argument), obj=obj, name=argument)

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> Template:
        _require_names(name)
        return super().get_template(name, parent, globals)

    def select_template(self, names: Any, parent: str | None = None, globals: Any = None) -> Template:
        _require_names(*names if isinstance(names, tuple | list) else (names,))
        return super().select_template(names, parent, globals)

    def is_safe_callable(self, obj: Any) -> bool:
        if isinstance(obj, MethodType):
            return obj.__func__ in _CALLABLE_METHODS
        return isinstance(obj, _CALLABLE_TYPES) or any(obj is one for one in _CALLABLES)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not self.is_safe_callable(obj):
            argument = repr(args[0]) if len(args) == 1 and isinstance(args[0], str) else ""
            instead = f"[{argument}] in place of ({argument})" if argument else "it without the parentheses"
            raise _RefusedError(f"{_kind(obj)} cannot be called", f"write {instead}")
        return super().call(context, obj, *args, **kwargs)

    def handle_exception(self, source: str | None = None) -> Never:
        """Raises the current error as it is: the caller reads the traceback."""
        raise


def _require_names(*names: object) -> None:
    for name in names:
        if isinstance(name, Undefined):
            name._fail_with_undefined_error()
        if not isinstance(name, str):
            raise RenderError(f"{_kind(name)} is not the name of a template")


def _of_jinja(obj: object, name: str) -> object:
    """The public attribute of one of Jinja's own objects; `missing` where it has none, or it may not be read."""
    if isinstance(obj, tuple) and name in getattr(obj, "_fields", ()):  # of the filter groupby
        return obj[obj._fields.index(name)]  # type: ignore[attr-defined]
    if isinstance(obj, TemplateModule):
        return vars(obj).get(name, missing)
    if isinstance(obj, TemplateReference):
        try:
            return without_text(obj[name])
        except KeyError:
            return missing
    # A namespace has no attributes but those that the template sets.
    if type(obj) is Namespace or name in _ATTRIBUTES.get(type(obj), ()):
        return getattr(obj, name, missing)
    return missing


def _kind(value: object) -> str:
    """The word for a value in messages."""
    match value:
        case Values(kind=kind):
            return kind
        case Mapping():
            return "a mapping"
        case str():
            return "a text"
        case tuple() | list() | range():
            return "a list"
        case int() | float():
            return "a number"
        case None:
            return "None"
    return f"a {type(value).__name__}"


def _why_missing(obj: object, name: object) -> str:
    message = f"{_kind(obj)} has no {'attribute' if isinstance(name, str) else 'item'} {name!r}"
    return f"{message}: templates have no methods" if _is_method(obj, name) else message


def _finalize(form: Format, value: object) -> str:
    """The text of a printed value."""
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    if isinstance(value, bool) or value is None:
        hint = "use {% if … %}, or | default('UNLIMITED', true)"
        raise _RefusedError(f"{value} printed into a {form.name} file", hint)
    if not isinstance(value, str | int | float):
        hint = "print its items, or use a filter, as | join(',')"
        raise _RefusedError(f"{_kind(value)} printed into a {form.name} file", hint)
    return form.guard(value)


def _without_iterators(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter with a list as its result, where it is an iterator of Python, whose text contains an address."""

    @wraps(function)
    def listed(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return tuple(result) if isinstance(result, Iterator) else result

    return listed
