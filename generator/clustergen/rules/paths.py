"""Files and directories that daemons write: none of the operating system's, and none that a boot empties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.system_paths import is_listed
from clustergen.cluster.directories import LOG, PID, SPOOL, STATE, Use, paths_of, refusal
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath

_OF_SLURM: Mapping[str, tuple[Use, str]] = {
    "statesavelocation": (STATE, ""),
    "slurmdspooldir": (SPOOL, ""),
    "slurmctldlogfile": (LOG, "slurmctld"),
    "slurmdlogfile": (LOG, "slurmd"),
    "slurmschedlogfile": (LOG, "the scheduler"),
    "slurmctldpidfile": (PID, "slurmctld"),
    "slurmdpidfile": (PID, "slurmd"),
}
_OF_SLURMDBD: Mapping[str, tuple[Use, str]] = {"logfile": (LOG, "slurmdbd"), "pidfile": (PID, "slurmdbd")}


def written_paths(cluster: Cluster) -> Iterator[Finding]:
    for path, use, name, text in paths_of(cluster.manifest):
        yield from _findings(path, use, name, text)


def written_options(cluster: Cluster) -> Iterator[Finding]:
    """The same of passthrough options. Directories that others use too are fine there: the tree does not own them."""
    slurm = cluster.manifest.slurm
    for section, keys, options in (
        (("slurm", "options"), _OF_SLURM, slurm.options),
        (("slurm", "accounting", "options"), _OF_SLURMDBD, slurm.accounting.options),
    ):
        for key, value in options.items():
            text = str(value)
            if key.lower() in keys and text.startswith("/") and not is_listed(text):
                yield from _findings((*section, key), *keys[key.lower()], text)


def _findings(path: ManifestPath, use: Use, name: str, text: str) -> Iterator[Finding]:
    if reason := refusal(use, text, name):
        yield Finding(reason.code, path, reason.message, reason.hint)


RULES = (written_paths, written_options)
