"""`clustergen explain MANIFEST FILE:LINE` names what made a line, and a change there does change it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen import compile as compiler
from clustergen.catalogue.hardware import gpu
from clustergen.cli import group
from clustergen.cli.init import STARTER
from clustergen.diagnostics import ClustergenError
from clustergen.explain.causes import Cause
from clustergen.explain.lines import Explained, Line, comment_of, explain
from clustergen.explain.locate import find
from clustergen.explain.reads import Reads, overriding, reading
from clustergen.explain.rows import Row
from clustergen.explain.show import summaries, text_of_lines
from strategies.findings import TINY, changed
from strategies.once import once
from strategies.pages import ROOT

MANIFEST = ROOT / "inventories" / "ml-training" / "manifest.yaml"
FILES = (
    "slurm_node/etc/slurm/slurm.conf",
    "slurm_node/etc/slurm/gres.conf",
    "slurm_node/etc/slurm/topology.conf",
    "gpu_node/etc/nccl.conf",
    "monitoring/etc/prometheus/prometheus.yml",
)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["explain", *map(str, arguments)])


def explain_files() -> dict[str, Explained]:
    compiled = compiler.validate(MANIFEST)
    tree, _ = compiler.render(compiled, MANIFEST)
    assert tree is not None
    directory = MANIFEST.parent
    return {name: explain(compiled, tree, find(tree, name, directory), directory) for name in FILES}


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Explained]:
    return once(tmp_path_factory, "explained", explain_files)


def line(explained: Explained, begin: str) -> Line:
    return next(line for line in explained.lines if line.text.strip().startswith(begin))


def edited(cause: Cause) -> str | None:
    """The manifest with another text where the cause stands, as an editor would write it; None where none was valid."""
    place = cause.place
    if place is None or cause.kind != "value" or not cause.valid or cause.tried == "nothing" or cause.tried[0] in "{[":
        return None
    lines = MANIFEST.read_text(encoding="utf-8").split("\n")
    text = lines[place.line - 1]
    value = cause.tried if cause.tried.isdigit() or cause.tried in ("true", "false") else json.dumps(cause.tried)
    lines[place.line - 1] = text[: place.column - 1] + value + text[place.end_column - 1 :]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", FILES)
def test_a_change_of_the_line_that_is_named_changes_the_line_asked_for(
    name: str, share: int, explained: dict[str, Explained], tmp_path: Path
) -> None:
    """By the whole pipeline: the text is edited at the place, read, checked and rendered; one of `share` edits."""
    tried: dict[tuple[str, str], set[str]] = {}
    order: dict[tuple[str, str], int] = {}
    path = tmp_path / "manifest.yaml"
    for line in explained[name].lines:
        for cause in line.manifest:
            if (text := edited(cause)) is None:
                continue
            key = (cause.path, cause.tried)
            if order.setdefault(key, len(order)) % share:
                continue
            if key not in tried:
                path.write_text(text, encoding="utf-8")
                compiled = compiler.validate(path)
                assert compiled.ok, (cause, compiled.diagnostics)
                tree, _ = compiler.render(compiled, path)
                assert tree is not None
                file = tree.files[explained[name].path]
                tried[key] = set(file.content.decode().splitlines())
            assert line.text not in tried[key] or count(explained[name], line.text) > 1, (line.text, cause)
            if cause.becomes is not None:
                assert cause.becomes in tried[key], (line.text, cause)
    assert tried


def count(explained: Explained, text: str) -> int:
    return Counter(line.text for line in explained.lines)[text]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_line_with_a_value_has_an_origin(name: str, explained: dict[str, Explained]) -> None:
    """A line that no value changes is a constant: a manifest with little in common renders the same line."""
    bare = [
        line.text
        for line in explained[name].lines
        if line.text.strip() and not (line.manifest or line.defaults or line.catalogue or line.template)
    ]
    constants = {
        "# Made by clustergen from manifest.yaml.",
        "# edit the manifest and render again.",
        "## Cluster and controllers",
        "## Resources",
        "## Prolog, epilog and health check",
        "scrape_timeout: 10s",
        "- rules/meta.yml",
        "- job_name: prometheus",
        "- files: [sd/prometheus.yml]",
    }
    assert [text for text in bare if not text.strip().startswith(tuple(constants))] == []


@pytest.mark.slow
def test_a_sample_read_by_hand(explained: dict[str, Explained]) -> None:
    slurm = explained[FILES[0]]
    half_life = line(slurm, "PriorityDecayHalfLife=")
    assert next((c.path, c.default) for c in half_life.defaults) == ("slurm.priority.half_life", "7-0")
    assert half_life.why == "past usage counts half after this time"
    assert [row.name for row in half_life.catalogue] == ["slurm.conf PriorityDecayHalfLife"]

    memory = {cause.path for cause in line(slurm, "DefMemPerCPU=").manifest}
    assert memory >= {"node_types.h100.memory", "node_types.h100.reserved.memory", "node_types.h100.reserved.cores"}
    assert "slurm.partitions.debug.max_time" not in memory

    debug = [cause for cause in line(slurm, "PartitionName=debug").manifest if cause.path.endswith("debug.max_time")]
    place = debug[0].place
    assert place is not None
    assert debug[0].text == "30"
    assert "debug: {nodes:" in MANIFEST.read_text(encoding="utf-8").split("\n")[place.line - 1]
    assert "MaxTime" in (debug[0].becomes or "")

    # The window of the backfill is as long as the longest job.
    window = line(slurm, "SchedulerParameters=")
    assert "slurm.partitions.gpu-training.max_time" in {cause.path for cause in window.manifest}

    gres = line(explained[FILES[1]], "NodeName=compute[01-08] Name=gpu")
    rows = {row.table: row for row in gres.catalogue}
    assert rows["gpus.tsv"].name == "h100-sxm"
    assert rows["gpus.tsv"].fields["gres_type"] == "h100"
    assert rows["gpus.tsv"].sources[0][1], "a source is told in words"

    topology = line(explained[FILES[2]], "SwitchName=ib-leaf1")
    assert {cause.path for cause in topology.manifest} >= {"networks.fabric.switches[0].name", "nodes[5].name"}
    nccl = line(explained[FILES[3]], "NCCL_IB_HCA")
    assert {cause.path for cause in nccl.manifest} >= {"node_types.h100.nics[0].device", "networks.fabric.type"}


@pytest.mark.slow
def test_the_line_of_a_table_is_the_row(explained: dict[str, Explained]) -> None:
    data = ROOT / "generator" / "clustergen" / "catalogue" / "data"
    seen = 0
    for lint_finding in explained.values():
        for row in (row for line in lint_finding.lines for row in line.catalogue if row.line):
            text = (data / str(row.table)).read_text(encoding="utf-8").split("\n")[row.line - 1]
            assert row.name.split()[-1] in text
            assert all(value in text for value in row.fields.values() if isinstance(value, str) and value.isalnum())
            seen += 1
    assert seen > 50


def test_the_place_of_a_row_is_named_as_far_as_known() -> None:
    """A table with the line, a system's own file, and what follows from several tables."""
    for row, place in (
        (Row("h100-sxm", "gpus.tsv", 12, {"gres_type": "h100"}, ()), "catalogue/data/gpus.tsv:12"),
        (
            Row("dgx-h100", "systems/dgx-h100.yaml", None, {"gpu": "h100-sxm"}, ()),
            "catalogue/data/systems/dgx-h100.yaml",
        ),
        (Row("kernel", None, None, {"version": "6.1"}, ()), "catalogue"),
    ):
        made = Line(3, "a=1", (), (), (row,), "", None)
        whole = Explained("f.conf", None, "f.conf.j2", "view", "", (), (made,))
        assert summaries([made]).split() == ["3", "a=1", place]
        assert f"    {place}: {row.name}: " in text_of_lines(whole, whole=False)


def test_rows_that_only_have_to_exist_are_one_line_of_their_table() -> None:
    """The keys of a line of gres.conf, whatever the sources of each."""
    sources = {"Name": ("PARSE",), "Type": ("PARSE", "SRC"), "File": ("PARSE", "DOC")}
    rows = [
        Row(f"gres.conf NodeName {name}", "slurm_keys.tsv", 9, {}, tuple((code, "") for code in codes))
        for name, codes in sources.items()
    ]
    made = Line(3, "a=1", (), (), tuple(rows), "", None)
    text = text_of_lines(Explained("f.conf", None, "f.conf.j2", "view", "", (), (made,)), whole=False)
    shown = [line.strip() for line in text.splitlines() if "slurm_keys" in line]
    assert shown == ["catalogue/data/slurm_keys.tsv: gres.conf NodeName Name, Type, File [PARSE SRC DOC]"]


def test_a_row_is_as_before_after_a_trial_of_it() -> None:
    row = gpu("h100")
    assert row is not None
    before = dict(vars(type(row)))
    with overriding({(id(row), "gres_type"): "x100"}):
        assert row.gres_type == "x100"
    with reading(reads := Reads(frozenset())):
        assert row.gres_type == "h100"
    assert reads.fields[id(row)] == {"gres_type"}
    assert row.gres_type == "h100"
    assert dict(vars(type(row))) == before


@pytest.mark.slow
def test_an_instruction_for_shellcheck_is_no_reason() -> None:
    assert comment_of(["# the reason", "# shellcheck disable=SC2034", "limit_s=285"], 2) == "the reason"


@pytest.mark.slow
def test_a_line_is_explained_on_the_command_line() -> None:
    done = run(MANIFEST, "/etc/slurm/topology.conf:4", "--format", "json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert data["target"] == "/etc/slurm/topology.conf"
    (only,) = data["lines"]
    switch = next(cause for cause in only["manifest"] if cause["path"] == "networks.fabric.switches[0].name")
    text = MANIFEST.read_text(encoding="utf-8").split("\n")[switch["line"] - 1]
    assert text[switch["column"] - 1 : switch["end_column"] - 1] == "ib-leaf1"
    on_disk = MANIFEST.parent / "rendered/overlays/slurm_node/etc/slurm/topology.conf:4"
    shown = run(MANIFEST, on_disk).output
    assert f"{MANIFEST}:{switch['line']}:{switch['column']} networks.fabric.switches[0].name: ib-leaf1" in shown
    assert run(on_disk).output == shown


@pytest.mark.slow
def test_a_whole_file_is_a_row_for_each_line() -> None:
    shown = run(MANIFEST, "/etc/slurm/topology.conf").output
    assert [row for row in shown.splitlines() if "SwitchName=ib-leaf1" in row and "networks.fabric.switches" in row]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("/etc/slurm/topology.conf:999", "has 4 lines"),
        ("/etc/slurm/topology.conf:0", "no line"),
        ("/etc/slurm/topology.conf:9-2", "9-2 is not a valid range"),
        ("/etc/slurm/topologie.conf", "no rendered file"),
        ("slurm.partition", "no field or rendered file"),
        ("prometheus.yml:1", "several files are called"),
        ("rendered/clustergen.lock.json:3", "lists the other files"),
    ],
)
def test_malformed_lines_are_reported(argument: str, message: str) -> None:
    done = run(MANIFEST, argument)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 2
    assert message in done.exception.message
    assert done.exception.hint or "lock" in argument


@pytest.mark.slow
@pytest.mark.parametrize("word", ["slurm.partition", "topologi.conf", "MaxTim"])
def test_a_misspelt_field_key_or_file_is_guessed_with_a_manifest(word: str) -> None:
    error = run(MANIFEST, word).exception
    assert isinstance(error, ClustergenError)
    meant = {"slurm.partition": "slurm.partitions", "topologi.conf": "topology.conf", "MaxTim": "MaxTime"}[word]
    assert error.hint == f"did you mean '{meant}'?"


def test_a_key_of_slurm_is_explained_with_a_manifest() -> None:
    assert "set by slurm.partitions.NAME.max_time" in run(MANIFEST, "MaxTime").output


@pytest.mark.slow
def test_a_site_s_own_file_is_named(tmp_path: Path) -> None:
    site_file = tmp_path / "site" / "slurm_node" / "etc" / "slurm" / "extra.conf"
    site_file.parent.mkdir(parents=True)
    site_file.write_text("# ours\nKey=1\n", encoding="utf-8")
    path = tmp_path / "manifest.yaml"
    path.write_text(MANIFEST.read_text(encoding="utf-8"), encoding="utf-8")
    shown = run(path, "/etc/slurm/extra.conf:2").output
    assert "made by site/slurm_node/etc/slurm/extra.conf, a file of the site" in shown


def test_an_invalid_manifest_ends_with_2(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text("name: x\n", encoding="utf-8")
    assert run(path, "/etc/slurm/slurm.conf:1").exit_code == 2


@pytest.mark.slow
def test_the_first_lines_of_a_file_come_before_the_others_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows in the same order, from two studies."""
    at_once = run(STARTER, "cgroup.conf").output
    monkeypatch.setattr("clustergen.cli.explain._is_awaited", lambda *_: True)
    monkeypatch.setattr("clustergen.cli.explain._SCREEN", 6)
    assert run(STARTER, "cgroup.conf").output == at_once


@pytest.mark.slow
def test_a_field_that_nodes_override_is_theirs(tmp_path: Path) -> None:
    """And not one of the node type that they get."""
    path = tmp_path / "manifest.yaml"
    text = changed(
        TINY,
        ('10.0.0.[11-14]"', '10.0.0.[11-14]", memory: 1TiB'),
        ("{system: dgx-h100}", "{system: dgx-h100, weight: 5}"),
    )
    path.write_text(text, encoding="utf-8")
    result = run(path, "/etc/slurm/slurm.conf", "--format", "json")
    (row,) = [each for each in json.loads(result.stdout)["lines"] if each["text"].startswith("NodeName=gpu")]
    paths = {cause["path"] for cause in row["manifest"]}
    assert {"nodes[1].memory", "node_types.h100.weight", "node_types.h100.system"} <= paths
    assert not [name for name in (*paths, *(each["path"] for each in row["defaults"])) if "h100-memory" in name]
