"""Packages of one host: those that are installed at once, and those that replace what jobs use and wait until it is empty."""

from __future__ import annotations


def modules_of(purposes):
    """Kernel modules whose packages are among the purposes."""
    return sorted({row.module for row in map(_row, purposes) if row})


def replaced(purposes, missing, loaded):
    """The purposes whose packages wait, and the effects that they have then: a family of which one is missing that brings
    a kernel module, or chooses its version, while that module is loaded. `purposes`: → names; `missing`: names.
    """
    absent = set(missing)
    rows = {purpose: row for purpose in purposes if (row := _row(purpose)) and row.module in loaded}
    families = {
        row.family: row.effect
        for purpose, row in rows.items()
        if row.replaces and absent.intersection(purposes[purpose])
    }
    return [purpose for purpose, row in rows.items() if row.family in families], families


def _row(purpose):
    from clustergen.catalogue import package_effects

    return package_effects.of_purpose(purpose)
