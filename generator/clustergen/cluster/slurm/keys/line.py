"""Lines of several keys, as NodeName's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.slurm.keys.row import Value, knows
from clustergen.cluster.slurm.model import Options
from clustergen.diagnostics import ManifestPath
from clustergen.records import record

Pairs = Sequence[tuple[str, Value | None]]


@record
class Line:
    """A line of several keys."""

    keys: Mapping[str, str]  # with their values, without quotes; the first opens the line
    options: Mapping[str, ManifestPath]  # those of the keys that are passed through, with their place


def line(file: str, release: SlurmRelease, pairs: Pairs, *passed: tuple[ManifestPath, Options]) -> Line:
    """A line whose first key opens it.

    Keys without a value and keys that the release does not know are left out; options take the place of ours, and other
    options come last. `passed`: options with their place, of which the later ones count.
    """
    opening = pairs[0][0]
    stated = {key.lower(): (key, value, (*place, key)) for place, options in passed for key, value in options.items()}
    keys: dict[str, str] = {}
    for key, value in pairs:
        if key.lower() in stated:
            spelled, text, _ = stated[key.lower()]
            keys[spelled] = str(text)
        elif value is not None and value != "" and (key == opening or knows(file, key, release, opening)):
            keys[key] = str(value)
    more = {key: str(value) for key, value, _ in stated.values() if key not in keys}
    return Line({**keys, **more}, {key: place for key, _, place in stated.values()})


def own_lines(place: ManifestPath, lines: Iterable[Options]) -> Iterator[Line]:
    """Whole lines of the manifest's own."""
    for index, keys in enumerate(lines):
        if keys:
            yield Line({key: str(value) for key, value in keys.items()}, {key: (*place, index, key) for key in keys})
