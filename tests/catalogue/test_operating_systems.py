"""Operating systems: the table answers what roles and templates ask."""

import re

import pytest

from clustergen.catalogue.operating_systems import described_by, operating_system, operating_systems
from clustergen.catalogue.slurm import releases
from clustergen.catalogue.versions import SlurmRelease


def test_all_systems_have_all_fields() -> None:
    table = operating_systems()
    assert list(table) == ["debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04", "rocky-9"]
    fields = {frozenset(system.facts) for system in table.values()}
    assert len(fields) == 1
    for system in table.values():
        assert SlurmRelease(system.fact("slurm")) in releases()
        assert system.fact("family") in {"debian", "rhel"}


def test_marks_are_kept_and_taken_off_the_text() -> None:
    rocky = operating_systems()["rocky-9"]
    assert rocky.fact("chrony_conf") == "/etc/chrony.conf"
    assert "chrony_conf" in rocky.unverified
    assert "chrony_conf" not in operating_systems()["debian-12"].unverified
    assert not [text for system in operating_systems().values() for text in system.facts.values() if "[U]" in text]


def test_differences_that_matter() -> None:
    table = operating_systems()
    assert table["debian-12"].packages("slurmd") == ("slurmd", "libpmix-dev")
    assert table["debian-13"].packages("sackd") == ("sackd",)
    assert table["debian-12"].packages("sackd") == ()
    assert not table["ubuntu-22.04"].yes("slurm_cgroup_v2")
    assert table["debian-13"].yes("slurm_gpu_nvidia")
    assert table["rocky-9"].fact("slurm_env_dir") == "/etc/sysconfig"


@pytest.mark.parametrize(
    ("name", "expected"), [("rocky-9.4", "rocky-9"), ("Debian-12", "debian-12"), ("debian-12.9", "debian-12")]
)
def test_a_point_release_is_its_release(name: str, expected: str) -> None:
    result = operating_system(name)
    assert result is not None
    assert result.id == expected


@pytest.mark.parametrize("name", ["debian", "debian-11", "ubuntu-20.04", "rocky", ""])
def test_an_unknown_system_is_none(name: str) -> None:
    assert operating_system(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rhel-9", "rocky-9"),
        ("almalinux-9.4", "rocky-9"),
        ("rocky-9.4", "rocky-9"),
        ("rhel-8", None),
        ("suse-15", None),
    ],
)
def test_a_rebuild_is_described_by_its_sibling(name: str, expected: str | None) -> None:
    assert described_by(name) == expected


def test_facts_are_those_of_the_architecture() -> None:
    for arch, others in {"x86_64": ("aarch64", "arm64", "sbsa"), "aarch64": ("x86_64", "amd64")}.items():
        for system in operating_systems(arch).values():
            assert system.fact("architecture") == system.arch == arch
            for field, text in system.facts.items():
                assert not any(other in text for other in others), (system.key, field, text)
                assert set(re.findall(r"{(\w+)}", text)) <= {"branch"}, (system.key, field, text)


def test_yes_or_no_fails_closed() -> None:
    with pytest.raises(ValueError, match="not yes or no"):
        operating_systems()["debian-12"].yes("slurm_pmix")
    with pytest.raises(KeyError):
        operating_systems()["debian-12"].fact("slurm_colour")
