"""What lint says of one mistake, by release: the last one before Slurm changed, and the first one after."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease
from strategies.lint_reports import GPU_NODES, GPUS, HEAD, NODES, PARTITIONS, report

RELEASES = sorted((row["release"] for row in rows("slurm_releases.tsv")), key=SlurmRelease)
TREE = "TopologyPlugin=topology/tree\n"
WHOLE = HEAD + NODES + PARTITIONS


class Case(NamedTuple):
    """`before` and `since` are severities; None where there is no such finding."""

    code: str
    release: str
    before: str | None
    since: str | None
    slurm_conf: str
    files: dict[str, str] = {}  # noqa: RUF012 - never changed


def head(lines: str) -> str:
    return HEAD + lines + NODES + PARTITIONS


def partition(words: str, more: str = "") -> str:
    return HEAD + more + NODES + PARTITIONS.strip() + f" {words}\n"


CASES = {
    "no node": Case("compute-missing", "23.02", "error", "warning", HEAD),
    "no partition": Case("default-partition-missing", "23.02", "error", "warning", HEAD + NODES),
    "a CPU for each socket": Case(
        "node-cpus-mismatch", "23.02", "error", "warning", HEAD + NODES.strip() + " CPUs=2\n" + PARTITIONS
    ),
    "a TRES that Slurm adds by itself": Case(
        "tres-unknown",
        "23.02",
        "error",
        None,
        partition("TRESBillingWeights=GRES/gpumem=1", "GresTypes=gpu\nAccountingStorageTRES=gres/gpu\n"),
    ),
    "a bracket that is never closed": Case(
        "hostlist-syntax", "23.11", "warning", "error", HEAD + NODES.replace("n[1-4]", "n[1-4") + PARTITIONS
    ),
    "a route without a tree": Case("slurm-value-wrong", "23.11", "error", None, head("RoutePlugin=route/topology\n")),
    "OOMKillStep without cgroups": Case(
        "slurm-value-wrong", "23.11", None, "error", head("TaskPlugin=task/affinity\nTaskPluginParam=OOMKillStep\n")
    ),
    "a prolog of the controller that is missing": Case(
        "slurm-key-lacking", "23.11", None, "warning", head("PrologSlurmctld=prolog.sh\n")
    ),
    "a tree of whole nodes": Case(
        "slurm-value-wrong",
        "24.05",
        None,
        "error",
        head(f"SelectType=select/linear\n{TREE}"),
        {"topology_conf": "SwitchName=s Nodes=n[1-4]\n"},
    ),
    "whole nodes and MaxNodeCount": Case(
        "slurm-value-wrong", "24.05", None, "error", head("SelectType=select/linear\nMaxNodeCount=10\n")
    ),
    "steps that are called unkillable too early": Case(
        "slurm-value-harmful", "24.05", None, "warning", head("MessageTimeout=20\nUnkillableStepTimeout=99\n")
    ),
    "a node set with the name of a node": Case(
        "node-set-is-node", "24.11", "warning", "error", HEAD + NODES + "NodeSet=n1 Nodes=n[2-3]\n" + PARTITIONS
    ),
    "host names for some nodes only": Case(
        "address-count", "24.11", "warning", "error", HEAD + NODES.strip() + " NodeHostname=h[1-3]\n" + PARTITIONS
    ),
    "GANG in a partition": Case("slurm-value-wrong", "24.11", None, "warning", partition("PreemptMode=SUSPEND,GANG")),
    "cores of a GPU that are a part of a socket": Case(
        "gres-mismatch",
        "24.11",
        None,
        "warning",
        HEAD + GPUS + GPU_NODES + PARTITIONS,
        {"gres_conf": "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\n"},
    ),
    "a block below the base size": Case(
        "block-too-small",
        "25.05",
        "error",
        None,
        head("TopologyPlugin=topology/block\n"),
        {"topology_conf": "BlockName=a Nodes=n[1-3]\nBlockName=b Nodes=n4\nBlockSizes=2\n"},
    ),
    "a switch with nothing below it": Case(
        "switch-node-unknown",
        "25.05",
        "error",
        "warning",
        head(TREE),
        {"topology_conf": "SwitchName=s Nodes=n[1-4]\nSwitchName=t\n"},
    ),
    "topologies in YAML": Case(
        "topology-ignored",
        "25.05",
        "warning",
        None,
        WHOLE,
        {"topology_yaml": "- topology: a\n  cluster_default: true\n  flat: true\n"},
    ),
    "certificates without a script": Case(
        "slurm-value-wrong", "25.05", None, "error", head("CertmgrType=certmgr/script\n")
    ),
    "a QOS without a database": Case("accounting-missing", "25.11", "warning", "error", partition("QOS=normal")),
    "a tree without switches": Case(
        "topology-without-switches", "25.11", "warning", "error", head(TREE), {"topology_conf": "# none\n"}
    ),
    "ExclusiveUser beside ExclusiveTopo": Case(
        "slurm-key-ignored", "26.05", None, "warning", partition("ExclusiveTopo=YES ExclusiveUser=YES")
    ),
    "a health check as long as its interval": Case(
        "slurm-value-harmful",
        "26.05",
        None,
        "warning",
        head("HealthCheckProgram=/bin/true\nHealthCheckInterval=60\nHealthCheckTimeout=60\n"),
    ),
}


def severities(folder: Path, release: str, case: Case) -> set[str]:
    found = report(folder, release, slurm_conf=case.slurm_conf, **case.files)
    return {str(one.severity) for one in found.diagnostics if one.code == case.code}


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_changes_with_this_release(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    expected = {release: case.before for release in RELEASES if SlurmRelease(release) < SlurmRelease(case.release)}
    expected |= {release: case.since for release in RELEASES if release not in expected}
    assert set(expected.values()) == {case.before, case.since}
    verdicts = {release: severities(tmp_path, release, case) for release in RELEASES}
    assert verdicts == {release: {severity} - {None} for release, severity in expected.items()}


@pytest.mark.parametrize(("seconds", "early"), [(99, True), (100, False)])
def test_five_times_messagetimeout_is_enough(seconds: int, early: bool, tmp_path: Path) -> None:
    case = CASES["steps that are called unkillable too early"]
    other = case._replace(slurm_conf=case.slurm_conf.replace("=99", f"={seconds}"))
    assert severities(tmp_path, "24.05", other) == ({"warning"} if early else set())


@pytest.mark.parametrize(
    ("release", "mode", "wrong"), [("25.05", 0o640, True), ("25.11", 0o640, False), ("26.05", 0o644, True)]
)
def test_a_group_reads_slurmdbd_conf_since_25_11(release: str, mode: int, wrong: bool, tmp_path: Path) -> None:
    file = tmp_path / "slurmdbd.conf"
    file.write_text("DbdHost=ctl\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\nStoragePass=hunter22\n")
    file.chmod(mode)
    case = Case("slurm-secret-readable", release, None, None, WHOLE)
    assert severities(tmp_path, release, case) == ({"warning"} if wrong else set())
