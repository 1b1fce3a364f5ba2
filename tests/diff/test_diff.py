"""`clustergen diff`: the changes and reasons that it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from clustergen.catalogue.effects import step_kinds
from clustergen.diff.step import REMOVE, UPGRADE
from strategies.diffs import LONGER, MANIFEST, diff, rendered, write


@pytest.mark.slow
def test_no_change(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a"), write(tmp_path / "b", ("max_time: 30", "max_time: 30min"))
    done = diff(one, other)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("small: nothing changes on the nodes\n")
    assert "slurm.partitions.debug.max_time: 30 → 30min" in done.stdout
    assert diff(one, one).stdout == f"small: no change\n{one} → {one}, Slurm 24.11\n"


@pytest.mark.parametrize(("sides", "line"), [((0, 1), "this cluster is removed"), ((1, 0), "a new cluster")])
def test_a_cluster_of_one_side_alone(sides: tuple[int, int], line: str, tmp_path: Path) -> None:
    for place in ("two/a", "two/b", "one/a"):
        write(tmp_path / place)
    old, new = (str(tmp_path / ("two", "one")[side]) for side in sides)
    done = diff(old, new)
    assert (done.exit_code, done.stdout) == (1, f"b: {line}\n")


@pytest.mark.slow
def test_the_verdict_is_the_first_line_and_the_change_has_its_place(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a"), write(tmp_path / "b", LONGER)
    done = diff(one, other)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "small: scontrol reconfigure; no job is lost"
    assert f"      {other}:15:40 slurm.partitions.debug.max_time: 30 → 60" in lines
    assert "  ~ partition debug MaxTime: 00:30:00 → 01:00:00  (c[1-2])" in lines
    assert lines[-3:] == ["  2. scontrol reconfigure, once: head", "", "Plan: 1 file to change."]


@pytest.mark.slow
def test_an_invalid_manifest(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a"), write(tmp_path / "b", ("type: gpu,", "type: gpo,"))
    for sides in ((one, other), (other, one)):
        done = diff(*sides)
        assert done.exit_code == 2
        assert "error[node-type-unknown]" in done.stderr
        assert done.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("of_trees", [False, True])
def test_another_operating_system_is_another_installation(tmp_path: Path, of_trees: bool) -> None:
    """Hardly a file shows it, and no playbook does it."""
    one, other = write(tmp_path / "a"), write(tmp_path / "b", ("memory: 1TiB", "memory: 1TiB, os: ubuntu-24.04"))
    done = diff(*map(rendered, (one, other))) if of_trees else diff(one, other)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "small: 4 nodes (c[1-4]) to reinstall; step 1 is manual"
    assert "  ~ operating system: debian-13 → ubuntu-24.04  (c[1-4])" in lines
    assert f"      {other}:6:43 node_types.gpu.os: + ubuntu-24.04" in lines
    assert any("drain, and install ubuntu-24.04" in line and line.endswith("c[1-4] (manual)") for line in lines)
    whole = diff(one, write(tmp_path / "c", ("debian-13", "ubuntu-24.04"))).stdout
    assert "back up StateSaveLocation, and restore it on the new system: head (manual)" in whole


RENAMED = {
    "nodes": (("c[1-4]", "x[1-4]"), ("c[1-2]", "x[1-2]")),
    "partition": (("debug:", "test:"),),
    "type": (("gpu:", "h100:"), ("type: gpu", "type: h100")),
    "cluster": (("name: small", "name: big"),),
    "controller": (("name: head", "name: ctl"),),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "verdict"),
    [
        (
            "nodes",
            "small: drains 4 nodes (c[1-4]); renames 4 nodes (c[1-4]) to x[1-4]; no running job is lost, but pending "
            "jobs may wait or fail; step 2 is manual",
        ),
        ("partition", "small: cancels the jobs of partition debug"),
        ("type", "small: files only; no restart required"),
        ("cluster", "big: not while jobs run: ClusterName: slurmctld rejects state that was saved under another name"),
        (
            "controller",
            "small: not while jobs run: SlurmctldHost: the controller gets another name and keeps its state: slurmctld "
            "stops; running steps are notified",
        ),
    ],
)
def test_another_name_is_what_it_is_to_slurm(tmp_path: Path, what: str, verdict: str) -> None:
    done = diff(write(tmp_path / "a"), write(tmp_path / "b", *RENAMED[what]))
    assert done.stdout.splitlines()[0] == verdict


@pytest.mark.slow
@pytest.mark.parametrize("of_trees", [False, True])
def test_a_machine_with_another_name_keeps_what_it_has(tmp_path: Path, of_trees: bool) -> None:
    """Nothing is copied onto itself, and its host name is changed by hand; at another address it is another machine."""
    one, other, moved = (
        write(tmp_path / name, *edits)
        for name, edits in (
            ("a", ()),
            ("b", RENAMED["controller"]),
            ("c", (*RENAMED["controller"], ("10.0.255.1,", "10.0.255.9,"))),
        )
    )
    texts = []
    for new in (other, moved):
        sides = map(rendered, (one, new)) if of_trees else (one, new)
        (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
        texts.append([step["text"] for step in cluster["steps"] if step["by"] == "manual"])
    assert not [text for text in texts[0] if "copy StateSaveLocation" in text or "copy its database" in text]
    assert [text.partition(";")[0] for text in texts[0] if "hostnamectl" in text] == [
        "rename the machines with hostnamectl set-hostname: head → ctl"
    ]
    assert not [text for text in texts[1] if "hostnamectl" in text]
    assert any("copy StateSaveLocation from head" in text for text in texts[1])


@pytest.mark.slow
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
    assert [step["hosts"] for step in cluster["steps"] if "remove" in (step["by"] or "")] == ["c4"]


@pytest.mark.slow
def test_the_steps_are_plays_of_site_yml_in_its_order() -> None:
    site = Path("playbooks/ansible_collections/clustergen/cluster/playbooks/site.yml")
    plays = [play["name"] for play in yaml.safe_load(site.read_text(encoding="utf-8")) if "name" in play]
    of_steps = list(dict.fromkeys(play for play, _ in step_kinds()))
    assert [play for play in plays if play in of_steps] == of_steps
    for playbook in (REMOVE, UPGRADE):
        assert site.with_name(playbook.rpartition(".")[2] + ".yml").is_file()


@pytest.mark.slow
def test_a_changed_line_of_slurm_conf_is_put_on_all_nodes(tmp_path: Path) -> None:
    new = write(tmp_path / "new", LONGER)
    data = json.loads(diff(write(tmp_path / "old"), new, "--format", "json").stdout)
    (put,) = [step for step in data["clusters"][0]["steps"] if step["text"].startswith("install the changed files")]
    assert put["hosts"] is None


@pytest.mark.slow
def test_an_upgrade_without_accounting_speaks_of_no_database(tmp_path: Path) -> None:
    text = MANIFEST.replace(", slurm-accounting", "")
    new = write(tmp_path / "new", ('"24.11"', '"26.05"'), text=text)
    output = diff(write(tmp_path / "old", text=text), new).stdout
    assert "restarts slurmctld and slurmd; no job" in output
    assert "back up StateSaveLocation" in output


@pytest.mark.slow
def test_another_name_of_the_cluster_says_what_keeps_slurmctld_from_starting(tmp_path: Path) -> None:
    new = write(tmp_path / "new", ("partitions:", "cluster_name: other\n  partitions:"))
    assert "delete the file clustername in StateSaveLocation" in diff(write(tmp_path / "old"), new).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edits", "labels"),
    [
        # the entry that shares its hosts
        ((('"c[1-4]", type: gpu, address: "10.0.0.[1-4]"', '"c[2-4]", type: gpu, address: "10.0.0.[2-4]"'),
          ('"c[1-2]"', "c2")),
         {"nodes[c[2-4]].name", "nodes[c[2-4]].address", "slurm.partitions.debug.nodes"}),
        # a new name and nothing else of it: still the same entry
        ((('"c[1-4]"', '"x[1-4]"'), ('"c[1-2]"', '"x[1-2]"')), {"nodes[x[1-4]].name", "slurm.partitions.debug.nodes"}),
        # one more beside it
        ((("slurm:\n", "  - {name: c9, type: gpu, address: 10.0.0.9}\nslurm:\n"),), {"nodes[c9]"}),
    ],
)  # fmt: skip
def test_entries_of_nodes_find_their_like(tmp_path: Path, edits: tuple[tuple[str, str], ...], labels: set[str]) -> None:
    sides = [write(tmp_path / "a"), write(tmp_path / "b", *edits)]
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert {value["label"] for value in cluster["manifest"]} == labels


@pytest.mark.slow
def test_entries_that_are_alike_are_paired_in_their_order(tmp_path: Path) -> None:
    """Names exchanged: each keeps its name, wherever it stands."""
    pair = "  - {name: a1, type: gpu, address: 10.0.1.1}\n  - {name: a2, type: gpu, address: 10.0.1.2}\nslurm:\n"
    other = "  - {name: a2, type: gpu, address: 10.0.1.2}\n  - {name: a1, type: gpu, address: 10.0.1.1}\nslurm:\n"
    one, two = (write(tmp_path / name, ("slurm:\n", text)) for name, text in (("a", pair), ("b", other)))
    (cluster,) = json.loads(diff(one, two, "--format", "json").stdout)["clusters"]
    assert cluster["manifest"] == []
    assert [change["key"] for change in cluster["changes"] if change["kind"] == "node"] == ["order"]
