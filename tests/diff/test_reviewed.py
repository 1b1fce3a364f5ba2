"""The first lines for a reviewer: totals, nodes that join, settings of jobs, the value to blame, the commits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from clustergen.diff.lines import changed_lines
from clustergen.diff.settings import differing
from strategies.diffs import MANIFEST, diff, git, write

NCCL = ("slurm:\n", "nccl: {env: {NCCL_IB_TIMEOUT: 20}}\nslurm:\n")
OLD = MANIFEST.replace(*NCCL)
JOINING = (("c[1-4]", "c[1-6]"), ("10.0.0.[1-4]", "10.0.0.[1-6]"))
ALL = (*JOINING, ("max_time: 30", "max_time: 10"), ("IB_TIMEOUT: 20", "IB_TIMEOUT: 22"))


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    directory = tmp_path_factory.mktemp("reviewed")
    return str(write(directory / "a", text=OLD)), str(write(directory / "b", *ALL, text=OLD))


@pytest.fixture(scope="module")
def cluster(sides: tuple[str, str]) -> dict[str, Any]:
    (only,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    return dict(only)


@pytest.mark.slow
def test_nodes_that_join_and_settings_of_jobs_are_in_the_verdict(cluster: dict[str, Any]) -> None:
    assert cluster["verdict"].startswith(
        "adds 2 nodes (c[5-6]); changes NCCL settings of new jobs; scontrol reconfigure; no running job is lost"
    )


@pytest.mark.slow
def test_totals_are_in_every_format(sides: tuple[str, str], cluster: dict[str, Any]) -> None:
    assert {name: number for name, number in cluster["totals"].items() if number} == {
        "nodes_to_add": 2,
        "files_to_change": len({change["file"] for change in cluster["changes"]}),
    }
    totals = f"Plan: 2 nodes to add, {cluster['totals']['files_to_change']} files to change"
    assert diff(*sides).stdout.splitlines()[-1] == f"{totals}."
    assert f"\n**{totals}**\n" in diff(*sides, "--format", "markdown").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "totals"),
    [
        ((("c[1-4]", "c[1-3]"), ("10.0.0.[1-4]", "10.0.0.[1-3]")), {"nodes_to_remove": 1, "nodes_to_drain": 1}),
        (
            (("  build: schedmd", "  build: schedmd\n  options: {SwitchType: switch/hpe_slingshot}"),),
            {"nodes_to_drain": 4},
        ),
        ((("os: debian-13", "os: debian-12"),), {"nodes_to_reinstall": 5}),
        ((("max_time: 30", "max_time: 60"),), {}),
    ],
)
def test_totals_count_files_and_values(
    tmp_path: Path, edit: tuple[tuple[str, str], ...], totals: dict[str, int]
) -> None:
    arguments = write(tmp_path / "a"), write(tmp_path / "b", *edit), "--format", "json"
    counts = json.loads(diff(*arguments).stdout)["clusters"][0]["totals"]
    assert {name: n for name, n in counts.items() if n and name.startswith("nodes_")} == totals


@pytest.mark.slow
def test_only_nodes_that_run_jobs_are_drained(tmp_path: Path) -> None:
    home = "storage: {home: {type: nfs, server: 10.0.1.1, path: /home, mount: /home, clients: [%s]}}\nslurm:\n"
    roles = "slurm-compute, slurm-controller"
    old = write(tmp_path / "a", ("slurm:\n", home % roles))
    new = write(tmp_path / "b", ("slurm:\n", (home % roles).replace("clients", "options: [noatime], clients")))
    counts = json.loads(diff(old, new, "--format", "json").stdout)["clusters"][0]["totals"]
    assert counts["nodes_to_drain"] == 4


@pytest.mark.slow
def test_a_setting_of_jobs_has_its_values_and_its_cause(cluster: dict[str, Any]) -> None:
    (change,) = [change for change in cluster["changes"] if change["file"] == "/etc/nccl.conf"]
    assert (change["kind"], change["key"], change["old"], change["new"]) == ("setting", "NCCL_IB_TIMEOUT", "20", "22")
    assert [value["label"] for value in change["manifest"]] == ["nccl.env.NCCL_IB_TIMEOUT"]


@pytest.mark.slow
def test_a_limit_is_not_blamed_on_nodes_that_join(cluster: dict[str, Any]) -> None:
    blamed = {
        change["key"]: [value["label"] for value in change["manifest"]]
        for change in cluster["changes"]
        if change["kind"] == "partition" and change["name"] == "debug"
    }
    assert blamed["MaxTime"] == ["slurm.partitions.debug.max_time"]
    (joined,) = [change for change in cluster["changes"] if change["kind"] == "node" and not change["key"]]
    assert "nodes[c[1-6]].name" in [value["label"] for value in joined["manifest"]]


@pytest.mark.slow
def test_values_that_follow_from_joining_nodes_are_one_line(sides: tuple[str, str]) -> None:
    lines = diff(*sides).stdout.splitlines()
    assert "other manifest changes (no separate effect)" not in lines
    (line,) = [line for line in lines if line.endswith(", and 1 more of these nodes")]
    assert 'nodes[c[1-6]].name: "c[1-4]" → "c[1-6]"' in line


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_revision_has_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    write(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    write(tmp_path, ("max_time: 30", "max_time: 60"))
    monkeypatch.chdir(tmp_path)
    commit = (tmp_path / ".git/refs/heads").glob("*")
    short = next(commit).read_text(encoding="ascii")[:7]
    shown: Result = diff("HEAD:./manifest.yaml", "manifest.yaml", "--format", form)
    assert short in shown.stdout


@pytest.mark.slow
def test_files_that_slurm_and_jobs_read_are_shown_line_by_line(sides: tuple[str, str]) -> None:
    shown = diff(*sides, "--format", "markdown").stdout
    nccl = shown[shown.index("<summary><code>/etc/nccl.conf</code>") :]
    assert "\n-NCCL_IB_TIMEOUT=20\n+NCCL_IB_TIMEOUT=22\n```\n" in nccl
    assert "&#" not in shown


@pytest.mark.parametrize(
    ("target", "old", "new", "values"),
    [
        ("/etc/ucx/ucx.conf", "A=1\nB=2", "A=1\nB=3\n# C", [("B", "2", "3")]),
        ("/etc/systemd/system/a.mount", "[Mount]\nOptions=rw", "[Mount]\nOptions=ro", [("Mount.Options", "rw", "ro")]),
        ("/etc/systemd/system/a.service", "[Service]\nX=1\nX=2", "[Service]\nX=1", [("Service.X", "1, 2", "1")]),
        ("/etc/security/limits.d/a", "* soft stack 8", "* soft stack 9", [("* soft stack", "8", "9")]),
        ("/etc/modprobe.d/a", "options m A=1 B=1", "options m A=0", [("m A", "1", "0"), ("m B", "1", None)]),
        ("/etc/sysctl.d/a", "-net.a = 1", "-net.a = 1\nb=2", [("b", None, "2")]),
        ("/etc/hosts", "10.0.0.1 a", "10.0.0.1 b", []),
        ("/etc/security/limits.d/a", "* soft stack 8", "* soft stack", []),
        ("/etc/slurm/prolog", "a=1\nexit 0", "a=2\nexit 0", []),
        ("/etc/nccl.conf", "".join(f"A{n}=1\n" for n in range(40)), "", []),
    ],
)  # fmt: skip
def test_settings_that_differ(
    target: str, old: str, new: str, values: list[tuple[str, str | None, str | None]]
) -> None:
    assert differing(target, old, new) == values


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("abc", "abc", []),
        ("abc", "axc", ["-b", "+x"]),
        ("ab", "abc", ["+c"]),
        ("xab", "ab", ["-x"]),
        ("axbyc", "apbqc", ["-x", "+p", "-y", "+q"]),
        ("ab", "ba", []),
        ("abc", "", ["-a", "-b", "-c"]),
    ],
)
def test_lines_that_only_one_side_has(old: str, new: str, lines: list[str]) -> None:
    assert changed_lines(list(old), list(new)) == lines
