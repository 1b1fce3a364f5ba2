"""Nodes as people write them for the playbooks of a cluster's life, and what Slurm says of nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils.controller import HEALTH, OURS, parsed
from ansible_collections.clustergen.cluster.plugins.plugin_utils import hosts, manifest

HOSTS = ["head", "compute01", "compute02", "compute10"]


def test_names_are_those_of_the_inventory() -> None:
    assert hosts.wrong_with("compute[01-02],head", HOSTS) == ""
    assert hosts.wrong_with(["compute01", "compute10"], HOSTS) == ""
    assert hosts.expanded("compute[01-02],compute01") == ["compute01", "compute02"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "set the nodes: -e nodes=compute[01-08]"),
        ("compute[02-04]", "compute[03-04] are not nodes that this playbook acts on, did you mean"),
        ("compute1", "compute1 is not a node that this playbook acts on, did you mean compute10?"),
        ("compute[01", "nodes=compute[01: this bracket is never closed"),
    ],
)
def test_faults_of_other_nodes_are_reported(text: str, words: str) -> None:
    assert hosts.wrong_with(text, HOSTS).startswith(words)


def test_before_24_11_every_slurmd_has_to_know_a_new_node() -> None:
    assert "run `ansible-playbook site.yml` now" in hosts.after_adding("24.05")
    assert hosts.after_adding("24.11").startswith("no restart is required")


def test_places_in_the_manifest(tmp_path: Path) -> None:
    tree = tmp_path / "rendered"
    tree.mkdir()
    (tree / "clustergen.lock.json").write_text(
        json.dumps({"format": 1, "clustergen": "0", "manifest": {"name": "m.yaml", "sha256": "0" * 64}, "files": {}})
    )
    (tmp_path / "m.yaml").write_text(
        "name: c\n"
        "nodes:\n"
        "  - {name: head, address: 10.0.0.1}\n"
        "  - name: compute[01-02]\n"
        "slurm:\n"
        "  partitions:\n"
        '    debug: {nodes: "compute01"}\n'
        '    all: {nodes: "head,compute[01-02]"}\n'
    )
    assert manifest.named_in(tree, ["compute02"]) == "m.yaml:4 nodes, :8 slurm.partitions.all.nodes"
    assert manifest.named_in(tree, ["compute09"]) == "see its host lists"


def test_states_reasons_and_versions_are_read_as_slurm_prints_them() -> None:
    text = (
        "NodeName=n1 Arch=x86_64 CoresPerSocket=64 Version=24.11.5 State=IDLE+DRAIN ThreadsPerCore=2 MCS_label=N/A "
        "CurrentWatts=0 AveWatts=0 Reason=clustergen playbook: new fans [root@2026-11-21T05:00:14]\n"
        "NodeName=n2 CoresPerSocket=64 State=DOWN+NOT_RESPONDING ThreadsPerCore=2 Reason=No answer [s@x] Comment=a\n"
    )
    assert list(parsed(text)) == [
        ("n1", {"idle", "drain"}, "clustergen playbook: new fans", "24.11.5"),
        ("n2", {"down", "not_responding"}, "No answer", ""),
    ]


def test_the_health_check_does_not_take_a_playbooks_drain_for_its_own() -> None:
    script = Path(__file__).parents[2] / "programs/slurm/health.sh"
    assert f"ours='{HEALTH}'" in script.read_text()
    assert not OURS.startswith(HEALTH)
