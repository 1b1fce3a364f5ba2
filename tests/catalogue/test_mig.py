"""MIG layouts, good and bad."""

import itertools

import pytest

from clustergen.catalogue import hardware, mig
from clustergen.catalogue.versions import SlurmRelease

GOOD = [
    ("h100-80", {"7g.80gb": 1}),
    ("h100-80", {"1g.10gb": 7}),
    ("h100-80", {"3g.40gb": 2}),
    ("h100-80", {"4g.40gb": 1, "3g.40gb": 1}),
    ("h100-80", {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2}),
    ("h100-80", {"3g.40gb": 1, "2g.20gb": 2}),
    ("h100-80", {"2g.20gb": 3, "1g.10gb": 1}),
    ("h100-80", {"1g.20gb": 4}),
    ("h100-80", {"1g.10gb": 6, "1g.10gb+me": 1}),
    ("a100-40", {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}),
    ("a30", {"2g.12gb": 1, "1g.6gb": 2}),
    ("b200", {"1g.23gb": 7}),
    ("h100-80", {}),
]
BAD = [
    ("h100-80", {"7g.80gb": 1, "1g.10gb": 1}, "8 compute slices; a GPU has 7"),
    ("h100-80", {"1g.10gb": 8}, "at most 7 times, not 8"),
    ("h100-80", {"4g.40gb": 2}, "at most 1 times"),
    ("h100-80", {"3g.40gb": 2, "1g.10gb": 1}, "do not fit beside each other"),
    ("h100-80", {"4g.40gb": 1, "2g.20gb": 2}, "8 compute slices"),
    ("h100-80", {"1g.20gb": 4, "1g.10gb": 1}, "do not fit beside each other"),
    ("h100-80", {"3g.20gb": 1}, "no profile 3g.20gb"),
    ("h100-80", {"1g.10gb": -1}, "cannot be there -1 times"),
    ("a30", {"1g.6gb+me": 1, "2g.12gb+me": 1}, "only one instance can have the media engines"),
    ("t4", {"1g.5gb": 1}, "no MIG profiles are known"),
]


@pytest.mark.parametrize(("family", "layout"), GOOD)
def test_layouts_that_fit(family: str, layout: dict[str, int]) -> None:
    assert mig.mig_problem(family, layout) is None
    assert mig.mig_layout_valid(family, layout)


@pytest.mark.parametrize(("family", "layout", "why"), BAD)
def test_layouts_that_do_not(family: str, layout: dict[str, int], why: str) -> None:
    problem = mig.mig_problem(family, layout)
    assert problem is not None
    assert why in problem


@pytest.mark.parametrize(("family", "layout"), GOOD)
def test_a_placement_uses_allowed_slots_once_and_goes_from_large_to_small(family: str, layout: dict[str, int]) -> None:
    placed = mig.mig_placement(family, layout)
    assert placed is not None
    slots = [slot for profile, start in placed for slot in range(start, start + profile.width)]
    assert len(slots) == len(set(slots))
    assert all(start in profile.starts for profile, start in placed)
    widths = [profile.width for profile, _ in placed]
    assert widths == sorted(widths, reverse=True)
    made = [profile.profile for profile, _ in placed]
    assert {name: made.count(name) for name in made} == {name: count for name, count in layout.items() if count}


def maximal(family: str, names: list[str]) -> set[tuple[int, ...]]:
    """Every layout of these profiles to which no further instance can be added, as counts."""
    limits = [profile.max_count for name in names if (profile := mig.mig_profile(family, name)) is not None]
    valid = {
        counts
        for counts in itertools.product(*(range(limit + 1) for limit in limits))
        if any(counts) and mig.mig_layout_valid(family, dict(zip(names, counts, strict=True)))
    }
    more = {c: [(*c[:i], c[i] + 1, *c[i + 1 :]) for i in range(len(c))] for c in valid}
    return {c for c in valid if not any(m in valid for m in more[c])}


def test_the_layouts_of_a_whole_gpu_are_those_of_the_guide() -> None:
    names = ["7g.80gb", "4g.40gb", "3g.40gb", "2g.20gb", "1g.10gb"]
    assert maximal("h100-80", names) == {
        (1, 0, 0, 0, 0),
        (0, 1, 1, 0, 0),
        (0, 1, 0, 1, 1),
        (0, 1, 0, 0, 3),
        (0, 0, 2, 0, 0),
        (0, 0, 1, 2, 0),
        (0, 0, 1, 1, 2),
        (0, 0, 1, 0, 4),
        (0, 0, 0, 3, 1),
        (0, 0, 0, 2, 3),
        (0, 0, 0, 1, 5),
        (0, 0, 0, 0, 7),
    }
    assert maximal("a30", ["4g.24gb", "2g.12gb", "1g.6gb"]) == {(1, 0, 0), (0, 2, 0), (0, 1, 2), (0, 0, 4)}


@pytest.mark.parametrize("family", mig.mig_families())
def test_every_profile_fits_as_often_as_it_says(family: str) -> None:
    for profile in mig.mig_profiles(family):
        assert mig.mig_layout_valid(family, {profile.profile: profile.max_count})


def test_every_family_has_a_gpu_and_every_divisible_gpu_with_a_family_has_profiles() -> None:
    used = {gpu.mig_family for gpu in hardware.gpus().values() if gpu.mig_family}
    assert used == set(mig.mig_families())


def test_names() -> None:
    profile = mig.mig_profile("a100-40", "MIG 1g.5gb")
    assert profile is not None
    assert profile.gi_id == 19
    assert mig.mig_profile("a100-40", "1g.10gb+gfx") is None
    assert mig.mig_slurm_type("nvidia_a100-sxm4-40gb", "3g.20gb") == "nvidia_a100_3g.20gb"
    assert mig.mig_slurm_type("nvidia_h100_80gb_hbm3", "1g.10gb") == "nvidia_h100_80gb_hbm3_1g.10gb"


@pytest.mark.parametrize(
    ("family", "profile", "release", "name"),
    [
        ("a100-80", "3g.40gb", "22.05", "3g.39gb"),
        ("a100-80", "7g.80gb", "22.05", "7g.79gb"),
        ("a100-80", "1g.10gb+me", "22.05", "1g.10gb"),
        ("a100-40", "7g.40gb", "22.05", "7g.39gb"),
        ("a100-40", "3g.20gb", "22.05", "3g.20gb"),
        ("a100-80", "3g.40gb", "23.02", "3g.40gb"),
        ("a100-80", "1g.10gb+me", "24.11", "1g.10gb+me"),
        ("h100-94", "7g.94gb", "22.05", "7g.94gb"),
    ],
)
def test_old_releases_round_the_memory_of_an_instance(family: str, profile: str, release: str, name: str) -> None:
    assert mig.mig_detected(family, profile, SlurmRelease(release)) == name
