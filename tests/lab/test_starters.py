"""The first job of each starter of `clustergen init`, as the guide for users shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustergen.cli.init import SMALL, STARTERS
from clustergen.compile import validate
from strategies.lab_nodes import LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "test-starter"
SUBNET = "10.89.208.0/24"
# The pod has Ubuntu, of which the lab makes no image; a workstation is the server of the others' homes.
OPTIONS = {"dgx-pod": ("--scale", "1", "--os", "debian-13", "--slurm", "24.11"), "workstations": ("--scale", "2")}


@pytest.fixture
def starter(kind: str, tmp_path: Path) -> Iterator[LabNodes]:
    """The cluster of a starter with one node of each type, or two, applied."""
    made = LabNodes(tmp_path, NAME, STARTERS[kind].read_text(encoding="utf-8"))
    try:
        made.verb("up", "--installed", "--subnet", SUBNET, *OPTIONS.get(kind, ("--scale", "1")))
        made.verb("apply")
        yield made
    finally:
        made.verb("down")


@pytest.mark.parametrize(
    "kind", [kind if kind == SMALL else pytest.param(kind, marks=pytest.mark.long) for kind in STARTERS]
)
def test_a_user_runs_the_first_job_of_the_guide(starter: LabNodes, kind: str) -> None:
    cluster = validate(starter.work.manifest).cluster
    assert cluster is not None
    login = cluster.hosts("login")[0]
    guide = starter.out(login, "cat /usr/local/share/doc/cluster/guide.md")
    shown = re.search(r"## First job\n.*?```sh\n(.*?)```", guide, re.DOTALL)
    assert shown is not None, guide
    starter.waits(login, "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")
    output = starter.out(login, f"runuser -l alice <<'END'\n{shown[1]}END", timeout=400)
    compute = "|".join(cluster.hosts("slurm-compute"))
    assert set(re.findall(rf"^task (\d) of 10 on (?:{compute})\b", output, re.MULTILINE)) == set("0123456789"), output
