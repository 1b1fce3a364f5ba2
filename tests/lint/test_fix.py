"""--fix changes what has one safe answer, and no other byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import ClustergenError, Severity
from clustergen.lint.finding import Fix
from clustergen.lint.fix import apply, diff, edits, fix_all, write
from clustergen.lint.run import lint

HEAD = "ClusterName=c\nSlurmctldHost=ctl\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\n"
NODES = "NodeName=n[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000\n"
PARTITIONS = "PartitionName=batch Nodes=ALL Default=YES\n"


def fixed(tmp_path: Path, text: str | bytes, release: str = "26.05", name: str = "slurm.conf") -> bytes:
    place = tmp_path / name
    place.write_bytes(text.encode() if isinstance(text, str) else text)
    fix_all(tmp_path, SlurmRelease(release), lint(tmp_path, SlurmRelease(release)))
    return place.read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("; old\n", "# old\n"),
        ("// old = 1\n", "# old = 1\n"),
        ("PowerPlugin=power/none\nTCPTimeout=3\n", "TCPTimeout=3\n"),
        ("CacheGroups=0\n", ""),
        ("FastSchedule=1\n", ""),
        ("  SelectType = select/cons_res  # why\n", "  SelectType = select/cons_tres  # why\n"),
        ("SchedulerType=backfill\n", "SchedulerType=sched/backfill\n"),
        ("SbcastParameters=Compression=lz4\n", "BcastParameters=Compression=lz4\n"),
        ("TCPTimeout=3\nTCPTimeout=3\n", "TCPTimeout=3\n"),
        ("TCPTimeout=3 KillWait=30\n", "TCPTimeout=3\nKillWait=30\n"),
        ("DefMemPerCPU=4G\n", "DefMemPerCPU=4096\n"),
        ("SlurmdTimeout=300s\n", "SlurmdTimeout=300\n"),
        ("SlurmdTimeout==300\n", "SlurmdTimeout=300\n"),
        ("ControlMachine=ctl\n", ""),
    ],
)
def test_lines_of_slurm_conf(before: str, after: str, tmp_path: Path) -> None:
    rest = NODES + PARTITIONS
    assert fixed(tmp_path, HEAD + before + rest).decode() == HEAD + after + rest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Shared=YES MaxTime=24h", "OverSubscribe=YES MaxTime=1-00:00:00"),
        ("Priority=10", "PriorityTier=10 PriorityJobFactor=10"),
        ("Priority=10 PriorityTier=5", "Priority=10 PriorityTier=5"),  # the old name wins: the new one would not
    ],
)
def test_partition_lines(before: str, after: str, tmp_path: Path) -> None:
    text = HEAD + NODES + PARTITIONS.strip() + " "
    assert fixed(tmp_path, f"{text}{before}\n").decode() == f"{text}{after}\n"


def test_an_old_name_stays_where_the_new_one_would_mean_something_else(tmp_path: Path) -> None:
    text = HEAD + NODES + "PartitionName=DEFAULT OverSubscribe=NO\n" + PARTITIONS.strip() + " Shared=YES\n"
    assert fixed(tmp_path, text).decode() == text


def test_a_line_that_slurm_cannot_read_is_left_to_a_person(tmp_path: Path) -> None:
    text = HEAD.replace("SlurmctldHost=ctl", "ControlMachine={{ controller }}") + NODES + PARTITIONS
    assert fixed(tmp_path, text).decode() == text


def test_old_controllers(tmp_path: Path) -> None:
    text = "ClusterName=c\nControlMachine=a\nControlAddr=10.0.0.1\nBackupController=b\nBackupAddr=b\nSlurmUser=slurm\n"
    rest = "StateSaveLocation=/shared/state\n" + NODES + PARTITIONS
    after = "ClusterName=c\nSlurmctldHost=a(10.0.0.1)\nSlurmctldHost=b\nSlurmUser=slurm\n"
    assert fixed(tmp_path, text + rest).decode() == after + rest


def test_other_bytes_and_the_mode_stay(tmp_path: Path) -> None:
    text = HEAD.encode() + b"# caf\xe9\t\r\nPowerPlugin=power/none\r\nTCPTimeout=3 KillWait=4\r\n" + NODES.encode()
    (tmp_path / "slurm.conf").write_bytes(b"")
    (tmp_path / "slurm.conf").chmod(0o640)
    tail = PARTITIONS.encode().rstrip(b"\n")  # no newline at the end
    after = HEAD.encode() + b"# caf\xe9\t\r\nTCPTimeout=3\r\nKillWait=4\r\n" + NODES.encode()
    assert fixed(tmp_path, text + tail) == after + tail
    assert (tmp_path / "slurm.conf").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["slurm.conf"]


def test_a_link_stays_a_link_and_an_included_file_is_corrected(tmp_path: Path) -> None:
    (tmp_path / "old.conf").write_text("FastSchedule=1\nTCPTimeout=3\n")
    (tmp_path / "more.conf").symlink_to("old.conf")
    fixed(tmp_path, HEAD + "Include more.conf\n" + NODES + PARTITIONS)
    assert (tmp_path / "more.conf").is_symlink()
    assert (tmp_path / "old.conf").read_text() == "TCPTimeout=3\n"


def test_fixes_are_made_once(tmp_path: Path) -> None:
    text = HEAD + "; x\nFastSchedule=1\nShared=1\n" + NODES + PARTITIONS
    once = fixed(tmp_path, text)
    assert fixed(tmp_path, once) == once
    assert any(diagnostic.severity is Severity.ERROR for diagnostic in lint(tmp_path).diagnostics), (
        "what needs a person is left"
    )


def test_the_diff_is_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_bytes(HEAD.encode() + b"# \xe9\nFastSchedule=1\n")
    changed = edits(lint(tmp_path, SlurmRelease("24.11")))
    shown = b"".join(diff(changed))
    assert b"-FastSchedule=1\n" in shown
    assert b" # \xe9\n" in shown
    assert (tmp_path / "slurm.conf").read_bytes().endswith(b"FastSchedule=1\n")


def test_a_file_that_cannot_be_written_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "slurm.conf"
    place.write_text("a")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ClustergenError, match="no space left"):
        write(place, "b")
    assert place.read_text() == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["slurm.conf"]


def test_of_two_edits_that_overlap_the_first_of_the_line_is_made() -> None:
    overlapping = [Fix("", 1, 3, 6, "later"), Fix("", 1, 1, 4, "first"), Fix("", 1, 7, 8, "G")]
    assert apply("abcdefgh", overlapping) == "firstdefGh"


@pytest.mark.parametrize("first", ["ClusterName=c\n", "# Ours\nClusterName=c\n"])
def test_a_byte_order_mark_is_removed(first: str, tmp_path: Path) -> None:
    text = HEAD.replace("ClusterName=c\n", "") + NODES + PARTITIONS
    assert fixed(tmp_path, f"\ufeff{first}{text}").decode() == first + text
