"""Every diagnostic code: its severity and its title. `docs/codes/<code>.md` holds the why and the examples.

A module per group of topics has a line per code, so that two changes that add a code each do not touch the same line.
"""

from __future__ import annotations

from clustergen.diagnostics.codes.files import FILES
from clustergen.diagnostics.codes.machines import MACHINES
from clustergen.diagnostics.codes.model import Code, Severity
from clustergen.diagnostics.codes.reading import READING
from clustergen.diagnostics.codes.services import SERVICES
from clustergen.diagnostics.codes.slurm import SLURM

__all__ = ["CODES", "Code", "Severity"]

CODES: dict[str, Code] = {entry.code: entry for entry in (*READING, *MACHINES, *SLURM, *SERVICES, *FILES)}
