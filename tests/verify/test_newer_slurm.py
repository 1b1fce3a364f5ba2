"""Trees for releases whose daemons are not here: the next newer Slurm reads them, and the table judges their keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.render.write import write
from clustergen.verify import slurm_roots
from clustergen.verify.checks import CHECKS
from clustergen.verify.newer_slurm import Prepared, prepare
from clustergen.verify.rows import Row, exit_code
from clustergen.verify.run import verify
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.trees import manifest, tree_of

HEAD = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]}
COMPUTE = {"name": "c[1-4]", "type": "gpu", "address": "10.0.0.[11-14]"}
NEXT = {"23.02": "24.11", "23.11": "24.11", "24.05": "24.11", "25.05": "26.05", "25.11": "26.05"}


def rows_of(directory: Path, release: str, more: str = "", **slurm: object) -> list[Row]:
    """Verdict of the check of Slurm on a small tree for a release, with a line added to its slurm.conf."""
    settings = {"version": release, "build": "schedmd", **slurm}
    write(tree_of(manifest(nodes=[HEAD, COMPUTE], slurm=settings), directory), directory / "rendered")
    conf = directory / "rendered/overlays/slurm_node/etc/slurm/slurm.conf"
    conf.write_text(conf.read_text(encoding="utf-8") + more, encoding="utf-8")
    return verify(directory / "rendered", [check for check in CHECKS if check.name == "slurm"])


@pytest.mark.real
@pytest.mark.parametrize("release", NEXT)
def test_the_next_newer_release_reads_the_tree_and_every_row_shows_it(tmp_path: Path, release: str) -> None:
    rows = rows_of(tmp_path, release)
    assert exit_code(rows) == 0, rows
    assert {row.status for row in rows} == {"passed"}
    for row in rows:
        assert row.version.startswith(NEXT[release])
        assert row.what.endswith(f"(for {release})")
        assert f"checked with {row.version}, the next newer release available" in row.words[0]


@pytest.mark.real
def test_a_value_that_only_the_newer_release_refuses_is_left_out_and_named(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "23.11", options={"DebugFlags": "TimeCray"})
    assert exit_code(rows) == 0, rows
    (row,) = (row for row in rows if row.parser == "slurmctld")
    assert row.words[1].startswith("slurm.conf: DebugFlags=TimeCray was omitted: ")
    assert not any("DebugFlags" in word for row in rows if row.parser != "slurmctld" for word in row.words)


@pytest.mark.real
def test_a_key_that_only_the_newer_release_has_fails(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "23.11", "HashPlugin=hash/k12\n")
    (row,) = (row for row in rows if row.parser == "slurmctld")
    assert row.status == "failed"
    assert any("'HashPlugin' requires Slurm 24.05 or newer; 23.11 does not start with it" in word for word in row.words)


@pytest.mark.parametrize(
    ("name", "line", "newer", "kept", "complaints", "left_out"),
    [
        ("slurm.conf", "NodeName=c1 CPUs=4 State=IDLE", "24.11", "NodeName=c1 CPUs=4 State=IDLE", 0, 0),
        ("slurm.conf", 'SelectType="select/cons_res" # why', "24.11", " # why", 0, 1),
        ("slurm.conf", "NodeName=c1 RestrictedCoresPerGPU=2", "24.11", "NodeName=c1 RestrictedCoresPerGPU=2", 1, 0),
        ("slurm.conf", "FrontendName=f1", "26.05", "", 0, 1),
        ("cgroup.conf", "MaxKmemPercent=50", "24.11", "", 0, 1),
        ("slurm.conf", "NoSuchKey=1", "24.11", "NoSuchKey=1", 0, 0),
        ("plugstack.conf", "required x.so", "24.11", "required x.so", 0, 0),
    ],
)
def test_lines_that_are_kept_left_out_and_refused(
    tmp_path: Path, name: str, line: str, newer: str, kept: str, complaints: int, left_out: int
) -> None:
    (tmp_path / name).write_text(f"# one\n{line}\n# three\n", encoding="utf-8")
    prepared = prepare(tmp_path, SlurmRelease("23.02"), SlurmRelease(newer))
    assert (tmp_path / name).read_text(encoding="utf-8") == f"# one\n{kept}\n# three\n"
    assert (len(prepared.complaints), len(prepared.left_out)) == (complaints, left_out), prepared


@pytest.mark.slow
def test_the_rendered_files_of_a_release_have_nothing_that_it_refuses(tmp_path: Path) -> None:
    for release in NEXT:
        settings = {"version": release, "build": "schedmd"}
        directory = tmp_path / release
        directory.mkdir()
        write(tree_of(manifest(nodes=[HEAD, COMPUTE], slurm=settings), directory), directory / "rendered")
        assert (
            prepare(directory / "rendered/overlays", SlurmRelease(release), SlurmRelease(NEXT[release])) == Prepared()
        )


def test_the_oldest_of_the_newer_releases_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    installs = [
        SlurmInstall(version.rpartition(".")[0], version, kind, Path("/"))
        for version, kind in (("26.05.5", "root"), ("24.11.5", "installed"), ("24.11.4", "root"), ("22.05.8", "root"))
    ]
    monkeypatch.setattr(slurm_roots, "installs", lambda: installs)
    assert slurm_roots.next_newer("23.11") == installs[2]
    assert slurm_roots.next_newer("25.05") == installs[0]
    assert slurm_roots.next_newer("26.05") is None
    assert slurm_roots.next_newer("none") is None
