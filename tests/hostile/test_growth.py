"""Twice as many lines take about twice the work. It is counted in calls of functions, on which the machine's load has
no influence: work that grows with the square of the lines is four times as much.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from clustergen.cluster.model import Cluster
from clustergen.compile import validate
from clustergen.diagnostics import ClustergenError
from clustergen.features.facility.bill import bill
from clustergen.features.facility.readme_cooling import cooling_tables
from clustergen.features.facility.readme_room import room_tables
from clustergen.importer.directory import import_directory
from clustergen.lint.run import lint
from clustergen.manifest.source import load
from clustergen.rules.loops import loop_capacity, rack_without_loop, row_airflow
from clustergen.rules.racks import rack_checks

FEW = 150  # lines
MOST = 2.3
HEAD = "ClusterName=c\nSlurmctldHost=ctl\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\n"
NODES = "NodeName=n[1-2] CPUs=4 Gres=gpu:2\nGresTypes=gpu\nPartitionName=p Nodes=ALL Default=YES\n"
TREE = NODES + "TopologyPlugin=topology/tree\n"

Files = Callable[[int], dict[str, str]]
"""Number of lines → file → text."""
Plan = Callable[[Cluster], Iterable[object]]
PLANS: tuple[Plan, ...] = (
    rack_checks,
    rack_without_loop,
    loop_capacity,
    row_airflow,
    cooling_tables,
    room_tables,
    bill,
)


def conf(head: str, line: str, file: str = "slurm.conf") -> Files:
    """One line again and again, with its number in the place of `{}`."""

    def files(lines: int) -> dict[str, str]:
        text = "".join(line.replace("{}", str(number)) for number in range(lines))
        return {"slurm.conf": HEAD + head + text} if file == "slurm.conf" else {"slurm.conf": HEAD + head, file: text}

    return files


def joined(head: str, start: str, part: str, file: str = "slurm.conf") -> Files:
    """One line of many parts."""

    def files(parts: int) -> dict[str, str]:
        text = start + "".join(part.replace("{}", str(number)) for number in range(parts)) + "\n"
        return {"slurm.conf": HEAD + head + text} if file == "slurm.conf" else {"slurm.conf": HEAD + head, file: text}

    return files


def entries(number: int) -> dict[str, str]:
    """A manifest with a node for each line."""
    node = '  - {{name: "c{0}", type: h100, address: 10.0.0.{0}, roles: [login], addresses: {{bmc: 10.1.0.{0}}}}}\n'
    return {"manifest.yaml": "name: x\nnodes:\n" + "".join(node.format(line) for line in range(number))}


def room(racks: int) -> str:
    """A manifest with a node, a rack, and for two of three racks a loop, for each line."""
    node = '  - {{name: "c{0}", type: h100, address: 10.0.{1}.{2}}}\n'
    loop = '    l{0}: {{racks: r{0}, share: "70%", cdus: {{capacity: 40kW}}}}\n'
    numbers = range(1, racks + 1)
    return (
        "name: x\nos: debian-13\nnetworks: {management: {cidr: 10.0.0.0/16}}\n"
        "node_types: {h100: {system: dgx-gb200}}\nnodes:\n"
        + "".join(node.format(number, number >> 8, number & 255) for number in numbers)
        + "racks:\n"
        + "".join(f"  r{number}: {{nodes: c{number}, row: a{number}}}\n" for number in numbers)
        + "facility:\n  loops:\n"
        + "".join(loop.format(number) for number in numbers if number % 3)
    )


LINT: dict[str, Files] = {
    "a line for every node": conf("", "NodeName=n{} NodeAddr=10.0.0.{} Sockets=2 CoresPerSocket=32 Feature=a,b\n"),
    "node sets in partitions": conf(NODES, "NodeSet=s{} Nodes=n1\nPartitionName=q{} Nodes=s{}\n"),
    "old keys on one line": joined("", "NodeName=n1", " Procs={}"),
    "bad values on DEFAULT lines": conf(NODES, "PartitionName=DEFAULT MaxTime=x{}\nPartitionName=q{} Nodes=n1\n"),
    "a chain of switches": conf(TREE, "SwitchName=s{} Switches=s{}1\n", "topology.conf"),
}
IMPORT: dict[str, Files] = {
    "partitions of unknown nodes": conf(NODES, "PartitionName=q{} Nodes=u{}\n"),
    "kinds of nodes": conf("PartitionName=p Nodes=ALL\n", "NodeName=n{} CPUs=4 RealMemory={}00000\n"),
    "GPUs of every node's own": conf("GresTypes=gpu\n", "NodeName=n{} Gres=gpu:t{}:2\n"),
    "node sets by feature": conf("", "NodeName=n{} Feature=f{}\nNodeSet=s{} Feature=f{}\n"),
    "unknown switches": conf(TREE, "SwitchName=s{} Switches=u{}\n", "topology.conf"),
}


def calls(work: Callable[[Path], object], place: Path) -> int:
    """How many functions are called, generators that go on among them."""
    count = 0

    def counted(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work(place)
    finally:
        sys.setprofile(None)
    return count


def growth(work: Callable[[Path], object], files: Files, place: Path) -> float:
    """How many times as much work twice the lines are."""
    counts = []
    for index, number in enumerate((FEW // 10, FEW, 2 * FEW)):  # the first fills caches
        directory = place / str(index)
        directory.mkdir()
        for name, text in files(number).items():
            (directory / name).write_text(text)
        counts.append(calls(work, directory))
    return counts[2] / counts[1]


def ids(cases: Iterable[str]) -> list[str]:
    return [case.replace(" ", "-") for case in cases]


@pytest.mark.slow
def test_loading_a_manifest_grows_with_its_entries(tmp_path: Path) -> None:
    assert growth(lambda place: load(place / "manifest.yaml"), entries, tmp_path) < MOST


@pytest.mark.slow
def test_the_plan_of_a_room_grows_with_its_racks(tmp_path: Path) -> None:
    clusters = []
    for racks in (FEW // 10, FEW, 2 * FEW):
        (tmp_path / "manifest.yaml").write_text(room(racks))
        clusters.append(validate(tmp_path / "manifest.yaml").cluster)
    for plan in PLANS:
        _, once, twice = (calls(partial(_planned, plan, cluster), tmp_path) for cluster in clusters if cluster)
        assert twice / once < MOST, plan.__name__


def _planned(plan: Plan, cluster: Cluster, _: Path) -> object:
    return tuple(plan(cluster))


@pytest.mark.slow
@pytest.mark.parametrize("files", LINT.values(), ids=ids(LINT))
def test_lint_grows_with_the_lines(files: Files, tmp_path: Path) -> None:
    assert growth(lint, files, tmp_path) < MOST


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("files", IMPORT.values(), ids=ids(IMPORT))
def test_import_grows_with_the_lines(files: Files, tmp_path: Path) -> None:
    assert growth(import_directory, files, tmp_path) < MOST


@pytest.mark.slow
def test_import_ends_where_no_manifest_would_be_read(tmp_path: Path) -> None:
    lines = "".join(f"PartitionName=q{number} Nodes=n1 MaxTime=1\n" for number in range(16_000))
    (tmp_path / "slurm.conf").write_text(HEAD + NODES + lines)
    with pytest.raises(ClustergenError, match="more than 30,000 values"):
        import_directory(tmp_path)
