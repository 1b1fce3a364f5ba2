"""Hints for keys of Slurm's that are written where the manifest has fields of its own."""

from __future__ import annotations

from clustergen.catalogue import slurm
from clustergen.diagnostics import ManifestPath
from clustergen.rules.slurm_keys import OPTIONS_OF
from clustergen.slurmrules.fields import derived_from, field_of

_BLOCKS = {"partitions": ("slurm.conf", "PartitionName"), "accounting": ("slurmdbd.conf", "")}


def hint_for_key(path: ManifestPath) -> str | None:
    """What to write instead of the unknown key at the end of `path`; None where Slurm has no such key."""
    name = str(path[-1])
    if path[0] not in ("slurm", "node_types", "nodes") or name == name.lower():
        return None
    nearest = ("slurm.conf", "NodeName") if path[0] != "slurm" else _BLOCKS.get(str(path[1]), ("slurm.conf", ""))
    for file, block in dict.fromkeys((nearest, *OPTIONS_OF)):
        if slurm.key(file, name, block) is None:
            continue
        if field := field_of(file, block, name):
            return f"write {field}"
        if origin := derived_from(file, block, name):
            return f"remove {name}: clustergen derives it from {origin}"
        where = f"a {block} line" if block else file
        return f"write it under {OPTIONS_OF[file, block]}: it is a key of {where}"
    return None
