"""clustergen.conf of LBNL NHC."""

from __future__ import annotations

import re
from pathlib import Path

from strategies.trees import GPU, manifest, node_files, text_of, tree_of

CONF = "/etc/nhc/clustergen.conf"


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_checks_of_a_node_type(tmp_path: Path) -> None:
    data = manifest(
        health={"nhc": True, "dcgm": "off"},
        node_types={"gpu": {"system": "dgx-h100", "nics": GPU["nics"]}},
        storage={
            "home": {"type": "nfs", "server": "nfs.example.org", "path": "/home", "mount": "/home"},
            "data": {"type": "nfs", "server": "nfs.example.org", "path": "/d", "mount": "/data", "read_only": True},
        },
    )
    data["networks"]["fabric"] = {"type": "infiniband", "rate": "NDR"}
    tree = tree_of(data, tmp_path)
    assert lines_of(text_of(tree, "c1", CONF)) == [
        "* || check_hw_cpuinfo 2 112 224",
        "* || check_hw_physmem 2034237MB 2097152MB 1%",
        "* || check_hw_ib 400 mlx5_0:1",
        "* || check_hw_ib 400 mlx5_1:1",
        "* || check_fs_mount_rw -f /home",
        "* || check_fs_mount_ro -f /data",
        "* || check_ps_service -u root -S slurmd",
        *(
            f"* || check_cmd_status -t 25 -r 0 /etc/slurm/health.d/{name}"
            for name in ("10-gpu-count", "15-gpu-settings", "20-gpu-errors", "25-nvlink", "45-system")
        ),
    ]


def test_grace_processors_are_counted_as_nhc_counts_them(tmp_path: Path) -> None:
    """/proc/cpuinfo of aarch64 has processors only, and MemTotal may have the memory of the GPUs in it."""
    data = manifest(os="ubuntu-24.04", health={"nhc": True}, node_types={"gpu": {"system": "gb200-nvl72-tray"}})
    lines = lines_of(text_of(tree_of(data, tmp_path), "c1", CONF))
    assert lines[0] == "* || check_hw_cpuinfo 144 144 144"
    most = re.fullmatch(r"\* \|\| check_hw_physmem 953548MB (\d+)MB 1%", lines[1])
    assert most
    assert int(most[1]) - 983040 >= 4 * 180 * 1024


def test_the_scripts_that_it_names_are_in_the_tree(tmp_path: Path) -> None:
    tree = tree_of(manifest(health={"nhc": True, "gpu_count": False}), tmp_path)
    named = set(re.findall(r"/etc/slurm/health\.d/\S+", text_of(tree, "c1", CONF)))
    assert named <= set(node_files(tree, "c1"))
    assert "/etc/slurm/health.d/10-gpu-count" not in named


def test_without_the_field_there_is_no_file(tmp_path: Path) -> None:
    assert CONF not in node_files(tree_of(manifest(), tmp_path), "c1")
