"""Devices, racks, feeds and device types fit together, as NetBox asks when it imports them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from strategies.inventories import MANIFESTS, paths, texts
from strategies.trees import manifest, tree_of

INVENTORIES = [name for name in MANIFESTS if "facility/devices.csv" in paths(name)]
REQUIRED = {"manufacturer", "model", "slug", "u_height", "is_full_depth"}
OPTIONAL = {"weight", "weight_unit", "power-ports", "interfaces"}


def table(directory: Path, name: str) -> list[dict[str, str]]:
    path = directory / name
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))) if path.exists() else []


@pytest.fixture(scope="module", params=INVENTORIES)
def directory(request, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp(request.param)
    for path, text in texts(request.param).items():
        if path.startswith("facility/"):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text, encoding="utf-8")
    return place / "facility"


@pytest.fixture(scope="module")
def types(directory) -> dict[tuple[str, str], dict[str, Any]]:
    documents = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in directory.glob("device-types/*/*.yaml")]
    return {(document["manufacturer"], document["model"]): document for document in documents}


@pytest.mark.slow
def test_every_cable_ends_in_a_port_of_its_device(directory, types):
    of_device = {row["name"]: types[row["manufacturer"], row["device_type"]] for row in table(directory, "devices.csv")}
    ports = {name: {port["name"] for port in kind.get("interfaces", ())} for name, kind in of_device.items()}
    rows = table(directory, "cables.csv")
    lost = {
        (row[f"side_{side}_device"], row[f"side_{side}_name"])
        for row in rows
        for side in "ab"
        if row[f"side_{side}_name"] not in ports[row[f"side_{side}_device"]]
    }
    assert not lost


def test_a_cage_holds_one_module_or_one_plug(directory):
    media = defaultdict(set)
    for row in table(directory, "cables.csv"):
        for side in "ab":
            device, port = row[f"side_{side}_device"], row[f"side_{side}_name"]
            if "/" in port:
                media[device, port.partition("/")[0]].add(row["description"].rpartition("; ")[2])
    assert {cage: kinds for cage, kinds in media.items() if len(kinds) > 1} == {}


def test_devices_are_alone_in_their_units(directory, types):
    racks = {row["name"]: int(row["u_height"]) for row in table(directory, "racks.csv")}
    units = Counter()
    for row in table(directory, "devices.csv"):
        if row["rack"]:
            height = types[row["manufacturer"], row["device_type"]]["u_height"]
            span = range(int(row["position"]), int(row["position"]) + height)
            assert span.stop - 1 <= racks[row["rack"]]
            units.update((row["rack"], unit) for unit in span)
    assert max(units.values(), default=1) == 1


def test_a_device_type_is_complete(directory, types):
    for path in directory.glob("device-types/*/*.yaml"):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert document.keys() >= REQUIRED
        assert document.keys() <= REQUIRED | OPTIONAL
        assert re.fullmatch(r"[-a-z0-9_]+", document["slug"]), "as NetBox wants it"
        assert (path.parent.name, path.stem) == (document["manufacturer"], document["slug"])
        assert ("weight" in document) == ("weight_unit" in document)
        names = [port["name"] for port in document.get("interfaces", ())]
        assert len(names) == len(set(names))
        assert all(len(name) <= 64 for name in names)
        for supply in document.get("power-ports", ()):
            assert 1 <= supply["allocated_draw"] <= supply["maximum_draw"]


@pytest.mark.slow
def test_a_switch_has_all_its_ports(tmp_path):
    data = manifest()
    data["networks"]["fabric"]["plan"] = {"leaf": "qm9700"}
    tree = tree_of(data, tmp_path)
    document = yaml.safe_load(tree.files["facility/device-types/NVIDIA/nvidia-mqm9700.yaml"].content)
    names = [port["name"] for port in document["interfaces"]]
    assert names == [f"{cage}/{port}" for cage in range(1, 33) for port in (1, 2)]


def test_feeds_alternate_between_panels_where_one_may_fail(tmp_path):
    circuits = [{"volts": 400, "amps": 32, "count": 4}]
    racks = {"r1": {"nodes": "c[1-4]", "circuits": circuits, "redundant_feeds": True}, "r2": {"circuits": circuits}}
    tree = tree_of(manifest(racks=racks), tmp_path)
    rows = list(csv.DictReader(io.StringIO(tree.files["facility/power-feeds.csv"].content.decode())))
    assert [row["name"] for row in rows[:4]] == ["r1-A1", "r1-B1", "r1-A2", "r1-B2"]
    assert {row["type"] for row in rows if row["rack"] == "r2"} == {"primary"}
    assert {(row["voltage"], row["amperage"], row["max_utilization"]) for row in rows} == {("400", "32", "80")}


def test_cabling_of_roce_for_ptmd(tmp_path):
    nics = [{"device": "mlx5_0", "interface": "enp24s0np0", "model": "cx7"}]
    gpu = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": nics}
    data = manifest(node_types={"gpu": gpu})
    data["networks"]["fabric"] = {"type": "roce", "rate": "400Gb/s", "plan": {"leaf": "sn5600"}}
    text = tree_of(data, tmp_path).files["facility/topology.dot"].content.decode()
    assert '"leaf01":"swp1s0" -- "c1":"enp24s0np0"' in text
    assert '"leaf01":"swp2s1" -- "c4":"enp24s0np0"' in text
    assert text.count("--") == 4


def test_models_whose_slugs_collide_stay_two_device_types(tmp_path):
    """A type `a--b` and one `a-b` both have the slug generic-a-b: NetBox asks that a slug is one model's."""
    hardware = {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB"}
    names = ("a--b", "a-b", "a---b")
    nodes = [{"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]}]
    nodes += [{"name": f"c{n}", "type": name, "address": f"10.0.0.1{n}"} for n, name in enumerate(names, 1)]
    data = manifest(node_types=dict.fromkeys(names, hardware), nodes=nodes, racks={"r1": {"nodes": "c[1-3]"}})
    data["networks"].pop("fabric", None)
    files = tree_of(data, tmp_path).files
    kinds = [yaml.safe_load(file.content) for name, file in files.items() if name.startswith("facility/device-types/")]
    models = {kind["model"]: kind["slug"] for kind in kinds}
    assert set(names) <= set(models), "none is lost or merged"
    assert len(set(models.values())) == len(models)
    rows = csv.DictReader(io.StringIO(files["facility/devices.csv"].content.decode()))
    assert {row["device_type"] for row in rows if row["name"].startswith("c")} == set(names)
