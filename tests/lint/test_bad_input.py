"""Any content of the files gives findings with a place, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import FORMATS, Diagnostic, render
from clustergen.lint.fix import edits
from clustergen.lint.run import lint

HEAD = "ClusterName=c\nSlurmctldHost=ctl\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\n"


def findings(tmp_path: Path, **files: str | bytes) -> list[Diagnostic]:
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_bytes(text if isinstance(text, bytes) else text.encode())
    report = lint(tmp_path, SlurmRelease("25.05"))
    for form in FORMATS:
        render(report.diagnostics, form, report.sources).encode()
    edits(report)
    return list(report.diagnostics)


def places(diagnostics: list[Diagnostic], code: str) -> list[tuple[int, int]]:
    return [(one.place.line, one.place.column) for one in diagnostics if one.code == code and one.place]


def test_bytes_of_other_encodings(tmp_path: Path) -> None:
    text = HEAD.encode() + b"# caf\xe9\nFo\xe9=1\nNodeName=n\xe9\nNodeName=m1 Reason=\xe9 CPUs=x\n"
    drift_findings = findings(tmp_path, slurm_conf=text)
    assert places(drift_findings, "conf-syntax") == [(6, 1)]
    assert places(drift_findings, "hostlist-syntax") == [(7, 11)]
    assert places(drift_findings, "slurm-value-wrong") == [(8, 27)]


def test_carriage_returns_tabs_and_nuls(tmp_path: Path) -> None:
    text = HEAD + "\tFoo\t=\t1\r\nTCPTimeout=x\r\nNodeName=n1\0 CPUs=4\n\0\n"
    drift_findings = findings(tmp_path, slurm_conf=text)
    assert places(drift_findings, "slurm-key-unknown") == [(5, 2)]
    assert places(drift_findings, "slurm-value-wrong") == [(6, 12)]
    assert places(drift_findings, "conf-misread") == [(7, 12), (8, 1)]


def test_continued_lines(tmp_path: Path) -> None:
    drift_findings = findings(tmp_path, slurm_conf=HEAD + "NodeName=n1 \\\n  CPUs=x \\\n  Foo=1\n")
    assert places(drift_findings, "slurm-value-wrong") == [(6, 8)]
    assert places(drift_findings, "slurm-key-unknown") == [(7, 3)]


def test_includes_that_lead_nowhere_and_round_in_circles(tmp_path: Path) -> None:
    text = (
        HEAD + "Include a.conf\nInclude gone.conf\nInclude /opt/x.conf\nInclude ../up.conf\nInclude *.conf\nInclude \n"
    )
    drift_findings = findings(tmp_path, slurm_conf=text, a_conf="Include b.conf\n", b_conf="Include a.conf\n")
    where = {(Path(str(one.place)).name, str(one.severity)) for one in drift_findings if one.code == "conf-include"}
    assert where == {
        ("b.conf:1:9", "error"),
        ("slurm.conf:6:9", "error"),
        ("slurm.conf:7:9", "warning"),
        ("slurm.conf:8:9", "warning"),
        ("slurm.conf:9:9", "error"),
        ("slurm.conf:10:1", "error"),
    }


@pytest.mark.parametrize("name", ["gres.conf", "cgroup.conf", "topology.conf", "job_submit.lua"])
def test_the_other_files_are_judged_where_one_is_unreadable(name: str, tmp_path: Path) -> None:
    more = "GresTypes=gpu\nTaskPlugin=task/cgroup\nTopologyPlugin=topology/tree\nJobSubmitPlugins=lua\nFoo=1\n"
    text = f"{HEAD}{more}NodeName=n1 Gres=gpu:2 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n"
    others = {
        "gres.conf": "Name=gpu File=/dev/nvidia[0-1]\n",
        "cgroup.conf": "ConstrainDevices=yes\n",
        "topology.conf": "SwitchName=s Nodes=n1\n",
        "job_submit.lua": "function slurm_job_submit() end\nfunction slurm_job_modify() end\n",
    }
    for file, content in {"slurm.conf": text, **others}.items():
        (tmp_path / file).write_text(content)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/null")
    assert [
        (one.code, Path(str(one.place)).name) for one in lint(tmp_path, SlurmRelease("25.05")).diagnostics
    ] == sorted([("file-unreadable", name), ("slurm-key-unknown", "slurm.conf:9:1")], key=lambda one: one[1])


@pytest.mark.parametrize("text", ["", "\n", "\\", "#", "\ufeff", "=", "Include", '"', "NodeName=", "[" * 5000])
def test_almost_nothing(text: str, tmp_path: Path) -> None:
    assert findings(tmp_path, slurm_conf=text)


@pytest.mark.parametrize(
    "text", ["", "a: b\n", "- [\n", "[" * 3000, "- &a\n  topology: *a\n", "- topology: [x]\n  tree: 5\n", "\0"]
)
def test_broken_yaml(text: str, tmp_path: Path) -> None:
    drift_findings = findings(
        tmp_path, slurm_conf=HEAD + "NodeName=n1\nPartitionName=p Default=YES\n", topology_yaml=text
    )
    assert any(one.place and "topology.yaml" in one.place.file for one in drift_findings)


KEYS = ["NodeName", "PartitionName", "Nodes", "SwitchName", "Switches", "Gres", "GresTypes", "Name", "File", "CPUs"]
MORE = ["MaxTime", "Include", "SchedulerParameters", "Port", "BlockName", "BlockSizes", "AutoDetect"]
VALUES = ["DEFAULT", "gpu", "n[1-3]", "n[", "]", "1", "0", "a:b:c", "-", ",", ":", "YES", "FORCE:", "/dev/nvidia[0-3]"]
SIGNS = ["=", "=", "=", '"', "#", "\\", "\udce9", "(", ")", "%c", "9" * 20, " ", " ", "\n", "\n", "\r", "\t", "\0"]
PIECES = (*KEYS, *MORE, *VALUES, *SIGNS, "TopologyPlugin=topology/tree\n")


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.sampled_from(("slurm_conf", "gres_conf", "topology_conf")),
)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, text: str, name: str) -> None:
    place = tmp_path_factory.mktemp("any")
    files = {"slurm_conf": HEAD + "NodeName=n[1-3] Gres=gpu:2\nTopologyPlugin=topology/tree\n"}
    files[name] = files.get(name, "") + text
    findings(place, **{key: value.encode("utf-8", "surrogateescape") for key, value in files.items()})


@pytest.mark.slow
def test_ten_thousand_nodes_are_one_finding(tmp_path: Path) -> None:
    nodes = "".join(
        f"NodeName=n{i} NodeAddr=10.0.{i // 250}.{i % 250} Sockets=2 CoresPerSocket=32 RealMemory=256000 Feature=a,b\n"
        for i in range(10_000)
    )
    text = HEAD + nodes + "PartitionName=p Nodes=n[0-9998] Default=YES\n"
    (tmp_path / "slurm.conf").write_text(text)
    report = lint(tmp_path, SlurmRelease("25.05"))
    assert [one.code for one in report.diagnostics] == ["node-in-no-partition"]


def test_more_nodes_than_slurm_takes_are_counted_alone(tmp_path: Path) -> None:
    lines = "".join(f"NodeName=r{rack}n[0-32767] CPUs=1\n" for rack in range(4))
    drift_findings = findings(tmp_path, slurm_conf=f"{HEAD}{lines}Foo=1\n")
    assert [one.code for one in drift_findings] == ["too-many-nodes", "slurm-key-unknown"]
    assert "131,072 nodes" in drift_findings[0].message
    assert places(drift_findings, "too-many-nodes") == [(HEAD.count("\n") + 3, 10)]


@pytest.mark.slow
def test_a_list_is_checked_up_to_a_thousand_words(tmp_path: Path) -> None:
    words = ",".join(f"w{number}" for number in range(5_000))
    diagnostics = findings(tmp_path, slurm_conf=f"{HEAD}SchedulerParameters={words}\n")
    unknown = [one.message for one in diagnostics if one.code == "slurm-word-unknown"]
    assert len(unknown) == 1_001
    assert "only the first 1,000 options of SchedulerParameters are checked, not the other 4,000" in unknown


@pytest.mark.slow
def test_a_hundred_thousand_lines(tmp_path: Path) -> None:
    drift_findings = findings(tmp_path, slurm_conf=HEAD + "# x\n" * 60_000 + "Foo=1\nx y\n" * 20_000)
    assert places(drift_findings, "slurm-key-unknown")[-1] == (70_003, 1)
    assert places(drift_findings, "conf-syntax")[-1] == (70_004, 1)
    assert [one.message for one in drift_findings if one.place is None] == ["and 15,000 more like these"] * 2
