"""Values of the manifest as Slurm's files have them, by the forms of the table of fields."""

from __future__ import annotations

from clustergen.cluster.slurm.keys.row import Value
from clustergen.slurmrules.field_table import Field
from clustergen.units import Bytes, Duration


def printed(row: Field, value: object) -> Value | None:
    """The text or number behind the key; None for what needs no word: nothing set, an empty list, false."""
    if value is None or value is False or value == ():
        return None
    if value is True:
        return "YES"
    if isinstance(value, Duration):
        return value.slurm() if row.form == "minutes" else value.seconds
    if isinstance(value, Bytes):
        return value.mib
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, str):
        return value.upper() if row.form in ("upper", "lower") else value
    if isinstance(value, int | float):
        return value
    raise TypeError(f"{row.path}: no form of Slurm's files for {type(value).__name__}")
