"""Features: a package each, with a module for each stage that has to know of it.

    section     what the user writes, and `PLACES`, where in the manifest
    resolved    its records of the cluster, and `RECORDS`, the function that makes each
    rules       its cross-checks
    codes       `CODES`, of its diagnostics, where they are not in `clustergen.diagnostics.codes`
    needs       what it contributes to files of others: functions that yield records of `cluster.contributions`
    files       its views, and `FILES`, the rows of its own files
    tree        `problems`, findings in a tree that has the site's files
    alerts      `topic`, its alerting rules
    dashboards  `dashboard`, a page of Grafana, and `rows` of pages of others
    checks      `CHECKS`, for files that a program can read; `COMPONENT` of verify, where it is not the feature's name

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
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NamedTuple

API = 1
"""Of extensions; rises when one that worked would not."""
GROUP = "clustergen.features"
FAMILIES = ("storage",)
"""Packages whose packages are features: one for each kind."""
_OURS = "clustergen.features"
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
    for function in (features, extensions, module, modules):
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
    return () if _is_off else tuple(map(_checked, sorted(_entry_points(), key=lambda each: each.name)))


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


def name_of(module: ModuleType) -> str:
    """The feature that has a module, as storage.nfs."""
    package = module.__name__.rpartition(".")[0]
    return next(each.name for each in features() if each.package == package)


def extension_of(name: str) -> Feature | None:
    """The extension that a module is of."""
    return next((each for each in extensions() if name == each.package or name.startswith(f"{each.package}.")), None)


def at_fault(traceback: TracebackType | None) -> Feature | None:
    """The extension in whose code an exception arose: the one of the innermost of its frames; None if no frame is."""
    culprit = None
    while traceback is not None and extensions.cache_info().currsize:  # else none is loaded
        culprit = extension_of(traceback.tb_frame.f_globals.get("__name__", "")) or culprit
        traceback = traceback.tb_next
    return culprit


def _load(feature: Feature, stage: str) -> ModuleType:
    try:
        return import_module(f"{feature.package}.{stage}")
    except (Exception, SystemExit) as err:
        if not feature.distribution:
            raise
        raise ExtensionError(f"the extension {feature} cannot be loaded: {stage}: {_line(err)}") from err


def _checked(feature: Feature) -> Feature:
    try:
        api = getattr(import_module(feature.package), "API", None)
    except (Exception, SystemExit) as err:
        raise ExtensionError(f"the extension {feature} cannot be loaded: {_line(err)}") from err
    if api != API:
        described = "names no API version" if api is None else f"is for API version {api}"
        raise ExtensionError(f"the extension {feature} {described}, and this clustergen has API version {API}")
    return feature


def _line(err: BaseException) -> str:
    return f"{type(err).__name__}: {' '.join(str(err).split()) or 'without a message'}"


def _entry_points() -> Iterator[Feature]:
    """Entry points of the group, by their files: importing what reads them takes a tenth of `validate`."""
    seen = set()
    paths = sys.path if sys.flags.safe_path else sys.path[1:]  # not where the command is, or the user
    for path in filter(None, dict.fromkeys(paths)):
        for file in sorted(Path(path).glob("*.dist-info/entry_points.txt")):
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            name_and_version = file.parent.name.removesuffix(".dist-info").partition("-")
            if f"[{GROUP}]" not in lines or name_and_version[0] in seen:
                continue
            seen.add(name_and_version[0])
            for line in lines[lines.index(f"[{GROUP}]") + 1 :]:
                if line.startswith("["):
                    break
                name, equals, package = line.partition("=")
                if equals and not name.startswith("#"):
                    distribution = _name_in(file.with_name("METADATA")) or name_and_version[0]
                    yield Feature(name.strip(), package.strip(), distribution, name_and_version[2])


def _name_in(metadata: Path) -> str:
    """The name of a wheel as its author writes it; empty where nothing says so."""
    lines = metadata.read_text(encoding="utf-8", errors="replace").splitlines() if metadata.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Name:")), "")


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
