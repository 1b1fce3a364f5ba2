"""Lengths of time that Slurm may read otherwise than their author."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.slurm import Slurm
from clustergen.slurmrules import durations
from clustergen.units import Duration

_DAY = 86_400
_USUAL = {"half_life": (_DAY, None), "max_age": (3600, None), "exempt_time": (0, _DAY)}
"""Fields of which authors often forget that a bare number is in minutes, with usual values in seconds: least, most."""


def _durations(value: object, path: ManifestPath) -> Iterator[tuple[ManifestPath, Duration]]:
    """All lengths of time below a section, with their places."""
    if isinstance(value, Duration):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in (name for name in type(value).model_fields if name in value.model_fields_set):
            yield from _durations(getattr(value, name), (*path, name))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _durations(inner, (*path, key))


def two_numbers(_: Cluster, section: Slurm) -> Iterator[Finding]:
    """`1:30` is 90 seconds to Slurm, and to many people an hour and a half."""
    for path, duration in _durations(section, ("slurm",)):
        if text := duration.minutes_and_seconds:
            first, second = text.split(":", 1)
            yield Finding(
                durations.CODE,
                path,
                durations.two_numbers(text),
                f"write {text}:00 for hours and minutes, or {int(first)}min{f' {int(second)}s' if int(second) else ''}"
                " for minutes and seconds",
            )


def bare_numbers(_: Cluster, section: Slurm) -> Iterator[Finding]:
    """`half_life: 14` is 14 minutes, `exempt_time: 3600` is two and a half days."""
    for path, duration in _durations(section, ("slurm",)):
        least, most = _USUAL.get(str(path[-1]), (0, None))
        minutes = duration.minutes
        if not duration.is_bare or not minutes:
            continue
        if minutes * 60 < least or (most is not None and minutes * 60 > most):
            unit = "d" if minutes * 60 < least else "s"
            length = f"{minutes} minutes" if minutes * 60 < least else f"{minutes} minutes, {duration.slurm()}"
            yield Finding(
                "priority-period",
                path,
                f"{path[-1]}: {minutes} is {length}: a bare number is in minutes",
                f"write {minutes}{unit}, or {minutes}min if minutes are intended",
            )
