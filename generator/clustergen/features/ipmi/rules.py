"""Sensors of BMCs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import bmc_groups
from clustergen.diagnostics import Finding
from clustergen.features.ipmi.resolved import Ipmi as Exporter
from clustergen.features.ipmi.section import Ipmi
from clustergen.rules.monitoring import not_packaged


def exporter_not_packaged(cluster: Cluster) -> Iterator[Finding]:
    if cluster.has(Exporter):
        yield from not_packaged(bmc_groups(cluster), "ipmi")


def exporter_without_bmc(cluster: Cluster, section: Ipmi) -> Iterator[Finding]:  # noqa: ARG001  asked where it is present
    if not bmc_groups(cluster):
        yield Finding(
            "exporter-without-bmc",
            ("monitoring", "ipmi"),
            "ipmi has no effect: no node has a BMC address",
            "set addresses: {bmc: …} of the nodes",
            key=True,
        )
