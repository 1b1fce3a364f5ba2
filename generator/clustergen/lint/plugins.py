"""Programs that slurm.conf names: beside it, or on lines of their own."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site


def scripts(site: Site) -> Iterator[LintFinding]:
    """Programs that Slurm expects beside slurm.conf."""
    for key in ("PrologSlurmctld", "EpilogSlurmctld"):
        for program in site.slurm.settings(key) if site.slurm and site.has("programs-by-name") else ():
            if program.text and not program.text.startswith("/") and not site.directory.has(program.text):
                message = (
                    f"'{program.text}' is not next to slurm.conf; slurmctld does not start if it is missing on"
                    " the host too"
                )
                yield site.warning(
                    "slurm-key-lacking", program, message, "write an absolute path, or put the file next to slurm.conf"
                )


def power_actions(site: Site) -> Iterator[LintFinding]:
    for action in site.slurm.entries("PowerAction") if site.slurm else ():
        place = action.own_value("Location")
        if place is None or place.text.lower() not in ("slurmctld", "slurmd"):
            message = f"PowerAction '{action.names}' has no Location; no daemon starts"
            yield site.error("slurm-value-wrong", place or action, message, "add Location=slurmctld or Location=slurmd")
        elif not action.text("Program"):
            message = f"PowerAction '{action.names}' has no Program; no daemon starts"
            yield site.error("slurm-value-wrong", action, message, "write Program=/path")


CHECKS = (scripts, power_actions)
