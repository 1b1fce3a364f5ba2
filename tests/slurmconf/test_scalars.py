"""Scalars are read as the daemons of three releases read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.slurmconf import scalars
from clustergen.verify import sandbox
from clustergen.verify.slurm_daemons import read_config
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.lint_fragments import HEAD

WEIGHTS = {"7": 7, "+5": 5, "0x1F": 31, "0X1f": 31, "010": 8, "2k": 2048, "2K": 2048, "0x10k": 16384, "017": 15}
# Not 0b1: whether it is binary depends on the C library that Slurm was built with.
REFUSED = ("09", "1.5", "ten", "1m", "1 0", "0x", "5s")
BOOLEANS = {"yes": True, "Up": True, "TRUE": True, "1": True, "no": False, "down": False, "False": False, "0": False}
NEITHER = ("on", "off", "y", "perhaps", "2", "enabled")
LIMITS = {
    "5": 300,
    "1:30": 90,
    "2:03:04": 7384,
    "1-2": 93600,
    "1-2:30": 95400,
    "1-2:03:04": 93784,
    "UNLIMITED": -1,
    "infinite": -1,
    "-1": -1,
}


@pytest.mark.parametrize(("text", "number"), WEIGHTS.items())
def test_numbers(text: str, number: int) -> None:
    assert scalars.unsigned(text, "uint32") == number


def test_no_numbers() -> None:
    assert [text for text in REFUSED if scalars.unsigned(text, "uint32") is not None] == []
    assert (scalars.unsigned(""), scalars.unsigned("2k", "uint16"), scalars.unsigned("9" * 5000)) == (0, None, None)


def test_booleans_times_amounts_and_words() -> None:
    assert {text: scalars.boolean(text) for text in BOOLEANS} == BOOLEANS
    assert [scalars.boolean(text) for text in NEITHER] == [None] * len(NEITHER)
    assert {text: scalars.seconds_of(text) for text in LIMITS} == LIMITS
    assert [scalars.seconds_of(text) for text in ("1h", "-", "1-2-3", "1:2:3:4", "")] == [None] * 5
    assert [scalars.amount(text) for text in ("3", "2k", "1GB", "5x")] == [3, 2048, 1 << 30, None]
    assert scalars.words(" a, b,,c ") == ["a", "b", "c"]


@pytest.mark.real
def test_slurmctld_reads_the_same_numbers_and_times(slurm: SlurmInstall, tmp_path: Path) -> None:
    nodes = "".join(f"NodeName=n{place} CPUs=1 Weight={text}\n" for place, text in enumerate(WEIGHTS))
    (tmp_path / "slurm.conf").write_text(HEAD + nodes + "PartitionName=p Nodes=ALL Default=YES\n")
    report = read_config(slurm, tmp_path, timeout=300)
    assert report.started, report.complaints
    read = {name: int(text.partition(" Weight=")[2].split()[0]) for name, text in report.nodes.items()}
    assert read == {f"n{place}": number for place, number in enumerate(WEIGHTS.values())}


@pytest.mark.real
def test_commands_refuse_what_the_readers_refuse(slurm: SlurmInstall, tmp_path: Path) -> None:
    numbers = (*REFUSED, "2k", "30", "0x10", "010", " 7", "+5")
    lines = [f'SlurmctldTimeout="{text}"' for text in numbers]
    lines += [f"TrackWCKey={text}" for text in (*NEITHER, *BOOLEANS)]
    (tmp_path / "slurm.conf").write_text("\n".join(("ClusterName=c", "SlurmctldHost=localhost", *lines, "")))
    words = sandbox.run(sandbox.Sandbox(slurm.path, files=((tmp_path, "/etc/slurm"),)), ["sinfo"], timeout=300).stderr
    refused = re.findall(r'SlurmctldTimeout value "(.*)" is not a valid number', words)
    assert refused == [text for text in numbers if scalars.unsigned(text, "uint16") is None]
    assert re.findall(r'"(.*)" is not a valid option for "TrackWCKey"', words) == list(NEITHER)
