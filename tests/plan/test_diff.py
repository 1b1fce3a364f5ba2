"""`clustergen diff`: what it takes as its two sides, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.plan.plan import plan
from clustergen.plan.show_markdown import LIMIT, code, markdown, plain
from clustergen.plan.show_text import text
from clustergen.plan.sides import Side, read
from clustergen.plan.steps import PLAYS, REMOVE, TURNS, UPGRADE

MANIFEST = """\
name: small
os: debian-13
networks:
  management: {cidr: 10.0.0.0/16, domain: cluster.local}
node_types:
  gpu: {system: hgx-h100-8, memory: 1TiB}
nodes:
  - {name: head, type: service, address: 10.0.255.1, roles: [slurm-controller, slurm-accounting]}
  - {name: "c[1-4]", type: gpu, address: "10.0.0.[1-4]"}
slurm:
  version: "24.11"
  build: schedmd
  partitions:
    batch: {nodes: all, default: true}
    debug: {nodes: "c[1-2]", max_time: 30}
"""


def diff(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["diff", *map(str, arguments)])


def write(folder: Path, *edits: tuple[str, str], text: str = MANIFEST) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (folder / "manifest.yaml").write_text(text, encoding="utf-8")
    return folder / "manifest.yaml"


def rendered(manifest: Path) -> Path:
    assert CliRunner().invoke(group, ["render", str(manifest)]).exit_code == 0
    return manifest.parent / "rendered"


LONGER = ("max_time: 30", "max_time: 60")


def test_no_change(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a"), write(tmp_path / "b", ("max_time: 30", "max_time: 30min"))
    done = diff(one, other)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("small: nothing changes on the nodes\n")
    assert "slurm.partitions.debug.max_time: 30 → 30min" in done.stdout
    assert diff(one, one).stdout == "small: no change\n"


def test_the_verdict_is_the_first_line_and_the_change_has_its_place(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a"), write(tmp_path / "b", LONGER)
    done = diff(one, other)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "small: scontrol reconfigure; no job is lost"
    assert f"      {other}:15:40 slurm.partitions.debug.max_time: 30 → 60" in lines
    assert "  partition debug MaxTime: 00:30:00 → 01:00:00  (c[1-2])" in lines
    assert lines[-1] == "  2. scontrol reconfigure, once: head"


def test_manifest_tree_and_folder_are_the_same_side(tmp_path: Path) -> None:
    old, new = write(tmp_path / "a"), write(tmp_path / "b", LONGER)
    said = []
    for one in (old, rendered(old), old.parent):
        for other in (new, rendered(new), new.parent):
            done = diff(one, other, "--format", "json")
            assert done.exit_code == 1
            (cluster,) = json.loads(done.stdout)["clusters"]
            found = [(c["kind"], c["name"], c["key"], c["old"], c["new"]) for c in cluster["changes"]]
            labels = [value["label"] for change in cluster["changes"] for value in change["manifest"]]
            said.append((found, labels, cluster["verdict"], cluster["steps"]))
    assert said == [said[0]] * len(said)
    assert said[0][1]


def test_an_edited_tree_is_compared_as_it_stands(tmp_path: Path) -> None:
    tree = rendered(write(tmp_path / "a"))
    (conf,) = tree.glob("overlays/*/etc/slurm/slurm.conf")
    conf.write_text(conf.read_text().replace("SlurmdTimeout=300", "SlurmdTimeout=301"))
    done = diff(tmp_path / "a/manifest.yaml", tree)
    assert "SlurmdTimeout: 300 → 301" in done.stdout


def test_folders_of_clusters(tmp_path: Path) -> None:
    for name in ("same", "changed", "gone"):
        write(tmp_path / "old" / name)
    write(tmp_path / "new/same")
    write(tmp_path / "new/changed", LONGER)
    write(tmp_path / "new/fresh")
    done = diff(tmp_path / "old", tmp_path / "new", "--format", "json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert [cluster["new"]["name"] for cluster in found["clusters"]] == [f"{tmp_path}/new/changed/manifest.yaml"]
    assert (found["clusters_added"], found["clusters_removed"]) == (["fresh"], ["gone"])
    assert diff(tmp_path / "old", tmp_path / "old").exit_code == 0
    assert "fresh: a new cluster" in diff(tmp_path / "old", tmp_path / "new").stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    write(folder / "clusters/small")
    site = folder / "clusters/small/site/all/etc/motd"
    site.parent.mkdir(parents=True)
    site.write_text("old\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        _git(folder, *words)
    monkeypatch.chdir(folder)
    return folder


def _git(folder: Path, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=folder, check=True, timeout=30, env={**os.environ, **who})


@pytest.mark.parametrize("where", [".", "clusters", "clusters/small"])
def test_a_commit_of_git(repository: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository / "clusters/small", LONGER)
    (repository / "clusters/small/site/all/etc/motd").write_text("new\n")
    monkeypatch.chdir(repository / where)
    for old, new in (
        ("HEAD:clusters/small/manifest.yaml", repository / "clusters/small/manifest.yaml"),
        ("HEAD:clusters/small", repository / "clusters/small"),
        ("HEAD:clusters", repository / "clusters"),
    ):
        done = diff(old, new)
        assert (done.exit_code, done.stderr) == (1, "")
        assert "partition debug MaxTime" in done.stdout
        assert "/etc/motd: +1 -1 lines" in done.stdout
        assert "HEAD:clusters/small/manifest.yaml → " in done.stdout


def test_a_path_of_git_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "clusters/small")
    for path in ("HEAD:manifest.yaml", "HEAD:./manifest.yaml", "HEAD:."):
        assert diff(path, "manifest.yaml").exit_code == 0


def test_both_sides_in_git(repository: Path) -> None:
    write(repository / "clusters/small", LONGER)
    rendered(repository / "clusters/small/manifest.yaml")
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "second")
    done = diff("HEAD~1:clusters", "HEAD:clusters")
    assert "HEAD:clusters/small/manifest.yaml:15:40 slurm.partitions.debug.max_time: 30 → 60" in done.stdout


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("HEAD:nothing.yaml", "HEAD:nothing.yaml: this commit has no such file"),
        ("nobranch:clusters", "git knows no commit 'nobranch'"),
        ("--output=x:clusters", "No such option"),
        ("HEAD:../..", "outside the repository"),
        ("nothing", "nothing: there is no such file or folder"),
        ("empty", "neither a manifest, nor a rendered tree, nor a folder of clusters"),
        ("clusters/small", "are not of a kind"),
    ],
)
def test_sides_that_cannot_be_had(repository: Path, old: str, words: str) -> None:
    (repository / "empty").mkdir()
    done = subprocess.run(
        [*_COMMAND, "diff", old, "clusters"], capture_output=True, text=True, timeout=60, check=False, cwd=repository
    )
    assert done.returncode in (2, 3)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


_COMMAND = [os.fspath(Path(os.sys.executable)), "-m", "clustergen"]  # type: ignore[attr-defined]


def test_outside_of_any_repository(tmp_path: Path) -> None:
    write(tmp_path)
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run(
        [*_COMMAND, "diff", "HEAD:manifest.yaml", "manifest.yaml"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("clustergen: ")


def test_an_invalid_manifest(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a"), write(tmp_path / "b", ("type: gpu,", "type: gpo,"))
    for sides in ((one, other), (other, one)):
        done = diff(*sides)
        assert done.exit_code == 2
        assert "error[node-type-unknown]" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("broken", ["{", "{}", '{"format": 99, "files": {}}', '{"format": 1, "files": {"a": 1}}'])
def test_a_broken_tree(tmp_path: Path, broken: str) -> None:
    tree = rendered(write(tmp_path / "a"))
    (tree / "clustergen.lock.json").write_text(broken)
    done = subprocess.run(
        [*_COMMAND, "diff", str(tree), str(tree)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_values_are_taken_back_one_by_one_to_find_the_cause(tmp_path: Path) -> None:
    """The default share of a GPU follows from the memory of the type: no name tells that."""
    one = write(tmp_path / "a")
    other = write(tmp_path / "b", ("memory: 1TiB", "memory: 2TiB"), LONGER, ("build: schedmd", "build: distribution"))
    before, after = (read(Side(str(path), "", path)).snapshot for path in (one, other))
    assert before is not None
    assert after is not None
    found = plan(before, after)
    labels = {
        (change.kind, change.name, change.key): [value.label for value in values]
        for change, values in found.causes.items()
    }
    assert labels["partition", "batch", "DefMemPerGPU"] == ["node_types.gpu.memory"]
    assert labels["node", "c[1-4]", "RealMemory"] == ["node_types.gpu.memory"]
    assert labels["partition", "debug", "MaxTime"] == ["slurm.partitions.debug.max_time"]


def test_a_node_more_has_its_places_although_its_values_only_fit_together(tmp_path: Path) -> None:
    one = write(tmp_path / "a")
    other = write(tmp_path / "b", ('"c[1-4]"', '"c[1-5]"'), ('"10.0.0.[1-4]"', '"10.0.0.[1-5]"'), LONGER)
    before, after = (read(Side(str(path), "", path)).snapshot for path in (one, other))
    assert before is not None
    assert after is not None
    found = plan(before, after)
    (change,) = (change for change in found.changes if change.kind == "node")
    assert (change.name, change.old, found.added) == ("c5", None, ("c5",))
    assert [value.label for value in found.causes[change]] == ["nodes[c[1-5]].name", "nodes[c[1-5]].address"]


def test_hosts_and_groups(tmp_path: Path) -> None:
    one = write(tmp_path / "a")
    other = write(tmp_path / "b", ('"c[1-4]"', '"c[1-3,5]"'))
    (cluster,) = json.loads(diff(one, other, "--format", "json").stdout)["clusters"]
    assert cluster["hosts"] == {"added": ["c5"], "removed": ["c4"]}
    groups = {group["group"]: (group["joined"], group["left"]) for group in cluster["groups"]}
    assert groups["slurm_compute"] == groups["type_gpu"] == (["c5"], ["c4"])
    assert cluster["worst"] == "drain"
    first = cluster["steps"][0]
    assert (first["hosts"], first["by"]) == ("c4", "ansible-playbook clustergen.cluster.remove -e nodes=c4")


def test_markdown_reads_nothing_as_markup() -> None:
    nasty = "a|b`c*d_e<script>[x](http://y)@user #1 \\ ~~z~~\nnew <!-- -->"
    gap = "<!-- -->"
    assert not set(re.sub(r"&[#a-z0-9]+;", "", plain(nasty).replace(gap, ""))) & set("|`*_<>[]\\~\n")
    assert not set(re.sub(r"&[#a-z0-9]+;|^<code>|</code>$", "", code(nasty))) & set("|`*_<>[]\\~@\n")
    assert f"@{gap}user" in plain(nasty)
    assert f"#{gap}1" in plain(nasty)
    assert "http://" not in plain(nasty)


def test_markdown_fits_a_comment(tmp_path: Path) -> None:
    """Hundreds of partitions change, of thousands of nodes."""
    document = yaml.safe_load(MANIFEST)
    document["nodes"][1] = {"name": "c[1-1000]", "type": "gpu", "address": "10.0.[0-3].[1-250]"}
    sides = []
    for limit in (30, 60):
        document["slurm"]["partitions"] = {
            f"p{number}": {"nodes": ",".join(f"c{n}" for n in range(number + 1, 1001, 23)), "max_time": limit}
            for number in range(400)
        }
        document["slurm"]["partitions"]["batch"] = {"nodes": "all", "default": True}
        path = tmp_path / f"{limit}/manifest.yaml"
        path.parent.mkdir()
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        found = read(Side(str(path), "", path)).snapshot
        assert found is not None
        sides.append(found)
    whole = plan(*sides)
    shown = markdown([whole], [], [])
    assert len(shown) <= LIMIT
    assert "800 changes that take something are not shown here" in shown
    assert "<code>400 × partition MaxTime</code>** | <code>00:30:00</code> | <code>01:00:00</code>" in shown
    assert shown.count("<details>") == shown.count("</details>") > 10
    assert shown.startswith("<!-- clustergen diff -->\n### small: scontrol reconfigure; no job is lost\n")
    assert "What applying it does" in shown
    assert text(whole).count("\n") < 40


def test_hundreds_of_values_are_their_range_the_first_few_and_the_rest_folded_away(tmp_path: Path) -> None:
    def with_weights(first: int) -> str:
        entries = [
            f"  - {{name: c{n}, type: gpu, address: 10.0.{n // 250}.{n % 250 + 1}, weight: {first + n}}}\n"
            for n in range(1, 301)
        ]
        head, _, tail = MANIFEST.partition('  - {name: "c[1-4]"')
        return head + "".join(entries) + tail.partition("\n")[2]

    one, other = (write(tmp_path / str(first), text=with_weights(first)) for first in (0, 5000))
    lines = diff(one, other).stdout.splitlines()
    start = lines.index("  300 × node Weight: 1 … 300 → 5001 … 5300  (c[1-300])")
    assert lines[start + 1] == "    node c1 Weight: 1 → 5001"
    assert lines[start + 4] == "    … and 297 more"
    assert len(lines) < 30
    assert "297 of 300 changes are not shown here" in lines[-1]
    shown = diff(one, other, "--format", "markdown").stdout
    assert "**<code>300 × node Weight</code>** | <code>1 … 300</code> | <code>5001 … 5300</code>" in shown
    rest = shown[shown.index("<summary>the other 297") :]
    assert "- <code>node c300 Weight</code>: <code>300</code> → <code>5300</code>" in rest
    assert len(shown) <= LIMIT
    (cluster,) = json.loads(diff(one, other, "--format", "json").stdout)["clusters"]
    assert [change["new"] for change in cluster["changes"]] == [str(5000 + n) for n in range(1, 301)]
    assert {len(change["manifest"]) for change in cluster["changes"]} == {1}


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    """Thousands of partitions that go, with names as long as they may be."""
    document = yaml.safe_load(MANIFEST)
    names = [f"partition-with-a-long-name-{number:05d}" for number in range(2000)]
    sides = []
    for some in (names, []):
        partitions = {name: {"nodes": "c[1-4]", "max_time": "1h"} for name in some}
        document["slurm"]["partitions"] = {"batch": {"nodes": "all", "default": True}, **partitions}
        path = tmp_path / f"{len(some)}/manifest.yaml"
        path.parent.mkdir()
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        found = read(Side(str(path), "", path)).snapshot
        assert found is not None
        sides.append(found)
    whole = plan(*sides)
    shown = markdown([whole], [], [])
    assert len(shown) <= LIMIT
    left_out = int(re.findall(r"([\d,]+) of 2,000 changes that take something", shown)[0].replace(",", ""))
    assert len(re.findall(r"^[-|] .*long-name-\d+</code>", shown, re.MULTILINE)) == 2000 - left_out
    first = text(whole).splitlines()[0]
    assert first.startswith("small: cancels the jobs of 2,000 partitions (partition-with-a-long-name-00000, ")
    assert max(map(len, text(whole).splitlines())) < 300


def test_markdown_of_very_many_clusters_fits() -> None:
    assert len(markdown([], [f"cluster{n}" for n in range(9999)], [])) <= LIMIT


def test_one_node_of_ten_thousand_takes_about_a_second(tmp_path: Path) -> None:
    big = MANIFEST.replace('"c[1-4]"', '"c[1-10000]"').replace('"10.0.0.[1-4]"', '"10.0.[0-39].[1-250]"')
    one = write(tmp_path / "a", text=big)
    split = '"c[1-4999,5001-10000]", type: gpu, address: "10.0.[0-18].[1-250],10.0.19.[1-249],10.0.[20-39].[1-250]"}\n'
    split += "  - {name: c5000, type: gpu, address: 10.0.19.250, weight: 7}"
    other = write(tmp_path / "b", ('"c[1-10000]", type: gpu, address: "10.0.[0-39].[1-250]"}', split), text=big)
    began = time.process_time()
    done = diff(one, other)
    spent = time.process_time() - began
    assert "node c5000 Weight: 1 → 7" in done.stdout
    assert spent < 3  # measured 1.0 s on a quiet machine


def test_the_steps_are_plays_of_site_yml_in_its_order(tmp_path: Path) -> None:
    site = Path("playbooks/ansible_collections/clustergen/cluster/playbooks/site.yml")
    plays = [play["name"] for play in yaml.safe_load(site.read_text(encoding="utf-8")) if "name" in play]
    assert [play for play in plays if play in PLAYS] == list(PLAYS)
    for playbook in (REMOVE, UPGRADE):
        assert site.with_name(playbook.rpartition(".")[2] + ".yml").is_file()
    one = write(tmp_path / "a")
    partitions = '    debug: {nodes: "c[1-2]", max_time: 30}\n'
    edits = [
        (("memory: 1TiB", "memory: 2TiB"), ("type: gpu, address", "type: gpu, weight: 3, address"), (partitions, "")),
        (("  build: schedmd", "  auth: slurm\n  build: schedmd"),),
        (("memory: 1TiB", "memory: 1TiB, gpus: {count: 4, numa: [0, 0, 1, 1]}"),),
    ]
    seen = set()
    for number, edit in enumerate(edits):
        other = write(tmp_path / str(number), *edit)
        (cluster,) = json.loads(diff(one, other, "--format", "json").stdout)["clusters"]
        named = [step["play"] for step in cluster["steps"] if step["play"] and not step["by"]]
        assert named == sorted(named, key=PLAYS.index)
        seen.update(named)
    assert seen == set(PLAYS) - {TURNS}


def test_a_changed_line_of_slurm_conf_is_put_on_all_nodes(tmp_path: Path) -> None:
    new = write(tmp_path / "new", LONGER)
    found = json.loads(diff(write(tmp_path / "old"), new, "--format", "json").stdout)
    (put,) = [step for step in found["clusters"][0]["steps"] if step["text"].startswith("put the changed files")]
    assert put["hosts"] is None


def test_an_upgrade_without_accounting_speaks_of_no_database(tmp_path: Path) -> None:
    text = MANIFEST.replace(", slurm-accounting", "")
    new = write(tmp_path / "new", ('"24.11"', '"26.05"'), text=text)
    told = diff(write(tmp_path / "old", text=text), new).stdout
    assert "restarts slurmctld and slurmd; no job" in told
    assert "back up StateSaveLocation" in told


def test_another_name_of_the_cluster_says_what_keeps_slurmctld_from_starting(tmp_path: Path) -> None:
    new = write(tmp_path / "new", ("partitions:", "cluster_name: other\n  partitions:"))
    assert "delete the file clustername in StateSaveLocation" in diff(write(tmp_path / "old"), new).stdout


def test_outside_of_a_repository_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ClustergenError, match="not a git repository"):
        group.main(["diff", "HEAD:a.yaml", "b.yaml"], standalone_mode=False)
