"""Contributions of updates to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.package_effects import held_patterns
from clustergen.cluster.contributions import Package, PackageOf, Variables
from clustergen.cluster.model import Cluster
from clustergen.features.updates.resolved import Updates

AUTOMATIC = "dnf-automatic.timer"


def packages(_: Updates) -> Iterator[Package]:
    yield Package("all", "updates")


def packages_of(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf(AUTOMATIC, "updates")


def variables(updates: Updates) -> Iterator[Variables]:
    held = (name for family in ("debian", "rhel") for name in held_patterns(updates.hold, family))
    yield Variables("Updates", {"cluster_held_packages": list(dict.fromkeys(held))})
