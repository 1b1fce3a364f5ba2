"""Changes between two releases of Slurm: each row of slurm_behaviour.tsv, as lint, validate or render show it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from clustergen import compile as compiler
from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease, slurm_behaviour
from clustergen.lab.outage import saves_first
from clustergen.lint.release import named, newest
from clustergen.lint.run import lint
from strategies.findings import TINY, changed, findings
from strategies.lint_reports import HEAD, NODES, PARTITIONS

Outcome = Callable[[str], object]
"""A release → what it shows."""
RELEASES = list(map(str, slurm.releases()))


class Case(NamedTuple):
    """A probe of a behaviour, with its outcome before the first release that differs and since."""

    first: str
    outcome: Outcome
    before: object
    since: object
    oldest: str = RELEASES[0]
    """The first release in which there is something to see."""
    last: str = ""
    """The first release that is as it was before; empty where none is."""


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
        with tempfile.TemporaryDirectory() as directory:
            for name, text in {"slurm_conf": head + plus + nodes + parts, **files}.items():
                *parents, last = name.split("__")
                path = Path(directory, *parents, last if "." in last else last.replace("_", "."))
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                if mode and name != "slurm_conf":
                    path.chmod(mode)
            report = lint(Path(directory), SlurmRelease(release))
        return next((str(one.severity) for one in report.diagnostics if one.code == code), None)

    return outcome


def validated(code: str, *edits: tuple[str, str]) -> Outcome:
    """The outcome "yes" if `validate` reports the code."""
    return lambda release: code in [item for item, _ in findings(changed(TINY, ("24.11", release), *edits))]


def rendered(pattern: str, file: str, *edits: tuple[str, str]) -> Outcome:
    """The match in a file of the tree."""

    def outcome(release: str) -> object:
        with tempfile.TemporaryDirectory() as directory:
            manifest = Path(directory) / "manifest.yaml"
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
SLURMDBD = "DbdHost=db\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\nStoragePass=secret\n"
LINEAR = "SelectType=select/linear\n"

CASES = {
    "accounting-qos-of-partition": Case(
        "25.11",
        linted("accounting-missing", parts=PARTITIONS.rstrip() + " QOS=big\n"),
        "warning",
        "error",
    ),
    "address-lists-of-host-names": Case(
        "24.11",
        linted("address-count", nodes="NodeName=n[1-3] NodeHostname=a[1-2] CPUs=2\n"),
        "warning",
        "error",
    ),
    "associations-unannounced": Case(
        "23.11",
        lambda release: announces(release),
        False,
        True,
    ),
    "block-gaps": Case(
        "25.05",
        linted(
            "block-too-small",
            "TopologyPlugin=topology/block\n",
            topology_conf="BlockName=b Nodes=n[1-4]\nBlockSizes=8\n",
        ),
        "error",
        None,
    ),
    "bracket-stops": Case("23.11", linted("hostlist-syntax", nodes="NodeName=n[1-3 CPUs=2\n"), "warning", "error"),
    "burst-buffer-checked": Case(
        "23.02",
        linted(
            "slurm-key-lacking",
            "BurstBufferType=burst_buffer/lua\n",
            **{"burst_buffer.lua": "function slurm_bb_pools() end\n"},
        ),
        "warning",
        "error",
    ),
    "certmgr-script-checked": Case(
        "25.05",
        linted("slurm-value-wrong", "CertmgrType=certmgr/script\n"),
        None,
        "error",
    ),
    "cgroup-disabled": Case("23.11", cgroup_of_a_trial, "cgroup/v1", "disabled"),
    "cgroup-v2": Case("22.05", validated("slurm-release-too-old"), True, False),
    "cpus-of-sockets": Case(
        "23.02",
        linted("node-cpus-mismatch", nodes="NodeName=n1 CPUs=2 Sockets=2 CoresPerSocket=8\n"),
        "error",
        "warning",
    ),
    "depth-oblivious-crashes": Case(
        "24.11", linted("accounting-missing", "PriorityFlags=DEPTH_OBLIVIOUS\n"), None, "error", last="25.05"
    ),
    "empty-namespace-needs-contain": Case(
        "25.11",
        linted("slurm-value-wrong", 'JobContainerType=""\n'),
        None,
        "error",
    ),
    "empty-select-parameters": Case(
        "23.11",
        linted("slurm-value-wrong", 'SelectType=select/cons_tres\nSelectTypeParameters=""\n'),
        None,
        "error",
    ),
    "empty-switches": Case(
        "25.05",
        linted("switch-node-unknown", TREE, topology_conf="SwitchName=s Nodes=n[1-4]\nSwitchName=t\n"),
        "error",
        "warning",
    ),
    "exclusive-topo-first": Case(
        "26.05",
        linted("slurm-key-ignored", parts="PartitionName=p Nodes=ALL ExclusiveTopo=YES ExclusiveUser=YES\n"),
        None,
        "warning",
    ),
    "gpu-use-counted": Case(
        "23.02",
        linted(
            "tres-unknown",
            "GresTypes=gpu\nAccountingStorageTRES=gres/gpu\n",
            parts="PartitionName=p Nodes=ALL TRESBillingWeights=gres/gpuutil=1.0\n",
        ),
        "error",
        None,
    ),
    "gres-devices-unique": Case(
        "23.02",
        linted(
            "gres-mismatch",
            "GresTypes=nvme\n",
            nodes="NodeName=n1 Gres=nvme:2 CPUs=8 RealMemory=1000\n",
            gres_conf="Name=nvme File=/dev/nvme0n1,/dev/nvme0n1\n",
        ),
        None,
        "error",
    ),
    "gres-whole-sockets": Case(
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
    "helpers-feature-lists": Case(
        "23.02",
        linted(
            "slurm-key-lacking",
            "NodeFeaturesPlugins=node_features/helpers\n",
            helpers_conf="BootTime=3\n",
        ),
        "error",
        None,
    ),
    "hostlist-suffix": Case(
        "23.11",
        linted("hostlist-not-for-slurm", nodes="NodeName=n[1-2]-ib CPUs=2\n"),
        "error",
        None,
    ),
    "include-beside-includer": Case(
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
    "linear-without-tree": Case(
        "24.05",
        linted("slurm-value-wrong", LINEAR + TREE, topology_conf="SwitchName=s Nodes=n[1-4]\n"),
        None,
        "error",
    ),
    "max-node-count-with-cons-tres": Case(
        "24.05",
        linted("slurm-value-wrong", LINEAR + "MaxNodeCount=10\n"),
        None,
        "error",
    ),
    "node-set-is-node-stops": Case(
        "24.11",
        linted("node-set-is-node", "NodeSet=n1 Nodes=n2\n"),
        "warning",
        "error",
    ),
    "password-for-group": Case(
        "25.11",
        linted(
            "slurm-secret-readable",
            mode=0o640,
            slurmdbd_conf=SLURMDBD,
        ),
        "warning",
        None,
    ),
    "preempt-mode-of-partition-logged": Case(
        "24.11",
        linted("slurm-value-wrong", parts=PARTITIONS.rstrip() + " PreemptMode=GANG\n"),
        None,
        "warning",
    ),
    "programs-by-name": Case(
        "23.11",
        linted("slurm-key-lacking", "PrologSlurmctld=check.sh\n"),
        None,
        "warning",
    ),
    "programs-repeat": Case(
        "24.05",
        linted("slurm-key-twice", "Prolog=/etc/slurm/a\nProlog=/etc/slurm/b\n"),
        "warning",
        None,
    ),
    "oci-run": Case(
        "23.02",
        validated("slurm-feature-too-new", ("slurm: {", "containers: {oci_jobs: crun}\nslurm: {")),
        True,
        False,
    ),
    "qos-relative": Case(
        "23.11",
        validated("qos-flag-unknown", ACCOUNTING, ("slurm: {", "slurm: {qos: {big: {flags: [Relative]}}, ")),
        True,
        False,
    ),
    "route-topology": Case("23.11", linted("slurm-value-wrong", "RoutePlugin=route/topology\n"), "error", None),
    "sackd": Case(
        "23.11",
        rendered("--conf-server", "etc/default/sackd", LOGIN, *CONFIGLESS),
        None,
        "--conf-server",
    ),
    "slurmd-words-exclude": Case(
        "24.05",
        linted("slurm-value-wrong", "SlurmdParameters=numa_node_as_socket,l3cache_as_socket\n"),
        None,
        "warning",
    ),
    "starts-without-nodes": Case("23.02", linted("compute-missing", nodes=""), "error", "warning"),
    "starts-without-partitions": Case(
        "23.02",
        linted("default-partition-missing", parts=""),
        "error",
        "warning",
    ),
    "stepmgr-needs-contain": Case(
        "24.05",
        linted("slurm-value-wrong", "SlurmctldParameters=enable_stepmgr\n"),
        None,
        "error",
    ),
    "task-words-need-cgroup": Case(
        "23.11",
        linted("slurm-value-wrong", "TaskPlugin=task/affinity\nTaskPluginParam=SlurmdSpecOverride\n"),
        None,
        "error",
    ),
    "topology-ring": Case(
        "26.05",
        linted("topology-too-new", topology_yaml="- topology: a\n  cluster_default: true\n  ring: {rings: []}\n"),
        "error",
        None,
        oldest="25.05",
    ),
    "topology-torus3d": Case(
        "26.05",
        linted("topology-too-new", topology_yaml="- topology: a\n  cluster_default: true\n  torus3d: {toruses: []}\n"),
        "error",
        None,
        oldest="25.05",
    ),
    "topology-yaml": Case(
        "25.05",
        linted("topology-ignored", topology_yaml="- topology: a\n  cluster_default: true\n  flat: true\n"),
        "warning",
        None,
    ),
    "tree-needs-switches": Case(
        "25.11",
        linted("topology-without-switches", TREE, topology_conf="# none\n"),
        "warning",
        "error",
    ),
    "unkillable-timeout-checked": Case(
        "24.05",
        linted("slurm-value-harmful", "UnkillableStepTimeout=20\nMessageTimeout=10\n"),
        None,
        "warning",
    ),
    "usage-of-associations-required": Case(
        "26.05",
        lambda release: waits_for_associations(release),
        False,
        True,
    ),
}
"""Every behaviour of the table, which the verdicts of all releases turn on."""


def announces(release: str) -> bool:
    """True if clustergen-accounts makes slurmdbd announce inherited QOS lists."""
    text = rendered(r"(?s).*", "accounts.json", ACCOUNTING, SCHEDMD)
    return '"announces_inherited": true' in str(text(release))


def waits_for_associations(release: str) -> bool:
    """True if `lab outage` lets slurmctld save associations before it cuts the power."""
    text = changed(TINY, ("24.11", release), ACCOUNTING, SCHEDMD)
    cluster = compiler.validate(Path("manifest.yaml"), raw=text.encode()).cluster
    assert cluster is not None
    return saves_first(cluster, set())


def test_every_behaviour_has_a_boundary() -> None:
    assert CASES.keys() == slurm_behaviour().keys()


@pytest.mark.parametrize("name", CASES)
def test_a_behaviour_changes_with_this_release(name: str) -> None:
    case = CASES[name]
    assert case.before != case.since
    first = RELEASES.index(case.first)
    assert RELEASES.index(case.oldest) < first
    assert [case.outcome(RELEASES[first - 1]), case.outcome(case.first)] == [case.before, case.since]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_behaviour_changes_with_no_other_release(name: str) -> None:
    case = CASES[name]
    at, first = RELEASES.index(case.oldest), RELEASES.index(case.first)
    outcomes = {release: case.outcome(release) for release in RELEASES[at:]}
    last = RELEASES.index(case.last) if case.last else len(RELEASES)
    since = range(first, last)
    assert outcomes == {
        release: case.since if index in since else case.before for index, release in enumerate(RELEASES) if index >= at
    }


@pytest.mark.parametrize(("seconds", "severity"), [(99, "warning"), (100, None)])
def test_five_times_messagetimeout_is_enough(seconds: int, severity: str | None) -> None:
    outcome = linted("slurm-value-harmful", f"MessageTimeout=20\nUnkillableStepTimeout={seconds}\n")
    assert outcome("24.05") == severity


@pytest.mark.parametrize(("last", "severity"), [(15, None), (16, "warning")])
def test_cores_are_counted_from_0(last: int, severity: str | None) -> None:
    nodes = "NodeName=n1 Gres=gpu:1 Sockets=2 CoresPerSocket=8 RealMemory=1000\n"
    line = f"NodeName=n1 Name=gpu File=/dev/nvidia0 Cores=0-{last}\n"
    assert linted("gres-mismatch", "GresTypes=gpu\n", nodes=nodes, gres_conf=line)("24.05") == severity


@pytest.mark.parametrize(("release", "mode", "severity"), [("25.11", 0o640, None), ("26.05", 0o644, "warning")])
def test_others_never_read_slurmdbd_conf(release: str, mode: int, severity: str | None) -> None:
    assert linted("slurm-secret-readable", mode=mode, slurmdbd_conf=SLURMDBD)(release) == severity


def test_a_health_check_ends_before_the_next_one_begins() -> None:
    keys = "HealthCheckProgram=/bin/true\nHealthCheckInterval=60\nHealthCheckTimeout=60\n"
    assert linted("slurm-value-harmful", keys)("26.05") == "warning"


def test_an_announced_release_is_judged_as_the_newest_one_that_was_read() -> None:
    """With a warning; and no release that nobody has read is guessed."""
    (announced,) = slurm.releases().keys() - set(slurm.read_releases())
    for outcome in (validated("slurm-release-unread"), lambda release: bool(linted("slurm-release-unread")(release))):
        assert (outcome(str(announced)), outcome(str(max(slurm.read_releases())))) == (True, False)
    assert named(str(announced)) == announced
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "slurm.conf").write_text(HEAD + NODES + PARTITIONS)
        assert lint(Path(directory)).release == newest() == max(slurm.read_releases()) < announced
