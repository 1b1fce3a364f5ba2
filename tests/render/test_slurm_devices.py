"""gres.conf and the fabric's topology: the graph of the manifest as the tree and blocks that Slurm takes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clustergen.cluster.slurm.keys.devices import gpu_counts
from clustergen.cluster.slurm.keys.gres import device_runs
from clustergen.cluster.slurm.keys.topology import tree
from clustergen.cluster.slurm.model import Leaf
from clustergen.hostlist import count, expand
from strategies.slurm_trees import CPU, block, cluster, gpu_type, opened, settings
from strategies.trees import COMPUTE, HEAD, codes_of, manifest, node_files, text_of

# --- GPUs -------------------------------------------------------------------------------------------------------------


def gres(directory: Path, release: str = "24.11", **gpus: Any) -> list[dict[str, str]]:
    return opened(cluster(directory, release, node_types=gpu_type(**gpus)), "NodeName", file="gres.conf")


def test_every_gpu_has_its_device_file_and_the_cores_of_its_socket(tmp_path: Path) -> None:
    first, second = gres(tmp_path)
    assert (first["NodeName"], first["Name"], first["Type"]) == ("c[1-4]", "gpu", "h100")
    assert (first["File"], first["Cores"]) == ("/dev/nvidia[0-3]", "0-31")
    assert (second["File"], second["Cores"]) == ("/dev/nvidia[4-7]", "32-63")


def test_slurm_conf_counts_what_gres_conf_lists(tmp_path: Path) -> None:
    made = cluster(tmp_path, node_types=gpu_type(shards=4))
    listed = opened(made, "NodeName", file="gres.conf")
    counted = block(made, "NodeName")["c[1-4]"]["Gres"].split(",")
    files = sum(count(line["File"].removeprefix("/dev/")) for line in listed if line["Name"] == "gpu")
    assert counted == [f"gpu:h100:{files}", "shard:32"]
    assert [line["Count"] for line in listed if line["Name"] == "shard"] == ["32"]
    assert settings(made)["GresTypes"] == "gpu,shard"


OTHER_GRES = {"localtmp": "900GiB", "license": 4, "nic": {"files": "/dev/infiniband/uverbs[0-3]", "type": "cx7"}}


def test_other_gres_beside_gpus_and_without(tmp_path: Path) -> None:
    types = {
        "gpu": {**gpu_type()["gpu"], "gres": OTHER_GRES},
        "cpu": {**CPU, "gres": {"fpga": {"count": 2, "flags": ["one_sharing"]}}},
    }
    cpus = {"name": "p[1-2]", "type": "cpu", "address": "10.0.0.[31-32]"}
    made = cluster(tmp_path, node_types=types, nodes=[HEAD, COMPUTE, cpus])
    nodes = block(made, "NodeName")
    assert nodes["c[1-4]"]["Gres"] == "gpu:h100:8,localtmp:900G,license:4,nic:cx7:4"
    assert nodes["p[1-2]"]["Gres"] == "fpga:2"
    assert settings(made)["GresTypes"] == "gpu,localtmp,license,nic,fpga"
    tracked = "gres/gpu,gres/gpu:h100,gres/localtmp,gres/license,gres/nic,gres/nic:cx7,gres/fpga"
    assert settings(made)["AccountingStorageTRES"] == tracked
    lines = {line.pop("Name"): line for line in opened(made, "NodeName", file="gres.conf")}
    assert lines["localtmp"] == {"NodeName": "c[1-4]", "Count": "900G", "Flags": "CountOnly"}
    assert lines["nic"] == {"NodeName": "c[1-4]", "Type": "cx7", "File": "/dev/infiniband/uverbs[0-3]"}
    assert lines["fpga"] == {"NodeName": "p[1-2]", "Count": "2", "Flags": "one_sharing"}


@pytest.mark.parametrize(
    ("gres", "code"),
    [
        ({"gpu": 4}, "name-reserved"),
        ({"fpga": {"count": 4, "files": "/dev/fpga[0-1]"}}, "gres-count"),
        ({"fpga": {"type": "u280"}}, "gres-count"),
        ({"Local": 4}, "text-malformed"),
        ({"local": "900Gb"}, "text-malformed"),
    ],
)
def test_gres_that_nobody_can_count(gres: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of(manifest(node_types={"gpu": {**gpu_type()["gpu"], "gres": gres}}), tmp_path)


def test_an_option_does_not_replace_the_field(tmp_path: Path) -> None:
    kind = {**gpu_type()["gpu"], "gres": OTHER_GRES, "slurm_options": {"Gres": "gpu:8"}}
    for defaults in ("recommended", "slurm"):
        data = manifest(node_types={"gpu": kind}, slurm={"version": "24.11", "defaults": defaults})
        assert "slurm-key-managed" in codes_of(data, tmp_path)


def test_nvlinks_between_gpus_make_a_line_for_each(tmp_path: Path) -> None:
    lines = gres(tmp_path, count=2, numa=[0, 1], links=[[-1, 4], [4, -1]])
    assert [line["Links"] for line in lines] == ["-1,4", "4,-1"]


def test_detected_gpus_have_no_device_files(tmp_path: Path) -> None:
    (line,) = gres(tmp_path, autodetect="nvml")
    assert line == {"NodeName": "c[1-4]", "AutoDetect": "nvml"}


def test_gpus_of_unknown_place_claim_no_cores(tmp_path: Path) -> None:
    types = {"gpu": {**gpu_type()["gpu"], "numa_as_socket": True}}
    types["gpu"]["cpu"] = {"sockets": 2, "cores_per_socket": 32, "numa_per_socket": 4}
    types["gpu"]["gpus"] = {"model": "h100-sxm", "count": 8}
    lines = opened(cluster(tmp_path, node_types=types), "NodeName", file="gres.conf")
    assert [line["File"] for line in lines] == ["/dev/nvidia[0-7]"]
    assert "Cores" not in lines[0]


def test_options_join_the_lines_of_gpus_and_no_others(tmp_path: Path) -> None:
    made = cluster(tmp_path, node_types=gpu_type(shards=1), slurm={"gres_options": {"Flags": "no_gpu_env"}})
    lines = opened(made, "NodeName", file="gres.conf")
    assert [line.get("Flags") for line in lines] == ["no_gpu_env", "no_gpu_env", None]


def mig(directory: Path) -> Any:
    plans = {"seven": {"profiles": {"1g.10gb": 7}}, "mixed": {"profiles": {"3g.40gb": 1, "1g.10gb": 4}}}
    kind = gpu_type(mig={0: "seven", 1: "mixed"})
    return cluster(directory, node_types=kind, gpu={"mig_plans": plans})


def test_mig_instances_are_counted_one_by_one_beside_whole_gpus(tmp_path: Path) -> None:
    made = mig(tmp_path)
    words = dict(word.rpartition(":")[::2] for word in block(made, "NodeName")["c[1-4]"]["Gres"].split(","))
    assert sum(map(int, words.values())) == 7 + 1 + 4 + 6
    assert words["gpu:h100"] == "6"
    profiles = {name.rpartition("_")[2]: number for name, number in words.items() if name != "gpu:h100"}
    assert profiles == {"1g.10gb": "11", "3g.40gb": "1"}
    tres = settings(made)["AccountingStorageTRES"].split(",")
    assert {f"gres/{name}" for name in words} <= set(tres)
    assert [line["AutoDetect"] for line in opened(made, "NodeName", file="gres.conf")] == ["nvml"]


def test_the_lock_file_has_the_device_files_and_the_disk_of_a_node(tmp_path: Path) -> None:
    disks = [{"device": f"sd{n}", "size": "1TiB", "use": use} for n, use in enumerate(("system", "scratch", "scratch"))]
    types = {"cards": {**CPU, "disks": disks, "gres": {"fpga": {"files": "/dev/fpga[0-1]"}, "localtmp": "900GiB"}}}
    types["bare"] = {**CPU, "gres": {"nic": 2}}
    nodes = [{"name": f"{kind}1", "type": kind, "address": f"10.0.0.1{n}"} for n, kind in enumerate(types)]
    lines = [
        {"NodeName": "bare1", "Name": "nic", "File": "/dev/infiniband/uverbs[0-1]"},
        {"NodeName": "other", "Name": "nic", "File": "/dev/nic0"},
        {"Name": "gpu", "File": "/dev/nvidia0"},
    ]

    def hardware(directory: str, **changes: Any) -> list[tuple[tuple[str, ...], int]]:
        (tmp_path / directory).mkdir()
        slurm = {"gres_lines": lines, **changes.pop("slurm", {})}
        made = cluster(tmp_path / directory, node_types=types, nodes=[HEAD, *nodes], slurm=slurm, **changes)
        return [(one.devices, one.disk) for one in made.hardware.values()]

    nics = ("/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1")
    assert sorted(hardware("local")) == [(("/dev/fpga0", "/dev/fpga1"), 2 << 20), (nics, 0)]
    scratch = {"type": "nfs", "server": "10.0.0.9", "path": "/s", "mount": "/scratch"}
    shared = hardware("shared", storage={"scratch": scratch}, slurm={"options": {"TmpFS": "/scratch/tmp"}})
    assert [disk for _, disk in shared] == [0, 0]


@pytest.mark.slow
def test_types_of_instances_may_be_shorter_or_none_at_all(tmp_path: Path) -> None:
    plan = {"mig_plans": {"seven": {"profiles": {"1g.10gb": 7}}}}
    short = cluster(tmp_path, node_types=gpu_type(mig={0: "seven"}, mig_prefix="hbm3"), gpu=plan)
    assert block(short, "NodeName")["c[1-4]"]["Gres"] == "gpu:hbm3_1g.10gb:7,gpu:h100:7"
    profile = cluster(tmp_path, node_types=gpu_type(mig="seven", mig_prefix=False), gpu=plan)
    assert block(profile, "NodeName")["c[1-4]"]["Gres"] == "gpu:1g.10gb:56"
    plain = cluster(tmp_path, node_types=gpu_type(mig={0: "seven"}, gres_type=False), gpu=plan)
    assert block(plain, "NodeName")["c[1-4]"]["Gres"] == "gpu:14"
    assert "gres/gpu:" not in settings(plain)["AccountingStorageTRES"]


def test_gpus_without_types(tmp_path: Path) -> None:
    made = cluster(tmp_path, node_types=gpu_type(gres_type=False))
    assert block(made, "NodeName")["c[1-4]"]["Gres"] == "gpu:8"
    assert all("Type" not in line for line in opened(made, "NodeName", file="gres.conf"))


def test_a_gpu_that_nobody_knows_has_the_type_that_is_stated(tmp_path: Path) -> None:
    made = cluster(tmp_path, node_types=gpu_type(model="unknown", gres_type="fermi"))
    assert block(made, "NodeName")["c[1-4]"]["Gres"] == "gpu:fermi:8"
    assert {line["Type"] for line in opened(made, "NodeName", file="gres.conf")} == {"fermi"}


def test_a_cluster_without_gpus_has_no_gres(tmp_path: Path) -> None:
    networks = {"management": {"cidr": "10.0.0.0/24"}}
    nodes = [HEAD, {"name": "n[1-2]", "type": "cpu", "address": "10.0.0.[31-32]"}]
    made = cluster(tmp_path, node_types={"cpu": CPU}, nodes=nodes, networks=networks)
    assert "/etc/slurm/gres.conf" not in node_files(made, "head")
    assert "GresTypes" not in settings(made)
    assert "Gres" not in block(made, "NodeName")["n[1-2]"]


@pytest.mark.slow
@given(st.lists(st.sampled_from(["0-31", "32-63", "64-95"]), min_size=1, max_size=16))
def test_runs_cover_every_gpu_once_and_never_mix_cores(cores: list[str]) -> None:
    gpus = SimpleNamespace(count=len(cores), cores=tuple(cores), links=(), mig=(), gres_type="x")
    runs = device_runs(gpus)  # type: ignore[arg-type]
    assert [index for run in runs for index in run] == list(range(len(cores)))
    assert all(len({cores[index] for index in run}) == 1 for run in runs)
    assert all(cores[one[-1]] != cores[two[0]] for one, two in pairwise(runs))
    assert gpu_counts(gpus) == {"x": len(cores)}  # type: ignore[arg-type]


# --- topology ---------------------------------------------------------------------------------------------------------


def fabric(*switches: dict[str, Any]) -> dict[str, Any]:
    return {
        "management": {"cidr": "10.0.0.0/24"},
        "fabric": {"type": "infiniband", "rate": "NDR", "switches": list(switches)},
    }


def up(*names: str) -> list[dict[str, Any]]:
    return [{"to": name, "links": 1} for name in names]


def tree_lines(directory: Path, *switches: dict[str, Any], **changes: Any) -> dict[str, dict[str, str]]:
    return block(cluster(directory, networks=fabric(*switches), **changes), "SwitchName", file="topology.conf")


def reach(lines: dict[str, dict[str, str]], name: str) -> set[str]:
    """Every node below a switch; RecursionError where the lines are no tree."""
    line = lines[name]
    assert ("Nodes" in line) != ("Switches" in line), "a switch has nodes or switches"
    if "Nodes" in line:
        return set(expand(line["Nodes"]))
    return {node for child in expand(line["Switches"]) for node in reach(lines, child)}


def is_one_tree(lines: dict[str, dict[str, str]], nodes: set[str]) -> bool:
    children = [child for line in lines.values() if "Switches" in line for child in expand(line["Switches"])]
    tops = [name for name in lines if name not in children]
    named = [node for line in lines.values() if "Nodes" in line for node in expand(line["Nodes"])]
    unique = len(children) == len(set(children)) and len(named) == len(set(named))
    return unique and len(tops) == 1 and reach(lines, tops[0]) == nodes


ALL = {"c1", "c2", "c3", "c4"}


def test_all_spines_together_are_one_switch(tmp_path: Path) -> None:
    lines = tree_lines(
        tmp_path,
        {"name": "leaf1", "nodes": "c[1-2]", "uplinks": up("spine[1-2]")},
        {"name": "leaf2", "nodes": "c[3-4]", "uplinks": up("spine[1-2]")},
        {"name": "spine[1-2]"},
    )
    assert lines["spine1"]["Switches"] == "leaf[1-2]"
    assert "spine2" not in lines
    assert is_one_tree(lines, ALL)


def test_pods_below_a_core_are_three_levels(tmp_path: Path) -> None:
    lines = tree_lines(
        tmp_path,
        *({"name": f"leaf{n}", "nodes": f"c{n}", "uplinks": up(f"spine{(n + 1) // 2}")} for n in (1, 2, 3, 4)),
        {"name": "spine1", "uplinks": up("core[1-2]")},
        {"name": "spine2", "uplinks": up("core[1-2]")},
        {"name": "core[1-2]"},
    )
    assert lines["spine1"]["Switches"] == "leaf[1-2]"
    assert lines["core1"]["Switches"] == "spine[1-2]"
    assert is_one_tree(lines, ALL)


def test_leaves_of_all_rails_are_one_leaf(tmp_path: Path) -> None:
    lines = tree_lines(
        tmp_path,
        *({"name": f"r{n}", "nodes": "c[1-2]", "rail": n, "uplinks": up("spine1")} for n in (0, 1)),
        *({"name": f"s{n}", "nodes": "c[3-4]", "rail": n, "uplinks": up("spine1")} for n in (0, 1)),
        {"name": "spine1"},
    )
    assert {name: line.get("Nodes") for name, line in lines.items()} == {"r0": "c[1-2]", "s0": "c[3-4]", "spine1": None}
    assert is_one_tree(lines, ALL)


def test_only_nodes_that_run_slurmd_are_named(tmp_path: Path) -> None:
    lines = tree_lines(tmp_path, {"name": "leaf1", "nodes": "head,c[1-4]"})
    assert lines == {"leaf1": {"SwitchName": "leaf1", "Nodes": "c[1-4]"}}


def test_blocks_are_the_leaves_and_their_sizes_doubles_of_the_smallest(tmp_path: Path) -> None:
    switches = [{"name": f"leaf{n}", "nodes": f"c{n}", "uplinks": up("spine1")} for n in (1, 2, 3, 4)]
    networks = fabric(*switches, {"name": "spine1"})
    made = cluster(tmp_path, networks=networks, slurm={"topology": {"plugin": "block"}})
    assert list(block(made, "BlockName", file="topology.conf")) == ["leaf1", "leaf2", "leaf3", "leaf4"]
    assert settings(made, file="topology.conf")["BlockSizes"] == "1,2,4"
    assert settings(made)["TopologyPlugin"] == "topology/block"


@pytest.mark.parametrize("plugin", ["tree", "block", "flat"])
def test_topology_yaml_takes_the_place_of_plugin_and_conf(plugin: str, tmp_path: Path) -> None:
    networks = fabric(
        {"name": "on", "nodes": "c[1-2]", "uplinks": up("y")},
        {"name": "no", "nodes": "c[3-4]", "uplinks": up("y")},
        {"name": "y"},
    )
    made = cluster(tmp_path, "25.05", networks=networks, slurm={"topology": {"plugin": plugin, "format": "yaml"}})
    assert "/etc/slurm/topology.conf" not in node_files(made, "head")
    assert "TopologyPlugin" not in settings(made)
    (data,) = yaml.safe_load(text_of(made, "head", "/etc/slurm/topology.yaml"))
    assert data.pop("cluster_default") is True
    assert data.pop("topology") == "fabric"
    expected: dict[str, Any] = {
        "flat": {"flat": True},
        "tree": {
            "tree": {
                "switches": [
                    {"switch": "on", "nodes": "c[1-2]"},
                    {"switch": "no", "nodes": "c[3-4]"},
                    {"switch": "y", "children": "on,no"},
                ]
            }
        },
        "block": {
            "block": {
                "block_sizes": [2, 4],
                "blocks": [{"block": "on", "nodes": "c[1-2]"}, {"block": "no", "nodes": "c[3-4]"}],
            }
        },
    }
    assert data == expected[plugin]


@pytest.mark.slow
@given(st.data())
def test_any_fabric_becomes_one_tree_that_names_every_node_once(data: st.DataObject) -> None:
    hosts = [f"n{n}" for n in range(data.draw(st.integers(1, 12)))]
    tops = [f"core{n}" for n in range(data.draw(st.integers(0, 2)))]
    spines = [f"spine{n}" for n in range(data.draw(st.integers(0, 4)))]
    above = {name: tuple(data.draw(st.lists(st.sampled_from(tops), unique=True))) if tops else () for name in spines}
    uppers = spines + tops
    leaves = []
    for n in range(data.draw(st.integers(1, 5))):
        nodes = tuple(data.draw(st.lists(st.sampled_from([*hosts, "stranger"]), min_size=1, unique=True)))
        parents = tuple(data.draw(st.lists(st.sampled_from(uppers), unique=True))) if uppers else ()
        leaves.append(Leaf(name=f"leaf{n}", nodes=nodes, parents=parents))

    switches = [SimpleNamespace(name=name, uplinks=dict.fromkeys(above.get(name, ()), 1)) for name in uppers]
    slurm = SimpleNamespace(leaves=leaves)
    path = tree(SimpleNamespace(slurm=slurm, switches=switches, hosts=lambda role: hosts))  # type: ignore[arg-type]
    lines = {}
    for line in path:
        assert line.name not in lines, "a switch is defined twice"
        lines[line.name] = {"Nodes": line.nodes} if line.nodes else {"Switches": line.switches}
    assert is_one_tree(lines, set(hosts))
