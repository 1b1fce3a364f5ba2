"""`slurm: {defaults: slurm}`: files contain only the manifest's values; and the options that import needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.compile import render, validate
from clustergen.diagnostics import Severity
from clustergen.render.tree import Tree
from clustergen.slurmconf import parse

BASE = """\
name: c
os: debian-12
networks: {management: {}}
node_types:
  a: {real_memory: 64000, cpu: {sockets: 2, cores_per_socket: 8}, gpus: {model: a100-sxm-80, count: 2}}
nodes:
  - {name: head, type: service, roles: [slurm-controller]}
  - {name: "n[1-2]", type: a}
host: {hosts_file: false, ssh_adopt: false}
health: {enabled: false}
slurm:
  version: "24.11"
  defaults: slurm
  scripts: {prolog: false, epilog: false, task_prolog: false}
  partitions: {p: {nodes: all}}
"""


def tree(text: str, directory: Path) -> Tree:
    path = directory / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    compiled = validate(path)
    assert compiled.ok, compiled.diagnostics
    made, _ = render(compiled, path)
    assert made is not None
    return made


def lines(made: Tree, name: str) -> list[dict[str, str]]:
    texts = [file.content.decode() for file in made if file.target == f"/etc/slurm/{name}"]
    return [{pair.key: pair.value for pair in line.pairs} for text in texts for line in parse(text, name)]


def codes(text: str, directory: Path, severity: Severity) -> list[str]:
    path = directory / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    return [diagnostic.code for diagnostic in validate(path).diagnostics if diagnostic.severity is severity]


def test_nothing_is_added(tmp_path: Path) -> None:
    made = tree(BASE, tmp_path)
    assert lines(made, "slurm.conf") == [
        {"ClusterName": "c"},
        {"SlurmctldHost": "head"},
        {"SlurmUser": "slurm"},
        {"GresTypes": "gpu"},
        {
            "NodeName": "n[1-2]",
            "Sockets": "2",
            "CoresPerSocket": "8",
            "ThreadsPerCore": "1",
            "RealMemory": "64000",
            "Gres": "gpu:a100:2",
            "State": "UNKNOWN",
        },
        {"PartitionName": "p", "Nodes": "ALL", "State": "UP"},
    ]
    assert lines(made, "cgroup.conf") == []
    assert lines(made, "gres.conf") == [
        {"NodeName": "n[1-2]", "Name": "gpu", "Type": "a100", "File": "/dev/nvidia[0-1]"}
    ]


def test_the_readme_has_gpus_that_only_a_gres_names(tmp_path: Path) -> None:
    gres = 'slurm_options: {Gres: "gpu:titan:2(S:0-1),gpu:1,mps:24"}'
    text = BASE.replace("gpus: {model: a100-sxm-80, count: 2}", gres)
    readme = next(file.content.decode() for file in tree(text, tmp_path) if file.path == "README.md")
    assert "| GPUs | 6 |" in readme
    assert "| 2 × titan, 1 × gpu |" in readme


def test_the_readme_states_slurms_defaults(tmp_path: Path) -> None:
    with_slurmdbd = BASE.replace("all}}", "all}, q: {nodes: all, max_time: 2-0}}") + "  accounting: {slurmdbd: db}\n"
    texts = {
        name: next(file.content.decode() for file in tree(text, tmp_path) if file.path == "README.md")
        for name, text in {
            "slurm": with_slurmdbd,
            "enforced": with_slurmdbd.replace("slurmdbd: db", "slurmdbd: db, enforce: [limits]"),
            "weights": with_slurmdbd.replace("2-0", "2-0, billing: {cpu: 2, mem: 1}"),
            "clustergen": with_slurmdbd.replace("  defaults: slurm\n", ""),
        }.items()
    }
    rows = {name: [line for line in text.splitlines() if line.startswith("| `")] for name, text in texts.items()}
    assert [line for line in rows["slurm"] if line.startswith(("| `p`", "| `q`"))] == [
        "| `p` | `all` | 2 | unlimited | unlimited |",
        "| `q` | `all` | 2 | 2-00:00:00 | 2-00:00:00 |",
    ]
    assert "| `p` | `all` | 2 | unlimited | 01:00:00 |" in rows["clustergen"]
    users = "accounts and users of Slurm"
    assert {name for name, text in texts.items() if users in text} == {"enforced", "clustergen"}
    assert {name for name, text in texts.items() if "## Prices" in text} == {"weights", "clustergen"}
    assert "the sum of its resources" in texts["weights"]
    assert "| `q` | a | 64032 |" in texts["weights"]  # 16 CPUs, 64000 MiB
    assert "the largest share" in texts["clustergen"]


def test_a_field_that_is_given_is_written_even_with_the_value_of_its_default(tmp_path: Path) -> None:
    made = tree(BASE + "  priority: {weights: {age: 1000}}\n  scheduler: {parameters: [bf_continue]}\n", tmp_path)
    values = {key: value for line in lines(made, "slurm.conf") for key, value in line.items()}
    assert values["PriorityWeightAge"] == "1000"
    assert values["SchedulerParameters"] == "bf_continue"
    assert "PriorityWeightFairshare" not in values


@pytest.mark.slow
def test_an_option_may_say_what_a_field_has_no_words_for(tmp_path: Path) -> None:
    more = "  options: {PreemptMode: 'SUSPEND,GANG', GresTypes: 'gpu,mps'}\n"
    made = tree(BASE + more, tmp_path)
    assert {"PreemptMode": "SUSPEND,GANG"} in lines(made, "slurm.conf")
    recommended = (BASE + more).replace("  defaults: slurm\n", "")
    assert codes(recommended, tmp_path, Severity.ERROR).count("slurm-key-managed") == 2
    assert "slurm-key-managed" in codes(BASE + "  options: {ClusterName: d}\n", tmp_path, Severity.ERROR)


def test_lines_as_they_are(tmp_path: Path) -> None:
    more = "  lines: [{DownNodes: n1, State: DOWN, Reason: no power}, {Prolog: /a}, {Prolog: /b}]\n"
    made = tree(BASE + more, tmp_path)
    texts = lines(made, "slurm.conf")
    assert {"DownNodes": "n1", "State": "DOWN", "Reason": "no power"} in texts
    assert [line for line in texts if "Prolog" in line] == [{"Prolog": "/a"}, {"Prolog": "/b"}]
    assert codes(BASE + "  lines: [{DownNodes: n1, Colour: red}]\n", tmp_path, Severity.ERROR) == ["slurm-key-unknown"]


@pytest.mark.slow
def test_gres_lines_in_place_of_ours_or_no_file_at_all(tmp_path: Path) -> None:
    made = tree(BASE + "  gres_lines: [{Name: gpu, File: '/dev/nvidia[0-1]'}]\n", tmp_path)
    assert lines(made, "gres.conf") == [{"Name": "gpu", "File": "/dev/nvidia[0-1]"}]
    assert lines(tree(BASE + "  gres_lines: []\n", tmp_path), "gres.conf") == []
    assert codes(BASE + "  gres_lines: [{Name: gpu, Size: 2}]\n", tmp_path, Severity.ERROR) == ["slurm-key-unknown"]


def test_topology_lines(tmp_path: Path) -> None:
    made = tree(
        BASE + "  topology: {plugin: tree, lines: [{SwitchName: s, Nodes: 'n[1-2]', LinkSpeed: 9}]}\n", tmp_path
    )
    assert lines(made, "topology.conf") == [{"SwitchName": "s", "Nodes": "n[1-2]", "LinkSpeed": "9"}]
    assert {"TopologyPlugin": "topology/tree"} in lines(made, "slurm.conf")


def test_keys_of_single_nodes(tmp_path: Path) -> None:
    text = BASE.replace('"n[1-2]", type: a', '"n[1-2]", type: a, slurm_options: {Port: "[7001-7002]"}')
    [node] = [line for line in lines(tree(text, tmp_path), "slurm.conf") if "NodeName" in line]
    assert node["Port"] == "[7001-7002]"


def test_partitions_without_nodes(tmp_path: Path) -> None:
    text = BASE.replace("{p: {nodes: all}}", "{p: {nodes: all, default: true}, empty: {nodes: none}}")
    assert {"PartitionName": "empty", "State": "UP"} in lines(tree(text, tmp_path), "slurm.conf")


def test_two_controllers_with_a_foreign_file_system(tmp_path: Path) -> None:
    text = BASE.replace("{name: head, type", "{name: 'head[1-2]', type") + "  state_location: /srv/slurm\n"
    assert codes(text, tmp_path, Severity.ERROR) == ["state-not-shared"]
    assert codes(text + "  state_shared: true\n", tmp_path, Severity.ERROR) == []


def test_names_that_only_slurm_takes_are_warnings_here(tmp_path: Path) -> None:
    text = BASE.replace('"n[1-2]"', '"Node_[1-2]"')
    assert codes(text, tmp_path, Severity.ERROR) == []
    assert "host-name-unusual" in codes(text, tmp_path, Severity.WARNING)
    assert "host-name-malformed" in codes(text.replace("  defaults: slurm\n", ""), tmp_path, Severity.ERROR)


def test_real_memory_holds_without_slurms_defaults_too(tmp_path: Path) -> None:
    text = BASE.replace("  defaults: slurm\n", "")
    [node] = [line for line in lines(tree(text, tmp_path), "slurm.conf") if "NodeName" in line]
    assert node["RealMemory"] == "64000"
    assert node["MemSpecLimit"] == "2048"


def test_a_switch_that_is_stated_is_its_word_and_no_other(tmp_path: Path) -> None:
    made = tree(BASE + "  configless: true\n  interactive_step: true\n", tmp_path)
    values = {key: value for line in lines(made, "slurm.conf") for key, value in line.items()}
    assert values["SlurmctldParameters"] == "enable_configless"
    assert values["LaunchParameters"] == "use_interactive_step"
