"""The out-of-band network has a port for each device with one, not for BMCs alone."""

from __future__ import annotations

import pytest

from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import NETWORKS
from clustergen.features.facility.readme_fabric import fabric_tables
from strategies.fabric_nets import cluster_of, superpod

BMC = "management: {cidr: 10.0.0.0/16}\n  bmc: {cidr: 10.9.0.0/16, plan: {leaf: sn2201%s}}"
RACKS = """\
racks:
  "r[1-2]": {nodes: "gpu[0001-0004]", circuits: [{volts: 415, amps: 60, count: 2}]}
"""


def cluster(nodes: int, system: str = "dgx-h100", *, bmc: str = "", **text: str) -> Cluster:
    manifest = superpod(nodes, **text).replace("dgx-h100", system).replace("ubuntu-22.04", "ubuntu-24.04")
    return cluster_of(manifest.replace("management: {cidr: 10.0.0.0/16}", BMC % bmc))


def others(cluster: Cluster) -> dict[str, str]:
    table = next(table for table in fabric_tables(cluster) if table.title.startswith("Management"))
    return {row[0]: row[1] for row in table.rows}


@pytest.mark.parametrize(
    ("nodes", "system", "text", "ports"),
    [
        (4, "dgx-h100", {}, {"switches": "1"}),
        (
            4,
            "dgx-h100",
            {"plan": "leaf: qm9790}\n    subnet_manager: {where: ufm", "more": RACKS},
            {"rack PDUs": "4"},
        ),  # without a processor
        (
            16,
            "dgx-h100",
            {"plan": "leaf: qm9700, reserved_for: ufm1"},
            {"switches": "11", "devices on reserved ports": "1"},
        ),
        (4, "dgx-b200", {}, {"switches": "1", "DPUs": "8"}),
        (18, "gb200-nvl72-tray", {}, {"switches": "6", "DPUs": "36", "NVLink switch trays": "9", "power shelves": "8"}),
    ],
)
def test_devices_are_counted(nodes: int, system: str, text: dict[str, str], ports: dict[str, str]) -> None:
    made = cluster(nodes, system, **text)
    assert others(made) == ports
    leaves = made.other_switches["bmc"]
    assert sum(leaf.free_ports for leaf in leaves) == sum(map(int, ports.values()))
    assert all(len(leaf.nodes) + leaf.free_ports <= 48 for leaf in leaves)
    assert NETWORKS[-1] == "bmc", "it serves the switches of the others, which are planned before"


def test_ports_of_other_devices_stay_where_they_are_when_nodes_are_added() -> None:
    plan = "leaf: qm9700, capacity: 60"
    small, large = (cluster(nodes, bmc=", spine: sn4600c, capacity: 60", plan=plan) for nodes in (20, 50))
    free = [{leaf.name: leaf.free_ports for leaf in made.other_switches["bmc"]} for made in (small, large)]
    assert [[one["bmc-leaf01"], one["bmc-leaf02"]] for one in free] == [[0, 16], [0, 24]], "after those of 60 nodes"
