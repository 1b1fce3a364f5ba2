"""`clustergen fabric check` as a program: its formats, its exit codes, and what it does with files of other kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from strategies.fabric_nets import Net, cluster_of, planned_net, superpod

MANIFEST = superpod(4, plan="leaf: qm9700, unit: 2")


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Net:
    monkeypatch.chdir(tmp_path)
    Path("manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    return planned_net(cluster_of(MANIFEST))


def run(*words: str, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(group, ["fabric", "check", *words], input=text)


def save(net: Net) -> None:
    Path("fabric.txt").write_text(net.discovered(), encoding="utf-8")


def test_the_planned_fabric(net: Net) -> None:
    save(net)
    done = run("manifest.yaml", "fabric.txt")
    assert done.exit_code == 0
    assert "planned cables are linked as planned" in done.stdout
    assert "recognised" in done.stderr


@pytest.mark.parametrize("words", [("fabric.txt",), ("-",), ("manifest.yaml", "-"), (".", "fabric.txt")])
def test_the_manifest_is_that_of_the_directory_and_the_file_may_be_standard_input(
    net: Net, words: tuple[str, ...]
) -> None:
    net.cut(("gpu0001 mlx5_0", 1))
    save(net)
    done = run(*words, text=net.discovered())
    assert done.exit_code == 1
    assert "error[cable-missing]" in done.stdout


def test_many_of_a_kind_have_a_headline(net: Net) -> None:
    for device in ("leaf01-r0", "leaf02-r1"):
        net.cut((device, 64))
    save(net)
    lines = run("fabric.txt").stdout.splitlines()
    assert lines[0] == "fabric.txt: error[cable-missing]: 2 of 32 uplinks are missing on 2 of 16 switches"
    assert [line.split(" (")[0] for line in lines[1:3]] == ["   leaf01-r0 port 64", "   leaf02-r1 port 64"]
    assert lines[3].startswith("   hint: ")
    assert lines[4] == "2 errors"


def test_json_has_all_findings_and_the_headlines(net: Net) -> None:
    for port in (1, 2):
        net.cut(("leaf01-r0", 62 + port))
    net.join(("ufm01 mlx5_0", 1), ("leaf02-r0", 30))
    save(net)
    done = run("fabric.txt", "--format", "json")
    document = json.loads(done.stdout)
    assert done.exit_code == 1
    assert document["counts"] == {"error": 2, "warning": 1, "info": 0}
    assert [(one["code"], one["count"]) for one in document["groups"]] == [
        ("cable-missing", 2),
        ("fabric-node-unplanned", 1),
    ]
    assert {one["code"] for one in document["diagnostics"]} == {"cable-missing", "fabric-node-unplanned"}
    assert document["remarks"]


@pytest.mark.slow
def test_annotations_and_markdown(net: Net) -> None:
    net.join(("<img src=x> @all mlx5_0", 1), ("leaf02-r0", 30))
    save(net)
    assert run("fabric.txt", "--format", "github").stdout.startswith("::warning file=fabric.txt,line=")
    page = run("fabric.txt", "--format", "markdown").stdout
    assert "#### warning" in page
    assert "\\<img src=x> @<!-- -->all" in page


@pytest.mark.slow
def test_codes_are_chosen(net: Net) -> None:
    net.cut(("gpu0001 mlx5_0", 1))
    save(net)
    assert run("fabric.txt", "--ignore", "cable").exit_code == 0
    assert run("fabric.txt", "--select", "rail-swapped").exit_code == 0
    assert run("fabric.txt", "--select", "cable-missing").exit_code == 1
    assert run("fabric.txt", "--ignore", "cable-lost").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\0\1\2" * 9999, b"\x1b[31mhello", b"x" * (100 << 20)], ids=len)
def test_files_without_a_fabric_are_a_finding(net: Net, content: bytes) -> None:
    Path("fabric.txt").write_bytes(content)
    done = run("fabric.txt")
    assert done.exit_code == 1
    assert "error[discovery-unreadable]" in done.stdout


def test_an_invalid_manifest_is_not_compared(net: Net) -> None:
    save(net)
    Path("manifest.yaml").write_text(MANIFEST.replace("type: h100", "type: h200"), encoding="utf-8")
    done = run("fabric.txt")
    assert done.exit_code == 2
    assert "error[node-type-unknown]" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("words", [("-", "fabric.txt"), ("manifest.yaml", "fabric.txt", "more.txt"), ()])
def test_wrong_uses(net: Net, words: tuple[str, ...]) -> None:
    save(net)
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("name", ["absent.txt", "empty"])
def test_files_that_cannot_be_read(net: Net, name: str) -> None:
    Path("empty").mkdir()
    done = run(name)
    assert isinstance(done.exception, OSError | ClustergenError)


@pytest.mark.slow
def test_a_manifest_without_a_plan_compares_the_fabric_with_itself(net: Net) -> None:
    Path("manifest.yaml").write_text(MANIFEST.replace("    plan: {leaf: qm9700, unit: 2}\n", ""), encoding="utf-8")
    save(net)
    done = run("fabric.txt")
    assert done.exit_code == 0
    assert "compared with itself and its rate, 400 Gb/s" in done.stderr
    text = Path("fabric.txt").read_text(encoding="utf-8")
    Path("slow.txt").write_text(text.replace("4xNDR", "4xHDR"), encoding="utf-8")
    slow = run("slow.txt")
    assert slow.exit_code == 1
    assert "are slower than the manifest's rate, 400 Gb/s" in slow.stdout
    net.cut(("leaf01-r0", 64))
    save(net)
    done = run("fabric.txt")
    assert done.exit_code == 1
    assert "error[bundle-uneven]" in done.stdout


@pytest.mark.slow
def test_markdown_has_no_control_characters_and_cuts_long_names(net: Net) -> None:
    net.rename({"leaf02-r0": "\x1b]0;owned\x07" + "x" * 900})
    save(net)
    page = run("fabric.txt", "--format", "markdown").stdout
    assert "owned" in page
    assert page.replace("\n", "").isprintable()
    assert "x" * 700 not in page
