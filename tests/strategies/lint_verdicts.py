"""Agreement of real Slurm and lint about a directory."""

from __future__ import annotations

import re
from pathlib import Path

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity
from clustergen.lint.run import lint
from clustergen.verify.slurm_daemons import SlurmReport

# What a start of slurmctld is said to fail with by those that only ask it.
_ECHO = "Unable to contact slurm controller"
# What the machine, or this build of Slurm, lacks: no file says that.
_ONLY_THE_MACHINE_KNOWS = re.compile(
    "|".join(
        (
            r"No such file or directory|Permission denied|cannot stat|Could not load key file|Unable to stat",
            r"Invalid user for Slurm|knows no node|Temporary failure in name resolution",
            r"CgroupPlugin=disabled",  # the sandbox has no cgroups
        )
    )
)
_CLAIM = re.compile(r"(Slurm|slurmd|slurmctld) logs ")


def depends_on_machine(report: SlurmReport) -> bool:
    """True if one of Slurm's first messages is about the machine that it runs on."""
    return any(_ONLY_THE_MACHINE_KNOWS.search(words) for words in report.complaints[:3])


def disagreement(directory: Path, release: str, report: SlurmReport) -> str | None:
    """How Slurm and lint disagree; None where they agree."""
    complaints = [words for words in report.complaints if _ECHO not in words]
    stopped = not report.started or any(
        "slurmd: fatal" in words or "initialization failed" in words for words in complaints
    )
    diagnostics = [
        one for one in lint(directory, SlurmRelease(release)).diagnostics if one.severity is not Severity.INFO
    ]
    errors = [one for one in diagnostics if one.severity is Severity.ERROR]
    if stopped and not errors:
        return f"lint has no error: {complaints[:3]}"
    if not stopped and errors and not complaints:
        return f"Slurm is silent: {errors[0].code}: {errors[0].message}"
    if complaints and not diagnostics:
        return f"lint has no finding: {complaints[:3]}"
    if not complaints and (claims := [one.message for one in diagnostics if _CLAIM.search(one.message)]):
        return f"Slurm logs nothing: {claims[0]}"
    return None
