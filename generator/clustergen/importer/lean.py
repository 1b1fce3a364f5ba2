"""Takes away what Slurm has anyway: settings of its own generator that say its defaults."""

from __future__ import annotations

from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_meanings import meaning, spelled
from clustergen.diagnostics import ManifestPath
from clustergen.diff.values import canonical
from clustergen.importer.draft import Draft, Item, Origin
from clustergen.importer.originals import Originals

_KEPT: tuple[ManifestPath, ...] = (("slurm", "user"), ("slurm", "priority", "weights"))
"""Values that read worse in part than as a whole, or have another default here."""
_PREEMPTION: ManifestPath = ("slurm", "preemption")
_BLOCKS = {"": "", "partitionname": "PartitionName"}
_KEPT_KEYS = ("MaxTime",)  # the first thing that people look for in a partition


def needless(draft: Draft, originals: Originals) -> list[Item]:
    """Values that say Slurm's default of this release and all newer ones, and of which nothing else is said."""
    words = [item for item in draft.items.values() if item.path[:2] == _PREEMPTION]
    return [item for item in words if item.path[2] == "youngest_first" and len(words) == 1] + [
        item
        for item in draft.items.values()
        if item.origins
        and not item.needed
        and not item.comments
        and item.path[0] == "slurm"
        and item.path[1] != "lines"
        and not any(item.path[: len(place)] == place for place in _KEPT)
        and all(_says_default(origin, originals) for origin in item.origins)
    ]


def report_needless(draft: Draft, items: list[Item]) -> None:
    """One note per file."""
    by_file: dict[str, dict[str, None]] = {}
    for origin in (origin for item in items for origin in item.origins):
        by_file.setdefault(origin.file, {})[f"{origin.key}={origin.text}"] = None
    for file, words in by_file.items():
        verb = "equal Slurm's defaults and are" if len(words) > 1 else "equals Slurm's default and is"
        draft.note("meant", f"{', '.join(words)} {verb} omitted", file)


def _says_default(origin: Origin, originals: Originals) -> bool:
    base = origin.file.rpartition("/")[2]
    if origin.block not in _BLOCKS or base == "slurmdbd.conf" or base in ("gres.conf", "topology.conf"):
        return False
    file = base if slurm.key_tables(base) is not None else "slurm.conf"
    block = _BLOCKS[origin.block]
    for key in spelled(file, block, origin.key):
        if key in _KEPT_KEYS:
            return False
        how = meaning(file, block, key)
        for release in slurm.releases():
            value = slurm.default(file, block, key, release)
            if release >= originals.release and (
                value is None or canonical(how, key, value) != canonical(how, key, origin.text)
            ):
                return False
    return True
