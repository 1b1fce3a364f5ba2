"""docs/effects.md: what a change of each key of slurm.conf takes, by release, and how that is known."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.effects import effect_kinds
from clustergen.catalogue.slurm_effects import effects, how_known
from clustergen.catalogue.versions import SlurmRelease
from clustergen.render.effects import read
from strategies.pages import ROOT

RELEASES = ("22.05", "24.11", "26.05")
_PLACE = re.compile(r"(<!-- effects: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_FILE = "slurm.conf"
_PLANS = ROOT / "tests" / "effects" / "drawn_plans.tsv"
_COLUMNS = (
    *("release", "drawn", "as the plan says", "jobs end early or wait, as announced", "refused while jobs run"),
    *("jobs lost", "value not in effect", "slurmctld failed"),
)
_DRAWN = re.compile(r"(<!-- drawn plans -->\n).*?(<!-- end -->)", re.DOTALL)


def effects_filled(text: str) -> str:
    """A page's text with its tables as the catalogue has the effects today."""
    text = _DRAWN.sub(lambda match: match[1] + "\n" + "\n".join(_drawn()) + "\n\n" + match[2], text)
    return _PLACE.sub(lambda match: match[1] + "\n" + "\n".join(_table(match[2])) + "\n\n" + match[3], text)


def _drawn() -> Iterator[str]:
    """Counts of tools/measure-plans."""
    lines = _PLANS.read_text(encoding="utf-8").splitlines()[1:]
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|---" * len(_COLUMNS) + "|"
    yield from (f"| {' | '.join(row.values())} |" for row in csv.DictReader(lines, delimiter="\t"))


def _table(name: str) -> Iterator[str]:
    block = "" if name == "own" else name
    yield f"| key | {' | '.join(RELEASES)} |"
    yield "|---" * (len(RELEASES) + 1) + "|"
    for key in sorted(slurm.keys(_FILE, block), key=lambda row: row.key.lower()):
        if key.key not in slurm.files()[_FILE] and key.key != block:
            cells = [_cell(block, key, SlurmRelease(release)) for release in RELEASES]
            if any(cell != "–" for cell in cells):
                yield f"| {key.key} | {' | '.join(cells)} |"


def _cell(block: str, key: slurm.SlurmKey, release: SlurmRelease) -> str:
    """`lowered: not while jobs run; scontrol reconfigure (measured)`."""
    if key.state(release) == "defunct":
        return "none: no effect (read)"
    if key.state(release) != "known":
        return "–"
    parts: dict[str, str] = {}
    for row in effects():
        fits = row.file in ("*", _FILE) and row.block in ("*", block) and row.key.lower() in ("*", key.key.lower())
        if fits and (row.until is None or release < row.until) and not (row.key == "*" and row.what):
            text = ", then ".join(effect_kinds()[read(word).kind].title.removesuffix(" from") for word in row.effect)
            parts.setdefault(row.what, f"{row.what}: {text}" if row.what else text)
            if not row.what:
                break
    return f"{'; '.join(parts.values())} ({how_known(_FILE, key.key, release, block)})"
