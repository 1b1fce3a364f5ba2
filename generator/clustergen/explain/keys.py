"""A key of Slurm's files, a setting of sacctmgr or a variable of NCCL: where it may be set, and by which field."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import sacctmgr, slurm
from clustergen.catalogue.dcgm import dcgm_fields, dcgm_names
from clustergen.catalogue.nccl import nccl_names, ucx_params
from clustergen.diagnostics.document import json_document
from clustergen.records import record
from clustergen.rules.slurm_keys import OPTIONS_OF
from clustergen.slurmrules.fields import current_names, derived_from, fields_of, rows

_SECTIONS = {"PartitionName": ("slurm.partitions.",), "NodeName": ("node_types.", "nodes.")}
"""Key that opens a line → the sections whose entries have the fields of its other keys."""
_SACCTMGR: dict[sacctmgr.Entity, tuple[str, tuple[str, ...]]] = {
    "qos": ("QOS", ("slurm.qos.NAME",)),
    "association": ("accounts and users", ("slurm.accounts.NAME", "slurm.accounts.NAME.user_limits.USER")),
}
"""Entity → what has its settings, and the sections with their fields."""


@record
class KeyPlace:
    """A kind of lines on which the key stands. `fields` are empty where no field holds it."""

    file: str
    block: str
    key: str
    names: tuple[str, ...]
    """Today's names: the key itself, or what an old name stands for."""
    fields: tuple[str, ...]
    derived: str | None = None
    """The source of a key that has no field."""
    options: str | None = None
    """Where the manifest passes the key through."""

    @property
    def title(self) -> str:
        return title(self.file, self.block)


def title(file: str, block: str) -> str:
    return f"{file}, {block} lines" if block else file


def places(word: str) -> tuple[KeyPlace, ...]:
    """Where a release of Slurm reads a key of that name, in any case; also settings of sacctmgr, variables of NCCL and
    UCX, and fields of DCGM.
    """
    return (*_of_slurms_files(word), *_of_sacctmgr(word), *_of_others(word))


def names() -> Iterator[str]:
    """All keys of Slurm's files."""
    for file, block in _blocks():
        yield from (key.key for key in slurm.keys(file, block))


def _blocks() -> Iterator[tuple[str, str]]:
    """Slurm's files, each with its kinds of lines; empty: lines that begin with no name."""
    for file, blocks in slurm.files().items():
        yield from ((file, block) for block in ("", *blocks))


def _of_slurms_files(word: str) -> Iterator[KeyPlace]:
    for file, block in _blocks():
        if (key := slurm.key(file, word, block)) is not None:
            fields = tuple(dict.fromkeys(full(block, row.path) for row in fields_of(file, block, word)))
            current, derived = current_names(file, block, word), derived_from(file, block, word)
            yield KeyPlace(
                file=file,
                block=block,
                key=key.key,
                names=current,
                fields=fields,
                derived=derived,
                options=OPTIONS_OF.get((file, block)),
            )


def _of_sacctmgr(word: str) -> Iterator[KeyPlace]:
    for entity, (what, sections) in _SACCTMGR.items():
        alias = sacctmgr.alias_of(entity, word) if word[:1].isupper() else None
        row = sacctmgr.option(entity, word) or (alias and alias[0])
        if row is not None:
            fields = tuple(f"{section}.{row.field}" for section in sections) if row.field else ()
            options = f"{sections[0]}.options" if not row.field else None
            yield KeyPlace(
                file=f"sacctmgr, {what}",
                block="",
                key=row.name,
                names=(row.name,),
                fields=fields,
                options=options,
            )


def _of_others(word: str) -> Iterator[KeyPlace]:
    name = word.upper()
    if name in nccl_names():
        yield KeyPlace(
            file="/etc/nccl.conf",
            block="",
            key=name,
            names=(name,),
            fields=(f"nccl.env.{name}",),
        )
    elif name in ucx_params():
        yield KeyPlace(
            file="/etc/ucx/ucx.conf",
            block="",
            key=name,
            names=(name,),
            fields=(f"ucx.env.{name}",),
        )
    elif name in dcgm_names():
        exported = (field := dcgm_fields().get(name)) is not None and field.default_on
        more = "monitoring.dcgm, which exports it by default" if exported else None
        fields = () if exported else ("monitoring.dcgm.counters",)
        yield KeyPlace(
            file="counters of dcgm-exporter",
            block="",
            key=name,
            names=(name,),
            fields=fields,
            derived=more,
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
