"""Features: a package each, with a module for each stage that has to know of it.

    section     what the user writes, and `PLACES`, where in the manifest
    shapes      `merged`, findings on sections of another shape than the manifest's, one in place of several
    resolved    its records of the cluster, and `RECORDS`, the function that makes each
    rules       its cross-checks
    codes       `CODES`, of its diagnostics, where they are not in `clustergen.diagnostics.codes`
    needs       what it contributes to files of others: functions of the cluster, or of records that it may have, which
                yield records of `cluster.contributions`
    files       its views, and `FILES`, the rows of its own files
    tree        `problems`, findings in a tree that has the site's files
    effects     `steps` that no play does after a change of its files; `TEXTS`, of its files that go on no node, which a
                diff compares
    alerts      `topic`, its alerting rules, of the cluster or of its records, as functions of needs
    dashboards  `dashboard`, a page of Grafana, and `rows` of pages of others
    checks      `CHECKS`, for files that a program can read; `COMPONENT` of verify, where it is not the feature's name
    imports     `FILE` of Slurm that is `PATH` in the manifest, and `values`, which makes the section of it; `PLUGINS`,
                key and name by release, the newest first
    setup       `set_up`, which installs what its checks need: `clustergen setup NAME`

A feature that needs Slurm has `REQUIRES = "slurm"` in its `__init__`, or the one module of it that does has it. In a
cluster without Slurm nothing of that feature or module is asked, `Cluster.meets`, but for `section` and `codes`.
`AREA` in its `__init__` is the word for it under `manage`: of a feature whose area is not managed there are `section`,
`resolved` and what it contributes to Slurm's files, and nothing else is asked, `Cluster.asks`.

Only what a feature has is required. A stage may have several modules, all named `NAME_STAGE`, as `lnet_rules`. It loads
those of each feature and no others, so that `validate` does not pay for dashboards. Features do not import each other;
what two of them need is in the cluster.

A kind of file system is a feature `storage.KIND` and has more:

    section     its `Mount`, at the place `storage.*.KIND`
    resolved    an `Entry`, `resolve`, which makes it of the sections of all entries of the kind, and `FILE_SYSTEM`;
                `polling`, where its client polls on cores of its own
    rules       `reached`, the hosts that a client has to reach
    files       `mount_units`; `FILES` of scopes that stand for entries are made for those of the kind

Ours are below `clustergen.features`. Those of others are extensions: packages of the same form, which their wheel names
as entry points of the group `clustergen.features`, with `API`, the version of this form. Their templates, programs,
pages of codes and tables are `templates/`, `programs/`, `codes/` and `data/` in the package.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, NamedTuple, TypeVar

API = 1
"""Of extensions; rises when one that worked would not."""
GROUP = "clustergen.features"
FAMILIES = ("storage",)
"""Packages whose packages are features: one for each kind."""
_OURS = "clustergen.features"
_ENTRY = re.compile(rf"((?:{'|'.join(FAMILIES)})\.)?[a-z][a-z0-9_]*=(?!clustergen(\.|$))[^\W\d]\w*(\.[^\W\d]\w*)*")
_NAMES: Mapping[str, Any] = {
    "PLACES": Mapping,
    "RECORDS": Mapping,
    "FILES": tuple,
    "CODES": tuple,
    "CHECKS": tuple,
    "COMPONENT": str,
    "REQUIRES": str,
    **dict.fromkeys(
        ("resolve", "polling", "reached", "mount_units", "problems", "topic", "dashboard", "rows"), Callable
    ),
}
"""Of modules of stages, with what each has to be."""
_REQUIRED = {"codes": ("CODES",), "tree": ("problems",), "alerts": ("topic",), "checks": ("CHECKS",)}
_REQUIRED_OF_KINDS = {"section": ("PLACES",), "resolved": ("resolve", "FILE_SYSTEM"), "files": ("mount_units",)}
T = TypeVar("T")
_is_off = False


class ExtensionError(Exception):
    """An extension that cannot be used, with what to do."""

    HINT = "update or remove it, or run with --no-extensions"

    def __init__(self, message: str, hint: str = HINT) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Feature(NamedTuple):
    """A feature. `distribution` and `version` are those of the wheel that an extension comes from; empty for ours."""

    name: str  # logs, or storage.nfs
    package: str
    distribution: str = ""
    version: str = ""

    @property
    def directory(self) -> Path:
        return Path(str(import_module(self.package).__file__)).parent

    @property
    def summary(self) -> str:
        """First line of the package's docstring, without its full stop."""
        return (import_module(self.package).__doc__ or "").strip().partition("\n")[0].removesuffix(".")

    @property
    def stages(self) -> tuple[str, ...]:
        return _ordered(self.package, is_package=False)

    def __str__(self) -> str:
        return f"{self.name} of {self.distribution} {self.version}" if self.distribution else self.name


def ignore_extensions() -> None:
    """From here on there are none; called before anything asks for features."""
    global _is_off
    _is_off = True
    for function in (features, extensions, module, modules, requirement, area, areas):
        function.cache_clear()


@cache
def features() -> tuple[Feature, ...]:
    """All features in their order: ours, and then extensions by name. ExtensionError for two of one name."""
    ours: list[Feature] = []
    for name in _ordered(_OURS, is_package=True):
        if name in FAMILIES:
            kinds = _ordered(f"{_OURS}.{name}", is_package=True)
            ours += [Feature(f"{name}.{kind}", f"{_OURS}.{name}.{kind}") for kind in kinds]
        else:
            ours.append(Feature(name, f"{_OURS}.{name}"))
    by_name: dict[str, Feature] = {}
    for feature in (*ours, *extensions()):
        if (other := by_name.setdefault(feature.name, feature)) is not feature:
            origin = f"that of {other.distribution} {other.version}" if other.distribution else "the one of clustergen"
            raise ExtensionError(f"the feature {feature} has the name of another one, {origin}", "remove one of them")
    return tuple(by_name.values())


@cache
def extensions() -> tuple[Feature, ...]:
    """Features of other wheels. ExtensionError for one that cannot be loaded, or is of another API version."""
    if _is_off:
        return ()
    by_package: dict[str, Feature] = {}
    for feature in sorted(_entry_points(), key=lambda each: each.name):
        if (other := by_package.setdefault(feature.package, feature)) is not feature:
            raise ExtensionError(f"the features {other} and {feature} are both {feature.package}", "remove one of them")
    return tuple(map(_checked, by_package.values()))


def loaded() -> tuple[Feature, ...]:
    """The extensions that this process has loaded, if any."""
    return extensions() if extensions.cache_info().currsize else ()


def of_family(family: str) -> tuple[Feature, ...]:
    """The features of a family, one for each kind."""
    return tuple(feature for feature in features() if feature.name.startswith(f"{family}."))


@cache
def module(name: str, stage: str) -> ModuleType | None:
    """The module of a feature for one stage; None where it has none, or there is no such feature."""
    feature = next((each for each in features() if each.name == name), None)
    return _load(feature, stage) if feature is not None and stage in feature.stages else None


@cache
def modules(stage: str) -> tuple[ModuleType, ...]:
    """The modules of all features for one stage, feature by feature: STAGE, and each with a prefix, as more_STAGE."""
    return tuple(
        _load(feature, name)
        for feature in features()
        for name in feature.stages
        if name == stage or name.endswith(f"_{stage}")
    )


@cache
def requirement(module: str) -> str:
    """`REQUIRES` of a module or of a package that it is in: what a cluster has to have for it; empty: nothing."""
    return _of_module(module, "REQUIRES")


@cache
def area(module: str) -> str:
    """`AREA` of a module or of a package that it is in, which a manifest may leave to others (`manage`); empty: every
    tree has what it makes.
    """
    return _of_module(module, "AREA")


@cache
def areas() -> tuple[str, ...]:
    """The areas of all features, by name."""
    packages = [import_module(feature.package) for feature in features()]
    return tuple(sorted({area(package.__name__) for package in packages} - {""}))


def _of_module(module: str, name: str) -> str:
    value: str = getattr(sys.modules.get(module), name, "")
    parent = module.rpartition(".")[0]
    return value or (_of_module(parent, name) if parent else "")


def name_of(module: ModuleType) -> str:
    """The feature that has a module, as storage.nfs."""
    package = module.__name__.rpartition(".")[0]
    return next(each.name for each in features() if each.package == package)


def extension_of(name: str) -> Feature | None:
    """The extension that a module is of."""
    return next((each for each in extensions() if name == each.package or name.startswith(f"{each.package}.")), None)


class Attributed:
    """A context whose errors name the extension that a module is of; others and `passing` stay as they are."""

    def __init__(self, module: str, *passing: type[Exception]) -> None:
        self._module = module
        self._passing: tuple[type[BaseException], ...] = (ExtensionError, *passing)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, _: TracebackType | None) -> None:
        is_failure = isinstance(err, (Exception, SystemExit)) and not isinstance(err, self._passing)
        if err is not None and is_failure and (extension := extension_of(self._module)):
            raise failure(extension, err) from err


def result_of(function: Callable[..., Any], kind: type[T], *arguments: object) -> T | None:
    """Result of a function of a feature, of a kind or None."""
    with Attributed(function.__module__):
        result = function(*arguments)
        return None if result is None else checked(result, kind, function)


def items_of(function: Callable[..., Any], kind: type[T], *arguments: object) -> Iterator[T]:
    """Items that a function of a feature yields or returns, each of a kind."""
    with Attributed(function.__module__):
        for item in function(*arguments):
            yield checked(item, kind, function)


def checked(item: object, kind: type[T], function: Callable[..., Any]) -> T:
    """An item if it is of a kind, and if the fields of an extension's have their types; else TypeError."""
    if not isinstance(item, kind):
        raise TypeError(f"{function.__name__}: {item!r} is no {kind.__name__}")
    if extensions() and extension_of(function.__module__):
        check_fields(item)
    return item


def check_fields(item: object) -> None:
    """TypeError if a field of a record, or of one in it, has another type."""
    from clustergen.field_types import check

    check(item)


def failure(extension: Feature, err: BaseException, place: str = "") -> ExtensionError:
    return ExtensionError(f"the extension {extension} failed: {place}{_line(err)}")


def described(module: str) -> str:
    """The extension that a module is of, for an error; the module where it is ours."""
    extension = extension_of(module)
    return f"the extension {extension}" if extension else module


def claim(owners: dict[str, str], name: str, module: str, what: str) -> None:
    """Notes the module that has a name; ExtensionError where another has it, `what` it does with the name in `{}`."""
    if (other := owners.setdefault(name, module)) != module:
        both = f"{described(other)} and {described(module)}"
        raise ExtensionError(f"{both} both {what.format(name)}", "rename it in one of them, or remove one")


def wording(annotation: Any) -> str:
    """An annotation as text, whether or not its module has `from __future__ import annotations`."""
    if isinstance(annotation, str):
        return annotation
    arguments = ", ".join(map(wording, getattr(annotation, "__args__", ())))
    name = getattr(annotation, "__name__", repr(annotation))
    return f"{name}[{arguments}]" if arguments else name


def at_fault(traceback: TracebackType | None) -> Feature | None:
    """The extension in whose code an exception arose: the one of the innermost of its frames; None if no frame is."""
    culprit = None
    while traceback is not None and loaded():
        culprit = extension_of(traceback.tb_frame.f_globals.get("__name__", "")) or culprit
        traceback = traceback.tb_next
    return culprit


def _load(feature: Feature, stage: str) -> ModuleType:
    if not feature.distribution:
        return import_module(f"{feature.package}.{stage}")
    try:
        with redirect_stdout(sys.stderr):
            module = import_module(f"{feature.package}.{stage}")
        for name, kind in _NAMES.items():
            if not isinstance(value := getattr(module, name, kind), kind if hasattr(module, name) else object):
                raise TypeError(f"{name} is {value!r}")
        for name in _required(feature).get(stage, ()):
            if not hasattr(module, name):
                raise AttributeError(f"{name} is missing")
    except (Exception, SystemExit) as err:
        raise ExtensionError(f"the extension {feature} cannot be loaded: {stage}: {_line(err)}") from err
    return module


def _required(feature: Feature) -> Mapping[str, tuple[str, ...]]:
    """Stage → names that its module has to have. The stages of a kind are required themselves."""
    return _REQUIRED | (_REQUIRED_OF_KINDS if feature.name.partition(".")[0] in FAMILIES else {})


def _checked(feature: Feature) -> Feature:
    try:
        with redirect_stdout(sys.stderr):
            package = import_module(feature.package)
        if not hasattr(package, "__path__"):
            raise TypeError(f"{feature.package} is a module, not a package")
        if not isinstance(getattr(package, "ORDER", ()), tuple):
            raise TypeError(f"ORDER is {package.ORDER!r}, not a tuple")
        if feature.name.partition(".")[0] in FAMILIES and (missing := _REQUIRED_OF_KINDS.keys() - {*feature.stages}):
            raise ImportError(f"it has no {min(missing)}.py")
        api = getattr(package, "API", None)
    except (Exception, SystemExit) as err:
        raise ExtensionError(f"the extension {feature} cannot be loaded: {_line(err)}") from err
    if type(api) is not int:
        form = "names no API version" if api is None else f"has {api!r} as API version, which is no whole number"
        raise ExtensionError(f"the extension {feature} {form}", f"write API = {API} in its __init__.py")
    if api != API:
        raise ExtensionError(
            f"the extension {feature} is for API version {api}, and this clustergen has API version {API}"
        )
    return feature


def _line(err: BaseException) -> str:
    return f"{type(err).__name__}: {' '.join(str(err).split()) or 'without a message'}"


def _entry_points() -> Iterator[Feature]:
    """Entry points of the group, by their files: importing what reads them takes a tenth of `validate`."""
    seen = set()
    paths = sys.path if sys.flags.safe_path else sys.path[1:]  # not where the command is, or the user
    for path in filter(None, dict.fromkeys(paths)):
        for file in sorted(Path(path).glob("*.dist-info/entry_points.txt")):
            lines = _lines_of(file)
            name_and_version = file.parent.name.removesuffix(".dist-info").partition("-")
            if f"[{GROUP}]" not in lines or name_and_version[0] in seen:
                continue
            seen.add(name_and_version[0])
            for line in lines[lines.index(f"[{GROUP}]") + 1 :]:
                if line.startswith("["):
                    break
                if line.strip() and line[0] not in "#;":
                    distribution = _name_in(file.with_name("METADATA")) or name_and_version[0]
                    yield _feature_of(line, distribution, name_and_version[2])


def _feature_of(line: str, distribution: str, version: str) -> Feature:
    """The feature that a line of entry points names; ExtensionError for a line that is none."""
    name, _, package = (part.strip() for part in line.partition("="))
    if not _ENTRY.fullmatch(f"{name}={package}"):
        kinds = " or ".join(f"{family}.KIND" for family in FAMILIES)
        form = f"write NAME = PACKAGE, where NAME is one word or {kinds}, of lower-case letters, digits and _"
        raise ExtensionError(f"the entry point {line.strip()!r} of {distribution} {version} names no feature", form)
    return Feature(name, package, distribution, version)


def _lines_of(path: Path) -> list[str]:
    """The lines of a file; none of anything else, such as a FIFO."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    except OSError as err:
        raise ExtensionError(f"{path}: {err.strerror}", "correct its permissions, or remove the package") from err


def _name_in(metadata: Path) -> str:
    """The name of a wheel as its author writes it; empty where nothing says so."""
    return next((line.partition(":")[2].strip() for line in _lines_of(metadata) if line.startswith("Name:")), "")


@cache
def _ordered(package: str, *, is_package: bool) -> tuple[str, ...]:
    """Modules or packages of a package: those of its `ORDER` first, the others by name."""
    parent = import_module(package)
    order: tuple[str, ...] = getattr(parent, "ORDER", ())
    names = sorted(filter(None, map(_package_in if is_package else _module_in, os.scandir(parent.__path__[0]))))
    return tuple(sorted(names, key=position(order)))


def position(order: Sequence[str]) -> Callable[[str], int]:
    """The key that sorts names as in an order, and all others behind."""
    return lambda name: order.index(name) if name in order else len(order)


def _module_in(item: os.DirEntry[str]) -> str:
    """The name of a module; empty for anything else. `pkgutil` knows more and takes ten times as long."""
    return item.name.removesuffix(".py") if item.name.endswith(".py") and item.name[0] != "_" else ""


def _package_in(item: os.DirEntry[str]) -> str:
    return item.name if item.name.isidentifier() and item.name[0] != "_" and item.is_dir() else ""
