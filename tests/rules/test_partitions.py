"""Partitions and node sets: what Slurm accepts has no finding; a mistake is reported once, at its place."""

from __future__ import annotations

import pytest

from clustergen.compile import validate
from strategies.findings import TINY, changed, findings, reviewed_findings


def slurm(lines: str, text: str = TINY) -> str:
    """The small cluster with these lines under `slurm`."""
    return changed(text, ('slurm: {version: "24.11"}', 'slurm:\n  version: "24.11"\n' + lines.rstrip()))


def partitions(lines: str, text: str = TINY) -> str:
    return slurm("  partitions:\n" + "".join(f"    {line}\n" for line in lines.splitlines()), text)


RIGHT = {
    "none": TINY,
    "no age factor": slurm("  priority: {max_age: 0, weights: {age: 0}}"),
    "a partition without any limit": partitions(
        'gpu: {nodes: "gpu[1-4]", max_time: unlimited, default_time: unlimited}'
    ),
    "one partition is the default unasked": partitions("gpu: {nodes: all}"),
    "jobs have to ask for a time": partitions("gpu: {nodes: all, max_time: 2:00:00, default_time: 0}"),
    "two numbers that cannot be misread": partitions("gpu: {nodes: all, max_time: 1-12:30, default_time: 90}"),
    "samples limited by size only": changed(
        TINY,
        ("slurm:", "monitoring: {retention: 0d, retention_size: 1TB}\nslurm:"),
        ("[slurm-controller]", "[slurm-controller, monitoring]"),
    ),
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
    "GPUs for graphics at the login": changed(
        TINY,
        (
            "nodes:\n",
            "nodes:\n  - {name: login1, type: h100, address: 10.0.0.9, roles: [login], in_no_partition: true}\n",
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
    "a longest time of nothing": (
        partitions("gpu: {nodes: all, max_time: 0, default_time: 1h}"),
        [("time-limit-zero", "0")],
    ),
    "a longest time of nothing as an option": (
        changed(
            partitions("gpu: {nodes: all, default: true, options: {maxtime: 0:0}}"),
            (
                "slurm:",
                "slurm:\n  defaults: slurm\n  state_location: /srv/state\n  resources: {task_plugins: [cgroup]}\n"
                "  cgroup_options: {ConstrainDevices: yes}",
            ),
        ),
        [("time-limit-zero", "0:0")],
    ),
    "minutes and seconds": (
        partitions('gpu: {nodes: all, max_time: "1:30", default_time: 1:30}'),
        [("time-minutes-seconds", '"1:30"'), ("time-minutes-seconds", "1:30")],
    ),
    "no wall time": (
        changed(
            TINY,
            ("[slurm-controller]", "[slurm-controller, slurm-accounting]"),
            (
                '"24.11"}',
                '"24.11", qos: {normal: {group_wall: 0s}},'
                " accounts: {a: {users: [ann], user_limits: {ann: {max_wall: 0}}}}}",
            ),
        ),
        [("time-limit-zero", "0"), ("time-limit-zero", "0s")],
    ),
    "an age that every job has": (
        slurm("  priority: {max_age: 0}"),
        [("value-out-of-range", "0")],
    ),
    "a backfill that looks nowhere": (
        slurm("  scheduler: {backfill_window: 0}"),
        [("value-out-of-range", "0")],
    ),
    "samples kept for no time": (
        changed(
            TINY,
            ("slurm:", "monitoring: {retention: 0d}\nslurm:"),
            ("[slurm-controller]", "[slurm-controller, monitoring]"),
        ),
        [("value-out-of-range", "0d")],
    ),
    "a controller with GPUs": (
        changed(TINY, ("name: head, type: service", "name: head, type: h100")),
        [("gpu-node-runs-jobs", "roles")],
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
    "CPUs for more GPUs than MaxCPUsPerNode leaves": (
        partitions("gpu: {nodes: all, cpus_per_gpu: 18, max_cpus_per_node: 64}"),
        [("share-per-gpu-too-large", "18")],
    ),
    "a partition called Default": (partitions("Default: {nodes: all}"), [("name-reserved", "Default")]),
    "a node set called all": (
        slurm('  node_sets: {all: "gpu[1-4]"}\n  partitions: {gpu: {nodes: all}}'),
        [("name-reserved", "all")],
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_manifests_have_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert sorted(reviewed_findings("partitions", name, text)) == sorted(expected)


@pytest.mark.parametrize(("nodes", "listed", "hint"), [("gpu[01-12]", "gpu[1-12]", "gpu[01-09]"), ("n1", "n01", "n1")])
def test_names_that_differ_in_leading_zeros(nodes, listed, hint, tmp_path):
    edits = ('"gpu[1-4]", type: h100, address: "10.0.0.[11-14]"', f'"{nodes}", type: h100, address: "10.0.0.[11-22]"')
    if nodes == "n1":
        edits = ('"gpu[1-4]", type: h100, address: "10.0.0.[11-14]"', "n1, type: h100, address: 10.0.0.11")
    slurm = ('slurm: {version: "24.11"}', f'slurm: {{version: "24.11", partitions: {{a: {{nodes: "{listed}"}}}}}}')
    path = tmp_path / "manifest.yaml"
    path.write_text(changed(TINY, edits, slurm), encoding="utf-8")
    (finding,) = [item for item in validate(path).diagnostics if item.code == "node-unknown"]
    assert finding.hint == f"write {hint}: leading zeros count"
