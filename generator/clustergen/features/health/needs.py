"""Contributions of the health check to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import CleanedDirectories, NeedsPortNames, NodeLibrary, SlurmTopic, Unit
from clustergen.cluster.directories import TEMPORARY
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.row import Row, words
from clustergen.features.health.resolved import Health, checks_mounts

_HEALTH_LIMIT = 60  # seconds, after which slurmd kills the check; HealthCheckTimeout changes that from 26.05 on


def libraries(cluster: Cluster) -> Iterator[NodeLibrary]:
    if cluster.of(Health).enabled:
        yield NodeLibrary("user-processes")
    if checks_mounts(cluster):
        yield NodeLibrary("mounts")


def cleaned(cluster: Cluster) -> Iterator[CleanedDirectories]:
    if cluster.of(Health).enabled:
        yield CleanedDirectories(TEMPORARY)


def ports(cluster: Cluster) -> Iterator[NeedsPortNames]:
    if cluster.of(Health).enabled and cluster.of(Health).fabric:
        yield NeedsPortNames("port health check")


def units(cluster: Cluster) -> Iterator[Unit]:
    health = cluster.of(Health)
    for node_type in cluster.gpu_types if health.enabled else ():
        if node_type.name in health.dcgm:
            yield Unit(node_type.group, "nvidia-dcgm.service")


def keys(cluster: Cluster) -> Iterator[Row]:
    health = cluster.of(Health)
    if health.enabled:
        drains = "drains nodes with a reason, and resumes only those"
        yield Row("HealthCheckProgram", "/etc/slurm/health", drains, always=True)
        yield Row("HealthCheckInterval", health.interval_s, always=True)
        states = words("HealthCheckNodeState", health.states, cluster.slurm.release)
        yield Row("HealthCheckNodeState", states, always=True)
        limit = _HEALTH_LIMIT if health.interval_s > _HEALTH_LIMIT else None
        yield Row("HealthCheckTimeout", limit, always=True)


def topics(_: Cluster) -> Iterator[SlurmTopic]:
    yield SlurmTopic("slurm.conf", "Prolog, epilog and health check", keys)
