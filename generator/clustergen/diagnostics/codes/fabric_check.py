"""The real fabric against its plan: `clustergen fabric check`."""

from __future__ import annotations

from clustergen.diagnostics.codes.model import ERROR, WARNING, Code

FABRIC_CHECK: tuple[str | Code, ...] = (
    "Fabric check",
    Code("discovery-unreadable", ERROR, "A file without a fabric"),
    Code("discovery-incomplete", ERROR, "A file that lacks a part of the fabric"),
    Code("discovery-line-unknown", WARNING, "A line that ibnetdiscover does not print"),
    Code("discovery-contradiction", ERROR, "Lines that contradict each other"),
    Code("fabric-mismatch", ERROR, "The output of another fabric"),
    Code("switch-missing", ERROR, "A planned switch does not appear"),
    Code("switch-unplanned", WARNING, "A switch that is not in the plan"),
    Code("fabric-node-missing", ERROR, "A node does not appear in the fabric"),
    Code("fabric-node-unplanned", WARNING, "A node that is not in the manifest"),
    Code("adapter-unnamed", WARNING, "An adapter whose description names no node"),
    Code("adapter-twice", ERROR, "Several adapters with one name"),
    Code("rail-swapped", ERROR, "A port on the leaf of another rail"),
    Code("cable-crossed", ERROR, "Two cables have exchanged their ends"),
    Code("cable-misplaced", ERROR, "A cable ends at another device than planned"),
    Code("cable-missing", ERROR, "A cable without a link"),
    Code("bundle-uneven", ERROR, "Bundles of unequal width"),
    Code("cable-slow", ERROR, "A link below its rate"),
    Code("cable-port", WARNING, "A cable in another port than planned"),
    Code("cable-unplanned", WARNING, "A cable that is not in the plan"),
)
