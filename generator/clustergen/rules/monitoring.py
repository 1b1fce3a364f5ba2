"""Monitoring and alerts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.cluster import monitoring as ground
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.monitoring import Monitoring


def monitoring_missing(cluster: Cluster, section: Monitoring) -> Iterator[Finding]:
    """Settings of a monitoring that nothing runs."""
    if not cluster.has(ground.Monitoring):
        why = "monitoring.enabled is false" if not section.enabled else "no node has the role monitoring"
        for field in type(section).model_fields:
            value = getattr(section, field)
            if field in section.model_fields_set and value and getattr(value, "NEEDS_PROMETHEUS", True):
                yield Finding(
                    "monitoring-missing",
                    ("monitoring", field),
                    f"{field} has no effect: {why}, so Prometheus does not run",
                    "add the role monitoring to a node" if section.enabled else None,
                    key=True,
                )


def not_packaged(
    groups: Iterable[NodeGroup], exporter: str, version: str = "", section: ManifestPath = ()
) -> Iterator[Finding]:
    """For rules of exporters: groups whose distribution does not package this one. `section`: of the manifest, where
    it is not one of monitoring.
    """
    lacking = {group.type.os.id for group in groups if not group.type.os.facts.get(f"package_{exporter}_exporter")}
    if lacking:
        yield Finding(
            "exporter-not-packaged",
            section or ("monitoring", exporter),
            f"{' and '.join(sorted(lacking))} has no package of {exporter}_exporter{version}",
            "remove the section, and add exporters that you install yourself to monitoring.targets",
            key=True,
        )
