"""Settings of acceptance that no gate reads."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.features.acceptance.section import Acceptance
from clustergen.rules.unused import unused


def training_settings(_: Cluster, section: Acceptance) -> Iterator[Finding]:
    if "resnet" not in section.benchmarks:
        hint = "add resnet to acceptance.benchmarks"
        yield from unused(section, ("acceptance",), ("python",), "no gate trains", hint)
