"""Sections of features in the manifest: a parent declares places, and features fill them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from clustergen.feature import modules
from clustergen.manifest.base import Section

S = TypeVar("S", bound=Section)
Place = Any
"""Annotation of a field that a feature fills. The order of a parent's fields is that of its declaration."""


def composed(path: str = "") -> Callable[[type[S]], type[S]]:
    """Fill the places of a section; `path` is its own place in the manifest: `slurm`, `node_types.*`.

    `PLACES` of the module `section` of a feature has, by path, the annotation and the field. TypeError for a place that
    nobody fills, and for two features in one.
    """

    def compose(parent: type[S]) -> type[S]:
        prefix = f"{path}." if path else ""
        places = [name for name, info in parent.model_fields.items() if info.annotation is Place]
        if missing := [f"{prefix}{name}" for name in places if f"{prefix}{name}" not in _places()]:
            raise TypeError(f"no feature fills {missing[0]}")
        filled = {name: _places()[f"{prefix}{name}"] for name in places}
        annotations = {name: annotation for name, (annotation, _) in filled.items()}
        names = {"__module__": parent.__module__, "__qualname__": parent.__qualname__, "__doc__": parent.__doc__}
        fields = {name: info for name, (_, info) in filled.items()}
        make: Any = type(parent)
        model: type[S] = make(parent.__name__, (parent,), {**names, **fields, "__annotations__": annotations})
        return model

    return compose


@cache
def _places() -> Mapping[str, tuple[Any, Any]]:
    places: dict[str, tuple[Any, Any]] = {}
    of: dict[str, str] = {}
    for module in modules("section"):
        for path, place in getattr(module, "PLACES", {}).items():
            if path in places:
                raise TypeError(f"{module.__name__} and {of[path]} both fill {path}")
            places[path], of[path] = place, module.__name__
    return places
