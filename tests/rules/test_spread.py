"""Jobs spread over racks: weights of slurm.conf, the nodes that a real slurmctld allocates, and the rack picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.hostlist import expand
from conftest import EACH_RELEASE, require_slurm
from effects.configuration import Configuration
from effects.measure import prepare, run
from strategies.slurm_trees import CPU, GPU, block, cluster
from strategies.trees import HEAD, codes_of, diagnostics_of, manifest

NODES = {"name": "n[1-4]", "type": "gpu", "address": "10.0.0.[41-44]"}
RACKS = {"r1": {"nodes": "n[1-2]"}, "r2": {"nodes": "n[3-4]"}}
SPREAD = {"resources": {"spread_racks": True}}


def spread(directory: Path, **changes: Any) -> Any:
    data = {"node_types": {"gpu": GPU}, "nodes": [HEAD, NODES], "racks": RACKS, "slurm": SPREAD, **changes}
    return cluster(directory, **data)


def weights(tree: Any) -> dict[str, str]:
    lines = block(tree, "NodeName")
    return {name: pairs.get("Weight", "") for names, pairs in lines.items() for name in expand(names)}


@pytest.mark.slow
def test_the_first_nodes_of_all_racks_come_before_the_second_of_any(tmp_path: Path) -> None:
    assert weights(spread(tmp_path)) == {"n1": "10", "n2": "11", "n3": "10", "n4": "11"}
    assert set(weights(spread(tmp_path, slurm={"partitions": {}})).values()) == {""}, "only on request"


@pytest.mark.slow
def test_node_types_keep_their_order(tmp_path: Path) -> None:
    """Jobs without GPUs use the last CPU node of a rack before any GPU node."""
    nodes = [HEAD, NODES, {"name": "c[01-24]", "type": "cpu", "address": "10.0.0.[51-74]"}]
    racks = {"r1": {"nodes": "n[1-2],c[01-12]"}, "r2": {"nodes": "n[3-4],c[13-24]"}}
    tree = spread(tmp_path, node_types={"gpu": GPU, "cpu": CPU}, nodes=nodes, racks=racks)
    numbers = {name: int(weight) for name, weight in weights(tree).items()}
    assert [numbers[f"n{number}"] for number in (1, 2, 3, 4)] == [1000, 1001, 1000, 1001]
    assert [numbers[name] for name in ("c01", "c12", "c13", "c24")] == [100, 111, 100, 111]


@pytest.mark.slow
def test_the_picture_shows_the_order(tmp_path: Path) -> None:
    picture = spread(tmp_path).files["facility/racks.svg"].content.decode()
    assert [re.findall(rf">{name} (#\d)<", picture) for name in ("n1", "n2", "n3")] == [["#1"], ["#2"], ["#1"]]
    assert "first node of the rack for jobs" in picture
    assert "#1<" not in spread(tmp_path, slurm={"partitions": {}}).files["facility/racks.svg"].content.decode()


def test_partitions_that_cannot_spread_are_reported(tmp_path: Path) -> None:
    slurm = {"version": "24.11", "resources": {"spread_racks": True}}
    assert "racks-not-spread" in codes_of(manifest(slurm=slurm), tmp_path)
    heavy = {"gpu": {**GPU, "weight": 4294967280}}
    data = manifest(slurm=slurm, racks={"r1": {"nodes": "c[1-2]"}, "r2": {"nodes": "c[3-4]"}}, node_types=heavy)
    (one,) = (one for one in diagnostics_of(data, tmp_path) if one.code == "racks-not-spread")
    assert one.hint == "write weights up to 429496728"


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("release", EACH_RELEASE)
def test_slurm_allocates_a_node_of_each_rack(
    release: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two jobs of a node, and then one of two nodes, are on both racks; without weights, on n1, n2, n[3-4]."""
    directory = tmp_path_factory.getbasetemp() / "prepared"
    install = require_slurm(release)
    prepare(install, directory)
    assert placed(release, install, weights(spread(tmp_path)), directory) == ["n1", "n3", "n[2,4]"]


def placed(release: str, install: Any, weight: dict[str, str], directory: Path) -> list[str]:
    """Nodes of three jobs that run side by side, on nodes with these weights."""
    configuration = Configuration(release, database=False)
    (common,) = configuration.nodes.values()
    configuration.nodes = {
        f"n{number}": {
            **common,
            "NodeAddr": f"10.99.7.1{number}",
            "Weight": weight[f"n{number}"],
        }
        for number in range(1, 5)
    }
    submit = "; ".join(
        f"sbatch -J j{number} -N {count} --exclusive -t 5 -o /dev/null --wrap 'sleep 60'"
        for number, count in enumerate((1, 1, 2))
    )
    running = "".join(rf"(?=.*^j{number}\|RUNNING)" for number in range(3))
    spec = {
        "layers": [str(directory / release), str(install.path)],
        "database": False,
        "after_database": "",
        "files": configuration.texts(),
        "before": "",
        "nodes": ["n1", "n2", "n3", "n4"],
        "install": {},
        "ask": [
            ("alice", submit, r"(?s)(Submitted.*){3}"),
            ("root", "squeue -ahS i -o '%j|%T|%N'", f"(?s){running}"),
        ],
    }
    *_, queue = run(spec, directory / f"spread-{release}")
    return [line.rpartition("|")[2] for line in sorted(queue.splitlines()) if line.startswith("j")]
