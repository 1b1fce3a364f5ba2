"""The QOS of an accounting dump: to `slurm.qos`."""

from __future__ import annotations

from clustergen.catalogue import sacctmgr
from clustergen.cluster.slurm.rights import NORMAL
from clustergen.importer.associations import Fields, Unsupported, fields_of, import_fields, origin, phrase
from clustergen.importer.draft import Draft
from clustergen.importer.forms import fits
from clustergen.importer.sacctmgr import AccountingDump, Entry
from clustergen.manifest.base import AnyName

_FIELDS: Fields = {"Description": (("description",), phrase), **fields_of("qos")}
COLUMNS = frozenset(option.dump for option in sacctmgr.options("qos") if option.field)
"""Columns that a table must have: for each of these the manifest says a value, or that there is none."""
_SILENT = {
    "Priority": "0",
    "PreemptMode": "cluster",
    "GraceTime": "00:00:00",
    "UsageFactor": "1.000000",
    "UsageThreshold": "0.000000",
    "LimitFactor": "0.000000",
}
"""Values of a table for settings that were never made."""
_DESCRIPTION = {NORMAL: "Normal QOS default"}


def import_qos(draft: Draft, dump: AccountingDump, unsupported: Unsupported) -> list[str]:
    """The names of those that the manifest has afterwards, and of normal where it needs no word."""
    names = []
    for entry in dump.qos:
        if not fits(entry.name, AnyName):
            draft.note("left-out", f"QOS {entry.name}: the name is not valid in a manifest", entry.place)
            continue
        silent = {**_SILENT, "Description": _DESCRIPTION.get(entry.name, entry.name)}
        names.append(entry.name)
        path = ("slurm", "qos", entry.name)
        import_fields(draft, path, entry, _FIELDS, silent, unsupported)
        if entry.name != NORMAL or any(draft.below(path)):
            _stated(draft, entry)
    return names


def _stated(draft: Draft, entry: Entry) -> None:
    """A QOS without a setting has to be there all the same."""
    path = ("slurm", "qos", entry.name, "priority")
    item = draft.items.get(path)
    value = item.value if item else 0
    draft.set(path, value, [origin(entry, "Priority", str(value))], needed=True, claim=False)
