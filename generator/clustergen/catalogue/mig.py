"""MIG profiles, and whether a layout of them fits on one GPU.

A GPU has memory slots (eight on the large parts, four on the small ones) and compute slices (seven, or four). An
instance takes neighbouring slots, may begin only at some of them, and brings compute slices along. So two 3g instances
fill a GPU although one compute slice is left over.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.tables import NOTHING, marks, number, rows, words


class MigProfile(NamedTuple):
    """One profile of one family of GPUs."""

    family: str
    profile: str
    """As nvidia-smi prints it: `3g.40gb`, `1g.10gb+me`."""
    max_count: int
    compute: int
    """Compute slices of an instance."""
    width: int
    """Memory slots of an instance."""
    starts: tuple[int, ...]
    """Slots where an instance may begin."""
    gi_id: int | None = None
    """Number of the profile for `nvidia-smi mig -cgi`; None: not known."""
    memory_gib: float | None = None
    sms: int | None = None
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@cache
def _families() -> dict[str, dict[str, MigProfile]]:
    found: dict[str, dict[str, MigProfile]] = {}
    for r in rows("mig_profiles.tsv"):
        found.setdefault(r["family"], {})[r["profile"]] = MigProfile(
            family=r["family"],
            profile=r["profile"],
            max_count=int(r["max_count"]),
            compute=int(r["compute"]),
            width=int(r["width"]),
            starts=tuple(map(int, r["starts"].split())),
            gi_id=number(r["gi_id"]),
            memory_gib=float(r["memory_gib"]) if r["memory_gib"] else None,
            sms=number(r["sms"]),
            unverified=marks(r["unverified"]),
            source=words(r["source"]),
        )
    return found


def mig_families() -> tuple[str, ...]:
    """The families, as `Gpu.mig_family` names them."""
    return tuple(_families())


def mig_profiles(family: str) -> tuple[MigProfile, ...]:
    """All profiles of a family, smallest first; empty for an unknown one."""
    return tuple(_families().get(family, {}).values())


def mig_profile(family: str, name: str) -> MigProfile | None:
    """The profile of that name, with or without nvidia-smi's leading `MIG `."""
    return _families().get(family, {}).get(name.strip().lower().removeprefix("mig "))


@cache
def _compute_slices(family: str) -> int:
    return next((gpu.mig_max for gpu in gpus().values() if gpu.mig_family == family), 0)


def mig_placement(family: str, layout: Mapping[str, int]) -> tuple[tuple[MigProfile, int], ...] | None:
    """Each instance with the slot where it may begin, in an order in which they can be created; None when none fits.

    `layout` maps profile → number of instances. KeyError for a profile that the family does not have.
    """
    wanted: list[MigProfile] = []
    for name, count in layout.items():
        wanted += [_families()[family][name]] * count
    wanted.sort(key=lambda profile: (-profile.width, -profile.compute, profile.profile))
    if sum(profile.compute for profile in wanted) > _compute_slices(family):
        return None

    def place(index: int, taken: int) -> tuple[tuple[MigProfile, int], ...] | None:
        if index == len(wanted):
            return ()
        profile = wanted[index]
        for start in profile.starts:
            slots = ((1 << profile.width) - 1) << start
            if not slots & taken:
                rest = place(index + 1, taken | slots)
                if rest is not None:
                    return ((profile, start), *rest)
        return None

    return place(0, 0)


def mig_problem(family: str, layout: Mapping[str, int]) -> str | None:
    """Why the layout cannot be made on one GPU of the family; None when it can."""
    known = _families().get(family)
    if known is None:
        return f"no MIG profiles are known for {family!r}"
    for name, count in layout.items():
        if name not in known:
            return f"it has no profile {name}"
        if count < 0:
            return f"{name} cannot be there {count} times"
        if count > known[name].max_count:
            return f"{name} fits at most {known[name].max_count} times, not {count}"
    media = sum(count for name, count in layout.items() if "+me" in name)
    if media > 1:
        return f"only one instance can have the media engines, not {media}"
    compute = sum(known[name].compute * count for name, count in layout.items())
    slices = _compute_slices(family)
    if compute > slices:
        return f"the instances need {compute} compute slices; a GPU has {slices}"
    if mig_placement(family, layout) is None:
        return "the instances do not fit beside each other in its memory slots"
    return None


def mig_layout_valid(family: str, layout: Mapping[str, int]) -> bool:
    """Whether the layout can be made on one GPU of the family."""
    return mig_problem(family, layout) is None


def mig_slurm_type(slurm_type: str, profile: str) -> str:
    """The type that Slurm detects for an instance: the GPU's own up to its first dash, and the profile."""
    return f"{slurm_type.partition('-')[0]}_{profile}"
