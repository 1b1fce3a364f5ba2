"""Sections of features in the manifest: a parent declares places, and features fill them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo

from clustergen.feature import Attributed, ExtensionError, claim, described, extension_of, modules, of_family
from clustergen.manifest.base import Section

S = TypeVar("S", bound=Section)
_OPEN = ("", "node_types.*")
"""Parents in which extensions may add places."""
Place = Any
"""Annotation of a field that a feature fills. The order of a parent's fields is that of its declaration."""


def composed(path: str = "") -> Callable[[type[S]], type[S]]:
    """Fill the places of a section; `path` is its own place in the manifest: `slurm`, `node_types.*`.

    `PLACES` of the module `section` of a feature has, by path, the annotation and the field; the section alone where it
    is one of several, for `union`. TypeError for a place that
    nobody fills; ExtensionError for two features in one, and for one that the parent does not have.
    """

    def compose(parent: type[S]) -> type[S]:
        _composed.add(path)
        if not path:  # the manifest itself comes last
            for other in _places().keys() - _composed:
                raise _refusal(other, *next(iter(_places()[other].items())))
        places = [name for name, info in parent.model_fields.items() if info.annotation is Place]
        filled = dict(_places().get(path, {}))
        if missing := [name for name in places if name not in filled]:
            raise TypeError(f"no feature fills {missing[0]} of {path or 'the manifest'}")
        for name in filled.keys() - places:
            if name in parent.model_fields or path not in _OPEN:
                raise _refusal(path, name, filled[name])
        annotations = {name: place.annotation for name, place in filled.items()}
        names: dict[str, Any] = {
            "__module__": parent.__module__,
            "__qualname__": parent.__qualname__,
            "__doc__": parent.__doc__,
        }
        names["IS_OPEN"] = path in _OPEN
        fields = {name: place.field for name, place in filled.items()}
        make: Any = type(parent)
        model: type[S] = make(parent.__name__, (parent,), {**names, **fields, "__annotations__": annotations})
        return model

    return compose


def union(place: str, discriminator: str) -> Any:
    """The union of the sections that features of a family fill in, as `storage.*.nfs` of `storage.*`: one for each word
    of the discriminator. ExtensionError for one whose feature or discriminator has another word.
    """
    _composed.add(place)
    filled = _places()[place]
    kinds = [feature.name.partition(".")[2] for feature in of_family(place.partition(".")[0])]
    for name, section in filled.items():
        with Attributed(section.module):
            if not (isinstance(section.annotation, type) and issubclass(section.annotation, Section)):
                raise TypeError(f"PLACES: {place}.{name} is {section.annotation!r}, not a Section")
        fields: Mapping[str, Any] = section.annotation.model_fields
        if name not in kinds or getattr(fields.get(discriminator), "annotation", None) != Literal[name]:
            raise _refusal(place, name, section)
    return Annotated[
        reduce(or_, (section.annotation for section in filled.values())), Field(discriminator=discriminator)
    ]


_composed: set[str] = set()


class _Filled(NamedTuple):
    module: str
    annotation: Any
    field: Any


def _refusal(parent: str, name: str, filled: _Filled) -> ExtensionError:
    return ExtensionError(f"{described(filled.module)} cannot fill {name} of {parent or 'the manifest'}")


@cache
def _places() -> Mapping[str, Mapping[str, _Filled]]:
    """Path of a parent → its places by name."""
    owners: dict[str, str] = {}
    places: dict[str, dict[str, _Filled]] = {}
    for module in modules("section"):
        for path, place in getattr(module, "PLACES", {}).items():
            with Attributed(module.__name__):
                if not isinstance(path, str):
                    raise TypeError(f"PLACES: {path!r} is no place, such as motd or node_types.*.motd")
                parent, _, name = path.rpartition(".")
                annotation, info = place if isinstance(place, tuple) else (place, None)
                if extension_of(module.__name__):
                    _check(parent, path, annotation, info)
            claim(owners, path, module.__name__, "fill {} of the manifest")
            places.setdefault(parent, {})[name] = _Filled(module.__name__, annotation, info)
    return places


def _check(parent: str, path: str, annotation: Any, info: Any) -> None:
    """TypeError for a place that no model can hold: a section alone where it is one of several, else with its field."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", path.rpartition(".")[2]):
        raise ValueError(f"PLACES: {path} does not end with a key of lower-case letters, digits and _")
    if info is None and not parent.endswith("*"):
        raise TypeError(f"PLACES: {path} needs a pair of a type and a field")
    if info is not None and not isinstance(info, FieldInfo):
        raise TypeError(f"PLACES: the field of {path} is {info!r}")
    TypeAdapter(annotation)
