"""Files, units, packages and the accounting database: what `site.yml --check` reported when the facts were recorded."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.hardware.discovery.facts import NodeFacts
from clustergen.hardware.drift.model import DriftFinding


def findings(facts: NodeFacts) -> Iterator[DriftFinding]:
    state, nodes = facts.tree, (facts.name,)
    if state is None:
        return
    if state.failure:
        yield DriftFinding("node-unfit", nodes, "site.yml", state.failure)
    for unit in state.units:
        yield DriftFinding("unit-stopped", nodes, unit, "not running or not enabled")
    for file in state.files:
        yield DriftFinding("file-differs", nodes, file, "not as in the tree")
    for package in state.packages:
        yield DriftFinding("package-missing", nodes, f"package {package}", "not installed")
    for path in state.paths:
        yield DriftFinding("path-missing", nodes, path, "does not exist")
    for file in state.leftovers:
        yield DriftFinding("file-leftover", nodes, file, "of an earlier tree")
    for file in state.foreign:
        yield DriftFinding("file-foreign", nodes, file, "not in the tree")
    for package, version, expected in state.slipped:
        absent = "not installed"
        yield DriftFinding("package-slipped", nodes, f"package {package}", version or absent, expected or absent)
    for subject, actual, expected in state.accounts:
        yield DriftFinding("accounts-differ", nodes, subject, actual or "none", expected)
    for name in state.unlisted:
        yield DriftFinding("accounts-unlisted", nodes, name, "not in the manifest")
