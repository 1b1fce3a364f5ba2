"""Who reads which kind of file: a module per field, a `Check` per parser."""

from __future__ import annotations

from clustergen.verify.checks import (
    access,
    data,
    fabric,
    host,
    nobody,
    prometheus,
    shell,
    slurm,
    storage,
    systemd,
    tree,
)
from clustergen.verify.checks.base import Check, Trial, place_of

CHECKS: tuple[Check, ...] = tuple(
    check
    for module in (tree, slurm, shell, prometheus, systemd, host, access, storage, fabric, data, nobody)
    for check in module.CHECKS
)

__all__ = ["CHECKS", "Check", "Trial", "place_of"]
