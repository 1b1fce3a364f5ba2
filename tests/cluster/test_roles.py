"""Roles of nodes with GPUs add to what they do; those of other nodes are the stated ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from strategies.trees import GPU, HEAD, manifest, text_of, tree_of

PLAIN = {"cpu": {"cores_per_socket": 16}, "memory": "256GiB"}
OTHERS = {"name": "c[2-4]", "type": "gpu", "address": "10.0.0.[12-14]"}
HOME = {"type": "nfs", "server": "c1", "path": "/export/home", "mount": "/home"}
COMPUTE = "slurm-compute"


@pytest.mark.parametrize(
    ("entry", "runs_jobs"),
    [
        ({"type": "gpu", "roles": ["nfs-server"]}, True),
        ({"type": "gpu", "roles": ["nfs-server", COMPUTE]}, True),
        ({"type": "gpu", "roles": ["nfs-server"], "in_no_partition": True}, False),
        ({"type": "plain", "roles": ["nfs-server"]}, False),
        ({"type": "plain", "roles": ["nfs-server", COMPUTE]}, True),
    ],
)
def test_nodes_with_gpus_stay_in_service(tmp_path: Path, entry: dict[str, Any], runs_jobs: bool) -> None:
    server = {"name": "c1", "address": "10.0.0.11", **entry}
    types, nodes = {"gpu": GPU, "plain": PLAIN}, [HEAD, server, OTHERS]
    tree = tree_of(manifest(node_types=types, nodes=nodes, storage={"home": HOME}), tmp_path)
    names = re.findall(r"^NodeName=(\S+)", text_of(tree, "head", "/etc/slurm/slurm.conf"), re.MULTILINE)
    assert any(name in ("c1", "c[1-4]", "c[1,2-4]") for name in names) == runs_jobs, names
    assert "/export/home" in text_of(tree, "c1", "/etc/exports.d/clustergen-home.exports")
