"""Features: a package each below `clustergen.features`, with a module for each stage that has to know of it.

    section     what the user writes, and `PLACES`, where in the manifest
    resolved    its records of the cluster, and `RECORDS`, the function that makes each
    rules       its cross-checks, which also stand in other modules `*_rules`
    needs       what it contributes to files of others: functions that yield records of `cluster.contributions`
    files       its views, and `FILES`, the rows of its own files
    alerts      `topic`, its alerting rules
    dashboards  `dashboard`, a page of Grafana
    checks      `CHECKS`, for files that a program can read

Only `section` or `resolved` is required. A stage loads its own module of each feature and no other, so that `validate`
does not pay for dashboards. Features do not import each other; what two of them need is in the cluster.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

_PACKAGE = "clustergen.features"
FAMILIES = ("storage",)
"""Packages whose packages are features: one for each kind."""


@cache
def features() -> tuple[str, ...]:
    """Names of all features, as logs or storage.nfs, in their order."""
    names: list[str] = []
    for name in _ordered(_PACKAGE, is_package=True):
        kinds = _ordered(f"{_PACKAGE}.{name}", is_package=True) if name in FAMILIES else ()
        names += [f"{name}.{kind}" for kind in kinds] if name in FAMILIES else [name]
    return tuple(names)


@cache
def module(feature: str, stage: str) -> ModuleType | None:
    """The module of a feature for one stage; None where it has none."""
    package = f"{_PACKAGE}.{feature}"
    return import_module(f"{package}.{stage}") if stage in _ordered(package, is_package=False) else None


@cache
def modules(stage: str) -> tuple[ModuleType, ...]:
    """The modules of all features for one stage, feature by feature: NAME, then each NAME with a prefix."""
    return tuple(
        import_module(f"{_PACKAGE}.{feature}.{name}")
        for feature in features()
        for name in _ordered(f"{_PACKAGE}.{feature}", is_package=False)
        if name == stage or name.endswith(f"_{stage}")
    )


@cache
def _ordered(package: str, *, is_package: bool) -> tuple[str, ...]:
    """Modules or packages of a package: those of its `ORDER` first, the others by name."""
    parent = import_module(package)
    order: tuple[str, ...] = getattr(parent, "ORDER", ())
    names = sorted(item.name for item in iter_modules(parent.__path__) if item.ispkg is is_package)
    return tuple(sorted(names, key=lambda name: order.index(name) if name in order else len(order)))
