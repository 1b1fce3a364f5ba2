"""Lengths of time that Slurm may read otherwise than their author."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.units import Duration


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


def two_numbers(cluster: Cluster) -> Iterator[Finding]:
    """`1:30` is 90 seconds to Slurm, and to many people an hour and a half."""
    for path, duration in _durations(cluster.manifest.slurm, ("slurm",)):
        if text := duration.minutes_and_seconds:
            first, _, second = text.partition(":")
            yield Finding(
                "time-minutes-seconds",
                path,
                f"to Slurm {text} is minutes:seconds, {_length(first, 'minute', second, 'second')}, not"
                f" {_length(first, 'hour', second, 'minute')}",
                f"write {text}:00 for hours and minutes, or {int(first)}min{f' {int(second)}s' if int(second) else ''}"
                " for minutes and seconds",
            )


def _length(first: str, unit: str, second: str, smaller: str) -> str:
    parts = [(int(first), unit), (int(second), smaller)]
    stated = [f"{number} {name}{'' if number == 1 else 's'}" for number, name in parts if number]
    return " ".join(stated) or f"0 {unit}s"


RULES = (two_numbers,)
