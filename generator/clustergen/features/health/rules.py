"""The health check: its states, and keys of slurm.conf that contradict it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue import slurm
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.features.health.section import Health
from clustergen.manifest.base import OptionValue
from clustergen.rules.slurm_keys import conflicting
from clustergen.rules.slurm_values import words
from clustergen.slurmrules.field_table import FIELDS

_STATES = "HealthCheckNodeState"


def health_state_words(cluster: Cluster, section: Health) -> Iterator[Finding]:
    yield from words(cluster, _STATES, FIELDS["slurm.conf", ""][_STATES], section.states)


def options_of_health(cluster: Cluster, section: Health) -> Iterator[Finding]:
    """Keys of slurm.conf that contradict or override a field of the health check."""
    slurm_conf = cluster.slurm
    places: list[tuple[ManifestPath, Mapping[str, OptionValue]]] = [(("slurm", "options"), slurm_conf.options)]
    places += [(("slurm", "lines", index), line) for index, line in enumerate(slurm_conf.lines)]
    for path, values in places:
        for name, text in values.items():
            row = slurm.key("slurm.conf", name)
            if row and (conflict := conflicting(({"health": section},), row, text)):
                yield Finding("slurm-key-managed", (*path, name), *conflict, key=True)
