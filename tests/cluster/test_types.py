"""The resolved cluster holds what its annotations say, and nothing of the manifest's classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from strategies.inventories import MANIFESTS
from strategies.pages import ROOT

FIXTURES = sorted((ROOT / "tests" / "fixtures" / "verify").glob("*.yaml"))


def _mismatches(value: Any, kind: Any, where: str) -> Iterator[str]:
    """Where a value is not what its annotation says, record by record."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        yield from _within(value, where)
    elif origin in (Union, UnionType):
        by_member = [list(_mismatches(value, member, where)) for member in arguments]
        yield from min(by_member, key=len)
    elif origin is Literal:
        if value not in arguments:
            yield f"{where} = {value!r} is not {kind}"
    elif origin is tuple and arguments[1:] == (...,):
        if not isinstance(value, tuple):
            yield f"{where} is a {type(value).__name__}, not {kind}"
        else:
            for item in value:
                yield from _mismatches(item, arguments[0], where)
    elif origin is tuple:
        if not isinstance(value, tuple) or len(value) != len(arguments):
            yield f"{where} = {value!r} is not {kind}"
        else:
            for item, of in zip(value, arguments, strict=True):
                yield from _mismatches(item, of, where)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            yield f"{where} is a {type(value).__name__}, not {kind}"
        else:
            for key, item in value.items():
                yield from _mismatches(key, arguments[0], where)
                yield from _mismatches(item, arguments[1], where)
    elif isinstance(origin, type) and issubclass(origin, frozenset | set):
        for item in value:
            yield from _mismatches(item, arguments[0], where)
    elif kind is float and type(value) is int:
        return
    elif not isinstance(value, origin or kind or type(None)) or (type(value) is bool and kind is int):
        yield f"{where} is a {type(value).__name__}, not {kind}"
    else:
        yield from _within(value, where)


def _within(value: Any, where: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        yield f"{where} is a section of the manifest"
    if hasattr(type(value), "__record_fields__"):
        name = type(value).__name__
        for field, kind in get_type_hints(type(value)).items():
            if kind is not Callable:
                yield from _mismatches(getattr(value, field), kind, f"{name}.{field}")


@pytest.mark.slow
@pytest.mark.parametrize("path", [*MANIFESTS.values(), *FIXTURES], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_cluster_holds_what_its_annotations_say(path: Path) -> None:
    cluster = compiler.validate(path).cluster
    assert cluster is not None
    assert sorted(set(_mismatches(cluster, Cluster, "cluster"))) == []
    wrong = {kind for kind, record in cluster._records.items() if type(record) is not kind}
    assert wrong == set()
