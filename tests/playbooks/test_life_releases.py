"""Which releases of Slurm may become which, and what an upgrade moves."""

from __future__ import annotations

import gzip
import stat
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import slurm_keep
from ansible_collections.clustergen.cluster.plugins.module_utils.slurm_packages import selected
from ansible_collections.clustergen.cluster.plugins.plugin_utils.releases import Judgement, judge, mpi_of


def judged(new: str, mixed_ok: bool = False, **versions: str) -> Judgement:
    """`versions`: host → version of its slurmd."""
    return judge({host: {"slurmd": version} for host, version in versions.items()}, new, mixed_ok)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("22.05.8", "23.02"),
        ("22.05.8", "23.11"),
        ("23.02.7", "24.05"),
        ("23.02.7", "24.11"),  # three majors, from 24.11 on
        ("24.11.5", "26.05"),
        ("25.11.2", "26.05"),
    ],
)
def test_an_upgrade_within_the_window_is_let_through(old: str, new: str) -> None:
    verdict = judged(new, head=old, n1=old)
    assert verdict.wrong == []
    assert verdict.behind == ["head", "n1"]


@pytest.mark.parametrize(
    ("old", "new", "way"),
    [
        ("22.05.8", "24.11", "23.11: "),
        ("22.05.8", "24.05", "23.11: "),
        ("23.11.4", "26.05", "25.05: "),
        ("21.08.5", "26.05", "23.02, then 24.11: "),
    ],
)
def test_a_jump_over_the_window_is_refused_with_the_way_to_go(old: str, new: str, way: str) -> None:
    (reason,) = judged(new, head=old).wrong
    assert reason.startswith(f"Slurm {old[:5]} is on head, and {new} takes neither")
    assert f"Upgrade through {way}" in reason


def test_a_downgrade_is_refused() -> None:
    (reason,) = judged("24.11", head="26.05.5", n1="24.11.5").wrong
    assert "Slurm 26.05 is on head, and the tree is for 24.11" in reason
    assert "Set slurm.version to 26.05" in reason


def test_one_node_that_is_too_old_refuses_for_all_and_is_named() -> None:
    verdict = judged("26.05", head="24.11.5", n1="24.11.5", n2="22.05.8")
    assert len(verdict.wrong) == 1
    assert "22.05 is on n2" in verdict.wrong[0]


def test_several_older_releases_are_refused_unless_meant() -> None:
    versions = {"head": "25.05.1", "n1": "24.11.5", "n2": "24.11.5"}
    (reason,) = judged("26.05", **versions).wrong
    assert "24.11 on n[1-2]; 25.05 on head" in reason
    assert judged("26.05", mixed_ok=True, **versions).wrong == []


def test_a_run_that_was_cut_off_is_carried_on() -> None:
    verdict = judged("26.05", head="26.05.5", n1="26.05.5", n2="24.11.5")
    assert verdict.wrong == []
    assert verdict.behind == ["n2"]


def test_a_patch_release_is_no_upgrade() -> None:
    verdict = judged("24.11", head="24.11.5", n1="24.11.7")
    assert (verdict.wrong, verdict.behind) == ([], [])


def test_hosts_without_slurm_and_programs_that_do_not_tell() -> None:
    verdict = judge({"head": {"slurmctld": "24.11.5"}, "new": {}, "odd": {"slurmdbd": ""}}, "24.11")
    assert verdict.bare == ["new"]
    assert verdict.wrong == ["no version could be read from slurmdbd on odd"]


def test_packages_keep_their_names_or_get_the_new_ones() -> None:
    installed = ["slurmd", "slurm-client", "libpam-slurm-adopt"]
    assert selected(installed, []) == ["libpam-slurm-adopt", "slurm-client", "slurmd"]
    assert selected(installed, ["slurmd", "slurm-client"]) == ["libpam-slurm-adopt", "slurm-client", "slurmd"]
    assert selected(installed, ["slurm-smd", "slurm-smd-slurmd"]) == ["slurm-smd", "slurm-smd-slurmd"]


def test_the_database_is_where_slurmdbd_looks_for_it(tmp_path: Path) -> None:
    (tmp_path / "slurmdbd.conf").write_text("StorageLoc=acct # ours\nstoragehost = db1\nInclude secret.conf\n")
    (tmp_path / "secret.conf").write_text('StorageUser=u\nStoragePass="p w"\n')
    database = slurm_keep.Database(None, str(tmp_path / "slurmdbd.conf"))
    assert database.name == "acct"
    assert database.login == {"password": "p w", "user": "u", "host": "db1"}


def test_without_a_password_the_socket_is_used(tmp_path: Path) -> None:
    (tmp_path / "slurmdbd.conf").write_text("StorageHost=localhost\nStorageUser=slurm\n")
    database = slurm_keep.Database(None, str(tmp_path / "slurmdbd.conf"))
    assert (database.name, database.login) == ("slurm_acct_db", {})


def programs(directory: Path, dump: str) -> None:
    """Stand-ins for a database's client, which `dump` is the dumping half of."""
    for name, text in {"mariadb": "echo 1000", "mariadb-dump": dump}.items():
        (directory / name).write_text(f"#!/bin/sh\n{text}\n")
        (directory / name).chmod(0o755)


class Module:
    """The part of a module that a question for the size needs."""

    def run_command(self, command: list[str]) -> tuple[int, str, str]:
        return 0, "1000\n", ""


def test_a_dump_is_whole_and_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, "echo 'CREATE TABLE t'; echo '-- Dump completed on today'")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    path, _ = slurm_keep.Database(Module(), "/nowhere").dump(str(tmp_path / "kept"), "24.11.5-now")
    assert gzip.decompress(Path(path).read_bytes()).startswith(b"CREATE TABLE t\n")
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700


@pytest.mark.parametrize("dump", ["echo 'CREATE TABLE t'; echo lost >&2; exit 2", "echo 'CREATE TABLE t'"])
def test_a_dump_that_is_cut_off_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dump: str) -> None:
    programs(tmp_path, dump)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(slurm_keep.KeepError, match="mariadb-dump ended with"):
        slurm_keep.Database(Module(), "/nowhere").dump(str(tmp_path / "kept"), "24.11.5-now")
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_dump_without_space_is_reported_before(tmp_path: Path) -> None:
    with pytest.raises(slurm_keep.KeepError, match="MiB free, and the dump may take"):
        slurm_keep.room(str(tmp_path), 1 << 60, "the dump")


def test_the_state_of_slurmctld_is_kept_whole(tmp_path: Path) -> None:
    saved = tmp_path / "ctld"
    (saved / "hash.1/job.7").mkdir(parents=True)
    (saved / "hash.1/job.7/script").write_text("#!/bin/sh\n")
    (saved / "job_state").write_bytes(b"\0" * 10)
    (tmp_path / "slurm.conf").write_text(f"StateSaveLocation={saved}\n")
    key_state = slurm_keep.state(str(tmp_path / "kept"), "24.11.5-now", str(tmp_path / "slurm.conf"))
    assert key_state is not None
    with tarfile.open(key_state[0]) as archive:
        assert {"./job_state", "./hash.1/job.7/script"} <= set(archive.getnames())
    assert stat.S_IMODE(Path(key_state[0]).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"ClusterName=c\n", "none"),
        (b"ClusterName=c\n  mpidefault = pmix  # as built\n", "pmix"),
        (b"#MpiDefault=pmi2\nMpiDefault=pmi2\nMPIDEFAULT=pmix\n", "pmix"),
    ],
)
def test_the_default_mpi_is_read_as_slurm_reads_it(text: bytes, expected: str) -> None:
    tree = SimpleNamespace(files={"f": {"target": "/etc/slurm/slurm.conf"}}, content=lambda _: text)
    assert mpi_of(tree) == expected
