"""WEKA: files that no program can read here."""

from __future__ import annotations

from clustergen.verify.check import unreadable

CHECKS = (
    unreadable(
        "weka agent",
        "Weka agent",
        "weka",
        "Weka's agent comes from the storage cluster itself.",
        "/etc/wekaio/*",
    ),
)
