"""The imported manifest is readable: descriptive names, and no unnecessary line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.compile import validate
from clustergen.importer.comments import comments_of
from importer.conftest import Imported

_CONF = "ClusterName=c\nSlurmctldHost=head\nSlurmUser=slurm\n"


@pytest.mark.slow
def test_node_types_are_called_by_what_tells_them_apart(imported: Imported) -> None:
    lines = [
        "NodeName=fat1 Sockets=2 CoresPerSocket=8 RealMemory=1030000",
        "NodeName=n[1-9] Sockets=2 CoresPerSocket=8 RealMemory=64000",
        "NodeName=n[10-12] Sockets=2 CoresPerSocket=8 RealMemory=128000",
        "NodeName=n13 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000",
        "NodeName=n[14-15] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:volta:1",
        "NodeName=n16 Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:volta:2",
        "NodeName=n17 Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=fpga:1",
        "NodeName=n18 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=128000",
        "NodeName=n19 Sockets=2 CoresPerSocket=8 RealMemory=63990",
        "NodeName=gpu-a100-01 Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:volta:4",
        "NodeName=rack1n1,rack2n1 Sockets=2 CoresPerSocket=9 RealMemory=64000",
        "PartitionName=p Nodes=ALL",
    ]
    _, data = imported(slurm_conf=_CONF + "GresTypes=gpu,fpga\n" + "\n".join(lines))
    kinds = {entry["name"]: entry["type"] for entry in data["nodes"]}
    assert kinds == {
        "head": "service",
        "fat1": "fat",
        "n[1-9]": "n",
        "n[10-12]": "n-125g",
        "n13": "n-32cpu",
        "n[14-15]": "n-1x-volta",
        "n16": "n-2x-volta",
        "n17": "n-fpga",
        "n18": "n-125g-32cpu",
        "n19": "n-2",
        "gpu-a100-01": "gpu-a100",
        "rack[1-2]n1": "rack",
    }


@pytest.mark.slow
def test_defaults_of_slurm_are_left_out_and_reported(imported: Imported) -> None:
    conf = "KillWait=30\nInactiveLimit=0\nSlurmdDebug=3\nSwitchType=switch/none\nAuthType=auth/munge\nSlurmdPort=6818\n"
    queue = "NodeName=n1\nPartitionName=p Nodes=ALL OverSubscribe=NO MaxTime=INFINITE\n"
    result, data = imported(slurm_conf=_CONF + conf + "MinJobAge=300 # the file server is slow\nWaitTime=7\n" + queue)
    assert data["slurm"]["options"] == {"MinJobAge": 300, "WaitTime": 7}
    assert data["slurm"]["partitions"] == {"p": {"nodes": "all", "max_time": "unlimited"}}
    assert not data["slurm"].keys() & {"auth", "ports"}
    [text] = [note.text for note in result.notes if "equal Slurm's defaults" in note.text]
    assert text.startswith("KillWait=30, InactiveLimit=0, SlurmdDebug=3, ")


def test_values_of_partitions_that_are_the_fields_defaults_are_no_finding(imported: Imported) -> None:
    queue = "NodeName=n1\nPartitionName=p Nodes=ALL Default=NO Hidden=NO State=UP ReqResv=NO AllocNodes=ALL\n"
    result, data = imported(slurm_conf=_CONF + queue)
    assert data["slurm"]["partitions"] == {"p": {"nodes": "all"}}
    assert not [note.text for note in result.notes if "Hidden" in note.text]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), [("90", "00:01:30"), ("3600", "01:00:00")])
def test_a_number_alone_in_gracetime_counts_seconds(imported: Imported, text: str, expected: str) -> None:
    queue = f"NodeName=n1\nPartitionName=p Nodes=ALL PreemptMode=CANCEL GraceTime={text}\n"
    _, data = imported(slurm_conf=_CONF + "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n" + queue)
    assert data["slurm"]["partitions"]["p"]["grace_time"] == expected


@pytest.mark.slow
@pytest.mark.parametrize(("version", "kept"), [("22.05", True), ("23.02", True), ("23.11", False), ("26.05", False)])
def test_a_default_has_to_be_that_of_this_release(imported: Imported, version: str, kept: bool) -> None:
    conf = "SelectType=select/cons_tres\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
    _, data = imported(version, slurm_conf=_CONF + conf)
    assert ("select" in data["slurm"].get("resources", {})) is kept


def test_a_default_that_newer_releases_give_up_stays(imported: Imported) -> None:
    """Or an upgrade would change it."""
    conf = "SelectType=select/linear\nTreeWidth=50\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
    _, data = imported("22.05", slurm_conf=_CONF + conf)
    assert data["slurm"]["options"] == {"TreeWidth": 50}
    assert data["slurm"]["resources"] == {"select": "linear"}


@pytest.mark.slow
def test_no_remark_is_printed_twice(imported: Imported) -> None:
    conf = "PrivateData=jobs,usage # of the works council\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\n"
    result, data = imported(slurm_conf=f"{_CONF}{conf}NodeName=n1\nPartitionName=p Nodes=ALL\n")
    assert data["slurm"]["accounting"] == {"private": ["jobs", "usage"]}
    assert "# of the works council\n    private: [jobs, usage]\n" in result.text
    assert data["slurm"]["options"] == {"PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"}
    assert "preemption" not in data["slurm"]


@pytest.mark.slow
def test_a_node_set_by_feature_is_reported(imported: Imported) -> None:
    conf = "NodeName=n[1-2] Feature=a\nNodeName=n3 Feature=b\nNodeSet=s Feature=a\nPartitionName=p Nodes=s,n3\n"
    result, data = imported(slurm_conf=_CONF + conf)
    assert data["slurm"]["node_sets"] == {"s": "n[1-2]"}
    assert "    # Feature=a in slurm.conf: the nodes that have it now.\n" in result.text


def test_single_nodes_have_no_brackets_and_times_no_empty_days(imported: Imported) -> None:
    conf = "NodeName=n[1-3]\nPartitionName=p Nodes=n[1],n[2-3] MaxTime=0-06:00:00 DefaultTime=00-00:10:00\n"
    _, data = imported(slurm_conf=_CONF + conf)
    queue = {"nodes": "n1,n[2-3]", "max_time": "06:00:00", "default_time": "00:10:00"}
    assert data["slurm"]["partitions"]["p"] == queue


@pytest.mark.parametrize(
    "comment",
    [
        "# COMPUTE NODES (slurmd -C)",
        "#### QUEUES ####",
        "# WARNING -- THIS FILE IS PUPPET MANAGED !! -- CHANGES WILL BE OVERWRITTEN",
        "# Managed by Ansible, do not edit",
        "# https://slurm.schedmd.com/configurator.html",
        "##SelectType=select/linear",
        "# topology.conf Config File",
    ],
)
def test_headings_and_notes_of_other_tools_say_nothing_of_the_cluster(comment: str) -> None:
    comments = comments_of(f"{comment}\nA=1\n")
    assert (comments.head, dict(comments.above), comments.tail) == ((), {}, ())


@pytest.mark.many
@pytest.mark.parametrize(
    ("line", "fields", "options"),
    [
        ("LaunchParameters=use_interactive_step", {"interactive_step": True}, {}),
        ("SlurmctldParameters=enable_configless", {"configless": True}, {}),
        ("DisableRootJobs=yes", {"disable_root_jobs": True}, {}),
        ("JobAcctGatherFrequency=15", {"accounting": {"gather_frequency": 15}}, {}),
        ("JobAcctGatherFrequency=15,network=30", {}, {"JobAcctGatherFrequency": "15,network=30"}),
        (
            "SlurmctldParameters=enable_configless,rl_enable",
            {"configless": True},
            {"SlurmctldParameters": "enable_configless,rl_enable"},
        ),
        (
            "LaunchParameters=use_interactive_step,enable_nss_slurm",
            {},
            {"LaunchParameters": "use_interactive_step,enable_nss_slurm"},
        ),
    ],
)
def test_words_of_lists_that_are_switches(
    imported: Imported, line: str, fields: dict[str, Any], options: dict[str, str]
) -> None:
    """Alone they are a field; with others the list stays as it is."""
    base = "ClusterName=c\nSlurmctldHost=head\nSlurmUser=slurm\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n"
    _, data = imported(slurm_conf=f"{base}{line}\n")
    result = data["slurm"]
    names = ("interactive_step", "configless", "accounting", "disable_root_jobs")
    assert {name: result[name] for name in names if name in result} == fields
    assert data["slurm"].get("options", {}) == options


def test_nodes_outside_of_all_partitions_are_an_entry_of_their_own(imported: Imported) -> None:
    lines = "NodeName=n[1-4] CPUs=4\nNodeName=m[1-2] CPUs=4\nPartitionName=p Nodes=n[1-2,4]\n"
    _, data = imported(slurm_conf=_CONF + lines)
    assert [(entry["name"], entry.get("in_no_partition", False)) for entry in data["nodes"][1:]] == [
        ("n[1-2]", False),
        ("n3", True),
        ("n4", False),
        ("m[1-2]", True),
    ]


def test_times_of_two_numbers_are_marked_at_their_own_values(imported: Imported) -> None:
    result, _ = imported(slurm_conf=_CONF + "NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 MaxTime=48:00 MaxNodes=1\n")
    meaning = "MaxTime=48:00: to Slurm 48:00 is minutes:seconds, 48 minutes, not 48 hours"
    assert result.text.count("CHECK: MaxTime") == 1
    assert f"# CHECK: {meaning}.\n      max_time: " in result.text
    (note,) = (note for note in result.notes if "48:00" in note.text)
    assert (note.kind, note.place) == ("choice", "slurm.conf:5")
    assert note.text.startswith(meaning)


@pytest.mark.slow
def test_gpus_of_two_types_on_a_node_are_counted(imported: Imported, tmp_path: Path) -> None:
    nodes = "NodeName=n[1-2] CPUs=4 Gres=gpu:gtx970:1,gpu:gtx1060:2\nPartitionName=p Nodes=ALL\n"
    imported(slurm_conf=_CONF + "GresTypes=gpu\n" + nodes)
    cluster = validate(tmp_path / "manifest.yaml").cluster
    assert cluster is not None
    assert cluster.gpu_count == 6
