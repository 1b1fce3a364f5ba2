"""Readings of the programs that no distribution has, from outputs in the form of IOR 4.1 and mdtest 4.1."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[2] / "playbooks/ansible_collections/clustergen/cluster/roles/accept/files/programs"
IOR = """\
IOR-4.1.0: MPI Coordinated Test of Parallel I/O
Options:
nodes               : 2
tasks               : 16
Results:
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
WARNING: Using actual aggregate bytes moved = 68719476736
write     2000.00    2010.10    0.003616    4194304    1024.00    0.000295   32.7       0.013842   32.8       0
read      4000.00    4010.20    0.000057    4194304    1024.00    0.000007   16.3       0.000066   16.4       0
Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)
write        2000.00    2000.00    2000.00
read         4000.00    4000.00    4000.00
"""
MDTEST = """\
mdtest-4.1.0 was launched with 16 total task(s) on 2 node(s)
WARNING: Read bytes is 0, thus, a read test will actually just open/close
SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File creation               14771.319      14771.319      14771.319          0.000
   File stat                  138461.223     138461.223     138461.223          0.000
   File read                  109254.299     109254.299     109254.299          0.000
   File removal                32706.460      32706.460      32706.460          0.000
   Tree creation                  49.395         49.395         49.395          0.000
"""
REFUSED = "ERROR: Cannot create file '/work/x', errno 28, No space left on device (aiori-POSIX.c:512)\n"


def printed(program: str, output: str, folder: Path) -> set[str]:
    """What the gate prints on the first task where its program prints `output`."""
    place = folder / "bin" / program
    place.parent.mkdir()
    place.write_text(f"#!/bin/sh\ncat <<'END'\n{output}END\n", encoding="utf-8")
    place.chmod(0o755)
    variables = {
        "PATH": f"{place.parent}{os.pathsep}{os.environ['PATH']}",
        "SLURM_PROCID": "0",
        "SLURM_JOB_ID": "7",
        "GATE_PML": "ob1",
        "GATE_SECONDS": "1",
        "GATE_SIZE": "8m",
        "GATE_DIRECTORY": str(folder),
    }
    done = subprocess.run(
        ["bash", str(PROGRAMS / f"{program}.sh")], env=variables, capture_output=True, text=True, timeout=30, check=True
    )
    assert not list(folder.glob(".clustergen*")), "the gate removes its directory"
    return set(done.stdout.splitlines())


@pytest.mark.parametrize(
    ("program", "output", "readings"),
    [
        ("ior", IOR, {"ranks 16", "hosts 2", "write 2.097152", "read 4.194304"}),
        ("mdtest", MDTEST, {"ranks 16", "hosts 2", "create 14771.3", "stat 138461.2", "unlink 32706.5"}),
    ],
)
def test_readings_are_those_of_the_program(program: str, output: str, readings: set[str], tmp_path: Path) -> None:
    assert printed(program, output, tmp_path) == {f"@reading {reading}" for reading in readings}


@pytest.mark.parametrize("program", ["ior", "mdtest"])
def test_an_error_is_the_reason(program: str, tmp_path: Path) -> None:
    assert printed(program, REFUSED, tmp_path) == {f"@why {program}: {REFUSED.strip()}"}
