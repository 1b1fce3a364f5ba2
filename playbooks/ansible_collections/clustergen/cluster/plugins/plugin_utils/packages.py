"""Packages of one host: those that are installed at once, and those that replace what is in use."""

from __future__ import annotations

from fnmatch import fnmatchcase


def modules_of(purposes):
    """Kernel modules whose packages are among the purposes."""
    return sorted({row.in_use for row in map(_row, purposes) if row and "." not in row.in_use})


def replaced(purposes, missing, in_use):
    """Purpose → effects, of a family of which one is missing that brings what is in use, or chooses its version.
    `purposes`: → names; `missing`: names; `in_use`: modules that are loaded and units that run.
    """
    absent = set(missing)
    rows = {purpose: row for purpose in purposes if (row := _row(purpose)) and _matches(row.in_use, in_use)}
    families = {row.family for purpose, row in rows.items() if row.replaces and absent.intersection(purposes[purpose])}
    return {purpose: row.effect for purpose, row in rows.items() if row.family in families}


def waiting(in_use, reboots):
    """Purposes whose packages wait for a node without jobs. In a window of a run that must not reboot, people do that."""
    return [purpose for purpose, effect in in_use.items() if "reboot" in effect and (reboots or len(effect) == 1)]


def stopped(units, without):
    """Of the units that an earlier tree started, those that end with it. `without`: patterns of units that a site keeps."""
    from clustergen.catalogue.package_effects import is_stopped

    return [unit for unit in units if is_stopped(unit) and not any(fnmatchcase(unit, pattern) for pattern in without)]


def _matches(pattern, in_use):
    return any(fnmatchcase(name, pattern) for name in in_use)


def _row(purpose):
    from clustergen.catalogue import package_effects

    return package_effects.of_purpose(purpose)
