"""Which changed value of the manifest is named for which change: by reverting values, for many of them in groups."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.diff import causes
from strategies.diffs import LONGER, MANIFEST, diff, write

BASE = MANIFEST.replace(
    "node_types:\n",
    "  fabric: {type: infiniband, rate: NDR, plan: {leaf: qm9700, racks: net1}}\nnode_types:\n",
).replace(
    "slurm:\n",
    """\
racks:
  gpu1: {nodes: "c[1-4]", units: 48, power: 60kW}
  net1: {units: 48}
nccl: {env: {NCCL_IB_TIMEOUT: 20}}
slurm:
  qos: {high: {max_jobs_per_user: 4}}
  accounts:
    nlp: {users: [alice], fairshare: 2}
    vision: {users: [carol], user_limits: {carol: {max_jobs: 4}}}
""",
)
MANY = (
    ("memory: 1TiB", "memory: 2TiB"),
    ("racks: net1", "racks: gpu1"),
    ("IB_TIMEOUT: 20", "IB_TIMEOUT: 22"),
    ("max_jobs_per_user: 4", "max_jobs_per_user: 8"),
    ("fairshare: 2", "fairshare: 3"),
    ("[alice]", "[alice, bob]"),
    ("max_jobs: 4", "max_jobs: 6"),
    ("default: true", "default: true, max_time: 3-0"),
    ("max_time: 30", "max_time: 00:30:00, priority_tier: 5"),
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    directory = tmp_path_factory.mktemp("many")
    sides = write(directory / "a", text=BASE), write(directory / "b", *MANY, text=BASE)
    (only,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    return diff(*sides).stdout, dict(only)


def labels(cluster: dict[str, Any]) -> dict[str, list[str]]:
    """`nlp Fairshare` → the labels of the values behind it."""
    return {
        " ".join(filter(None, (change["name"], change["key"]))) or change["file"]: [
            value["label"] for value in change["manifest"]
        ]
        for change in cluster["changes"]
    }


@pytest.mark.slow
def test_each_of_many_values_is_behind_its_changes(many: tuple[str, dict[str, Any]]) -> None:
    behind = labels(many[1])
    assert len(many[1]["manifest"]) > 8
    assert behind["c[1-4] RealMemory"] == ["node_types.gpu.memory"]
    assert behind["batch DefMemPerGPU"] == ["node_types.gpu.memory"]  # no name says so
    assert behind["batch MaxTime"] == ["slurm.partitions.batch.max_time"]
    assert behind["debug PriorityTier"] == ["slurm.partitions.debug.priority_tier"]
    assert behind["NCCL_IB_TIMEOUT"] == ["nccl.env.NCCL_IB_TIMEOUT"]
    assert behind["high MaxJobsPerUser"] == ["slurm.qos.high.max_jobs_per_user"]
    assert behind["nlp Fairshare"] == ["slurm.accounts.nlp.fairshare"]
    assert behind["bob in nlp"] == ["slurm.accounts.nlp.users"]
    assert behind["carol in vision MaxJobs"] == ["slurm.accounts.vision.user_limits.carol.max_jobs"]


@pytest.mark.slow
def test_a_value_behind_a_derived_one_is_named_for_both(many: tuple[str, dict[str, Any]]) -> None:
    assert labels(many[1])["SchedulerParameters"] == ["slurm.partitions.batch.max_time"]


@pytest.mark.slow
def test_values_that_each_suffice_are_both_named(tmp_path: Path) -> None:
    """The window of backfill is that of the longest partition: it stays while one of the two is as long."""
    old = write(tmp_path / "a", ("default: true", "default: true, max_time: 1h"))
    longer = ("default: true", "default: true, max_time: 3-0"), ("max_time: 30", "max_time: 3-0, priority_tier: 5")
    new = write(tmp_path / "b", *longer)
    (cluster,) = json.loads(diff(old, new, "--format", "json").stdout)["clusters"]
    partitions = ("batch", "debug")
    assert labels(cluster)["SchedulerParameters"] == [f"slurm.partitions.{name}.max_time" for name in partitions]


@pytest.mark.slow
def test_values_behind_the_machine_room_are_named_there(many: tuple[str, dict[str, Any]]) -> None:
    text, cluster = many
    assert "networks.fabric.plan.racks" in [value["label"] for value in cluster["machine_room"]["manifest"]]
    room = text[text.index("machine room\n") : text.index("\nother manifest changes")]
    assert "networks.fabric.plan.racks: net1 → gpu1" in room


@pytest.mark.slow
def test_only_a_value_without_an_effect_is_called_so(many: tuple[str, dict[str, Any]]) -> None:
    text, cluster = many
    _, _, other = text.partition("\nother manifest changes (no separate effect)\n")
    (line,) = other.partition("\n\n")[0].splitlines()
    assert line.endswith("slurm.partitions.debug.max_time: 30 → 00:30:00")
    assert cluster["manifest_untraced"] == []


@pytest.mark.slow
def test_a_value_alone_is_behind_the_machine_room(tmp_path: Path) -> None:
    sides = write(tmp_path / "a", text=BASE), write(tmp_path / "b", ("racks: net1", "racks: gpu1"), text=BASE)
    text = diff(*sides).stdout
    assert "manifest changes (" not in text
    assert "networks.fabric.plan.racks: net1 → gpu1" in text


@pytest.mark.slow
def test_untried_values_are_not_called_without_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "_TRIALS", 1)
    sides = write(tmp_path / "a", text=BASE), write(tmp_path / "b", *MANY, text=BASE)
    for form in ("text", "markdown"):
        text = diff(*sides, "--format", form).stdout
        assert "no separate effect" not in text
        assert "effects were traced for" in text
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert "slurm.partitions.debug.max_time" in [value["label"] for value in cluster["manifest_untraced"]]


@pytest.fixture
def renders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each manifest that is rendered again."""
    names: list[str] = []
    tree_of = compiler.tree_of

    def counted(data: Any, name: str) -> Any:
        names.append(name)
        return tree_of(data, name)

    monkeypatch.setattr(compiler, "tree_of", counted)
    return names


@pytest.mark.slow
def test_hundreds_of_values_take_few_renders(tmp_path: Path, renders: list[str]) -> None:
    """Names explain each of them but for bf_window, which follows from the longest."""

    def text(first: int) -> str:
        lines = (f"    p{n}: {{nodes: all, max_time: {first + n}h}}\n" for n in range(100))
        return MANIFEST.replace("default: true", "default: true, max_time: 1h") + "".join(lines)

    sides = write(tmp_path / "a", text=text(1)), write(tmp_path / "b", text=text(3))
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    behind = labels(cluster)
    assert [behind[f"p{n} MaxTime"] for n in range(100)] == [[f"slurm.partitions.p{n}.max_time"] for n in range(100)]
    assert behind["SchedulerParameters"] == ["slurm.partitions.p99.max_time"]
    assert cluster["manifest_untraced"] == []
    assert len(renders) < 30


@pytest.mark.slow
def test_a_default_time_that_follows_the_limit_is_explained_by_it(tmp_path: Path, renders: list[str]) -> None:
    def text(first: int) -> str:
        lines = (f"    p{n}: {{nodes: all, max_time: {first + n}}}\n" for n in range(30))
        return MANIFEST + "".join(lines)

    sides = write(tmp_path / "a", text=text(10)), write(tmp_path / "b", text=text(15))
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    behind = labels(cluster)
    for key in ("MaxTime", "DefaultTime"):
        assert [behind[f"p{n} {key}"] for n in range(30)] == [[f"slurm.partitions.p{n}.max_time"] for n in range(30)]
    assert len(renders) < 10


@pytest.mark.slow
def test_values_that_only_fit_together_are_named_together(tmp_path: Path) -> None:
    """Either time alone keeps bf_window as it is."""
    text = MANIFEST.replace("default: true", "default: true, max_time: 1-0").replace(*LONGER).replace("60", "1-0")
    sides = write(tmp_path / "a", text=text), write(tmp_path / "b", ("max_time: 1-0", "max_time: 4-0"), text=text)
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    both = ["slurm.partitions.batch.max_time", "slurm.partitions.debug.max_time"]
    assert labels(cluster)["SchedulerParameters"] == both


@pytest.mark.slow
def test_names_of_nodes_that_join_are_named_although_they_only_fit_together(tmp_path: Path) -> None:
    more = ('"c[1-4]"', '"c[1-5]"'), ('"10.0.0.[1-4]"', '"10.0.0.[1-5]"'), LONGER
    sides = write(tmp_path / "a"), write(tmp_path / "b", *more)
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert cluster["hosts"]["added"] == ["c5"]
    assert labels(cluster)["c5"] == ["nodes[c[1-5]].name"]


@pytest.mark.slow
def test_the_verdict_also_has_accounts_and_manual_steps(many: tuple[str, dict[str, Any]]) -> None:
    first = many[0].splitlines()[0]
    assert re.search(r"; (changes|adds) .*\b(qos|account|user) .*; ", first)
    assert first.endswith("; steps 1, 2 are manual")  # memory that nodes get first, and cables
    assert "  + user bob of account nlp  (head)\n" in many[0]
