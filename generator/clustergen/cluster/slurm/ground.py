"""Resolves what every part of the tree needs of Slurm, and its further settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from clustergen.catalogue.network import ports
from clustergen.catalogue.slurm_values import has_plugin
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.catalogue_view import Report
from clustergen.cluster.directories import STATE, log_of
from clustergen.cluster.fabric import leaves_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domain_nodes
from clustergen.cluster.slurm.builds import offers
from clustergen.cluster.slurm.keys.printing import printed
from clustergen.cluster.slurm.keys.row import Value, words
from clustergen.cluster.slurm.model import ROLES, Daemon, Slurm
from clustergen.cluster.slurm.partitions import resolve_partitions
from clustergen.diagnostics.model_path import value_at
from clustergen.manifest.model import Manifest
from clustergen.manifest.slurm import Daemon as Name
from clustergen.manifest.slurm import Slurm as Section
from clustergen.manifest.stated import is_stated
from clustergen.records import copied, record
from clustergen.slurmrules.fields import rows

_LONGEST_TIMEOUT = 65533


def resolve(
    section: Section, cluster: Cluster, report: Report = lambda _: None, costs: Mapping[str, float] | None = None
) -> Slurm:
    leaves = leaves_of(cluster.switches, {host for group in cluster.compute for host in group.hosts})
    plugin = section.topology.plugin
    names: tuple[Name, ...] = get_args(Name)
    daemons: dict[str, Daemon] = {name: _daemon(section, cluster, name) for name in names}
    hosts = daemons["slurmdbd"].hosts or tuple(filter(None, [section.accounting.slurmdbd]))
    elsewhere = str(section.options.get("AccountingStorageType", ""))
    return copied(
        Slurm,
        section,
        release=SlurmRelease(section.version),
        bare=section.defaults == "slurm",
        cluster_name=section.cluster_name or cluster.name,
        state_location=section.state_location or STATE.example,
        state_location_at=("slurm", "state_location") if section.state_location else None,
        daemons=daemons,
        slurmdbd_hosts=hosts,
        keeps_books=bool(hosts) or elsewhere.lower().endswith("slurmdbd"),
        partitions=resolve_partitions(section, cluster.groups, report, costs or {}),
        topology=_topology(cluster, SlurmRelease(section.version), bool(leaves)) if plugin == "auto" else plugin,
        leaves=leaves,
    )


def _topology(cluster: Cluster, release: SlurmRelease, has_leaves: bool) -> str:
    """Jobs stay inside one NVLink domain where they fit, which a tree of leaf switches does not know."""
    spans = any(domain_nodes(group.type) > 1 for group in cluster.compute)
    if spans and has_plugin("TopologyPlugin", "topology/block", release):
        return "block"
    return "tree" if has_leaves else "flat"


def _daemon(section: Section, cluster: Cluster, name: Name) -> Daemon:
    return Daemon(
        hosts=tuple(cluster.hosts(ROLES[name])),
        port=section.ports.get(name) or ports()[name].port,
        port_at=("slurm", "ports", name) if name in section.ports else None,
        log_file=section.log_files.get(name) or log_of(name).example.format(name=name),
        log_file_at=("slurm", "log_files", name) if name in section.log_files else None,
        log_level=section.log_levels.get(name, "info"),
        pid_file=section.pid_files.get(name, ""),
    )


@record
class Metrics:
    """Slurm's OpenMetrics endpoint, which slurmctld serves on its own port."""

    port: int  # of slurmctld


def resolve_metrics(section: Section, cluster: Cluster) -> Metrics | None:
    """None also where a controller's build does not have it."""
    slurm = cluster.slurm
    exists = section.metrics and has_plugin("MetricsType", "metrics/openmetrics", slurm.release)
    controllers = cluster.with_role("slurm-controller")
    if not exists or not all(offers(cluster, group.type.os, "slurm_openmetrics") for group in controllers):
        return None
    return Metrics(slurm.daemons["slurmctld"].port)


@record
class Timeouts:
    """How long Slurm's daemons wait for each other, and what follows."""

    SECTIONS = ("Slurm",)
    message_s: int  # MessageTimeout
    tree_width: int  # fan-out of messages among slurmds
    unkillable_step_s: int  # UnkillableStepTimeout
    resume_s: int  # ResumeTimeout
    return_to_service: int  # ReturnToService


def resolve_timeouts(manifest: Manifest, cluster: Cluster) -> Timeouts:
    section, health = manifest.slurm, manifest.health
    assert section is not None, "the package requires it"
    nodes = sum(len(group.hosts) for group in cluster.compute)
    # The tree of slurmds gets deeper with the cluster; more than 100 s is an error in the log.
    message_s = section.message_timeout or (20 if nodes <= 64 else 30 if nodes <= 1024 else 60)
    # Long enough that the health check frees what a user made unkillable (05-killed).
    checks_s = 2 * health.interval + 60 if health.enabled else 0
    return Timeouts(
        message_s=message_s,
        tree_width=tree_width(nodes),
        unkillable_step_s=section.unkillable_step_timeout or min(_LONGEST_TIMEOUT, max(180, 5 * message_s, checks_s)),
        resume_s=section.resume_timeout,
        return_to_service=_return_to_service(section.return_to_service, cluster),
    )


def _return_to_service(stated: int | None, cluster: Cluster) -> int:
    """Nobody repairs a machine of a cloud: the next one has its name."""
    if stated is not None:
        return stated
    return 2 if cluster.compute and all(group.state == "CLOUD" for group in cluster.compute) else 1


def tree_width(nodes: int) -> int:
    """Two hops up to 2,500 nodes, three beyond; between the default of 23.11 and that of older releases."""
    return min(50, max(16, math.isqrt(max(nodes - 1, 0)) + 1))


@record
class StatedFields:
    """Fields of the manifest that hold keys of Slurm's files: which of them it sets."""

    names: frozenset[str]  # as slurm.priority.max_age
    values: Mapping[str, Value | None]  # field → its value in the file, of fields that no other record has


def resolve_stated_fields(manifest: Manifest, cluster: Cluster) -> StatedFields:
    fields = [(key, row) for _, block, key, row in rows() if not block]
    values = {
        row.path: words(key, value, cluster.slurm.release) if row.form == "words" else printed(row, value)
        for key, row, value in ((key, row, value_at(manifest, row.path)) for key, row in fields if row.topic)
    }
    return StatedFields(frozenset(row.path for _, row in fields if is_stated(manifest, row.path)), values)
