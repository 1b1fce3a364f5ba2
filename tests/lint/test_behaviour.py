"""What changes between two releases of Slurm: each row of slurm_behaviour.tsv, as lint, validate or render show it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease, slurm_behaviour
from clustergen.lint.release import named, newest
from clustergen.lint.run import lint
from strategies.findings import TINY, changed, found
from strategies.lint_reports import HEAD, NODES, PARTITIONS

Outcome = Callable[[str], object]
"""A release → what it shows."""


def linted(
    code: str,
    plus: str = "",
    *,
    head: str = HEAD,
    nodes: str = NODES,
    parts: str = PARTITIONS,
    mode: int = 0,
    **files: str,
) -> Outcome:
    """The worst severity of that code in a directory of Slurm's files; None where lint does not report it."""

    def outcome(release: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"slurm_conf": head + plus + nodes + parts, **files}.items():
                path = Path(folder, *name.replace("__", "/").split("/")[:-1], name.split("__")[-1].replace("_", "."))
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                if mode and name != "slurm_conf":
                    path.chmod(mode)
            report = lint(Path(folder), SlurmRelease(release))
        return next((str(one.severity) for one in report.diagnostics if one.code == code), None)

    return outcome


def validated(code: str, *edits: tuple[str, str]) -> Outcome:
    """Whether `validate` reports the code."""
    return lambda release: code in [item for item, _ in found(changed(TINY, ("24.11", release), *edits))]


def rendered(pattern: str, file: str, *edits: tuple[str, str]) -> Outcome:
    """What a file of the tree has that matches."""

    def outcome(release: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            manifest = Path(folder) / "manifest.yaml"
            manifest.write_text(changed(TINY, ("24.11", release), *edits), encoding="utf-8")
            tree, diagnostics = compiler.render(compiler.validate(manifest), manifest)
        assert tree is not None, diagnostics
        texts = [item.content.decode() for path, item in tree.files.items() if path.endswith(file)]
        match = re.search(pattern, "".join(texts))
        return match[0] if match else None

    return outcome


def cgroup_of_a_trial(release: str) -> object:
    from clustergen.verify.slurm_daemons import cgroup_plugin

    return cgroup_plugin(release)


LOGIN = (
    "roles: [slurm-controller]}",
    "roles: [slurm-controller]}\n  - {name: login, type: service, address: 10.0.0.2, roles: [login]}",
)
ACCOUNTING = ("roles: [slurm-controller]", "roles: [slurm-controller, slurm-accounting]")
CONFIGLESS = (("slurm: {", "slurm: {build: schedmd, configless: true, "),)
SCHEDMD = ("slurm: {", "slurm: {build: schedmd, ")
TREE = "TopologyPlugin=topology/tree\n"
LINEAR = "SelectType=select/linear\n"

CASES: dict[str, tuple[str, str, Outcome, object, object]] = {
    "accounting-qos-of-partition": (
        "25.05",
        "25.11",
        linted("accounting-missing", parts=PARTITIONS.rstrip() + " QOS=big\n"),
        "warning",
        "error",
    ),
    "address-lists-of-host-names": (
        "24.05",
        "24.11",
        linted("address-count", nodes="NodeName=n[1-3] NodeHostname=a[1-2] CPUs=2\n"),
        "warning",
        "error",
    ),
    "associations-unannounced": (
        "23.02",
        "23.11",
        lambda release: announces(release),
        False,
        True,
    ),
    "block-gaps": (
        "24.11",
        "25.05",
        linted(
            "block-too-small",
            "TopologyPlugin=topology/block\n",
            topology_conf="BlockName=b Nodes=n[1-4]\nBlockSizes=8\n",
        ),
        "error",
        None,
    ),
    "bracket-stops": ("23.02", "23.11", linted("hostlist-syntax", nodes="NodeName=n[1-3 CPUs=2\n"), "warning", "error"),
    "certmgr-script-checked": (
        "24.11",
        "25.05",
        linted("slurm-value-wrong", "CertmgrType=certmgr/script\n"),
        None,
        "error",
    ),
    "cgroup-disabled": ("23.02", "23.11", cgroup_of_a_trial, "cgroup/v1", "disabled"),
    "cgroup-v2": ("21.08", "22.05", validated("slurm-release-too-old"), True, False),
    "cpus-of-sockets": (
        "22.05",
        "23.02",
        linted("node-cpus-mismatch", nodes="NodeName=n1 CPUs=2 Sockets=2 CoresPerSocket=8\n"),
        "error",
        "warning",
    ),
    "empty-namespace-needs-contain": (
        "25.05",
        "25.11",
        linted("slurm-value-wrong", 'JobContainerType=""\n'),
        None,
        "error",
    ),
    "empty-select-parameters": (
        "23.02",
        "23.11",
        linted("slurm-value-wrong", 'SelectType=select/cons_tres\nSelectTypeParameters=""\n'),
        None,
        "error",
    ),
    "empty-switches": (
        "24.11",
        "25.05",
        linted("switch-node-unknown", TREE, topology_conf="SwitchName=s Nodes=n[1-4]\nSwitchName=t\n"),
        "error",
        "warning",
    ),
    "exclusive-topo-first": (
        "25.11",
        "26.05",
        linted("slurm-key-ignored", parts="PartitionName=p Nodes=ALL ExclusiveTopo=YES ExclusiveUser=YES\n"),
        None,
        "warning",
    ),
    "gpu-use-counted": (
        "22.05",
        "23.02",
        linted(
            "tres-unknown",
            "GresTypes=gpu\nAccountingStorageTRES=gres/gpu\n",
            parts="PartitionName=p Nodes=ALL TRESBillingWeights=gres/gpuutil=1.0\n",
        ),
        "error",
        None,
    ),
    "gres-whole-sockets": (
        "24.05",
        "24.11",
        linted(
            "gres-mismatch",
            "GresTypes=gpu\n",
            nodes="NodeName=n1 Gres=gpu:1 Sockets=2 CoresPerSocket=8 RealMemory=1000\n",
            gres_conf="NodeName=n1 Name=gpu File=/dev/nvidia0 Cores=0-3\n",
        ),
        None,
        "warning",
    ),
    "hostlist-suffix": (
        "23.02",
        "23.11",
        linted("hostlist-not-for-slurm", nodes="NodeName=n[1-2]-ib CPUs=2\n"),
        "error",
        None,
    ),
    "include-beside-includer": (
        "22.05",
        "23.02",
        linted(
            "conf-include",
            "Include sub/a.conf\n",
            parts="",
            sub__a_conf="Include b.conf\n",
            sub__b_conf=PARTITIONS,
        ),
        None,
        "error",
    ),
    "linear-without-tree": (
        "23.11",
        "24.05",
        linted("slurm-value-wrong", LINEAR + TREE, topology_conf="SwitchName=s Nodes=n[1-4]\n"),
        None,
        "error",
    ),
    "max-node-count-with-cons-tres": (
        "23.11",
        "24.05",
        linted("slurm-value-wrong", LINEAR + "MaxNodeCount=10\n"),
        None,
        "error",
    ),
    "node-set-is-node-stops": (
        "24.05",
        "24.11",
        linted("node-set-is-node", "NodeSet=n1 Nodes=n2\n"),
        "warning",
        "error",
    ),
    "password-for-group": (
        "25.05",
        "25.11",
        linted(
            "slurm-secret-readable",
            mode=0o640,
            slurmdbd_conf="DbdHost=db\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\nStoragePass=secret\n",
        ),
        "warning",
        None,
    ),
    "preempt-mode-of-partition-logged": (
        "24.05",
        "24.11",
        linted("slurm-value-wrong", parts=PARTITIONS.rstrip() + " PreemptMode=GANG\n"),
        None,
        "warning",
    ),
    "programs-by-name": (
        "23.02",
        "23.11",
        linted("slurm-key-lacking", "PrologSlurmctld=check.sh\n"),
        None,
        "warning",
    ),
    "programs-repeat": (
        "23.11",
        "24.05",
        linted("slurm-key-twice", "Prolog=/etc/slurm/a\nProlog=/etc/slurm/b\n"),
        "warning",
        None,
    ),
    "qos-relative": (
        "23.02",
        "23.11",
        validated("qos-flag-unknown", ACCOUNTING, ("slurm: {", "slurm: {qos: {big: {flags: [Relative]}}, ")),
        True,
        False,
    ),
    "route-topology": ("23.02", "23.11", linted("slurm-value-wrong", "RoutePlugin=route/topology\n"), "error", None),
    "sackd": (
        "23.02",
        "23.11",
        rendered("--conf-server", "etc/default/sackd", LOGIN, *CONFIGLESS),
        None,
        "--conf-server",
    ),
    "slurmd-words-exclude": (
        "23.11",
        "24.05",
        linted("slurm-value-wrong", "SlurmdParameters=numa_node_as_socket,l3cache_as_socket\n"),
        None,
        "warning",
    ),
    "starts-without-nodes": ("22.05", "23.02", linted("compute-missing", nodes=""), "error", "warning"),
    "starts-without-partitions": (
        "22.05",
        "23.02",
        linted("default-partition-missing", parts=""),
        "error",
        "warning",
    ),
    "stepmgr-needs-contain": (
        "23.11",
        "24.05",
        linted("slurm-value-wrong", "SlurmctldParameters=enable_stepmgr\n"),
        None,
        "error",
    ),
    "task-words-need-cgroup": (
        "23.02",
        "23.11",
        linted("slurm-value-wrong", "TaskPlugin=task/affinity\nTaskPluginParam=SlurmdSpecOverride\n"),
        None,
        "error",
    ),
    "topology-ring": (
        "25.11",
        "26.05",
        linted("topology-too-new", topology_yaml="- topology: a\n  cluster_default: true\n  ring: {rings: []}\n"),
        "error",
        None,
    ),
    "topology-torus3d": (
        "25.11",
        "26.05",
        linted("topology-too-new", topology_yaml="- topology: a\n  cluster_default: true\n  torus3d: {toruses: []}\n"),
        "error",
        None,
    ),
    "topology-yaml": (
        "24.11",
        "25.05",
        linted("topology-ignored", topology_yaml="- topology: a\n  cluster_default: true\n  flat: true\n"),
        "warning",
        None,
    ),
    "tree-needs-switches": (
        "25.05",
        "25.11",
        linted("topology-without-switches", TREE, topology_conf="# none\n"),
        "warning",
        "error",
    ),
    "unkillable-timeout-checked": (
        "23.11",
        "24.05",
        linted("slurm-value-harmful", "UnkillableStepTimeout=20\nMessageTimeout=10\n"),
        None,
        "warning",
    ),
}


def announces(release: str) -> bool:
    """Whether the accounts script makes slurmdbd announce inherited QOS lists."""
    text = rendered(r"(?s).*", "clustergen-accounts", ACCOUNTING, SCHEDMD)
    return "announce_inherited" in str(text(release))


def test_every_behaviour_has_a_boundary() -> None:
    assert CASES.keys() == slurm_behaviour().keys()


@pytest.mark.parametrize("name", CASES)
def test_a_behaviour_changes_between_these_two_releases(name: str) -> None:
    before, after, outcome, old, new = CASES[name]
    assert (outcome(before), outcome(after)) == (old, new)


def test_an_announced_release_is_judged_as_the_newest_one_that_was_read() -> None:
    """With a warning; and no release that nobody has read is guessed."""
    (announced,) = slurm.releases().keys() - set(slurm.read_releases())
    for outcome in (validated("slurm-release-unread"), lambda release: bool(linted("slurm-release-unread")(release))):
        assert (outcome(str(announced)), outcome(str(max(slurm.read_releases())))) == (True, False)
    assert named(str(announced)) == announced
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slurm.conf").write_text(HEAD + NODES + PARTITIONS)
        assert lint(Path(folder)).release == newest() == max(slurm.read_releases()) < announced
