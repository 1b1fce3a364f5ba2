"""Another release of Slurm: in which order its daemons follow, and through which releases the way goes."""

from __future__ import annotations

from clustergen.catalogue import slurm, slurm_effects
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import Change
from clustergen.records import replace
from clustergen.render.effects import read


def release_change(old: SlurmRelease | None, new: SlurmRelease | None) -> Change | None:
    """The change of the release itself, or that Slurm goes; None where there is none, or Slurm comes."""
    if old is None or old == new:
        return None
    way = path_between(old, new) if new else ()
    what = "removed" if new is None else "downgrade" if new < old else "upgrade" if len(way) == 1 else "jump"
    row = slurm_effects.effect("slurm", "", new or old, "release", what)
    effects = tuple(read(word) for word in row.effect)
    change = Change(
        file="",
        kind="release",
        old=str(old),
        new=str(new) if new else None,
        effects=effects,
        everywhere=True,
        reason=row.note,
        source=row.page,
    )
    if what == "jump" and way:
        through = ", then ".join(str(step) for step in way)
        change = replace(change, reason=f"{change.reason}. Upgrade through {through}")
    return change


def path_between(old: SlurmRelease, new: SlurmRelease) -> tuple[SlurmRelease, ...]:
    """The releases to upgrade to, one after the other, the last being `new`; as few as can be. Empty where there is no
    way, or one of them is not known.
    """
    if new < old:
        return ()
    steps: list[SlurmRelease] = []
    last = old
    while last != new:
        onward = [release for release in slurm.releases() if last < release <= new and slurm.accepts(release, last)]
        if not onward:
            return ()
        last = max(onward)
        steps.append(last)
    return tuple(steps)
