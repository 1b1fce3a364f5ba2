"""Running jobs that other preempt lists, modes and times of QOS leave to be preempted."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm_jobs
from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.narrower import Settings
from clustergen.slurmconf import scalars

_CLUSTERS = "cluster"
"""How sacctmgr shows the mode of a QOS that has none of its own."""
_UNSET = {"PreemptMode": _CLUSTERS, "GraceTime": "0", "PreemptExemptTime": "0"}


def preemptible(
    before: Settings, after: Settings, name: str, key: str, release: SlurmRelease
) -> Iterator[AffectedJobs]:
    """The meaning of a changed setting of a QOS; an empty key stands for a QOS that was added or removed."""
    old, new = before.get(("qos", name), {}), after.get(("qos", name), {})
    for option in [key] if key else ["Preempt"]:  # no job of a new QOS is running yet
        previous, current = (side.get(option, _UNSET.get(option, "")) for side in (old, new))
        if option == "Preempt":
            gained = [each for each in current.split(",") if each and each not in previous.split(",")]
            current, words = ",".join(gained), ("gained",) if gained else ("",)
        elif option == "PreemptMode":
            words = (f"{previous.lower()}>{current.lower()}",)
        else:
            words = ("lowered" if _seconds(current) < _seconds(previous) else "",)
        for jobs in slurm_jobs.running("accounts", option, release, "qos", words):
            yield jobs._replace(text=jobs.text.format(name=name, old=previous, new=current))


def _seconds(text: str) -> int:
    return int(text) if text.isdecimal() else scalars.seconds_of(text) or 0
