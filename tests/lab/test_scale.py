"""A smaller cluster is the same cluster: whatever names a node that went is gone, and the rest is valid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.cli.init import STARTERS
from clustergen.compile import Compiled
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import expand
from clustergen.lab.scale import parse, scaled
from clustergen.manifest.source import load

INVENTORIES = Path(__file__).parents[2] / "inventories"
CLUSTERS = sorted(path.parent.name for path in INVENTORIES.glob("*/manifest.yaml"))


def document(name: str) -> dict[str, Any]:
    data = load(INVENTORIES / name / "manifest.yaml").data
    assert isinstance(data, dict)
    return data


def validated(data: dict[str, Any], directory: Path) -> Compiled:
    place = directory / "manifest.yaml"
    place.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return compiler.validate(place)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("size", [1, 2])
def test_a_shrunk_cluster_is_valid_and_names_no_removed_node(name: str, size: int, tmp_path: Path) -> None:
    whole = document(name)
    small = scaled(whole, {None: size})
    compiled = validated(small, tmp_path)
    assert compiled.ok, [diagnostic.message for diagnostic in compiled.diagnostics]
    assert compiled.cluster is not None
    stay = set(compiled.cluster.hosts())
    left = {host for entry in whole["nodes"] for host in expand(entry["name"])} - stay
    tree, _ = compiler.render(compiled, tmp_path / "manifest.yaml")
    assert tree is not None
    text = b"\n".join(file.content for file in tree).decode()
    assert not [host for host in left if host in text]
    for kind in {group.type.name for group in compiled.cluster.compute}:
        assert sum(len(g.hosts) for g in compiled.cluster.compute if g.type.name == kind) <= size


def test_all_lists_shrink_together() -> None:
    small = scaled(document("ml-training"), {"h100": 3})
    compute = small["nodes"][-1]
    assert (compute["name"], compute["address"]) == ("compute[01-03]", "10.0.0.[11-13]")
    assert compute["addresses"] == {"bmc": "10.0.9.[11-13]", "fabric": "10.1.0.[11-13]"}
    assert small["slurm"]["partitions"]["gpu-training"]["nodes"] == "compute[01-03]"
    assert small["slurm"]["partitions"]["debug"]["nodes"] == "compute[01-02]"
    assert small["racks"]["rack1"]["nodes"] == "compute[01-03],slurm-head"
    assert small["racks"]["rack2"]["nodes"] == "monitor1,login1"
    assert small["networks"]["fabric"]["switches"][0]["nodes"] == "compute[01-03],login1,mds1,oss[1-4]"


def test_entries_without_a_node_left_are_removed() -> None:
    whole = document("ml-training")
    whole["slurm"]["partitions"]["late"] = {"nodes": "compute[07-08]"}
    whole["monitoring"]["targets"] = {"ipmi": ["compute08:9290", "login1:9290"]}
    small = scaled(whole, {"slurm-compute": 2, "monitoring": 0})
    assert "late" not in small["slurm"]["partitions"]
    assert small["racks"]["rack2"]["nodes"] == "login1"
    assert small["monitoring"]["targets"] == {"ipmi": ["login1:9290"]}
    assert [entry["name"] for entry in small["nodes"]] == ["slurm-head", "login1", "mds1", "oss[1-4]", "compute[01-02]"]


def test_a_partition_asks_for_no_more_nodes_than_there_are() -> None:
    small = scaled(document("ml-training"), {None: 1})
    assert small["slurm"]["partitions"]["debug"]["max_nodes"] == 1


def test_gpu_nodes_with_other_roles_count_as_compute_nodes(tmp_path: Path) -> None:
    """The role is theirs without being stated, and the one with the controller stays."""
    whole = yaml.safe_load(STARTERS["workstations"].read_text(encoding="utf-8"))
    head, others = whole["nodes"]
    head["roles"].remove("slurm-compute")
    others["roles"] = ["login"]
    whole["nodes"] = [others, head]
    cluster = validated(whole, tmp_path).cluster
    assert cluster is not None
    for size in ({None: 2}, {"slurm-compute": 3}):
        small = scaled(whole, size, cluster.hosts("slurm-compute"))
        assert [entry["name"] for entry in small["nodes"]] == (["ws2", "ws1"] if None in size else ["ws[2-3]", "ws1"])


def test_addresses_of_rails_and_macs_stay_with_their_nodes() -> None:
    whole = document("ml-training")
    whole["nodes"][-1]["addresses"]["fabric"] = ["10.1.0.[11-18]", "10.2.0.[11-14,24-27]"]
    whole["nodes"][-1]["macs"] = [f"52:54:00:00:00:{number}" for number in range(11, 19)]
    entry = scaled(whole, {"h100": 5})["nodes"][-1]
    assert entry["addresses"]["fabric"] == ["10.1.0.[11-15]", "10.2.0.[11-14,24]"]
    assert entry["macs"] == whole["nodes"][-1]["macs"][:5]


def test_loops_and_rows_are_without_racks_that_have_gone() -> None:
    whole = document("ml-training")
    rack = {"units": 48, "row": "z"}
    *others, gpus = whole["nodes"]
    more = {**gpus, "name": "extra[1-2]", "address": "10.0.0.[201-202]", "addresses": {}}
    whole["nodes"] = [*others, gpus, more]
    whole["racks"] |= {"r8": {**rack, "nodes": "extra1"}, "r9": {**rack, "nodes": "extra2"}}
    loop = {"share": "50%", "cdus": {"capacity": "1MW"}}
    whole["facility"] = {
        "loops": {"one": {**loop, "racks": "rack1,r8"}, "two": {**loop, "racks": "r9"}},
        "airflow": {"z": 90000},
    }
    facility = scaled(whole, {"extra[1-2]": 0})["facility"]
    assert (list(facility["loops"]), facility["loops"]["one"]["racks"], facility["airflow"]) == (["one"], "rack1", {})


def test_the_document_itself_stays_as_it_was() -> None:
    whole = document("ml-training")
    scaled(whole, {None: 1})
    assert whole == document("ml-training")


def test_enough_nodes_change_nothing() -> None:
    assert scaled(document("ml-training"), {None: 100}) == document("ml-training")


def test_words_of_the_command_line() -> None:
    assert parse(["3", "login=1", "compute[01-08]=2"]) == {None: 3, "login": 1, "compute[01-08]": 2}


@pytest.mark.parametrize("word", ["", "h100", "h100=", "=3", "h100=-1", "0", "1.5", "h100=²"])
def test_slips_of_the_command_line(word: str) -> None:
    with pytest.raises(ClustergenError) as answer:
        parse([word])
    assert answer.value.exit_code == 2


@pytest.mark.parametrize(
    ("group", "size", "words"),
    [("h10", 1, "did you mean 'h100'"), ("nothing-like-it", 1, "use one of "), ("h100", 9, "only 8")],
)
def test_groups_that_do_not_fit(group: str, size: int, words: str) -> None:
    with pytest.raises(ClustergenError) as answer:
        scaled(document("ml-training"), {group: size})
    assert answer.value.exit_code == 2
    assert words in f"{answer.value.message} {answer.value.hint}"


def test_a_lab_has_at_least_one_node() -> None:
    with pytest.raises(ClustergenError, match="no node"):
        scaled(document("home-3090"), {"server": 0})


def test_a_rack_that_goes_is_in_no_plan_of_switches() -> None:
    small = scaled(document("ml-training"), {"mds1": 0, "oss[1-4]": 0})
    assert set(small["racks"]) == {"rack1", "rack2"}
    assert small["networks"]["bmc"]["plan"] == {"leaf": "sn2201"}
