"""The QOS of the books: to `slurm.qos`."""

from __future__ import annotations

import re

from clustergen.adopt.books import Fields, Untold, fits, origin, phrase, take_fields
from clustergen.adopt.draft import Draft, Value
from clustergen.adopt.sacctmgr import Books, Entry
from clustergen.adopt.settings import duration, number, words
from clustergen.manifest.slurm import AnyName
from clustergen.units import Duration

NORMAL = "normal"  # the QOS that every database has from its first start
_MODES = ("requeue", "cancel", "suspend", "off")
_LONGEST = 1 << 31
_LIMIT = number(0, _LONGEST)


def _grace(text: str) -> Value | None:
    """A dump counts seconds, a table says `00:02:00`."""
    return Duration(int(text)).slurm() if text.isascii() and text.isdigit() and int(text) < _LONGEST else duration(text)


def _factor(text: str) -> Value | None:
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else None


def _mode(text: str) -> Value | None:
    return text.lower() if text.lower() in _MODES else None


_FIELDS: Fields = {
    "Description": ("description", phrase),
    "Priority": ("priority", number(0, 4294967295)),
    "Preempt": ("preempt", words(re.compile(r"\S+"))),
    "PreemptMode": ("preempt_mode", _mode),
    "GraceTime": ("grace_time", _grace),
    "MaxWallDurationPerJob": ("max_wall", duration),
    "UsageFactor": ("usage_factor", _factor),
    "MaxJobsPU": ("max_jobs_per_user", _LIMIT),
    "MaxSubmitJobsPU": ("max_submit_per_user", _LIMIT),
    "MaxTRESPerUser": ("max_tres_per_user", None),
    "MaxTRESPerJob": ("max_tres_per_job", None),
    "GrpTRES": ("group_tres", None),
    "Flags": ("flags", words(re.compile(r"\S+"))),
}
COLUMNS = frozenset(_FIELDS) - {"Description"}
"""What a table has to show: for each of these the manifest says a value, or that there is none."""
_SILENT = {
    "Priority": "0",
    "PreemptMode": "cluster",
    "GraceTime": "00:00:00",
    "UsageFactor": "1.000000",
    "UsageThreshold": "0.000000",
    "LimitFactor": "0.000000",
}
"""What a table says where nobody has said anything."""
_DESCRIPTION = {NORMAL: "Normal QOS default"}


def take_qos(draft: Draft, books: Books, untold: Untold) -> list[str]:
    """The names of those that the manifest has afterwards, and of normal where it needs no word."""
    found = []
    for entry in books.qos:
        if not fits(entry.name, AnyName):
            draft.note("left-out", f"QOS {entry.name}: no name that the manifest takes", entry.place)
            continue
        silent = {**_SILENT, "Description": _DESCRIPTION.get(entry.name, entry.name)}
        found.append(entry.name)
        here = ("slurm", "qos", entry.name)
        take_fields(draft, here, entry, _FIELDS, silent, untold)
        if entry.name != NORMAL or any(draft.below(here)):
            _stated(draft, entry)
    return found


def _stated(draft: Draft, entry: Entry) -> None:
    """A QOS without a setting has to be there all the same."""
    here = ("slurm", "qos", entry.name, "priority")
    known = draft.items.get(here)
    value = known.value if known else 0
    draft.set(here, value, [origin(entry, "Priority", str(value))], needed=True, claim=False)
