"""Outlets of rack PDUs: voltage and count by side."""

from __future__ import annotations

from typing import Any

import pytest

from clustergen.cluster.model import Cluster
from clustergen.facility.outlets import outlet_volts, rack_outlets
from clustergen.manifest.hardware import Circuit
from strategies.trees import cluster_of, manifest

# Voltage of a feed, phases, and of its outlets: phase to neutral of a 380, 400, 415 and 480 V supply is nominal.
VOLTS = [
    *((120, 1, 120), (230, 1, 230), (208, 3, 208), (240, 3, 240)),
    *((380, 3, 219), (400, 3, 231), (415, 3, 240), (480, 3, 277)),
]


@pytest.mark.parametrize(("volts", "phases", "outlet"), VOLTS)
def test_the_voltage_of_an_outlet(volts: int, phases: int, outlet: int) -> None:
    assert round(outlet_volts(Circuit(volts=volts, amps=32, phases=phases))) == outlet


def room(directory: Any, **rack: Any) -> Cluster:
    """Two DGX H100 with six supplies each, in one rack."""
    data = manifest(node_types={"gpu": {"system": "dgx-h100"}})
    data["nodes"][1] |= {"name": "c[1-2]", "address": "10.0.0.[11-12]"}
    data["racks"] = {"r1": {"nodes": "c[1-2]", **rack}}
    return cluster_of(data, directory)


def used(cluster: Cluster) -> list[tuple[str, str, int, int | None]]:
    (rack,) = cluster.racks
    return [(one.side, one.type, one.used, one.available) for one in rack_outlets(cluster, rack)]


def test_all_feeds_share_the_cords_of_a_rack(tmp_path: Any) -> None:
    feed = {"volts": 415, "amps": 60, "count": 3, "pdu": "raritan-px3-5878i2r"}
    assert used(room(tmp_path, circuits=[feed])) == [("", "C19", 12, 54)]


def test_each_side_has_half_of_the_cords(tmp_path: Any) -> None:
    feeds = [{"volts": 400, "amps": 63, "outlets": {"C19": 8}}, {"volts": 400, "amps": 63}]
    cluster = room(tmp_path, circuits=feeds, redundant_feeds=True)
    assert used(cluster) == [("A", "C19", 6, 8), ("B", "C19", 6, None)]


def test_an_odd_cord_is_on_side_a(tmp_path: Any) -> None:
    feed = {"volts": 400, "amps": 63, "count": 2, "outlets": {"C19": 20}}
    data = manifest(node_types={"gpu": {"system": "dgx-h100", "power": {"psus": 5}}})
    data["nodes"][1] |= {"name": "c[1-2]", "address": "10.0.0.[11-12]"}
    data["racks"] = {"r1": {"nodes": "c[1-2]", "circuits": [feed], "redundant_feeds": True}}
    cluster = cluster_of(data, tmp_path)
    assert used(cluster) == [("A", "C19", 6, 20), ("B", "C19", 4, 20)]
