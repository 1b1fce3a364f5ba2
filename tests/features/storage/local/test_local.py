"""Local disks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clustergen.cluster.contributions import GuidePart
from clustergen.cluster.facility import Facility
from clustergen.features.facility.runs import estimates
from clustergen.render.node_hardware import hardware
from strategies.file_systems import LOCAL, UNITS, stored
from strategies.trees import (
    COMPUTE,
    GPU,
    HEAD,
    cluster_of,
    codes_of,
    diagnostics_of,
    manifest,
    node_files,
    text_of,
    tree_of,
)


def test_local_disk_is_waited_for_by_its_path(tmp_path: Path) -> None:
    text = text_of(stored(tmp_path, disk=LOCAL), "c1", f"{UNITS}/scratch.mount")
    assert "What=/dev/disk/by-label/scratch\n" in text
    assert "_netdev" not in text
    assert "WantedBy=local-fs.target\n" in text


def mixed(**entry: Any) -> dict[str, Any]:
    """GPU nodes with a scratch disk, c[1-4], and a CPU node, cpu1; /scratch with other fields."""
    types = {
        "gpu": {**GPU, "disks": [{"device": "nvme0n1", "size": "2TB", "use": "scratch"}]},
        "cpu": {"cpu": {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 1}, "memory": "512GiB"},
    }
    nodes = [HEAD, COMPUTE, {"name": "cpu1", "type": "cpu", "address": "10.0.0.31"}]
    return manifest(node_types=types, nodes=nodes, storage={"scratch": {**LOCAL, **entry}})


def test_a_disk_of_one_node_type_is_mounted_there_alone(tmp_path: Path) -> None:
    tree = tree_of(mixed(node_types=["gpu"]), tmp_path)
    paths = [
        f"{UNITS}/scratch.mount",
        "/etc/slurm/prolog.d/20-mount-scratch",
        f"{UNITS}/slurmd.service.d/40-mount-scratch.conf",
    ]
    assert all(path in node_files(tree, "c1") for path in paths)
    assert not any(path in node_files(tree, "cpu1") for path in paths)


@pytest.mark.parametrize(
    ("entry", "codes"),
    [
        ({}, ["local-disk-missing"]),
        ({"node_types": ["gpu"]}, []),
        ({"node_types": ["gpus"]}, ["node-type-unknown"]),
        ({"node_types": ["service"]}, ["mount-without-clients"]),
        ({"node_types": ["cpu"]}, []),
        ({"node_types": ["cpu", "service"]}, ["mount-without-clients"]),
    ],
    ids=lambda value: "-".join(value.get("node_types", ["all"])) if isinstance(value, dict) else "",
)
def test_types_of_a_mount_are_those_that_have_the_disk(entry: dict[str, Any], codes: list[str], tmp_path: Path) -> None:
    assert codes_of(mixed(**entry), tmp_path) == codes


DISKLESS = {"name": "cpu2", "type": "cpu", "address": "10.0.0.32", "memory": "256GiB"}
SPOOL = {"spool_directory": "/scratch/d"}
FILER = {"type": "nfs", "server": "filer", "path": "/scratch", "device": None}


@pytest.mark.parametrize(
    ("entry", "slurm", "nodes", "expected"),
    [
        ({}, {}, [DISKLESS], "leave the type out: add node_types: [gpu] to storage.scratch"),
        ({}, {}, [{**COMPUTE, "name": "c5", "address": "10.0.0.15", "memory": "2TiB"}], "node_types: [gpu] to storage"),
        ({"node_types": ["gpu"]}, SPOOL, [], "write a path that all its nodes have, such as /var/lib/slurm/slurmd"),
        (
            {"node_types": ["gpu"]},
            {"scripts": {"tmpdir": "/scratch/jobs"}},
            [],
            "write a path that all its nodes have, such as /srv/jobs",
        ),
        ({**FILER, "node_types": ["gpu"]}, SPOOL, [DISKLESS], "add cpu to storage.scratch.node_types"),
        ({**FILER, "clients": ["login"]}, SPOOL, [], "add slurm-compute to storage.scratch.clients"),
    ],
    ids=["derived-lacks", "derived-has", "disk", "jobs", "nfs", "role"],
)
def test_a_hint_names_types_that_can_mount_it(
    entry: dict[str, Any], slurm: dict[str, Any], nodes: list[dict[str, Any]], expected: str, tmp_path: Path
) -> None:
    data = mixed(**entry)
    data["storage"]["scratch"] = {key: value for key, value in data["storage"]["scratch"].items() if value is not None}
    data["nodes"] += nodes
    data["slurm"] |= slurm
    hints = [item.hint or "" for item in diagnostics_of(data, tmp_path)]
    assert any(hint.endswith(expected) or f"{expected}." in hint for hint in hints), hints


def test_a_private_directory_is_on_a_disk_of_all_nodes(tmp_path: Path) -> None:
    data = mixed(node_types=["gpu"])
    data["slurm"]["private_tmp"] = {"directories": ["/tmp", "/scratch/private"]}
    (item,) = diagnostics_of(data, tmp_path)
    assert item.code == "path-of-system"
    assert item.message.startswith("/scratch/private is on no local disk of storage that cpu1 mounts: ")


def test_what_only_other_nodes_mount_does_not_count(tmp_path: Path) -> None:
    """Of a file system of cpu1: in the guide, for TmpDisk of the GPU nodes, and for checkpoints of jobs on them."""
    data = mixed()
    entry = {"type": "nfs", "server": "filer", "path": "/x", "mount": "/scratch", "node_types": ["cpu"]}
    home = {"type": "nfs", "server": "filer", "path": "/home", "mount": "/home", "bandwidth": "1GB/s"}
    run = {"type": "gpu", "parameters": "7B", "token_count": "10B", "gpus": [8]}
    data["storage"] = {"home": home, "scratch": {**entry, "bandwidth": "9GB/s"}}
    data["nodes"][0] = {**HEAD, "roles": [*HEAD["roles"], "login"]}
    data |= {"user_guide": {"partition": "gpus"}, "facility": {"estimates": {"training": {"a": run}}}}
    partitions = {"gpus": {"nodes": "c[1-4]", "default": True}, "cpus": {"nodes": "cpu1"}}
    data["slurm"] |= {"options": {"TmpFS": "/scratch"}, "partitions": partitions}
    cluster = cluster_of(data, tmp_path)
    (part,) = [part for part in cluster.needs(GuidePart) if part.title == "Move data"]
    assert "sbatch transfer.sh ~/data/ /home/data/" in part.commands
    assert hardware(cluster)["type_gpu"].disk == 2_000_000_000_000 // 2**20
    (estimate,) = estimates(cluster, "a", cluster.of(Facility).training["a"])
    assert estimate.storage.name == "home"


def test_jobs_on_nodes_without_the_disk_have_no_cache_and_read_the_source(tmp_path: Path) -> None:
    tree = tree_of(mixed(node_types=["gpu"], data_sets={"size": "1TB"}), tmp_path)
    variables = {host: text_of(tree, host, "/etc/clustergen/task-prolog.sh") for host in ("c1", "cpu1")}
    assert ["DATA_SET_CACHE" in text for text in variables.values()] == [True, False]
    assert "/etc/slurm/prolog.d/45-user-directories" in node_files(tree, "c1")
    assert "/etc/slurm/prolog.d/45-user-directories" not in node_files(tree, "cpu1")
    program = tmp_path / "program"
    program.write_text(text_of(tree, "cpu1", "/usr/local/bin/clustergen-data-set"), encoding="utf-8")
    run = [sys.executable, program, tmp_path]
    job = {**os.environ, "SLURM_JOB_ID": "7"}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=job)
    assert (done.stdout, "no cache" in done.stderr) == (f"{tmp_path}\n", True)
