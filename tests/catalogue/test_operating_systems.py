"""Operating systems: the table answers what roles and templates ask."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clustergen.catalogue import tables
from clustergen.catalogue.operating_systems import described_by, operating_system, operating_systems
from clustergen.catalogue.slurm import releases
from clustergen.catalogue.tables import DATA, rows
from clustergen.catalogue.versions import SlurmRelease
from strategies.trees import manifest

ANOTHER = """\
import sys
from pathlib import Path

from clustergen.catalogue import tables

tables.DATA = Path("data")
from clustergen.cli import main

main(sys.argv[1:])
"""


@pytest.mark.slow
def test_another_system_is_one_file(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    systems = tmp_path / "data/operating_systems"
    (systems / "rocky-10.tsv").write_text((systems / "rocky-9.tsv").read_text().replace("3.9", "3.12"))
    (tmp_path / "manifest.yaml").write_text(json.dumps(manifest(os="rocky-10")))

    def clustergen(*words: str) -> str:
        command = [sys.executable, "-c", ANOTHER, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    clustergen("render", "-o", "tree")
    assert "3.12" in (tmp_path / "tree/inventory/group_vars/os_rocky_10.yml").read_text()
    assert "rocky-10" in clustergen("catalogue", "os")
    assert '"rocky-10"' in clustergen("schema")


def test_all_systems_have_all_fields() -> None:
    table = operating_systems()
    assert {f"{name}.tsv" for name in table} == {path.name for path in (DATA / "operating_systems").iterdir()}
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


def test_a_rebuild_has_the_facts_of_its_base_unverified() -> None:
    table = operating_systems()
    for name in ("rhel-9", "almalinux-9"):
        system = table[name]
        assert system.fact("package_slurmd") == table["rocky-9"].fact("package_slurmd") == "slurm-slurmd"
        assert "package_slurmd" in system.unverified
        assert "cuda_repository" not in system.unverified
        assert "architecture" not in system.unverified
    assert table["almalinux-9"].fact("named_crb") == "crb"
    assert table["rhel-9"].fact("named_crb") == "codeready-builder-for-rhel-9-x86_64-rpms"
    assert operating_systems("aarch64")["rhel-9"].fact("named_highavailability").startswith("rhel-9-for-aarch64")


def test_a_fact_of_the_base_is_confirmed_by_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DATA / "operating_systems", tmp_path / "operating_systems")
    for name in ("architectures.tsv", "os_confirmed.tsv"):
        shutil.copy(DATA / name, tmp_path)
    header = "field\tvalue\tunverified\tsource\n"
    (tmp_path / "operating_systems/debian-99.tsv").write_text(f"{header}base\tdebian-13\t\tDEB\npython\t3.99\t\tPKG\n")
    monkeypatch.setattr(tables, "DATA", tmp_path)
    system = operating_systems.__wrapped__("x86_64")["debian-99"]
    assert "chrony_conf" in system.unverified
    assert "python" not in system.unverified


def test_what_is_confirmed_is_taken_over() -> None:
    stated = {name: {row["field"] for row in rows(f"operating_systems/{name}.tsv")} for name in operating_systems()}
    for row in rows("os_confirmed.tsv"):
        for name in row["systems"].split():
            assert "base" in stated[name], row
            assert row["field"] not in stated[name], row
            assert row["field"] in operating_systems()[name].facts, row


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
        ("rhel9", "rhel-9"),
        ("redhat-9.4", "rhel-9"),
        ("almalinux-9.4", "almalinux-9"),
        ("oracle-9", "rocky-9"),
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
                assert set(re.findall(r"{(\w+)}", text)) <= {"branch", "release"}, (system.key, field, text)


def test_yes_or_no_fails_closed() -> None:
    with pytest.raises(ValueError, match="not yes or no"):
        operating_systems()["debian-12"].yes("slurm_pmix")
    with pytest.raises(KeyError):
        operating_systems()["debian-12"].fact("slurm_colour")
