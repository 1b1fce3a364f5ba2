"""Values of Slurm's keys: what its parser reads, the words and plugins that the release has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.base import OptionValue
from clustergen.slurmrules import Outcome, Remark, values


def findings(path: ManifestPath, remarks: Iterable[Remark]) -> Iterator[Finding]:
    """The remarks about a value as findings at its path."""
    for remark in remarks:
        yield Finding(remark.code, path, remark.message, remark.hint, key=remark.on_key, at=remark.at)


def value(release: SlurmRelease, path: ManifestPath, known: slurm.SlurmKey, given: OptionValue) -> Iterator[Finding]:
    """What is wrong with the value of a key that the release knows."""
    text = str(given)
    if remarks := [*values.unprintable(text)]:
        return findings(path, remarks)
    stops = (remark for remark in values.form(known, text) if remark.outcome is Outcome.STOPS)
    return findings(path, (*values.value(release, known, text), *stops))


def word_lists(cluster: Cluster) -> Iterator[Finding]:
    """The lists of words that have fields of their own."""
    manifest = cluster.manifest
    written = manifest.slurm
    lists: tuple[tuple[ManifestPath, str, tuple[str, ...]], ...] = (
        (("slurm", "scheduler", "parameters"), "SchedulerParameters", written.scheduler.parameters),
        (("slurm", "priority", "flags"), "PriorityFlags", written.priority.flags),
        (("slurm", "topology", "parameters"), "TopologyParam", written.topology.parameters),
        (("slurm", "accounting", "private"), "PrivateData", written.accounting.private),
        (("slurm", "accounting", "store"), "AccountingStoreFlags", written.accounting.store),
        (("slurm", "accounting", "enforce"), "AccountingStorageEnforce", written.accounting.enforce),
        (("health", "states"), "HealthCheckNodeState", manifest.health.states),
    )
    for path, key, given in lists:
        for index, word in enumerate(given):
            yield from findings((*path, index), values.words(cluster.release, key, word))


RULES = (word_lists,)
