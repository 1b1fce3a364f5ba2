"""The file for LBNL NHC, which no program reads here."""

from __future__ import annotations

from clustergen.verify.check import unreadable

COMPONENT = "slurm"
CHECKS = (
    unreadable(
        "nhc",
        "checks for LBNL NHC",
        "nhc",
        "LBNL NHC is in no distribution. Release 1.4.3 was run with such a file by hand.",
        "/etc/nhc/*",
    ),
)
