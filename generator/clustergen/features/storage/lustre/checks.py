"""Lustre: files that no program can read here."""

from __future__ import annotations

from clustergen.verify.check import unreadable

CHECKS = (
    unreadable(
        "lustre",
        "Lustre: networks of LNet",
        "lnetctl",
        "Lustre's programs are in no distribution, and lnetctl talks to the kernel module that a node has.",
        "/etc/lnet.conf",
    ),
)
