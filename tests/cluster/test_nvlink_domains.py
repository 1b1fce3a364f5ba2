"""Nodes of a rack share its NVLink domain, although some of them differ in other fields of their type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strategies.trees import HEAD, manifest, text_of, tree_of

TRAYS = [
    {"name": "gb[1-16]", "type": "gb", "address": "10.0.0.[11-26]"},
    {"name": "gb[17-18]", "type": "gb", "address": "10.0.0.[27-28]", "gpus": {"power_limit": "1kW"}},
    {"name": "gb[19-36]", "type": "gb", "address": "10.0.0.[29-46]"},
]
RACKS = {"R1": {"nodes": "gb[1-18]"}, "R2": {"nodes": "gb[19-36]"}}


@pytest.mark.slow
@pytest.mark.parametrize(("racks", "names"), [(RACKS, ["R1", "R2"]), ({}, ["gb-1", "gb-2"])])
def test_types_of_one_system_share_domains(tmp_path: Path, racks: dict[str, Any], names: list[str]) -> None:
    data = manifest(node_types={"gb": {"system": "gb200-nvl72"}}, nodes=[HEAD, *TRAYS], racks=racks)
    tree = tree_of(data, tmp_path)
    blocks = text_of(tree, "head", "/etc/slurm/topology.conf")
    assert f"BlockName={names[0]} Nodes=gb[1-18]\nBlockName={names[1]} Nodes=gb[19-36]\n" in blocks
    for host in ("gb1", "gb17"):
        members = text_of(tree, host, f"/etc/nvidia-imex/clustergen/{names[0]}.cfg").splitlines()
        assert [row for row in members if row[:1] not in ("", "#")] == [f"10.0.0.{last}" for last in range(11, 29)]
