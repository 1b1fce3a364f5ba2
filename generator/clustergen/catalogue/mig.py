"""MIG profiles, and whether a layout of them fits on one GPU.

A GPU has memory slots (eight on the large parts, four on the small ones) and compute slices (seven, or four). An
instance takes neighbouring slots, may begin only at some of them, and brings compute slices along. So two 3g instances
fill a GPU although one compute slice is left over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.tables import NOTHING, table
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record

NAMED_BY_NVIDIA = SlurmRelease("23.02")  # from 23.02.6 on


@record
class MigProfile:
    """One profile of one family of GPUs."""

    family: str
    profile: str
    """The name that nvidia-smi prints: `3g.40gb`, `1g.10gb+me`."""
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
    families: dict[str, dict[str, MigProfile]] = {}
    for profile in table("mig_profiles.tsv", MigProfile):
        families.setdefault(profile.family, {})[profile.profile] = profile
    return families


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
    profiles: list[MigProfile] = []
    for name, count in layout.items():
        profiles += [_families()[family][name]] * count
    profiles.sort(key=lambda profile: (-profile.width, -profile.compute, profile.profile))
    if sum(profile.compute for profile in profiles) > _compute_slices(family):
        return None

    def place(index: int, taken: int) -> tuple[tuple[MigProfile, int], ...] | None:
        if index == len(profiles):
            return ()
        profile = profiles[index]
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
    family_profiles = _families().get(family)
    if family_profiles is None:
        return f"no MIG profiles are known for {family!r}"
    for name, count in layout.items():
        if name not in family_profiles:
            return f"it has no profile {name}"
        if count < 0:
            return f"{name} cannot be there {count} times"
        if count > family_profiles[name].max_count:
            return f"{name} fits at most {family_profiles[name].max_count} times, not {count}"
    media = sum(count for name, count in layout.items() if "+me" in name)
    if media > 1:
        return f"only one instance can have the media engines, not {media}"
    compute = sum(family_profiles[name].compute * count for name, count in layout.items())
    slices = _compute_slices(family)
    if compute > slices:
        return f"the instances need {compute} compute slices; a GPU has {slices}"
    if mig_placement(family, layout) is None:
        return "the instances do not fit beside each other in its memory slots"
    return None


def mig_example(family: str, similar: Iterable[str] = ()) -> dict[str, int]:
    """A layout that fits on one GPU: as many as possible of the profile with the compute slices of one of `similar`,
    else of the profile that halves the GPU. Empty for an unknown family.
    """
    profiles = mig_profiles(family)
    for name in (*similar, "3g", "2g"):
        slices = name.partition(".")[0]
        matches = [row for row in profiles if row.profile == name] or [
            row for row in profiles if row.profile.startswith(f"{slices}.")
        ]
        if matches:
            return {matches[0].profile: matches[0].max_count}
    return {}


def mig_listing(family: str) -> str:
    """The profiles of a family, with the number of instances that fit on one GPU: `1g.10gb (7), 3g.40gb (2)`."""
    return ", ".join(f"{row.profile} ({row.max_count})" for row in mig_profiles(family))


def mig_layout_valid(family: str, layout: Mapping[str, int]) -> bool:
    """True if the layout can be made on one GPU of the family."""
    return mig_problem(family, layout) is None


def mig_detected(family: str, profile: str, release: SlurmRelease) -> str:
    """A profile as slurmd of a release names its instances.

    From 23.02.6 on that is NVIDIA's name. Older ones round the memory that the driver reports, which differs between
    drivers, to whole GiB, and leave out media engines and the like; the figures here are those of one driver.
    """
    if release >= NAMED_BY_NVIDIA:
        return profile
    row = mig_profile(family, profile)
    if row is None or row.memory_gib is None:
        return re.sub(r"[+-].*", "", profile)
    return f"{row.compute}g.{int(row.memory_gib + 0.5)}gb"


def mig_slurm_type(slurm_type: str, profile: str) -> str:
    """The type that Slurm detects for an instance: the GPU's own up to its first dash, and the profile."""
    return f"{slurm_type.partition('-')[0]}_{profile}"
