"""Areas that the manifest leaves to others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.diagnostics.literals import choice_hint
from clustergen.diagnostics.model_path import value_at
from clustergen.feature import area, areas, modules
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import is_stated

_IN_SLURMS_FILES = ("slurm.accounting", "slurm.pyxis", "slurm.qos", "storage", "containers", "monitoring.dcgm")
"""Sections that Slurm's files, its prologs and its health check follow too."""


def value_not_allowed(cluster: Cluster) -> Iterator[Finding]:
    """Names of areas, and areas without the one whose files they need."""
    for index, name in enumerate(cluster.managed or ()):
        if name == "accounting" and not cluster.manages("slurm"):
            message = "accounting requires slurm, the area that has slurmdbd.conf"
            yield Finding("value-not-allowed", ("manage", index), message, "add slurm to manage")
        if name not in areas():
            hint = choice_hint(name.removesuffix(".conf"), list(areas()))
            yield Finding("value-not-allowed", ("manage", index), f"'{name}' is not an area", hint)


def unmanaged_sections(cluster: Cluster, section: Manifest) -> Iterator[Finding]:
    """Sections whose area is not managed."""
    if cluster.managed is None or not set(areas()).issuperset(cluster.managed):
        return
    places = [(place, area(module.__name__)) for module in modules("section") for place in module.PLACES]
    for place, part in [*places, ("storage", "storage")]:
        value = value_at(section, place)
        if cluster.manages(part) or not is_stated(section, place) or not value or not getattr(value, "enabled", True):
            continue
        effect = "has no effect"
        if place in _IN_SLURMS_FILES and cluster.manages("slurm"):
            if place == "slurm.accounting":  # most of it is keys of slurm.conf
                continue
            effect = "affects Slurm's files alone"
        yield Finding(
            "setting-unused",
            tuple(place.split(".")),
            f"{place} {effect}: {part} is not managed",
            f"add {part} to manage",
            key=True,
        )
