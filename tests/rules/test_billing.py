"""One billing unit for all partitions: weights, the prices of the README, and what a real slurmctld counts by them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import EACH_RELEASE, require_slurm
from effects.configuration import Configuration, option
from effects.measure import prepare, run
from strategies.slurm_trees import CPU, GPU, block, cluster, words
from strategies.trees import HEAD, codes_of, diagnostics_of, manifest

MIG = {"quarter": {"profiles": {"1g.5gb": 4, "3g.20gb": 1}}}
TYPES: dict[str, Any] = {
    "new": GPU,
    "old": {**GPU, "gpus": {"model": "v100-sxm2-32", "count": 4}},
    "split": {**GPU, "gpus": {"model": "a100-sxm-40", "count": 1, "mig": "quarter"}},
    "thin": CPU,
}
FAT = {**CPU, "memory": "1TiB"}
SLICE, HALF = "gpu:nvidia_a100_1g.5gb", "gpu:nvidia_a100_3g.20gb"
SHARE = "GPU and its share"
JOBS = (  # partition, options, and what the README prices: column, number
    ("new", "--exclusive", "An hour of a node", 1),
    ("old", "--exclusive", "An hour of a node", 1),
    ("thin", "--exclusive", "An hour of a node", 1),
    ("new", "--gres=gpu:1", SHARE, 1),
    ("old", "--gres=gpu:2", SHARE, 2),
    ("everything", "-w n1 --gres=gpu:h100:3", f"{SHARE} of new", 3),
    ("split", f"--gres={SLICE}:2", SLICE, 2),
    ("split", f"--gres={HALF}:1", HALF, 1),
    ("thin", "-n 4 -c 2 --mem=1G", "CPU", 8),
    ("thin", "-n 1 --mem=128G", "GiB of memory", 128),
)


def mixed(directory: Path, types: dict[str, Any], **more: Any) -> Any:
    nodes = [{"name": f"n{n}", "type": kind, "address": f"10.0.0.{40 + n}"} for n, kind in enumerate(types, 1)]
    partitions = {kind: {"nodes": f"n{n}"} for n, kind in enumerate(types, 1)}
    partitions["everything"] = {"nodes": "all", "default": True}
    slurm = {"partitions": partitions}
    return cluster(directory, node_types=types, nodes=[HEAD, *nodes], slurm=slurm, gpu={"mig_plans": MIG}, **more)


def weights(tree: Any) -> dict[str, dict[str, str]]:
    return {name: words(pairs["TRESBillingWeights"]) for name, pairs in block(tree, "PartitionName").items()}


def prices(tree: Any) -> dict[tuple[str, str], float]:
    """Partition and column of the README → units; `GPU of TYPE` in partitions of several node types."""
    text = (
        tree.files["README.md"].content.decode().partition("\n## Prices\n")[2].partition("\n## ")[0].replace("\\_", "_")
    )
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    result = {}
    for row in rows[2:]:
        for column, cell in zip(rows[0][2:], row[2:], strict=True):
            for amount, kind in re.findall(r"([\d.]+)(?: \((\S+)\))?", cell):
                result[row[0], f"gpu:{kind}" if kind else column] = float(amount)
                result[row[0], f"{column} of {row[1]}"] = float(amount)
    return result


def counted(release: str, tree: Any, directory: Path) -> list[tuple[float, int]]:
    """RawUsage and seconds of each job, in an account of its own, on nodes and partitions of the tree."""
    install = require_slurm(release)
    prepare(install, directory)
    trees_nodes, parts = block(tree, "NodeName"), block(tree, "PartitionName")
    usage = option(
        PriorityFlags="MAX_TRES", PriorityDecayHalfLife="0", PriorityUsageResetPeriod="MONTHLY", PriorityCalcPeriod="1",
        PriorityWeightFairshare="1000", AccountingStorageEnforce="associations,limits,qos",
        AccountingStorageTRES=",".join(tracked(trees_nodes)),
    )  # fmt: skip
    configuration = Configuration(release, database=True).edited((usage,))
    configuration.nodes = {
        name: {**{key: value for key, value in pairs.items() if key not in ("NodeName", "Feature", "MemSpecLimit")},
               "NodeAddr": f"10.99.7.1{name[1:]}"}
        for name, pairs in trees_nodes.items()
    }  # fmt: skip
    configuration.partitions = {
        name: {key: value for key, value in pairs.items() if key != "PartitionName"} for name, pairs in parts.items()
    }
    configuration.files["gres.conf"] = "\n".join(devices(trees_nodes)) + "\n"
    names = [f"j{number}" for number in range(len(JOBS))]
    accounts = f"sacctmgr -i add account {','.join(names)}; sacctmgr -i add user alice account={','.join(names)}"
    submit = "; ".join(
        f"sbatch -J {name} -A {name} -p {partition} -t 5 -o /dev/null {options} --wrap 'sleep 2'"
        for name, (partition, options, _, _) in zip(names, JOBS, strict=True)
    )
    ended = "".join(rf"(?=.*^{name}\|COMPLETED)" for name in names)
    ask = [
        ("root", accounts, ""),
        ("alice", submit, r"(?s)(Submitted.*){10}"),
        ("root", "sacct -anXP -o jobname,state,elapsedraw", f"(?s){ended}"),
        ("root", "sshare -anP -o account,user,rawusage", rf"{names[-1]}\|alice\|[1-9]"),
    ]
    spec = {
        "layers": [str(directory / release), str(install.path)],
        "database": True,
        "after_database": "",
        "files": configuration.texts(),
        "before": "",
        "nodes": ["n1", "n2", "n3", "n4"],
        "install": {},
        "ask": ask,
    }
    *_, jobs, usages = run(spec, directory / f"billing-{release}")
    seconds = dict(re.findall(r"(?m)^(j\d)\|COMPLETED\|(\d+)$", jobs))
    raw = dict(re.findall(r"(?m)^ *(j\d)\|alice\|(\d+)$", usages))
    return [(float(raw[name]), int(seconds[name])) for name in names]


def tracked(nodes: dict[str, dict[str, str]]) -> list[str]:
    kinds = [item.rpartition(":")[0] for pairs in nodes.values() for item in pairs.get("Gres", "").split(",") if item]
    return ["gres/gpu", *(f"gres/{kind}" for kind in dict.fromkeys(kinds))]


def devices(nodes: dict[str, dict[str, str]]) -> list[str]:
    """Lines of gres.conf: a device file for each GPU or instance of a node."""
    lines = []
    for name, pairs in nodes.items():
        first = 0
        for item in filter(None, pairs.get("Gres", "").split(",")):
            _, kind, count = item.split(":")
            files = f"/dev/nvidia[{first}-{first + int(count) - 1}]" if int(count) > 1 else f"/dev/nvidia{first}"
            lines.append(f"NodeName={name} Name=gpu Type={kind} File={files}")
            first += int(count)
    return lines


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("release", EACH_RELEASE)
def test_sshare_counts_the_prices_of_the_readme(
    release: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = mixed(tmp_path, TYPES)
    stated = prices(tree)
    usages = counted(release, tree, tmp_path_factory.getbasetemp() / "prepared")
    for (partition, options, column, number), (usage, seconds) in zip(JOBS, usages, strict=True):
        assert usage / seconds == pytest.approx(stated[partition, column] * number, rel=0.01), (partition, options)


@pytest.mark.slow
def test_whole_nodes_cost_what_their_hardware_is_worth(tmp_path: Path) -> None:
    stated = prices(mixed(tmp_path, TYPES))
    assert stated["old", SHARE] == 1000
    ratio = math.sqrt(989.4 / 125 * 3350 / 900)  # FP16 rate and bandwidth of H100 and V100
    assert stated["new", SHARE] == pytest.approx(1000 * ratio, rel=0.01)
    assert stated["new", "An hour of a node"] == 8 * stated["new", SHARE]
    whole = stated["split", "An hour of a node"]
    assert stated["split", HALF] == pytest.approx(whole * 3 / 7, rel=0.01)
    assert stated["split", SLICE] == pytest.approx(whole / 5, rel=0.01), "its share of the CPUs is more than a seventh"
    assert stated["thin", "An hour of a node"] == 1000
    assert all(
        stated["everything", f"An hour of a node of {kind}"] <= stated[kind, "An hour of a node"] for kind in TYPES
    )


@pytest.mark.slow
def test_of_a_fat_node_half_is_its_memory(tmp_path: Path) -> None:
    stated = prices(mixed(tmp_path, {"gpu": GPU, "thin": CPU, "fat": FAT}))
    assert stated["fat", "An hour of a node"] == pytest.approx(1000 * (1 + 4) / 2, rel=0.03)


@pytest.mark.slow
def test_prices_of_the_site_replace_the_hardware(tmp_path: Path) -> None:
    items = {"new": 320000, "old": 40000, "split": 30000, "thin": 8000}
    tree = mixed(tmp_path, TYPES, facility={"prices": {"currency": "EUR", "items": items}})
    stated = prices(tree)
    nodes = {kind: stated[kind, "An hour of a node"] for kind in TYPES}
    assert nodes == {kind: pytest.approx(cost / 10, rel=0.001) for kind, cost in items.items()}
    assert stated["old", SHARE] == 1000


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("billing", "names"),
    [
        ({}, []),
        ({"new": {"CPU": 240, "GRES/gpu": 5400}, "thin": {"CPU": 15, "Mem": "4G"}}, []),
        ({"thin": {"CPU": 30}}, []),  # a site may charge twice as much
        ({"thin": {"CPU": 0}}, []),  # or nothing
        ({"thin": {"CPU": 1}}, ["thin"]),
        ({"thin": {}}, ["thin"]),  # Slurm bills CPUs
        ({"new": {"GRES/gpu": 1}, "thin": {"CPU": 15}}, ["new"]),
    ],
)
def test_other_units_are_reported(billing: dict[str, Any], names: list[str], tmp_path: Path) -> None:
    partitions = {kind: {"nodes": f"n{n}"} for n, kind in enumerate(TYPES, 1)}
    for name, weights_of_it in billing.items():
        partitions[name]["billing"] = weights_of_it
    nodes = [{"name": f"n{n}", "type": kind, "address": f"10.0.0.{40 + n}"} for n, kind in enumerate(TYPES, 1)]
    data = manifest(
        node_types=TYPES,
        nodes=[HEAD, *nodes],
        slurm={"version": "24.11", "partitions": partitions},
        gpu={"mig_plans": MIG},
    )
    reported = [each for each in diagnostics_of(data, tmp_path) if each.code == "billing-units-differ"]
    assert [re.findall("in partition '(.*?)'", each.message) for each in reported] == [[name] for name in names]
    for name, each in zip(names, reported, strict=True):
        snippet = re.search(r"write billing: (\{.*?\})", each.hint or "")
        assert snippet, each
        data["slurm"]["partitions"][name]["billing"] = yaml.safe_load(snippet[1])
    assert "billing-units-differ" not in codes_of(data, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("billing", "names"), [(None, []), ({"GRES/gpu": 1}, ["new"])])
def test_slurms_unit_for_all_is_one_unit(billing: dict[str, Any] | None, names: list[str], tmp_path: Path) -> None:
    partitions = {"new": {"nodes": "n1", **({"billing": billing} if billing else {})}, "thin": {"nodes": "n2"}}
    nodes = [{"name": f"n{n}", "type": kind, "address": f"10.0.0.{40 + n}"} for n, kind in enumerate(partitions, 1)]
    slurm = {"version": "24.11", "partitions": partitions, "defaults": "slurm"}
    types = {kind: TYPES[kind] for kind in partitions}
    reported = diagnostics_of(manifest(node_types=types, nodes=[HEAD, *nodes], slurm=slurm), tmp_path)
    assert [each.message.partition("'")[2][:3] for each in reported if each.code == "billing-units-differ"] == names
