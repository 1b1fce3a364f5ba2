"""Hundreds of changes are shortened to a few screens, or one comment on a pull request."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from clustergen.diff.arguments import Side, read
from clustergen.diff.markdown import LONGEST_COMMENT, block, code, plain
from clustergen.diff.plan import plan
from clustergen.diff.show_json import as_json
from clustergen.diff.show_markdown import markdown
from clustergen.diff.show_text import text
from clustergen.diff.snapshot import Snapshot
from strategies.diffs import MANIFEST, diff, write


def snapshot(path: Path, document: Any) -> Snapshot:
    """One side of a diff, of a manifest written to `path`."""
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    side = read(Side(str(path), "", path)).snapshot
    assert side is not None
    return side


NASTY = (
    "a|b`c*d*e<script>[x](http://y) [x]: z @user #1 \\ ~~z~~ __b__ new <!-- --> &lt; !7 www.z.org",
    "`", "``` x ```", "-->", "</details>", "[a](b)", "![a](b)", "n[01-08](http://z)", "a_b_c[1-4]", "***", "<http://a>",
)  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_markdown_reads_nothing_as_markup(text: str) -> None:
    """A reader of GitHub's dialect shows the text as it is, between the words around it and on its line."""
    parser = MarkdownIt("gfm-like", {"linkify": False})
    for shown, kind in ((plain(text), "text"), (code(text), "code_inline")):
        paragraph = parser.parse(f"- of {shown} end")[3]
        assert paragraph.type == "inline"
        assert paragraph.children is not None
        parts = [part for part in paragraph.children if part.content != "<!-- -->"]
        assert {part.type for part in parts} <= {"text", "text_special", kind}
        assert "".join(part.content for part in parts) == f"of {' '.join(text.split())} end"
    assert not re.search(r"[@#!]\w|://|www\.", plain(text)), "nobody is mentioned, nothing is linked"


def test_a_fence_is_closed_by_none_of_its_lines() -> None:
    text = "+ a\n ```\n````\n~~~\n</details>"
    first, *others = MarkdownIt("gfm-like", {"linkify": False}).parse(block(text, "diff"))
    assert (first.type, first.content, others) == ("fence", f"{text}\n", [])


def test_json_shows_no_character_that_a_terminal_acts_on() -> None:
    document = as_json([], ["a\u202eb\x9b31m"], [])
    assert document.isascii()
    assert json.loads(document)["clusters_added"] == ["a\u202eb\x9b31m"]


@pytest.mark.slow
def test_markdown_fits_a_comment(tmp_path: Path) -> None:
    """Hundreds of partitions change, of thousands of nodes."""
    document = yaml.safe_load(MANIFEST)
    document["nodes"][1] = {"name": "c[1-1000]", "type": "gpu", "address": "10.0.[0-3].[1-250]"}
    sides = []
    for limit in (30, 60):
        document["slurm"]["partitions"] = {
            f"p{number}": {"nodes": ",".join(f"c{n}" for n in range(number + 1, 1001, 23)), "max_time": limit}
            for number in range(150)
        }
        document["slurm"]["partitions"]["batch"] = {"nodes": "all", "default": True}
        sides.append(snapshot(tmp_path / f"{limit}/manifest.yaml", document))
    whole = plan(*sides)
    shown = markdown([whole], [], [])
    assert len(shown) <= LONGEST_COMMENT
    assert "300 changes with an effect are not shown here" in shown
    assert "- **`150 × partition MaxTime`**: `00:30:00` → `01:00:00` on `c[1-1000]`" in shown
    assert shown.count("<details>") == shown.count("</details>") > 2
    assert shown.startswith("<!-- clustergen diff -->\n### small: scontrol reconfigure; no job is lost\n")
    assert "Steps to apply it" in shown
    assert text(whole).count("\n") < 40


@pytest.mark.slow
def test_pending_jobs_are_named_in_every_format(tmp_path: Path) -> None:
    many = "".join(f"    p{n}: {{nodes: all, max_time: LIMIT}}\n" for n in range(12))
    sides = [
        str(write(tmp_path / limit, ("  partitions:\n", f"  partitions:\n{many.replace('LIMIT', limit)}")))
        for limit in ("2h", "1h")
    ]
    reason = "PartitionTimeLimit"
    shown = diff(*sides).stdout
    end = f"no running job is lost, but pending jobs may wait or fail ({reason})"
    assert shown.splitlines()[0].endswith(end)
    assert f"  pending jobs of partition p0 that ask for more than 01:00:00 wait: {reason}\n" in shown
    assert "  … and 2 more\n" in shown
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert cluster["verdict"].endswith(end)
    assert [pending["reason"] for pending in cluster["pending"]] == [reason] * 12
    assert all(change["pending"] for change in cluster["changes"] if change["key"] == "MaxTime")
    comment = diff(*sides, "--format", "markdown").stdout
    assert "**Pending jobs**" in comment
    assert f"- pending jobs of partition p11 that ask for more than 01:00:00 wait: `{reason}`" in comment
    raised = diff(*reversed(sides)).stdout
    assert "pending jobs" not in raised


@pytest.mark.slow
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
    start = lines.index("  ~ 300 × node Weight: 1 … 300 → 5001 … 5300  (c[1-300])")
    assert lines[start + 1] == "    ~ node c1 Weight: 1 → 5001"
    assert lines[start + 4] == "    … and 297 more"
    assert len(lines) < 30
    assert "297 of 300 changes are not shown here" in lines[-2]
    shown = diff(one, other, "--format", "markdown").stdout
    assert "- **`300 × node Weight`**: `1 … 300` → `5001 … 5300` on `c[1-300]`" in shown
    rest = shown[shown.index("<summary>297 more") :]
    assert "- `node c300 Weight`: `300` → `5300`" in rest
    assert len(shown) <= LONGEST_COMMENT
    (cluster,) = json.loads(diff(one, other, "--format", "json").stdout)["clusters"]
    assert [change["new"] for change in cluster["changes"]] == [str(5000 + n) for n in range(1, 301)]
    assert {len(change["manifest"]) for change in cluster["changes"]} == {1}


@pytest.mark.slow
def test_files_of_a_directory_that_go_alike_are_one_line(tmp_path: Path) -> None:
    """Without home directories on all nodes, there are no job templates."""
    home = "storage:\n  home: {type: nfs, server: nfs.example.org, path: /home, mount: MOUNT}\nuser_guide: {}\n"
    text = MANIFEST.replace("slurm-accounting]", "slurm-accounting, login]") + home
    sides = [write(tmp_path / name, ("MOUNT", f"/{name}"), text=text) for name in ("home", "users")]
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    place = "/usr/local/share/doc/cluster/jobs"
    files = [change["file"] or "" for change in cluster["changes"]]
    names = [file.rpartition("/")[2] for file in files if file.startswith(place)]
    assert len(names) > 20
    shown = diff(*sides).stdout
    line = f"  - {len(names)} removed files in {place}  (head): {', '.join(names[:3])} and {len(names) - 3} more\n"
    assert line in shown
    assert shown.count(place) == 1
    assert "changes are not shown here" not in shown
    comment = diff(*sides, "--format", "markdown").stdout
    assert f"- `{len(names)} removed files in {place}` on `head`\n" in comment


@pytest.mark.slow
def test_changes_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    """Thousands of partitions that go, with names as long as they may be."""
    document = yaml.safe_load(MANIFEST)
    names = [f"partition-with-a-long-name-{number:05d}" for number in range(2000)]
    sides = []
    for some in (names, []):
        partitions = {name: {"nodes": "c[1-4]", "max_time": "1h"} for name in some}
        document["slurm"]["partitions"] = {"batch": {"nodes": "all", "default": True}, **partitions}
        sides.append(snapshot(tmp_path / f"{len(some)}/manifest.yaml", document))
    whole = plan(*sides)
    shown = markdown([whole], [], [])
    assert len(shown) <= LONGEST_COMMENT
    left_out = int(re.findall(r"([\d,]+) of 2,000 changes with an effect", shown)[0].replace(",", ""))
    assert len(re.findall(r"^ *- removed .*long-name-\d+`", shown, re.MULTILINE)) == 2000 - left_out
    first = text(whole).splitlines()[0]
    assert first.startswith("small: cancels the jobs of 2,000 partitions (partition-with-a-long-name-00000, ")
    assert max(map(len, text(whole).splitlines())) < 300


@pytest.mark.slow
def test_markdown_of_very_many_clusters_fits() -> None:
    assert len(markdown([], [f"cluster{n}" for n in range(9999)], [])) <= LONGEST_COMMENT
