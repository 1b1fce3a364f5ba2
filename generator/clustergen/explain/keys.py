"""A key of Slurm's files: where it may be set, and the field of the manifest that sets it."""

from __future__ import annotations

from clustergen.catalogue import slurm
from clustergen.diagnostics.document import json_document
from clustergen.records import record
from clustergen.rules.slurm_keys import OPTIONS_OF
from clustergen.slurmrules.fields import current_names, derived_from, fields_of, rows

_SECTIONS = {"PartitionName": ("slurm.partitions.",), "NodeName": ("node_types.", "nodes.")}
"""Key that opens a line → the sections whose entries have the fields of its other keys."""


@record
class KeyPlace:
    """A kind of lines on which the key stands. `fields` are empty where no field holds it."""

    file: str
    block: str
    key: str
    names: tuple[str, ...]
    """Today's names: the key itself, or what an old name stands for."""
    fields: tuple[str, ...]
    derived: str | None
    """What the key follows from that has no field."""
    options: str | None
    """Where the manifest passes the key through."""

    @property
    def title(self) -> str:
        return title(self.file, self.block)


def title(file: str, block: str) -> str:
    return f"{file}, {block} lines" if block else file


def places(word: str) -> tuple[KeyPlace, ...]:
    """Where a release of Slurm reads a key of that name, in any case."""
    return tuple(
        KeyPlace(
            file,
            block,
            key.key,
            current_names(file, block, word),
            tuple(dict.fromkeys(full(block, row.path) for row in fields_of(file, block, word))),
            derived_from(file, block, word),
            OPTIONS_OF.get((file, block)),
        )
        for file, blocks in slurm.files().items()
        for block in ("", *blocks)
        if (key := slurm.key(file, word, block)) is not None
    )


def full(block: str, path: str) -> str:
    """The path of a field from the manifest's root: `slurm.partitions.NAME.max_time`."""
    if block == "PartitionName":
        return f"slurm.partitions.NAME.{path}"
    return f"{path} of a node type or of nodes" if block == "NodeName" else path


def keys_of(steps: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that a field sets: `MaxTime (slurm.conf, PartitionName lines)` for slurm.partitions.max_time."""
    path = ".".join(steps)
    keys = [
        f"{key} ({title(file, block)})"
        for file, block, key, row in rows()
        if path in [f"{section}{row.path}" for section in _SECTIONS.get(block, ("",))]
    ]
    return tuple(dict.fromkeys(keys))


def json_of_key(places: tuple[KeyPlace, ...]) -> str:
    rows = [vars(place) for place in places]
    return json_document({"key": places[0].key, "places": rows})


def text_of_key(places: tuple[KeyPlace, ...]) -> str:
    lines = [places[0].key]
    for place in places:
        lines.append(f"  {place.title}")
        if place.names != (place.key,):
            lines.append(f"    old name of {' and '.join(place.names)}")
        lines += [f"    set by {path}" for path in place.fields]
        if place.derived and not place.fields:
            lines.append(f"    follows from {place.derived}")
        elif not place.fields:
            lines.append(f"    passthrough: {place.options}" if place.options else "    not set by the manifest")
    return "\n".join(lines) + "\n"
