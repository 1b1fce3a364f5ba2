"""slurm.conf: what follows from the manifest and the release, read back with a parser of Slurm's grammar."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.slurm import key
from clustergen.catalogue.slurm_values import token
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.slurm.ground import tree_width
from clustergen.cluster.slurm.keys.line import Line
from clustergen.cluster.slurm.keys.line import line as line_of
from clustergen.render.views.slurm.layout import lines_of
from strategies.findings import diagnosed
from strategies.slurm_trees import CPU, GPU, block, cluster, gpu_type, lines, roles, settings, words
from strategies.trees import COMPUTE, HEAD, manifest, text_of

RELEASES = ("22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
RICH: dict[str, Any] = {
    "preemption": {"by": "partition", "mode": "requeue", "exempt_time": "30min"},
    "partitions": {
        "low": {"nodes": "all", "default": True, "preempt": "requeue", "grace_time": "2min", "priority_tier": 1},
        "high": {"nodes": "some", "max_time": "2-0", "preempt": "off", "priority_tier": 2, "priority_factor": 5},
    },
    "node_sets": {"some": "c[1-2]"},
    "scheduler": {"max_array": 20001, "parameters": ["bf_max_job_user=50", "bf_window=99"]},
    "enforce_binding": True,
    "disable_root_jobs": True,
    "private_tmp": {},
}


# --- releases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_only_keys_and_words_that_the_release_knows(release: str, tmp_path: Path) -> None:
    tree = cluster(tmp_path, release, slurm=RICH, node_types=gpu_type(shards=4))
    for line in lines(tree, "head"):
        for number, pair in enumerate(line.pairs):
            row = key("slurm.conf", pair.key, line.pairs[0].key if number else "")
            assert row is not None, pair.key
            assert row.state(SlurmRelease(release)) == "known", pair.key
            for word in pair.value.split(","):
                slurm_token = token(pair.key, word)
                assert slurm_token is None or slurm_token.state(SlurmRelease(release)) == "known", f"{pair.key}={word}"


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ("22.05", "topology/none"),
        ("23.11", "topology/default"),
        ("24.11", "topology/default"),
        ("25.05", "topology/flat"),
    ],
)
def test_a_flat_topology_has_the_name_of_its_release(release: str, name: str, tmp_path: Path) -> None:
    assert settings(cluster(tmp_path, release))["TopologyPlugin"] == name


@pytest.mark.parametrize(("release", "where"), [("22.05", "SchedulerParameters"), ("23.02", "PreemptParameters")])
def test_youngest_first_is_a_word_of_two_keys(release: str, where: str, tmp_path: Path) -> None:
    result = settings(cluster(tmp_path, release, slurm=RICH))
    assert [name for name, value in result.items() if "youngest_first" in value] == [where]


def test_root_submits_jobs_unless_the_manifest_says_no(tmp_path: Path) -> None:
    assert "DisableRootJobs" not in settings(cluster(tmp_path))
    assert settings(cluster(tmp_path, slurm={"disable_root_jobs": True}))["DisableRootJobs"] == "YES"


@pytest.mark.slow
def test_metrics_only_where_the_build_has_them(tmp_path: Path) -> None:
    assert settings(cluster(tmp_path, "25.11"))["MetricsType"] == "metrics/openmetrics"
    assert "MetricsType" not in settings(cluster(tmp_path, "25.11", slurm={"metrics": False}))
    assert "MetricsType" not in settings(cluster(tmp_path, "24.11"))


# --- the manifest's own values ----------------------------------------------------------------------------------------


def test_an_option_takes_the_place_of_ours_and_is_there_once(tmp_path: Path) -> None:
    options = {"enforcepartlimits": "ANY", "LaunchParameters": "enable_nss_slurm", "KillWait": 90}
    result = settings(cluster(tmp_path, slurm={"options": options}))
    assert {name.lower(): value for name, value in result.items()}["enforcepartlimits"] == "ANY"
    assert result["LaunchParameters"] == "enable_nss_slurm"
    assert result["KillWait"] == "90"


@pytest.mark.slow
def test_options_of_partitions_and_node_types_come_last(tmp_path: Path) -> None:
    types = {**gpu_type(), "cpu": {**CPU, "slurm_options": {"TmpDisk": 1000}}}
    parts = {"all": {"nodes": "all", "default": True, "options": {"LLN": "YES"}}}
    nodes = [HEAD, COMPUTE, {"name": "n1", "type": "cpu", "address": "10.0.0.31"}]
    networks = {"management": {"cidr": "10.0.0.0/24"}}
    tree = cluster(tmp_path, node_types=types, nodes=nodes, networks=networks, slurm={"partitions": parts})
    assert block(tree, "NodeName")["n1"]["TmpDisk"] == "1000"
    assert block(tree, "PartitionName")["all"]["LLN"] == "YES"


def test_a_key_that_comes_several_times_is_replaced_as_a_whole(tmp_path: Path) -> None:
    nodes = [roles("slurm-controller", name="h[1-2]", address="10.0.0.[1-2]"), COMPUTE]
    slurm = {"defaults": "slurm", "state_shared": True, "partitions": {"p": {"nodes": "all"}}}
    for options, hosts in (({}, ["h1(10.0.0.1)", "h2(10.0.0.2)"]), ({"SlurmctldHost": "c"}, ["c"])):
        tree = cluster(tmp_path, nodes=nodes, slurm={**slurm, "options": options})
        assert [line.pairs[0].value for line in lines(tree, "h1") if line.key == "slurmctldhost"] == hosts


@pytest.mark.parametrize("value", ["two words", "a#b", "back\\slash", "{{ x }}", "$(id)", "it's", "-1"])
def test_free_text_is_quoted_so_that_slurm_reads_it_back(value: str, tmp_path: Path) -> None:
    assert settings(cluster(tmp_path, slurm={"options": {"MailDomain": value}}))["MailDomain"] == value


@pytest.mark.parametrize("value", ['say "no"', "two\nlines"])
def test_values_that_slurm_cannot_hold_are_refused(value: str) -> None:
    with pytest.raises(Exception, match=r"hold|control"):
        lines_of([Line({"MailDomain": value}, {})])


def test_an_option_of_a_line_takes_the_place_of_ours() -> None:
    items = [("PartitionName", "p"), ("State", "UP"), ("LLN", "NO")]
    of_type, of_entry = (("a",), {"state": "DOWN", "ReqResv": "YES"}), (("b",), {"State": "DRAIN"})
    made = line_of("slurm.conf", SlurmRelease("24.11"), items, of_type, of_entry)
    assert lines_of([made]) == ("PartitionName=p State=DRAIN LLN=NO ReqResv=YES",)
    assert made.options == {"State": ("b", "State"), "ReqResv": ("a", "ReqResv")}


def test_a_line_without_values_has_none() -> None:
    release = SlurmRelease("24.11")
    node = line_of("slurm.conf", release, [("NodeName", "a"), ("Gres", ""), ("Weight", None)])
    old = line_of("slurm.conf", SlurmRelease("22.05"), [("PartitionName", "p"), ("PowerDownOnIdle", "YES")])
    assert lines_of([node, old]) == ("NodeName=a", "PartitionName=p")


# --- controllers and messages -----------------------------------------------------------------------------------------


def test_every_controller_has_a_line_with_its_address(tmp_path: Path) -> None:
    nodes = [roles("slurm-controller", name="h[1-2]", address="10.0.0.[1-2]"), COMPUTE]
    storage = {
        "state": {
            "type": "nfs",
            "server": "10.0.0.250",
            "path": "/s",
            "mount": "/state",
            "clients": ["slurm-controller"],
        }
    }
    tree = cluster(tmp_path, nodes=nodes, storage=storage, slurm={"state_location": "/state/slurm"})
    hosts = [line.pairs[0].value for line in lines(tree, "h1") if line.key == "slurmctldhost"]
    assert hosts == ["h1(10.0.0.1)", "h2(10.0.0.2)"]
    assert settings(tree, "h1")["StateSaveLocation"] == "/state/slurm"


@pytest.mark.parametrize(("nodes", "width"), [(1, 16), (256, 16), (257, 17), (1024, 32), (2500, 50), (10240, 50)])
def test_two_hops_reach_all_nodes_as_long_as_that_is_wise(nodes: int, width: int) -> None:
    assert tree_width(nodes) == width
    assert nodes > 2500 or width + width * width >= nodes


def test_a_step_is_unkillable_only_after_five_timeouts(tmp_path: Path) -> None:
    result = settings(cluster(tmp_path, slurm={"message_timeout": 90}))
    assert int(result["UnkillableStepTimeout"]) >= 5 * int(result["MessageTimeout"]) == 450


@pytest.mark.slow
def test_timeouts_grow_with_the_cluster(tmp_path: Path) -> None:
    many = {"name": "c[1-2000]", "type": "gpu", "address": "10.[1-8].0.[1-250]"}
    networks = {"management": {"cidr": "10.0.0.0/8"}}
    small, large = settings(cluster(tmp_path)), settings(cluster(tmp_path, nodes=[HEAD, many], networks=networks))
    assert int(large["MessageTimeout"]) > int(small["MessageTimeout"])
    assert int(words(large["SchedulerParameters"])["bf_max_job_test"]) > 500
    assert "max_rpc_cnt" in words(large["SchedulerParameters"])


def test_configless_is_a_word_of_the_controller(tmp_path: Path) -> None:
    assert "enable_configless" in words(settings(cluster(tmp_path, slurm={"configless": True}))["SlurmctldParameters"])
    assert "enable_configless" not in settings(cluster(tmp_path))["SlurmctldParameters"]


# --- scheduling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "window"), [(["30min"], 1440), (["2-0", "3-0"], 4320), (["unlimited"], 10080), (["30-0"], 10080)]
)
def test_backfill_looks_as_far_as_the_longest_job(limits: list[str], window: int, tmp_path: Path) -> None:
    parts = {f"p{n}": {"nodes": "all", "default": n == 0, "max_time": limit} for n, limit in enumerate(limits)}
    texts = words(settings(cluster(tmp_path, slurm={"partitions": parts}))["SchedulerParameters"])
    assert int(texts["bf_window"]) == window


def test_a_token_of_the_manifest_takes_the_place_of_ours(tmp_path: Path) -> None:
    texts = words(settings(cluster(tmp_path, slurm=RICH))["SchedulerParameters"])
    assert (texts["bf_window"], texts["bf_max_job_user"]) == ("99", "50")


def test_preemption_is_a_pair_of_keys_or_none(tmp_path: Path) -> None:
    result = settings(cluster(tmp_path, slurm=RICH))
    assert (result["PreemptType"], result["PreemptMode"]) == ("preempt/partition_prio", "REQUEUE")
    assert result["PreemptExemptTime"] == "00:30:00"
    assert not [name for name in settings(cluster(tmp_path)) if name.startswith("Preempt")]


def test_suspended_jobs_are_woken_by_the_gang_scheduler(tmp_path: Path) -> None:
    nodes = [HEAD, {"name": "n[1-2]", "type": "cpu", "address": "10.0.0.[31-32]"}]
    networks = {"management": {"cidr": "10.0.0.0/24"}}
    parts = {"a": {"nodes": "all", "priority_tier": 1, "default": True}, "b": {"nodes": "all", "priority_tier": 2}}
    preemption = {"by": "partition", "mode": "suspend"}
    slurm = {"partitions": parts, "preemption": preemption}
    result = settings(cluster(tmp_path, node_types={"cpu": CPU}, nodes=nodes, networks=networks, slurm=slurm))
    assert result["PreemptMode"] == "SUSPEND,GANG"


# --- accounting -------------------------------------------------------------------------------------------------------


def test_gpus_are_counted_together_and_by_type(tmp_path: Path) -> None:
    result = settings(cluster(tmp_path, node_types=gpu_type(shards=4)))
    assert result["AccountingStorageTRES"].split(",") == ["gres/gpu", "gres/gpu:h100", "gres/shard"]


@pytest.mark.parametrize(
    ("stated", "keys"),
    [
        ({}, {"DefMemPerGPU"}),
        ({"memory_per_gpu": "100GiB"}, {"DefMemPerGPU"}),
        ({"memory_per_cpu": "4GiB"}, {"DefMemPerCPU"}),
        ({"memory_per_node": "100GiB"}, {"DefMemPerNode"}),
    ],
    ids=lambda value: None if isinstance(value, set) else next(iter(value), "derived"),
)
def test_a_partition_has_one_default_of_memory(stated: dict[str, str], keys: set[str], tmp_path: Path) -> None:
    """Slurm takes one of the three."""
    tree = cluster(tmp_path, slurm={"partitions": {"main": {"nodes": "all", **stated}}})
    text = str(block(tree, "PartitionName")["main"])
    assert {key for key in ("DefMemPerGPU", "DefMemPerCPU", "DefMemPerNode") if key in text} == keys


@pytest.mark.parametrize(
    ("memory", "reserved"),
    [("4GiB", 1024), ("16GiB", 2048), ("512GiB", 10485), ("1TiB", 20971), ("4TiB", 32768)],
    ids=["a quarter", "2 GiB at least", "2 %", "2 % of more", "32 GiB at most"],
)
def test_the_system_keeps_a_share_of_the_memory(memory: str, reserved: int, tmp_path: Path) -> None:
    tree = cluster(tmp_path, node_types={"gpu": {**gpu_type()["gpu"], "memory": memory}})
    assert int(block(tree, "NodeName")["c[1-4]"]["MemSpecLimit"]) == reserved


def test_a_whole_gpu_bills_the_same_whatever_a_job_takes_most_of(tmp_path: Path) -> None:
    tree = cluster(tmp_path)
    weights = words(block(tree, "PartitionName")["main"]["TRESBillingWeights"])
    node = block(tree, "NodeName")["c[1-4]"]
    cpus = 2 * 32 * 2
    memory = (int(node["RealMemory"]) - int(node["MemSpecLimit"])) / 1024
    assert float(weights["CPU"]) * cpus == pytest.approx(8000, rel=0.001)
    assert float(weights["Mem"].removesuffix("G")) * memory == pytest.approx(8000, rel=0.001)
    assert weights["GRES/gpu"] == "1000"
    assert "MAX_TRES" in settings(tree)["PriorityFlags"].split(",")


def test_a_node_without_gpus_bills_in_the_unit_of_those_with_gpus(tmp_path: Path) -> None:
    """Without weights it would bill its CPUs: 64 times what a GPU does, or 23 times what a node with 8 does."""
    nodes = [HEAD, COMPUTE, {"name": "n1", "type": "cpu", "address": "10.0.0.41"}]
    parts = {"gpu": {"nodes": "c[1-4]", "default": True}, "cpu": {"nodes": "n1"}}
    tree = cluster(tmp_path, node_types={"gpu": GPU, "cpu": CPU}, nodes=nodes, slurm={"partitions": parts})
    weights = words(block(tree, "PartitionName")["cpu"]["TRESBillingWeights"])
    assert float(weights["CPU"]) * 64 == pytest.approx(1000, rel=0.001)
    assert "GRES/gpu" not in weights


@pytest.mark.parametrize(
    ("stated", "printed"),
    [("0.25G", "0.25G"), (0.25, "256G"), ("512M", "524288G"), ("1T", "0.000976562G")],
)
def test_a_weight_of_memory_has_slurms_units(stated: float | str, printed: str, tmp_path: Path) -> None:
    parts = {"main": {"nodes": "all", "billing": {"cpu": 1.0, "mem": stated}}}
    tree = cluster(tmp_path, slurm={"partitions": parts})
    assert block(tree, "PartitionName")["main"]["TRESBillingWeights"] == f"cpu=1,mem={printed}"


def test_without_slurmdbd_nothing_is_counted_or_weighed(tmp_path: Path) -> None:
    tree = cluster(tmp_path, nodes=[roles("slurm-controller"), COMPUTE])
    result = settings(tree)
    assert not [name for name in result if name.startswith(("Accounting", "JobAcct"))]
    assert not {"PriorityWeightFairshare", "PriorityWeightAge", "PriorityWeightQOS"} & result.keys()
    assert "TRESBillingWeights" not in block(tree, "PartitionName")["main"]


@pytest.mark.parametrize(
    ("weights", "rendered"),
    [
        ({}, {"Age": "1000", "Fairshare": "100000", "Partition": "10000", "QOS": "50000"}),
        ({"fairshare": 1000}, {"Age": "0", "Fairshare": "1000", "Partition": "0", "QOS": "0"}),
        ({"age": 0}, {"Age": "0", "Fairshare": "100000", "Partition": "10000", "QOS": "50000"}),
    ],
    ids=["the balance of clustergen", "only what is stated", "one factor off"],
)
def test_one_weight_replaces_the_balance(tmp_path: Path, weights: dict[str, int], rendered: dict[str, str]) -> None:
    lines = settings(cluster(tmp_path, slurm={"priority": {"weights": weights}}))
    assert {name: lines[f"PriorityWeight{name}"] for name in rendered} == rendered


def test_energy_is_sampled_with_the_tasks(tmp_path: Path) -> None:
    result = settings(cluster(tmp_path, slurm={"accounting": {"energy": "rapl", "gather_frequency": 20}}))
    assert result["AcctGatherEnergyType"] == "acct_gather_energy/rapl"
    assert result["JobAcctGatherFrequency"] == "task=20,energy=20"


# --- nodes and partitions ---------------------------------------------------------------------------------------------


def test_a_node_line_has_what_slurmd_will_report(tmp_path: Path) -> None:
    kind = {"gpu": {**gpu_type()["gpu"], "reserved": {"cores": 4, "memory": "16GiB"}, "features": ["site-a"]}}
    result = block(cluster(tmp_path, node_types=kind), "NodeName")["c[1-4]"]
    assert result["NodeAddr"] == "10.0.0.[11-14]"
    assert (result["Sockets"], result["CoresPerSocket"], result["ThreadsPerCore"]) == ("2", "32", "2")
    assert (result["CoreSpecCount"], result["MemSpecLimit"]) == ("4", str(16 * 1024))
    assert int(result["RealMemory"]) < 1024 * 1024
    assert result["Gres"] == "gpu:h100:8"
    assert {"site-a", "h100"} <= set(result["Feature"].split(","))
    assert result["State"] == "UNKNOWN"


def test_numa_nodes_are_sockets_where_gpus_hang_on_them(tmp_path: Path) -> None:
    networks = {"management": {"cidr": "10.0.0.0/24"}}
    tree = cluster(tmp_path, node_types={"gpu": {"system": "dgx-a100-80"}}, networks=networks)
    node = block(tree, "NodeName")["c[1-4]"]
    assert (node["Sockets"], node["CoresPerSocket"]) == ("8", "16")
    assert settings(tree)["SlurmdParameters"] == "numa_node_as_socket"


def test_jobs_without_gpus_go_to_nodes_without_them_first(tmp_path: Path) -> None:
    nodes = [HEAD, COMPUTE, {"name": "n1", "type": "cpu", "address": "10.0.0.31"}]
    networks = {"management": {"cidr": "10.0.0.0/24"}}
    mixed = block(cluster(tmp_path, node_types={**gpu_type(), "cpu": CPU}, nodes=nodes, networks=networks), "NodeName")
    assert int(mixed["n1"]["Weight"]) < int(mixed["c[1-4]"]["Weight"])
    assert "Weight" not in block(cluster(tmp_path), "NodeName")["c[1-4]"]


@pytest.mark.slow
def test_a_derived_weight_is_explained_in_the_file(tmp_path: Path) -> None:
    types = {"gpu": GPU, "cpu": CPU}
    nodes = [
        HEAD,
        {"name": "c[1-2]", "type": "cpu", "address": "10.0.0.[11-12]"},
        {"name": "g1", "type": "gpu", "address": "10.0.0.21"},
    ]
    remark = "# Weight: nodes with a lower value are allocated first."
    derived = cluster(tmp_path, node_types=types, nodes=nodes)
    assert remark in text_of(derived, "head", "/etc/slurm/slurm.conf")
    stated = cluster(tmp_path, node_types={"gpu": {**GPU, "weight": 5}, "cpu": {**CPU, "weight": 2}}, nodes=nodes)
    assert remark not in text_of(stated, "head", "/etc/slurm/slurm.conf")


def test_the_default_share_of_a_gpu_allows_all_gpus_at_once(tmp_path: Path) -> None:
    """Cores are handed out whole: a share of an odd number of threads would take one core more."""
    kind = {"gpu": {**gpu_type()["gpu"], "reserved": {"cores": 5}}}
    share = int(block(cluster(tmp_path, node_types=kind), "PartitionName")["main"]["DefCpuPerGPU"])
    cores = -(-share // 2)
    assert cores * 8 <= 64 - 5


@pytest.mark.parametrize("most", [64, 63, 8, 1])
def test_the_default_share_of_a_gpu_fits_the_cpus_that_a_partition_may_use(tmp_path: Path, most: int) -> None:
    """A job for all GPUs of a node that says nothing of CPUs would wait for ever otherwise."""
    slurm = {"partitions": {"gpu": {"nodes": "all", "max_cpus_per_node": most}}}
    line = block(cluster(tmp_path, node_types=gpu_type(), slurm=slurm), "PartitionName")["gpu"]
    assert 1 <= int(line["DefCpuPerGPU"]) <= max(1, most // 8)


def test_partitions_have_what_the_manifest_says(tmp_path: Path) -> None:
    result = block(cluster(tmp_path, slurm=RICH), "PartitionName")
    assert result["low"]["Default"] == "YES"
    assert result["low"]["Nodes"] == "ALL"
    assert (result["low"]["GraceTime"], result["low"]["PreemptMode"]) == ("120", "REQUEUE")
    assert (result["high"]["Nodes"], result["high"]["MaxTime"]) == ("some", "2-00:00:00")
    assert result["high"]["PreemptMode"] == "OFF"
    assert result["low"]["MaxTime"] == "UNLIMITED"
    assert result["low"]["DefaultTime"] == "01:00:00"


def test_one_more_node_is_one_changed_line(tmp_path: Path) -> None:
    """In slurm.conf; gres.conf has a line per group of GPUs."""
    more = {**COMPUTE, "name": "c[1-5]", "address": "10.0.0.[11-15]"}
    before, after = (
        {str(line.pairs) for line in lines(cluster(tmp_path, nodes=[HEAD, n]), "head")} for n in (COMPUTE, more)
    )
    assert len(after - before) == 1


def test_whole_nodes_are_handed_out_with_memory_and_without_cores(tmp_path: Path) -> None:
    """select/linear is fatal to slurmctld with CR_Core."""
    plain = {"node_types": {"plain": CPU}, "nodes": [HEAD, {**COMPUTE, "type": "plain"}]}
    result = settings(cluster(tmp_path, slurm={"resources": {"select": "linear"}}, **plain))
    assert result["SelectTypeParameters"] == "CR_Memory"
    assert settings(cluster(tmp_path))["SelectTypeParameters"] == "CR_Core_Memory"


@pytest.mark.parametrize(
    ("preemption", "code"),
    [
        ({"by": "qos", "within": True, "gang": True}, "slurm-value-wrong"),
        ({"by": "partition", "within": True}, "preemption-unused"),
    ],
)
def test_jobs_of_one_qos_preempt_each_other_only_by_qos_and_without_gang(preemption: dict[str, Any], code: str) -> None:
    data = manifest(slurm={"version": "24.11", "preemption": preemption})
    assert code in [item.code for item in diagnosed(json.dumps(data))]
