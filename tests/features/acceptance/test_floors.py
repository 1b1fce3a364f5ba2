"""Floors against published measurements, and which gates a cluster has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.catalogue.acceptance import gate_kinds, shares
from clustergen.facility.expectations import rounded
from clustergen.features.acceptance.gates import gates
from strategies.inventories import MANIFESTS, compiled
from strategies.trees import GPU, codes_of, manifest


def floors_of(data: dict[str, Any], directory: Path) -> dict[str, dict[str, tuple[str, float]]]:
    path = directory / "manifest.yaml"
    path.write_text(json.dumps({"acceptance": {}, **data}), encoding="utf-8")
    cluster = compiler.validate(path).cluster
    assert cluster is not None
    return {
        gate.name: {floor.metric: (floor.relation, floor.value) for floor in gate.floors} for gate in gates(cluster)
    }


def superpod() -> dict[str, dict[str, tuple[str, float]]]:
    cluster = compiled("superpod-h100")[0].cluster
    assert cluster is not None
    return {
        gate.name: {floor.metric: (floor.relation, floor.value) for floor in gate.floors} for gate in gates(cluster)
    }


def test_every_share_with_a_measurement_is_below_it() -> None:
    for share in shares().values():
        if share.published and share.possible:
            assert share.share <= share.published / share.possible, share.floor
        else:
            assert "share" in share.unverified, share.floor


@pytest.mark.slow
def test_floors_of_eight_h100_with_eight_ndr_ports() -> None:
    """Published: 370 GB/s for a ring inside a node, 46 to 48 GB/s for one NDR port, 380 Gb/s for ib_write_bw."""
    floors = superpod()
    assert floors["dgx/nccl-node"]["busbw"] == ("least", 329.3)
    assert floors["dgx/nccl-pair"]["busbw"] == ("least", 320)
    assert floors["dgx/nccl-whole"]["busbw"] == ("least", 280)
    assert floors["dgx/nccl-rail/mlx5_0"]["busbw"] == ("least", 40)
    assert floors["dgx/fabric-pair/mlx5_0"]["bandwidth"] == ("least", 360)
    assert floors["dgx/gpus"]["power_limit"] == ("least", 700)
    assert floors["dgx/gpu-links"]["links"] == ("least", 18)
    assert floors["dgx/mpi-pair"]["latency"] == ("most", 5)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "least"), [("1GbE", 0.0875), ("10GbE", 0.875), ("100GbE", 1.312)])
def test_mpi_over_tcp_needs_a_share_of_the_port_or_of_one_connection(rate: str, least: float, tmp_path: Path) -> None:
    """One connection carries 15 Gb/s on a healthy host with 100 GbE; a share of the port would drain it."""
    data = manifest(acceptance={"enabled": True})
    data["networks"] = {"management": {**data["networks"]["management"], "rate": rate}}
    for kind in data["node_types"].values():
        kind.pop("nics", None)
    floors = floors_of(data, tmp_path)
    assert floors["gpu/mpi-pair"]["bandwidth"] == ("least", least)


@pytest.mark.parametrize(
    ("system", "bounds"), [("mgx-gh200", {"host_to_device": ("least", 315)}), ("gb200-nvl72-tray", {})]
)
def test_a_superchip_copies_over_its_own_link(
    system: str, bounds: dict[str, tuple[str, float]], tmp_path: Path
) -> None:
    """A PCIe floor would pass a GH200 with an eighth of its bandwidth; nothing is published for GB200."""
    data = manifest(acceptance={"enabled": True}, node_types={"gpu": {"system": system}})
    floors = floors_of(data, tmp_path)["gpu/gpu-copy"]
    assert {metric: floor for metric, floor in floors.items() if metric != "device_to_device"} == bounds


def test_a_bound_of_two_hdr_ports_is_in_bytes_for_nccl_and_in_bits_for_rdma(tmp_path: Path) -> None:
    data = manifest(acceptance={"enabled": True})
    data["networks"]["fabric"] = {"type": "infiniband", "rate": "HDR"}
    floors = floors_of(data, tmp_path)
    assert floors["gpu/nccl-pair"]["busbw"] == ("least", 40)  # 0.8 x 2 x 200 Gb/s / 8
    assert floors["gpu/fabric-pair/mlx5_1"]["bandwidth"] == ("least", 180)


KINDS = {
    "DGX H100": {"system": "dgx-h100"},
    "DGX B200": {"system": "dgx-b200"},
    "GB200 NVL72": {"system": "gb200-nvl72-tray"},
    "8 × RTX 5090": {**GPU, "gpus": {"model": "rtx-5090", "count": 8}},
    "8 × L40S": {**GPU, "gpus": {"model": "l40s", "count": 8}},
}
SUBJECTS = {"nccl-rail": "/mlx5_0", "nccl-domain": "/gpu-1"}
PAGE = (Path(__file__).parents[3] / "docs/acceptance.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| `(nccl-\w+)` \| (\d+) \| ([\d.]+) \| (\d+) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("machine", "gate", "healthy", "floor", "faulty"), ROWS)
def test_a_floor_is_between_a_healthy_machine_and_one_with_a_fault(
    machine: str, gate: str, healthy: str, floor: str, faulty: str, tmp_path: Path
) -> None:
    data = manifest(acceptance={"enabled": True}, node_types={"gpu": KINDS[machine]})
    data["networks"]["fabric"] = {"type": "infiniband", "rate": "NDR"}
    bound = floors_of(data, tmp_path)[f"gpu/{gate}{SUBJECTS.get(gate, '')}"]["busbw"]
    assert bound == ("least", float(floor))
    assert float(faulty) < float(floor) <= float(healthy)


def test_the_page_has_a_row_for_each_machine() -> None:
    assert {row[0] for row in ROWS} == set(KINDS)


def test_each_nvlink_domain_is_tested_by_nvlink_alone_and_each_rail_by_the_fabric(tmp_path: Path) -> None:
    data = manifest(acceptance={"enabled": True}, node_types={"gpu": {"system": "gb200-nvl72-tray"}})
    data["networks"]["fabric"] = {"type": "infiniband", "rate": "NDR"}
    data["racks"] = {"r1": {"nodes": "c[1-2]"}, "r2": {"nodes": "c[3-4]"}}
    path = tmp_path / "manifest.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    cluster = compiler.validate(path).cluster
    assert cluster is not None
    by_name = {gate.name: gate for gate in gates(cluster)}
    domains = {name: gate.hosts for name, gate in by_name.items() if gate.kind == "nccl-domain"}
    assert domains == {"gpu/nccl-domain/r1": "c[1-2]", "gpu/nccl-domain/r2": "c[3-4]"}
    assert by_name["gpu/nccl-domain/r1"].arguments["NCCL_MNNVL_ENABLE"] == "1"
    rails = [
        gate.arguments["NCCL_MNNVL_ENABLE"] for gate in by_name.values() if gate.kind in ("nccl-rail", "nccl-pair")
    ]
    assert rails == ["0"] * 5


def test_a_port_that_is_faster_than_the_hosts_pcie_has_the_floor_of_pcie(tmp_path: Path) -> None:
    """A healthy GB300 tray writes host memory at 504 Gb/s at most, and its ports have 800."""
    data = manifest(acceptance={"enabled": True}, node_types={"gpu": {"system": "gb300-nvl72-tray"}})
    data["networks"]["fabric"] = {"type": "infiniband", "rate": "XDR"}
    floors = floors_of(data, tmp_path)
    assert {floors[name]["bandwidth"] for name in floors if "/fabric-pair/" in name} == {("least", 383.0)}
    assert floors["gpu/mpi-pair"]["bandwidth"] == ("least", 47.88)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.11254, 0.1125), (344.1, 344.1), (47.88, 47.88), (2034237.4, 2034000.0)]
)
def test_floors_have_four_digits(value: float, expected: float) -> None:
    assert rounded(value) == expected


@pytest.mark.slow
def test_a_mount_that_states_its_bandwidth_has_a_floor(tmp_path: Path) -> None:
    data = manifest(acceptance={"enabled": True})
    work = {"type": "nfs", "server": "nfs.example.org", "path": "/work", "mount": "/work", "bandwidth": "2GB/s"}
    data["storage"] = {
        "work": work,
        "old": {"type": "nfs", "server": "nfs.example.org", "path": "/old", "mount": "/old", "read_only": True},
    }
    floors = floors_of(data, tmp_path)
    assert floors["gpu/storage/work"] == {"write": ("least", 1.5)}  # one TCP connection carries 15 Gb/s
    assert "gpu/mounts/old" in floors
    assert "gpu/storage/old" not in floors
    for stated in ({"nconnect": 8}, {"options": ["nconnect=8"]}, {"rdma": True}):
        data["storage"]["work"] = {**work, **stated}
        assert floors_of(data, tmp_path)["gpu/storage/work"] == {"write": ("least", 1.6)}


def test_a_node_alone_has_no_pair(tmp_path: Path) -> None:
    data = manifest(acceptance={"enabled": True})
    data["nodes"][1] |= {"name": "c1", "address": "10.0.0.11"}
    names = set(floors_of(data, tmp_path))
    assert "gpu/hardware" in names
    assert not {name for name in names if gate_kinds()[name.split("/")[1]].nodes != 1}


@pytest.mark.slow
def test_a_node_type_in_two_partitions_has_gates_for_each() -> None:
    """A gate is one job: before, a type that no partition has as a whole had no gates, and the tree no acceptance/."""
    data = manifest(acceptance={"enabled": True})
    data["nodes"][1] |= {"name": "c[1-5]", "address": "10.0.0.[11-15]"}
    partitions = {"old": "c1", "main": "c[2-4]", "spare": "c[1,5]", "also": "c2"}
    data["slurm"]["partitions"] = {name: {"nodes": hosts} for name, hosts in partitions.items()}
    made = compiler.tree_of(data, "manifest.yaml")
    assert made is not None
    text, page = (made[1].files[f"acceptance/{name}"].content.decode() for name in ("gates.json", "README.md"))
    document = json.loads(text)
    types = {name: (entry["hosts"], entry["partition"]) for name, entry in document["types"].items()}
    assert types == {"gpu": ("c[2-4]", "main"), "gpu-spare": ("c[1,5]", "spare")}
    assert {gate["type"] for gate in document["gates"]} == set(types)
    assert "c\\[1,5\\], partition spare. All gates end within " in page


@pytest.mark.slow
def test_geforce_gets_a_diagnosis_of_level_1_and_mig_no_collectives() -> None:
    home = compiled("home-3090")[0].cluster
    data = yaml.safe_load(MANIFESTS["dgx-a100-mig"].read_text(encoding="utf-8"))
    made = compiler.tree_of(data | {"acceptance": {}}, "manifest.yaml")
    assert home is not None
    assert made is not None
    mig = made[0]
    (level,) = (gate.arguments["LEVEL"] for gate in gates(home) if gate.kind == "gpu-diagnosis")
    assert level == "1"
    divided = {kind.name for kind in mig.gpu_types if kind.gpus and any(kind.gpus.mig)}
    assert not {gate.name for gate in gates(mig) if gate.type in divided and gate.kind.startswith(("nccl", "gpu-copy"))}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dgx-a100-mig", "midrange-weka"])
def test_without_the_section_there_is_no_directory(name: str) -> None:
    assert not [path for path in compiled(name)[1].files if path.startswith("acceptance/")]


def test_further_benchmarks_have_gates_only_where_they_are_stated(tmp_path: Path) -> None:
    storage = {"work": {"type": "nfs", "server": "10.0.0.9", "path": "/w", "mount": "/w", "bandwidth": "1GB/s"}}
    kinds = {}
    for benchmarks in ([], ["hpcc", "ior"]):
        floors = floors_of(manifest(acceptance={"enabled": True, "benchmarks": benchmarks}, storage=storage), tmp_path)
        kinds[len(benchmarks)] = {name.split("/")[1]: bounds for name, bounds in floors.items()}
    assert kinds[2].keys() - kinds[0].keys() == {"linpack", "ior", "mdtest"}
    assert kinds[2]["linpack"] == {"wrong": ("most", 0)}
    assert kinds[2]["ior"] == kinds[2]["storage-whole"] == {"write": ("least", 0.8)}


@pytest.mark.slow
def test_a_training_runs_with_the_environment_that_has_torch(tmp_path: Path) -> None:
    environment = {"python": {"tools/1": {"packages": ["numpy==2.0.0"]}, "ml/1": {"packages": ["Torch[opt]==2.8.0"]}}}
    storage = {"home": {"type": "nfs", "server": "10.0.0.9", "path": "/h", "mount": "/home"}}
    shared = {"environment": environment, "storage": storage}
    cases = [({}, {}, "python3"), (shared, {}, "/home/software/ml/1/bin/python3"), (shared, {"python": "/x"}, "/x")]
    for sections, changes, expected in cases:
        data = manifest(acceptance={"benchmarks": ["resnet"], **changes}, **sections)
        path = tmp_path / "manifest.yaml"
        path.write_text(json.dumps(data), encoding="utf-8")
        cluster = compiler.validate(path).cluster
        assert cluster is not None
        trainings = {gate.kind: gate for gate in gates(cluster) if gate.kind.startswith("training")}
        assert {kind: gate.arguments["PYTHON"] for kind, gate in trainings.items()} == {
            "training": expected,
            "training-whole": expected,
        }
        assert (trainings["training"].tasks_per_node, trainings["training"].compared) == (8, "images")
    assert codes_of(manifest(acceptance={"python": "/x"}), tmp_path) == ["setting-unused"]
