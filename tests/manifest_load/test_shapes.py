"""Values in the wrong shape or form: each hint that proposes a value proposes one that the manifest accepts."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.cli.init import STARTER
from clustergen.diagnostics import Diagnostic

WRONG = {
    "type-wrong",
    "text-malformed",
    "value-not-allowed",
    "key-unknown",
    "key-missing",
    "hostlist-syntax",
    "cidr-malformed",
}


@cache
def starter() -> Any:
    return yaml.safe_load(STARTER.read_text(encoding="utf-8"))


def findings(path: str, value: Any) -> list[Diagnostic]:
    """Findings on the form of the starter manifest with a value at `path`; an entry of nodes is named by its number."""
    data = copy.deepcopy(starter())
    *above, name = path.split("/")
    section = data
    for part in above:
        section = section[int(part)] if isinstance(section, list) else section.setdefault(part, {})
    section[name] = value
    text = yaml.safe_dump(data, sort_keys=False).encode()
    return [one for one in compiler.validate(Path("m.yaml"), raw=text).diagnostics if one.code in WRONG]


@pytest.mark.parametrize(
    ("path", "value", "proposed"),
    [
        # a text where a list is expected
        ("nodes/0/roles", "slurm-controller, slurm-accounting", "[slurm-controller, slurm-accounting]"),
        ("nodes/1/features", "nvme,bigmem", "[nvme, bigmem]"),
        ("slurm/accounts/research/users", "alice bob", "[alice, bob]"),
        ("storage/home/options", "rw,hard", "[rw, hard]"),
        ("networks/management/ntp", "pool.ntp.org", "[pool.ntp.org]"),
        # a list where a text is expected
        ("slurm/partitions/batch/nodes", ["gpu1", "gpu2"], '"gpu[1-2]"'),
        ("slurm/partitions/batch/nodes", ["gpu1", "gpu3"], '"gpu[1,3]"'),
        ("slurm/partitions/batch/nodes", ["gpu[1-2]", "gpu[3-4]"], '"gpu[1-2],gpu[3-4]"'),
        ("networks/management/cidr", ["192.0.2.0/24"], "192.0.2.0/24"),
        ("os", ["debian-13"], "debian-13"),
        ("slurm/version", "25.05.3", '"25.05"'),
        # a list where a mapping is expected
        ("slurm/accounts", ["ml", "physics"], "{ml: {}, physics: {}}"),
        ("slurm/accounts/research", ["alice", "bob"], "{users: [alice, bob]}"),
        ("slurm/options", ["BatchStartTimeout=30", "KeepAliveTime=60"], "{BatchStartTimeout: 30, KeepAliveTime: 60}"),
        ("node_types/gpu/gpus", ["l40s", "l40s"], "{model: l40s, count: 2}"),
        ("node_types/gpu/gpus", ["l40s", "h100"], "{model: unknown, gres_type: false, count: 2}"),
        (
            "node_types/gpu/gpus",
            [{"model": "l40s", "count": 4}, "2 x h100"],
            "{model: unknown, gres_type: false, count: 6}",
        ),
        # a text where a mapping is expected
        ("slurm/options", "BatchStartTimeout=30", "{BatchStartTimeout: 30}"),
        ("slurm/accounts/research/users", {"alice": {}, "bob": {}}, "[alice, bob]"),
        ("host/firewall", "firewalld", "true"),
        ("node_types/gpu/gpus", "8xH200", "{model: H200, count: 8}"),
        ("slurm/qos/normal/max_tres_per_user", "gres/gpu=8,cpu=64", "{gres/gpu: 8, cpu: 64}"),
        ("slurm/preemption", "qos", "{by: qos}"),
        ("slurm/topology", "tree", "{plugin: tree}"),
        ("networks/fabric", "infiniband", "{type: infiniband}"),
        ("networks/storage", "10.20.0.0/24", "{cidr: 10.20.0.0/24}"),
        ("node_types/gpu/nics", [{"device": "mlx5_0"}, "mlx5_1"], "{device: mlx5_1}"),
        # other notations
        ("facility/power_factor", "95%", "0.95"),
        ("slurm/accounts/research/fairshare", "20%", "20"),
        ("slurm/federation", {"name": "campus", "clusters": ["a"]}, "campus"),
        ("nodes/1/name", "gpu{1..4}", "gpu[1-4]"),
        ("nodes/1/name", "gpu(1-4)", "gpu[1-4]"),
        ("nodes/1/name", "gpu1 gpu2, gpu3 gpu4", "gpu1,gpu2,gpu3,gpu4"),
        ("nodes/0/address", "192.0.2.10/24", "192.0.2.10"),
        ("networks/management/cidr", "192.0.2.0/255.255.255.0", "192.0.2.0/24"),
        ("storage/home/mount", "home", "/home"),
        ("storage/home/type", "nfs4", "nfs"),
        ("os", "jammy", "ubuntu-22.04"),
        ("os", "ubuntu-22.04-lts", "ubuntu-22.04"),
        ("os", "rhel9", "rhel-9"),
        ("os", "Ubuntu 24.04", "ubuntu-24.04"),
    ],
)
def test_a_proposal_is_accepted(path: str, value: Any, proposed: str) -> None:
    hint = findings(path, value)[0].hint or ""
    assert hint.removeprefix("write ").partition(": the ")[0].partition(": rhel9")[0] == proposed
    accepted: Any = yaml.safe_load(proposed)
    if path == "node_types/gpu/nics":
        accepted = [{"device": "mlx5_0"}, accepted]
    assert findings(path, accepted) == []


@pytest.mark.parametrize(
    ("path", "section", "value", "proposed"),
    [
        ("facility/deliveries/a/warranty", {"bought": "2024-03-01"}, "5 years", "5"),
        ("facility/prices/budget", {"currency": "EUR"}, "1M", "1000000"),
        ("facility/loops/a/rise", {"racks": "r1"}, "10C", "10"),
        ("storage/a/data_sets/days", {"directory": "d", "size": "1TB"}, "30d", "30"),
        ("storage/a/mgs", {"type": "lustre", "mount": "/a"}, "10.0.0.6@o2ib", "[10.0.0.6@o2ib]"),
    ],
)
def test_a_proposal_beside_other_keys(path: str, section: Any, value: Any, proposed: str) -> None:
    """The unit of the field itself is dropped, and the NID of an MGS is no password to hide."""
    above, _, key = path.rpartition("/")
    if "data_sets" in path:
        above, section = "storage/a", {"type": "local", "mount": "/a", "device": "LABEL=a", "data_sets": section}
        section["data_sets"][key] = value
    else:
        section = {**section, key: value}
    assert [one.hint for one in findings(above, section)] == [f"write {proposed}"]


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("node_types/gpu/nics", 8, "write a list with an entry for each: [{device: …}, …]"),
        ("node_types/gpu/nics", {"count": 8}, "write a list with an entry for each: [{device: …}, …]"),
        (
            "storage",
            [{"name": "home", "type": "nfs"}],
            "write 'home:' in place of '- name: home', with its other keys below it",
        ),
        (
            "node_types/gpu/gpus/model",
            ["l40s", "h100"],
            "write unknown, and gres_type: false beside it: a node type has one model",
        ),
        ("node_types/gpu/gpus", {"l40s": 8}, "write gpus: {model: l40s, count: 8}"),
        (
            "node_types/gpu/gpus",
            {"first": {"model": "rtx-a6000", "count": 2}, "rtx-4090": {"count": 2}, "count": 4},
            "write gpus: {model: unknown, gres_type: false, count: 4}",
        ),
        ("node_types/gpu/gpus", {"slots": 8}, "run `clustergen explain node_types.gpus` to list its keys"),
        ("networks/management/cidr", "192.0.2.0", "add the prefix length, as 192.0.2.0/24"),
        ("networks/management/cidr", "192.0.2.5", "add the prefix length, as 192.0.2.0/24"),
        ("networks/management/cidr", "fd00::", "add the prefix length, as fd00::/64"),
        ("nodes/1/name", "gpu1/2", "write a host list as in Slurm: gpu-[01-08],login1"),
        ("networks/management/cidr", "192.0.2.0/33", "write a prefix length of at most 32"),
        ("networks/storage", {"cidr": "2001:db8::/129"}, "write a prefix length of at most 128"),
        ("storage/home/export", {"networks": ["192.0.2.0/99"]}, "write a prefix length of at most 32"),
        ("storage/home/export", {"networks": ["192.0.2.20/24"]}, "did you mean 192.0.2.0/24?"),
        ("networks/management/routes", ["1.2.3/8"], "write a network address with its prefix length, as 10.0.0.0/24"),
        ("nodes/1/addresses", {"ipmi": "192.0.2.[21-24]"}, "write bmc"),
        ("slurm/partitions/batch/nodes", ["gpu1", 2], None),
        (
            "node_types/gpu/gpus",
            [8],
            "write {count: 8}",
        ),
        ("slurm/options", "BatchStartTimeout", "write {BatchStartTimeout: …}"),
        ("slurm/private_tmp", "yes", "write {}, or a section with path, directories, shared"),
        ("slurm/private_tmp", "no", "remove the line"),
        ("nodes/1/features", "dgx-h100", "write [dgx-h100]"),
        ("slurm/partitions/batch/qos", ["a", "b"], "write allow_qos: [a, b]"),
        ("facility/ups", {"power": "1kW", "apparent": "100kW"}, "write 1 to 100000000: Rating in VA"),
    ],
)
def test_other_hints(path: str, value: Any, hint: str | None) -> None:
    assert {one.hint for one in findings(path, value)} == {hint}


@pytest.mark.parametrize(
    "inside",
    [{"ml": {"users": ["alice"]}}, {"ml": {}, "root": {"users": ["bob"]}}, ["ml"]],
    ids=["one", "two", "a list"],
)
def test_a_section_that_is_indented_as_an_entry_of_its_neighbour(inside: Any) -> None:
    data = copy.deepcopy(starter())
    del data["slurm"]["accounts"]
    data["slurm"]["partitions"]["accounts"] = inside
    compiled = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data, sort_keys=False).encode())
    assert [(one.code, one.message, one.hint) for one in compiled.diagnostics if one.code in WRONG] == [
        (
            "key-unknown",
            "'accounts' is a section of slurm, but is indented below 'partitions'",
            "indent 'accounts' by as many spaces as 'partitions'",
        )
    ]


@pytest.mark.parametrize(("name", "value"), [("gpus", {"model": "H100", "count": 8}), ("memory", "1TiB")])
def test_a_key_that_is_indented_as_its_section(name: str, value: Any) -> None:
    data = copy.deepcopy(starter())
    data["node_types"][name] = value
    compiled = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data, sort_keys=False).encode())
    assert [(one.message, one.hint) for one in compiled.diagnostics if one.code in WRONG] == [
        (f"'{name}' is a key of node_types.gpu, but is indented as much as it", f"indent '{name}' below 'gpu'")
    ]


def test_a_no_break_space_is_named() -> None:
    assert [one.hint for one in findings("node_types/gpu", "system:\u00a0dgx-h100")] == [
        "replace the no-break space in it by a space"
    ]


def test_a_partition_may_have_the_name_of_a_section(tmp_path: Path) -> None:
    data = copy.deepcopy(starter())
    data["slurm"]["partitions"]["accounts"] = {"nodes": "all", "max_tim": "1:00:00"}
    compiled = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data, sort_keys=False).encode())
    assert [one.hint for one in compiled.diagnostics if one.code == "key-unknown"] == ["did you mean 'max_time'?"]


@pytest.mark.parametrize(
    ("nodes", "hint"),
    [
        ("compute", "write all, or nodes of gpu[1-4]"),
        ("gpus", "write gpu[1-4]: partitions name nodes, not node types"),
        ("gpu", "write gpu[1-4]: partitions name nodes, not node types"),
        ("gpu01", "write gpu1: leading zeros count"),
        ("gpu[1-6]", 'write "gpu[1-4]", the nodes that exist'),
    ],
)
def test_partitions_of_nodes_that_do_not_exist(nodes: str, hint: str) -> None:
    data = copy.deepcopy(starter())
    data["slurm"]["partitions"]["batch"]["nodes"] = nodes
    compiled = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data, sort_keys=False).encode())
    assert [one.hint for one in compiled.diagnostics if one.code == "node-unknown"] == [hint]
