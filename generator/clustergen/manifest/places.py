"""Sections of the manifest by their type: rules name in their signature what they judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from clustergen.manifest.base import Section
from clustergen.manifest.model import Manifest


def section_of(manifest: Manifest, kind: Any) -> Any:
    """The section of this type, or the mapping or tuple of such sections; None where the manifest does not have it.

    LookupError for a type that no section has, or that several have.
    """
    return _below(manifest, _path(kind))


def _below(section: Any, path: tuple[str, ...]) -> Any:
    """The value at a path; with `*` in it, a mapping of those that are present."""
    for index, name in enumerate(path):
        if name == "*":
            values = {key: _below(value, path[index + 1 :]) for key, value in (section or {}).items()}
            return {key: value for key, value in values.items() if value is not None}
        section = getattr(section, name, None)
    return section


def section_for(function: Callable[..., Any], manifest: Manifest) -> Any:
    """The section that a function takes as its argument `section`: the whole manifest where it has no such argument;
    None where the manifest does not have it.
    """
    kind = _argument(function)
    return manifest if kind is None else section_of(manifest, kind)


@cache
def _argument(function: Callable[..., Any]) -> Any:
    annotation = function.__annotations__.get("section")
    # `get_type_hints` would evaluate the others as well, of a hundred rules.
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation  # noqa: S307 - code of a rule


def _path(kind: Any) -> tuple[str, ...]:
    if kind is Manifest:
        return ()
    paths = _paths().get(kind, ())
    if len(paths) != 1:
        raise LookupError(f"{len(paths)} sections of the manifest are {kind}")
    return paths[0]


@cache
def _paths() -> Mapping[Any, list[tuple[str, ...]]]:
    """Type → paths of the sections that have it."""
    paths: dict[Any, list[tuple[str, ...]]] = {}
    for path, kind in _sections(Manifest, ()):
        paths.setdefault(kind, []).append(path)
    return paths


def _sections(model: type[Section], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, info in model.model_fields.items():
        path = (*above, name)
        for kind in _parts(info.annotation):
            if isinstance(kind, type) and issubclass(kind, Section):
                yield path, kind
                yield from _sections(kind, path)
            elif get_origin(kind) is dict:
                yield from _of_each((*path, "*"), get_args(kind)[1])
            elif get_origin(kind) is tuple:
                yield path, kind


def _of_each(path: tuple[str, ...], kind: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A mapping of sections, and mappings of the sections in each of them."""
    yield path[:-1], Mapping[str, kind]
    if isinstance(kind, type) and issubclass(kind, Section):
        for below, inner in _sections(kind, path):
            yield below, Mapping[str, inner]  # type: ignore[valid-type]


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Members of a union, or the type alone."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
