"""Readings of the programs that no distribution has, from outputs in the form of IOR 4.1 and mdtest 4.1.

Programs that run as root where users can write follow nothing that a user planted.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[3] / "playbooks/ansible_collections/clustergen/cluster/roles/accept/files/programs"
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


def run(program: str, directory: Path, task: int = 0) -> subprocess.CompletedProcess[str]:
    """The gate as task `task` of job 7, with the programs of `directory`/bin first on its PATH."""
    variables = {
        "PATH": f"{directory}/bin{os.pathsep}{os.environ['PATH']}",
        "SLURM_PROCID": str(task),
        "SLURM_NTASKS": "2",
        "SLURM_JOB_ID": "7",
        "TMPDIR": str(directory),
        "GATE_PML": "ob1",
        "GATE_SECONDS": "1",
        "GATE_SIZE": "8m",
        "GATE_JOBS": "1",
        "GATE_DIRECTORY": str(directory),
        "GATE_WRITE": "yes",
    }
    command = ["bash", str(PROGRAMS / f"{program}.sh")]
    return subprocess.run(
        command, env=variables, cwd=directory, capture_output=True, text=True, timeout=300, check=False
    )


def printed(program: str, output: str, directory: Path) -> set[str]:
    """Lines that the gate prints on the first task if its program prints `output`."""
    place = directory / "bin" / program
    place.parent.mkdir()
    place.write_text(f"#!/bin/sh\ncat <<'END'\n{output}END\n", encoding="utf-8")
    place.chmod(0o755)
    done = run(program, directory)
    assert done.returncode == 0
    assert not list(directory.glob(".clustergen*")), "the gate removes its directory"
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


def programs_of(directory: Path, **programs: str) -> None:
    for name, body in {"sleep": "", "mountpoint": "", **programs}.items():
        place = directory / "bin" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        place.chmod(0o755)


WRITERS = {"ior": "", "mdtest": "", "linpack": "", "storage": ".0", "metadata": ".0"}


@pytest.mark.slow
@pytest.mark.parametrize("task", [0, 1])
@pytest.mark.parametrize("program", WRITERS)
def test_root_writes_in_no_directory_that_a_user_planted(program: str, task: int, tmp_path: Path) -> None:
    """A link to another directory of root's stands where the gate makes its own; task 1 waits for that of task 0."""
    write = "echo overwritten >file; touch hpccinf.txt"
    programs_of(tmp_path, ior=write, mdtest=write, hpcc=write, fio=write)
    victim = tmp_path / "victim"
    victim.mkdir()
    planted = tmp_path / f".clustergen-accept.7{WRITERS[program].replace('0', str(task))}"
    if program == "linpack":
        planted = tmp_path / "clustergen-accept.7"
    planted.symlink_to(victim)
    done = run(program, tmp_path, task)
    assert "@why " in done.stdout
    assert "@reading" not in done.stdout
    assert not list(victim.iterdir())
    assert planted.is_symlink()
    if program in ("ior", "mdtest", "linpack"):
        assert done.returncode == 1, "srun ends the other tasks"


def test_a_mounts_gate_follows_no_planted_link(tmp_path: Path) -> None:
    """The name cannot be guessed; where it is, the file is not opened."""
    programs_of(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("kept", encoding="utf-8")
    (tmp_path / ".clustergen-accept.7.0").symlink_to(victim)
    assert run("mounts", tmp_path).stdout == "@reading failed 0\n"
    (tmp_path / "guessed").symlink_to(victim)
    programs_of(tmp_path, mktemp=f"echo {tmp_path}/guessed")
    assert run("mounts", tmp_path).stdout.splitlines()[-1] == "@reading failed 1"
    assert victim.read_text(encoding="utf-8") == "kept"
