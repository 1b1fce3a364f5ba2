"""A field of the manifest: what it is, its form and unit, its default, and which files it reaches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from clustergen import compile as compiler
from clustergen.cluster.resolve import resolve
from clustergen.diagnostics import suggest
from clustergen.diagnostics.model_path import choices_of, is_model
from clustergen.explain.causes import path_of_override
from clustergen.explain.edits import Edit
from clustergen.explain.fields import Field, Fields
from clustergen.explain.manifests import Original
from clustergen.manifest.model import Manifest
from clustergen.records import record
from clustergen.units import Bare
from clustergen.units.base import PydanticField

_TRIALS = 3  # that make a manifest, by place of the field
_PART = re.compile("__[^/]+")
_SAMPLE = re.compile("example")  # in names that a trial invents


@record
class About:
    """A field. `steps` are its names without those that a manifest chooses: ("slurm", "partitions", "max_time")."""

    steps: tuple[str, ...]
    help: str
    forms: tuple[str, ...]
    units: tuple[str, ...]
    required: bool
    default: Any
    fields: tuple[str, ...]  # of a section: what stands in it


@record
class Reach:
    """Where a manifest has the field, and the files of its tree that change with it.

    Where it does not set the field, `added` are files that the field would add; they may have names of trials.
    """

    manifest: str
    stated: tuple[str, ...]
    files: tuple[str, ...]
    added: tuple[str, ...]


def about(text: str) -> About | str:
    """The field of that path: `slurm.partitions.max_time`, with or without names and numbers of entries. Where there is
    none, the path that was probably meant, or "".
    """
    steps: list[str] = []
    info: FieldInfo | None = None
    models: list[type[BaseModel]] = [Manifest]
    parts = text.replace("[", ".").replace("]", "").split(".")
    for number, part in enumerate(parts, 1):
        matches = [model.model_fields[part] for model in models if part in model.model_fields]
        if matches:
            info = matches[0]
            steps.append(part)
            models = [model for match in matches for model in _models(match.annotation)]
            continue
        names = [name for model in models for name in model.model_fields]
        suggestion = suggest(part, names)
        if info is None or not models or not _holds_entries(info.annotation) or (suggestion and number == len(parts)):
            if not suggestion:
                return ""
            meant = about(".".join([*steps, suggestion, *parts[number:]]))
            return ".".join(meant.steps) if isinstance(meant, About) else meant or ".".join([*steps, suggestion])
    if info is None:
        return ""
    return About(
        steps=tuple(steps),
        help=info.description or "",
        forms=tuple(dict.fromkeys(_forms(info.annotation))),
        units=tuple(dict.fromkeys((*_units(info.annotation), *_bare(info.metadata)))),
        required=info.is_required(),
        default=None if info.is_required() or models else info.get_default(call_default_factory=True),
        fields=tuple(_keys(models)),
    )


def _keys(models: Sequence[type[BaseModel]]) -> Iterator[str]:
    """Each key of a section with its help, once; of kinds of sections, also which of them have it."""
    kinds: dict[str, list[str]] = {}
    for model in models:
        type_field = model.model_fields.get("type")
        kind = " ".join(map(str, choices_of(type_field))) if type_field else ""
        for name, field in model.model_fields.items():
            kinds.setdefault(f"{name}: {field.description or ''}", []).append(kind)
    for line, having in kinds.items():
        yield line if len(having) == len(models) else f"{line} ({', '.join(filter(None, having))})"


def field_names() -> Iterator[tuple[str, str]]:
    """Every field that `about` knows, by its path without the names of entries, and its help."""
    sections: list[tuple[str, type[BaseModel]]] = [("", Manifest)]
    while sections:
        path, model = sections.pop(0)
        for name, info in model.model_fields.items():
            yield f"{path}{name}", info.description or ""
            sections += [(f"{path}{name}.", below) for below in dict.fromkeys(_models(info.annotation))]


def _models(kind: Any) -> list[type[BaseModel]]:
    """The sections within a type, in order."""
    if is_model(kind):
        return [kind]
    return [model for part in get_args(kind) for model in _models(part)]


def _holds_entries(kind: Any) -> bool:
    return get_origin(kind) in (dict, tuple) or any(_holds_entries(part) for part in get_args(kind))


def _units(kind: Any) -> list[str]:
    """The units of its quantities: `A length of time …, as 7-0 or 12h`."""
    if isinstance(kind, type) and issubclass(kind, PydanticField):
        what = re.split(r"[.;,] `value`", (kind.__doc__ or kind.__name__).strip().splitlines()[0])[0]
        return [f"{what.rstrip('.')}. Written as {' or '.join(kind.EXAMPLES)}."]
    return [unit for part in get_args(kind) for unit in _units(part)] + _bare(getattr(kind, "__metadata__", ()))


def _bare(metadata: Iterable[Any]) -> list[str]:
    return [item.sentence for item in metadata if isinstance(item, Bare)]


def _forms(kind: Any) -> list[str]:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is type(None):
        return []
    if isinstance(kind, type) and issubclass(kind, PydanticField):
        return ["quantity"]
    if is_model(kind):
        return ["section"]
    if origin is None:
        return [{str: "text", int: "number", float: "number", bool: "true or false"}.get(kind, str(kind))]
    if origin in (Union, UnionType):
        return [form for part in parts for form in _forms(part)]
    if origin is dict:
        return [f"mapping of names to {' or '.join(dict.fromkeys(_forms(parts[1])))}"]
    if origin is tuple:
        return [f"list of {' or '.join(dict.fromkeys(_forms(parts[0])))}"]
    if all(isinstance(part, str | int) for part in parts):  # Literal
        return [", ".join(map(str, parts))]
    return _forms(parts[0])  # Annotated


def reach(compiled: compiler.Compiled, steps: tuple[str, ...], name: str, shown: str) -> Reach:
    """Tries other values wherever a valid manifest has the field, or may have it; `name` is the file's, `shown` what it
    is called.
    """
    from clustergen.render.build import Builder

    def tree(cluster: Any) -> Mapping[str, bytes]:
        builder = Builder(cluster, name)
        builder.build()
        builder.finish()
        return {path: file.content for path, file in builder.files.items()}

    before = tree(compiled.cluster)
    original = Original(compiled.source.data)
    all_fields = Fields(original)
    fields = [field for field in all_fields.all if _is_of(field, steps)]
    most = _TRIALS
    if not fields:  # a section that the manifest leaves out
        fields, most = [field for field in all_fields.all if field.path[: len(steps)] == steps], 1
    names = (field.name for field in fields if field.kind in ("value", "key"))
    stated = tuple(dict.fromkeys(path_of_override(name, compiled.source) or name for name in names))

    def changed(edits: Iterable[Edit]) -> set[str] | None:
        """The files to report that differ in the tree of this manifest; None where it cannot be rendered."""
        try:
            after = tree(resolve(original.edited(edits), lambda _: None))
        except Exception:  # noqa: BLE001 - as in trials: what no rule has passed may break any view
            return None
        names = before.keys() if stated else before.keys() | after.keys()
        return {path for path in names if before.get(path) != after.get(path)}

    paths = _changed_by_one([all_fields.edits(field) for field in fields], most, changed)
    present = set(map(_whole, before))
    added = sorted(path for path in paths if not _SAMPLE.search(path) and _whole(path) not in present)
    return Reach(shown, stated, tuple(sorted(paths & before.keys())), tuple(added))


def _changed_by_one(
    choices: Sequence[Sequence[Edit]], most: int, changed: Callable[[Sequence[Edit]], set[str] | None]
) -> set[str]:
    """The effects of single edits, of each field until `most` of its `choices` have made a manifest.

    Edits of many fields are tried together first: only a batch that changes more than what is known, or that makes
    no manifest, is tried by halves.
    """
    paths: set[str] = set()
    trials = dict.fromkeys(range(len(choices)), 0)

    def attempt(batch: Sequence[tuple[int, Edit]]) -> None:
        differing = changed([edit for _, edit in batch])
        if len(batch) > 1 and (differing is None or differing - paths):
            attempt(batch[: len(batch) // 2])
            attempt(batch[len(batch) // 2 :])
        elif differing is not None:
            paths.update(differing)
            for number, _ in batch:
                trials[number] += 1

    for turn in range(max(map(len, choices), default=0)):
        batches: dict[str, list[tuple[int, Edit]]] = {}
        for number, edits in enumerate(choices):
            if turn < len(edits) and trials[number] < most:
                batches.setdefault(edits[turn].does, []).append((number, edits[turn]))
        for batch in batches.values():
            attempt(batch)
    return paths


def _whole(path: str) -> str:
    """The path without the part of its group, where texts differ by node type."""
    return _PART.sub("", path)


def _is_of(field: Field, steps: tuple[str, ...]) -> bool:
    """True if these steps lead to a field of a manifest, or to a section around it."""
    left = list(steps)
    for part in field.path:
        if left and part == left[0]:
            left.pop(0)
    return not left and field.path[:1] == steps[:1] and (field.path[-1] == steps[-1] or field.kind != "default")
