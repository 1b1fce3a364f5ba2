"""Hints for unknown keys of the manifest: names from Slurm, sacctmgr and guides for what has another name there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clustergen.catalogue import sacctmgr, slurm, slurm_values
from clustergen.catalogue.other_names import other_name
from clustergen.catalogue.slurm_traps import never_there
from clustergen.diagnostics import ManifestPath
from clustergen.manifest.hardware import NodeType
from clustergen.manifest.nodes import Nodes
from clustergen.rules.slurm_keys import OPTIONS_OF
from clustergen.slurmrules.field_table import FIELDS
from clustergen.slurmrules.fields import derived_from, field_of

_BLOCKS = {"partitions": ("slurm.conf", "PartitionName"), "accounting": ("slurmdbd.conf", "")}
_PREFIXES = {
    "accounting": "AccountingStorage",
    "preemption": "Preempt",
    "priority": "Priority",
    "scheduler": "Scheduler",
    "topology": "Topology",
}
"""With what Slurm's keys begin that a section of `slurm` stands for."""
_OF_NODES: list[list[str]] = [[], ["cpu"], ["gpus"], ["gres"], ["reserved"]]
"""Sections of a node type that stand for keys of a NodeName line: `count` of a disk is not that of gres.conf."""
_OF_NCCL = {"NCCL_DEBUG": "nccl.debug", "NCCL_IB_GID_INDEX": "nccl.gid_index"}
"""Variables with a field of their own."""


def hint_for_key(path: ManifestPath) -> str | None:
    """The hint for the unknown key at the end of `path`; None where no similar name is known."""
    section, name = [part for part in path[:-1] if isinstance(part, str)], str(path[-1])
    if other := other_name(section, name):
        return other.hint
    if section in (["nccl"], ["ucx"]) and name.upper().startswith(f"{section[0].upper()}_"):
        return f"write {_OF_NCCL.get(name.upper(), f'{section[0]}.env.{name.upper()}')}"
    if path[0] not in ("slurm", "node_types", "nodes") or (path[0] == "node_types" and section[2:] not in _OF_NODES):
        return None
    if path[0] == "slurm" and len(section) > 2 and section[1] in ("qos", "accounts"):
        return _of_sacctmgr("qos" if section[1] == "qos" else "association", name)
    return next(_of_slurm(section, name), None)


def _of_sacctmgr(entity: sacctmgr.Entity, name: str) -> str | None:
    plain = name.replace("_", "")
    option = sacctmgr.option(entity, plain)
    if option is None and (alias := sacctmgr.alias_of(entity, plain)):
        option, _ = alias
    if option is None:
        return None
    return f"write {option.field}" if option.field else f"write it under options, as {option.name}"


def _of_slurm(section: Sequence[str], name: str) -> Iterator[str]:
    """Hints for a key of Slurm's files, whatever its case and with or without `_`, and for a word of its lists."""
    nearest = ("slurm.conf", "NodeName")
    if section[0] == "slurm":
        nearest = _BLOCKS.get(section[1] if len(section) > 1 else "", ("slurm.conf", ""))
    names = [name.replace("_", "")]
    if len(section) == 2 and section[0] == "slurm" and section[1] in _PREFIXES:
        names.insert(0, _PREFIXES[section[1]] + names[0])
    for one in names:
        if section[:1] == ["slurm"] and (never := never_there(one)):
            yield never.manifest
        for file, block in dict.fromkeys((nearest, *OPTIONS_OF)):
            row = slurm.key(file, one, block)
            if row is None:
                continue
            if field := field_of(file, block, one):
                yield f"write {_from(section, block, field)}"
            elif origin := derived_from(file, block, one):
                yield f"remove it: clustergen derives {row.key} from {origin}"
            else:
                where = f"a {block} line" if block else file
                called = "it" if one == row.key else row.key
                yield f"write {called} under {OPTIONS_OF[file, block]}: it is a key of {where}"
    for key in slurm_values.keys_with_token(name) if section[0] == "slurm" and "_" in name else ():
        yield f"add {name} to {_list_of(key)}"


def _from(section: Sequence[str], block: str, field: str) -> str:
    """A field of slurm.conf's lines as it is written in a section of the manifest; others have their whole path."""
    head = field.partition(".")[0]
    if block == "PartitionName":
        return field if section[:2] == ["slurm", "partitions"] else f"slurm.partitions.<name>.{field}"
    if block != "NodeName":
        return field
    if section[0] == "nodes" and head in Nodes.model_fields:
        return field
    if head in NodeType.model_fields:
        return field if section[0] == "node_types" else f"node_types.<name>.{field}"
    return f"{field} in an entry of nodes"


def _list_of(key: str) -> str:
    row = FIELDS["slurm.conf", ""].get(key)
    return row.path if row is not None and row.form in ("words", "lower words") else f"{key} under slurm.options"
