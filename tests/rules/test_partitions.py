"""Partitions and node sets: what Slurm takes has no finding; a slip is told once, at its place."""

from __future__ import annotations

import pytest

from strategies.findings import TINY, changed, found


def slurm(lines: str, text: str = TINY) -> str:
    """The small cluster with these lines under `slurm`."""
    return changed(text, ('slurm: {version: "24.11"}', 'slurm:\n  version: "24.11"\n' + lines.rstrip()))


def partitions(lines: str, text: str = TINY) -> str:
    return slurm("  partitions:\n" + "".join(f"    {line}\n" for line in lines.splitlines()), text)


RIGHT = {
    "none": TINY,
    "a partition without any limit": partitions(
        'gpu: {nodes: "gpu[1-4]", max_time: unlimited, default_time: unlimited}'
    ),
    "one partition is the default unasked": partitions("gpu: {nodes: all}"),
    "a node set with an underscore": slurm(
        '  node_sets: {dgx_h100: "gpu[1-4]"}\n  partitions: {gpu: {nodes: dgx_h100}}'
    ),
    "a node set and a node": slurm('  node_sets: {most: "gpu[1-3]"}\n  partitions: {gpu: {nodes: "most,gpu4"}}'),
    "nodes kept from jobs": partitions(
        'gpu: {nodes: "gpu[1-4]"}',
        changed(
            TINY, ("nodes:\n", "nodes:\n  - {name: test1, type: h100, address: 10.0.0.9, in_no_partition: true}\n")
        ),
    ),
    "a share for the leaner of two types": partitions("gpu: {nodes: all, cpus_per_gpu: 16}"),
    "as many nodes as there are": partitions("gpu: {nodes: all, min_nodes: 4, max_nodes: 4}"),
}

WRONG = {
    "a misspelt node is not left out too": (
        partitions('gpu: {nodes: "gpu[1-3],gup4"}'),
        [("node-unknown", "gup4")],
    ),
    "a misspelt node set is not unused too": (
        slurm('  node_sets: {dgx: "gpu[1-4]"}\n  partitions: {gpu: {nodes: dxg}}'),
        [("node-unknown", "dxg")],
    ),
    "a node set of unknown nodes": (
        slurm('  node_sets: {dgx: "gpu[1-4],gpx5"}\n  partitions: {gpu: {nodes: dgx}}'),
        [("node-unknown", "gpx5")],
    ),
    "an unknown node and one that runs no jobs": (
        partitions('gpu: {nodes: "gpu[1-4],head,gpu9"}'),
        [("node-not-compute", "head"), ("node-unknown", "gpu9")],
    ),
    "no limit beyond a limit": (
        partitions("gpu: {nodes: all, max_time: 1-0, default_time: unlimited}"),
        [("partition-times", "unlimited")],
    ),
    "one node left out of many": (
        partitions('gpu: {nodes: "gpu[1-2],gpu4"}'),
        [("node-in-no-partition", "gpu[1-4]")],
    ),
    "more nodes than the largest job": (
        partitions("gpu: {nodes: all, min_nodes: 3, max_nodes: 2}"),
        [("partition-sizes", "3")],
    ),
    "memory for more GPUs than there is": (
        partitions("gpu: {nodes: all, memory_per_gpu: 256GiB}"),
        [("share-per-gpu-too-large", "256GiB")],
    ),
    "a partition called Default": (partitions("Default: {nodes: all}"), [("name-reserved", "Default")]),
    "a node set called all": (
        slurm('  node_sets: {all: "gpu[1-4]"}\n  partitions: {gpu: {nodes: all}}'),
        [("name-reserved", "all")],
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_manifests_have_no_finding(name: str) -> None:
    assert found(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_slip_is_told_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert sorted(found(text)) == sorted(expected)
