"""Layers: a file that several clusters extend, node types that are like another one, nodes that differ from theirs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from clustergen.cli import group
from clustergen.cluster.facility import Facility
from clustergen.compile import validate
from clustergen.diagnostics import Severity
from clustergen.features.provisioning.resolved import Provisioning
from clustergen.manifest.layers import merged
from clustergen.manifest.source import load
from clustergen.manifest.yaml_load import parse
from strategies.findings import TINY, judged

SITE = """\
os: debian-12
networks:
  management: {cidr: 10.0.0.0/24}
node_types:
  h100: {system: dgx-h100}
slurm:
  version: "24.11"
  partitions:
    batch: {nodes: all, default: true, max_time: 2-0}
    long: {nodes: all, max_time: 7-0}
  accounts: {research: {users: [alice]}}
"""
CLUSTER = """\
extends: ../site.yaml
name: a
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller, slurm-accounting]}
  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A repository with a shared file and two clusters."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "site.yaml").write_text(SITE, encoding="utf-8")
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.yaml").write_text(CLUSTER.replace("name: a", f"name: {name}"), encoding="utf-8")
    return tmp_path


def _data(text: str) -> Any:
    root, problems = parse(text)
    assert root is not None
    assert not problems
    return root


@pytest.mark.parametrize(
    ("upper", "lower", "result"),
    [
        ("{a: {x: 1}}", "{a: {x: 2, y: 3}, b: 4}", {"a": {"x": 1, "y": 3}, "b": 4}),
        ("{a: null}", "{a: {x: 2}, b: 4}", {"b": 4}),
        ("{a: null}", "{b: 4}", {"a": None, "b": 4}),
        ("{a: [1]}", "{a: [2, 3]}", {"a": [1]}),
        ("{a: 5}", "{a: {x: 2}}", {"a": 5}),
        ("{a: {}}", "{a: {x: 2}}", {"a": {"x": 2}}),
        (
            "{n: [{name: b, x: 2}, {name: c}]}",
            "{n: [{name: a}, {name: b, x: 1, y: 1}]}",
            {"n": [{"name": "a"}, {"name": "b", "x": 2, "y": 1}, {"name": "c"}]},
        ),
        ("{n: [{x: 2}]}", "{n: [{name: a}]}", {"n": [{"x": 2}]}),
        ("{n: [{name: a}, {name: a}]}", "{n: [{name: a, x: 1}]}", {"n": [{"name": "a"}, {"name": "a"}]}),
    ],
)
def test_merge(upper: str, lower: str, result: Any) -> None:
    assert merged(_data(upper), _data(lower)).value == result


_VALUES = st.recursive(
    st.integers(0, 3) | st.none(),
    lambda below: st.dictionaries(st.sampled_from("abc"), below, max_size=3),
    max_leaves=8,
)
_MAPPINGS = st.dictionaries(st.sampled_from("abc"), _VALUES, max_size=3)


@given(upper=_MAPPINGS, lower=_MAPPINGS)
def test_merge_of_any_mappings(upper: Any, lower: Any) -> None:
    """Against a merge of plain data, and every child is that of its value."""

    def plain(above: Any, below: Any) -> Any:
        if not (isinstance(above, dict) and isinstance(below, dict)):
            return above
        result = {key: plain(above[key], value) if key in above else value for key, value in below.items()}
        result = {key: value for key, value in result.items() if not (key in above and above[key] is None)}
        return result | {key: value for key, value in above.items() if key not in below}

    node = merged(_data(yaml.safe_dump(upper)), _data(yaml.safe_dump(lower)))
    assert node.value == plain(upper, lower)
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each.children, dict):
            assert {key: child.value for key, child in each.children.items()} == each.value
            assert each.keys.keys() == each.value.keys()
            pending += each.children.values()


def test_a_cluster_has_what_it_extends(site: Path) -> None:
    compiled = validate(site / "a" / "manifest.yaml")
    assert compiled.ok
    assert compiled.cluster is not None
    assert (compiled.cluster.host_count, compiled.cluster.gpu_count) == (5, 32)
    source = load(site / "a" / "manifest.yaml")
    assert source.place(("slurm", "partitions", "long", "max_time"))[:3] == (str(site / "site.yaml"), 10, 34)
    assert source.place(("name",)).file == str(site / "a" / "manifest.yaml")
    assert source.lines_of(("slurm", "version")) == range(7, 8)
    assert source.texts[str(site / "site.yaml")] == SITE


def test_a_change_of_a_layer_has_another_meaning_and_hash(site: Path) -> None:
    old = load(site / "a" / "manifest.yaml")
    (site / "site.yaml").write_text(SITE.replace("7-0", "8-0"), encoding="utf-8")
    new = load(site / "a" / "manifest.yaml")
    assert old.meaning != new.meaning
    assert old.sha256 != new.sha256


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("max_time: 7-0", "max_time: 7-x", ("site.yaml", 10, "unit-wrong")),
        ("long: {nodes: all", "long: {nodes: nodes9", ("site.yaml", 10, "node-unknown")),
        ("users: [alice]", "usres: [alice]", ("site.yaml", 11, "key-unknown")),
        ("{system: dgx-h100}", "{system: dgx-h10}", ("site.yaml", 5, "system-unknown")),
        ("slurm:", "slurm: {a: ", ("site.yaml", 6, "yaml-syntax")),
        ("os: debian-12", "os: debian-12\nos: debian-13", ("site.yaml", 2, "yaml-duplicate-key")),
        ("os: debian-12", "schema_version: 2\nos: debian-12", ("site.yaml", 1, "value-not-allowed")),
        ("os: debian-12", "os: debian-12\nextends: site.yaml", ("site.yaml", 2, "extends-invalid")),
        ("os: debian-12", "os: debian-12\nextends: a/manifest.yaml", ("site.yaml", 2, "extends-invalid")),
    ],
)
def test_a_mistake_in_a_layer_is_reported_at_its_line(
    site: Path, old: str, new: str, place: tuple[str, int, str]
) -> None:
    (site / "site.yaml").write_text(SITE.replace(old, new, 1), encoding="utf-8")
    result = CliRunner().invoke(group, ["validate", str(site)])  # once, however many clusters extend it
    file, line, code = place
    assert result.output.count(f"{site / file}:{line}:") == 1, result.output
    assert f"{code}]" in result.output
    assert "key-missing" not in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("../../elsewhere.yaml", "is outside of"),
        ("link.yaml", "is outside of"),
        ("/etc/hostname", "is not a relative path"),
        ("../sitee.yaml", "did you mean 'site.yaml'?"),
        ("..", "it is a directory"),
        ("manifest.yaml", "a file extends itself: manifest.yaml → manifest.yaml"),
        ("empty.yaml", "is empty"),
        ("list.yaml", "is not a mapping of sections"),
        ("latin.yaml", "is not UTF-8"),
        ("[site.yaml]", "extends is not the path of a file"),
        ('"a\\0b"', "cannot read 'a"),
        ("loop.yaml", "cannot read '"),
        ("''", "extends is not the path of a file"),
    ],
)
def test_a_file_that_cannot_be_extended(site: Path, link: str, message: str) -> None:
    directory = site / "a"
    (directory / "link.yaml").symlink_to("/etc/hostname")
    (directory / "loop.yaml").symlink_to("loop.yaml")
    (directory / "empty.yaml").write_text("# nothing\n", encoding="utf-8")
    (directory / "list.yaml").write_text("- 1\n", encoding="utf-8")
    (directory / "latin.yaml").write_bytes("description: Köln\n".encode("latin-1"))
    (directory / "manifest.yaml").write_text(CLUSTER.replace("../site.yaml", link), encoding="utf-8")
    (diagnostic,) = judged(directory / "manifest.yaml")
    assert (diagnostic.code, diagnostic.place and diagnostic.place.line) == ("extends-invalid", 1)
    assert message in f"{diagnostic.message} {diagnostic.hint}"


def test_secrets_and_suppressions_of_a_layer(site: Path) -> None:
    text = SITE.replace("max_time: 7-0}", "max_time: 1-0} # clustergen: ignore[key-unknown] a reason")
    (site / "site.yaml").write_text(f"{text}password: hunter2hunter2\n", encoding="utf-8")
    output = CliRunner().invoke(group, ["validate", str(site / "a")]).output
    assert "hunter2" not in output
    assert f"{site / 'site.yaml'}:12:" in output
    (site / "site.yaml").write_text(text, encoding="utf-8")
    output = CliRunner().invoke(group, ["validate", str(site / "a")]).output
    assert f"{site / 'site.yaml'}:10:" in output
    assert "suppression-unused" in output


def test_a_diff_reads_the_layers_of_the_revision(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / ".git").rmdir()
    monkeypatch.chdir(site)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=n", "-c", "user.email=n@e", "commit", "-qm", "c"]):
        subprocess.run(["git", *words], check=True, timeout=300)
    (site / "site.yaml").write_text(SITE.replace("7-0", "8-0"), encoding="utf-8")
    for old, new in (("HEAD:a", "a"), ("HEAD:a/manifest.yaml", "a/manifest.yaml"), ("HEAD:.", ".")):
        result = CliRunner().invoke(group, ["diff", old, new])
        assert result.exit_code == 1, result.output
        assert "site.yaml:10:34 slurm.partitions.long.max_time: 7-0 → 8-0" in result.output


@pytest.mark.parametrize(
    "line", ["\ufeffextends: ../site.yaml", '"extends": "../s\\u0069te.yaml"', "extends: >-\n  ../site.yaml"]
)
def test_a_diff_finds_a_layer_however_its_path_is_written(
    site: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (site / ".git").rmdir()
    monkeypatch.chdir(site)
    (site / "a/manifest.yaml").write_text(CLUSTER.replace("extends: ../site.yaml", line), encoding="utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=n", "-c", "user.email=n@e", "commit", "-qm", "c"]):
        subprocess.run(["git", *words], check=True, timeout=300)
    result = CliRunner().invoke(group, ["diff", "HEAD:a/manifest.yaml", "a/manifest.yaml"])
    assert (result.exit_code, "no change" in result.output) == (0, True), result.output


def test_a_host_of_two_layers_names_the_file_of_the_first(site: Path) -> None:
    row = "nodes: [{name: 'gpu[1-2]', type: h100, address: '10.0.0.[15-16]'}]\n"
    (site / "site.yaml").write_text(SITE + row, encoding="utf-8")
    output = CliRunner().invoke(group, ["validate", str(site / "a")]).output
    assert f"already defined by the entry 'gpu[1-2]' ({site / 'site.yaml'}:12)" in output


def test_a_layer_lies_beside_the_file_that_a_link_points_to(site: Path) -> None:
    (site / "c").mkdir()
    (site / "c/manifest.yaml").symlink_to("../a/b.yaml")
    (site / "a/b.yaml").write_text(CLUSTER.replace("../site.yaml", "here.yaml"), encoding="utf-8")
    (site / "a/here.yaml").write_text(SITE.replace("7-0", "7-x"), encoding="utf-8")
    assert f"{site / 'a/here.yaml'}:10:34: " in CliRunner().invoke(group, ["validate", str(site / "c")]).output


LIKE = TINY.replace("nodes:\n", "  sharded: {like: h100, gpus: {shards: 2}}\nnodes:\n", 1)


def test_a_node_type_is_like_another(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(LIKE.replace('"gpu[1-4]", type: h100', '"gpu[1-4]", type: sharded'), encoding="utf-8")
    compiled = validate(path)
    assert compiled.cluster is not None, compiled.diagnostics
    (node_type,) = (each for each in compiled.cluster.node_types if each.name == "sharded")
    assert node_type.gpus is not None
    assert (node_type.system, node_type.gpus.count, node_type.gpus.shards_per_gpu) == ("dgx-h100", 8, 2)


@pytest.mark.parametrize("node_type", ["h100", "sharded"])
@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("h10", "did you mean 'h100'?"),
        ("sharded", "is like itself"),
        ("other", "write like: h100"),
    ],
)
def test_a_node_type_that_is_like_none(tmp_path: Path, link: str, message: str, node_type: str) -> None:
    path = tmp_path / "manifest.yaml"
    text = LIKE.replace("like: h100", f"like: {link}").replace("\nnodes:", "\n  other: {like: h100}\nnodes:")
    text = text.replace("type: h100,", f"type: {node_type},")
    path.write_text(text, encoding="utf-8")
    (diagnostic,) = (item for item in judged(path) if item.code == "like-invalid")
    assert message in f"{diagnostic.message} {diagnostic.hint}"
    assert not any(item.code == "hardware-incomplete" for item in validate(path).diagnostics)


PLAN = "gpu: {mig_plans: {slices: {profiles: {3g.40gb: 2}}, halves: {profiles: {7g.80gb: 1}}}}\n"
OLD = '  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}\n'


def _nodes(*fields: str) -> str:
    """A cluster whose GPU nodes have these fields, in order."""
    rows = (
        f"  - {{name: gpu{index}, type: h100, address: 10.0.0.1{index}{f', {row}' if row else ''}}}\n"
        for index, row in enumerate(fields, 1)
    )
    return TINY.replace(OLD, "".join(rows)).replace("nodes:\n", PLAN + "nodes:\n", 1)


def test_fields_of_nodes_make_node_types_that_say_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    text = _nodes("", "gpus: {mig: slices}", "gpus: {mig: halves}", "gpus: {mig: slices}, weight: 7", "memory: 1TiB")
    path.write_text(text, encoding="utf-8")
    compiled = validate(path)
    assert compiled.ok, compiled.diagnostics
    assert compiled.cluster is not None
    types = {group.entry: group.type for group in compiled.cluster.groups}
    names = {host: node_type.name for host, node_type in types.items() if host != "head"}
    assert names == {
        "gpu1": "h100", "gpu2": "h100-mig-slices", "gpu3": "h100-mig-halves", "gpu4": "h100-mig-slices",
        "gpu5": "h100-memory-1tib",
    }  # fmt: skip
    assert {node_type.system for node_type in types.values()} == {None, "dgx-h100"}
    assert types["gpu5"].memory_mib == 1 << 20
    assert [group.weight for group in compiled.cluster.groups] == [None] * 4 + [7, None]


def test_names_stay_when_other_entries_lose_their_fields(tmp_path: Path) -> None:
    path, names = tmp_path / "manifest.yaml", []
    for first in ("gpus: {mig: slices}", ""):
        path.write_text(_nodes(first, "gpus: {mig: halves}", "memory: 1TiB", ""), encoding="utf-8")
        cluster = validate(path).cluster
        assert cluster is not None
        names.append([group.type.name for group in cluster.groups][2:])
    assert names[0] == names[1]


@pytest.mark.parametrize("base", ["h100", "h" * 63])
def test_each_entry_keeps_its_fields_where_names_begin_alike(tmp_path: Path, base: str) -> None:
    """However many entries override the same field, and however long the name of their type is."""
    path, weights = tmp_path / "manifest.yaml", range(1, 13)
    rows = (f"{{name: 'gpu[{w}]', type: {base}, address: 10.0.0.{w + 10}, memory: {w}TiB}}" for w in weights)
    text = TINY.replace(OLD, "".join(f"  - {row}\n" for row in rows)).replace("  h100: ", f"  {base}: ")
    path.write_text(text, encoding="utf-8")
    cluster = validate(path).cluster
    assert cluster is not None
    sizes = {host: group.type.memory_mib >> 20 for group in cluster.groups for host in group.hosts if host != "head"}
    assert sizes == {f"gpu{w}": w for w in weights}
    assert all(len(node_type.name) < 64 for node_type in cluster.node_types)


def test_a_hint_names_no_node_type_that_no_file_has(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    text = _nodes(*["memory: 1TiB"] * 4).replace("/24}", "/24}\n  fabric: {type: infiniband, rate: XDR}")
    path.write_text(text, encoding="utf-8")
    (slow,) = (item for item in judged(path) if item.code == "nic-too-slow")
    assert slow.hint == "list your ports under nics if they are faster"


def test_nodes_with_fields_of_their_own_are_where_their_type_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    more = """
provisioning: {engine: warewulf, images: {h100: trixie, h100-memory-1tib: bookworm}}
facility:
  deliveries: {first: {types: [h100], bought: 2026-03-01}, more: {types: [h100-memory-1tib], bought: 2027-03-01}}
storage:
  fast: {type: local, device: LABEL=a, mount: /fast, node_types: [h100, h100-mig-slices]}
  scratch: {type: local, device: LABEL=scratch, mount: /scratch, node_types: [h100]}
"""
    path.write_text(_nodes("", "gpus: {mig: slices}", "memory: 1TiB", "") + more, encoding="utf-8")
    compiled = validate(path)
    assert not {item.code for item in compiled.diagnostics} & {"delivery-twice", "delivery-device-unknown"}
    assert compiled.cluster is not None
    images = {"h100": "trixie", "h100-memory-1tib": "bookworm", "h100-mig-slices": "trixie"}
    assert dict(compiled.cluster.of(Provisioning).images) == images
    types = {name: delivery.types for name, delivery in compiled.cluster.of(Facility).deliveries.items()}
    assert types == {"first": ("h100", "h100-mig-slices"), "more": ("h100-memory-1tib",)}
    for entry in compiled.cluster.storage.values():
        assert entry.node_types == ("h100", "h100-mig-slices", "h100-memory-1tib")


@pytest.mark.parametrize(
    ("edit", "mistakes"),
    [
        (("mig: slices", "mig: slicse"), [("mig-plan-unknown", "slicse")]),
        (("mig: slices", "mgi: slices"), [("key-unknown", "mgi")]),
        (("gpus: {mig: slices}", "gpsu: {mig: slices}"), [("key-unknown", "gpsu")]),
        (("gpus: {mig: slices}", "system: dgx-a100"), [("node-override-invalid", "system")]),
        (("gpus: {mig: slices}", "like: h100"), [("node-override-invalid", "like")]),
        (("[slurm-controller]", "[slurm-controller], memory: 2GiB"), [("node-override-invalid", "memory")]),
        (("type: h100, address: 10.0.0.12", "type: h10, address: 10.0.0.12"), [("node-type-unknown", "h10")]),
        (("system: dgx-h100", "system: dgx-h10"), [("system-unknown", "dgx-h10")]),
        (("system: dgx-h100", "system: dgx-h100, weigt: 3"), [("key-unknown", "weigt")]),
        (("gpus: {mig: slices}", "real_memory: 2TB"), [("type-wrong", "2TB")]),
        (("system: dgx-h100", "system: dgx-h100, tuning: {thp: never}"), [("key-unknown", "thp")]),
        (("system: dgx-h100", "system: dgx-h100, tuning: {governer: powersave}"), [("key-unknown", "governer")]),
        (("{system: dgx-h100}", "{like: a100}"), [("like-invalid", "a100")]),
        (("{system: dgx-h100}", "{memory: 1TiB}"), [("hardware-incomplete", "h100")]),
    ],
)
def test_a_mistake_is_reported_once_where_it_is_written(
    tmp_path: Path, edit: tuple[str, str], mistakes: list[tuple[str, str]]
) -> None:
    path, text = tmp_path / "manifest.yaml", _nodes("", "gpus: {mig: slices}", "")
    assert edit[0] in text
    path.write_text(text.replace(*edit), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    errors = [item for item in judged(path) if item.severity is Severity.ERROR]
    places = [(item.code, item.place) for item in errors]
    assert [(code, lines[at.line - 1][at.column - 1 : at.end_column - 1]) for code, at in places if at] == mistakes


def test_a_derived_type_is_not_in_messages(tmp_path: Path) -> None:
    """Its name is the generator's: `node_types.h100-real_memory` is not in the manifest."""
    path = tmp_path / "manifest.yaml"
    path.write_text(_nodes("", "real_memory: 2TB", ""), encoding="utf-8")
    (wrong,) = (item for item in validate(path).diagnostics if item.code == "type-wrong")
    assert wrong.message == "nodes 'gpu2'.real_memory must be a whole number, not the text '2TB'"


@pytest.mark.slow
def test_nodes_that_change_their_type_are_the_only_ones_that_drain(tmp_path: Path) -> None:
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(_nodes("", "", ""), encoding="utf-8")
    text = _nodes("", "", "gpus: {mig: slices}")
    after.write_text(text, encoding="utf-8")
    output = CliRunner().invoke(group, ["diff", str(before), str(after)]).stdout
    assert "drains 1 node (gpu3)" in output
    lines = text.splitlines()
    line = next(index for index, row in enumerate(lines) if "gpus:" in row)
    assert f"after.yaml:{line + 1}:{lines[line].index('gpus:') + 1} nodes[gpu3].gpus: + {{mig: slices}}" in output
