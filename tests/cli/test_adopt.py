"""Adoption by degrees: `adopt`, and `manage` of the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.compile import tree_of
from clustergen.feature import area, areas, features
from clustergen.manifest.source import load
from clustergen.render.registry import files
from clustergen.render.tree import Tree
from strategies.findings import TINY
from strategies.inventories import MANIFESTS

CONF = """\
ClusterName=c
SlurmctldHost=ctl
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SelectType=select/cons_tres
TaskPlugin=task/cgroup,task/affinity
ProctrackType=proctrack/cgroup
GresTypes=gpu
NodeName=n[1-4] CPUs=64 RealMemory=500000 Gres=gpu:a100:4
PartitionName=p Nodes=n[1-4] Default=YES MaxTime=2-0
"""
GRES = "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"


def run(*words: object) -> Result:
    return CliRunner().invoke(group, [str(word) for word in words])


@pytest.fixture
def adopted(tmp_path: Path) -> Path:
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm" / "slurm.conf").write_text(CONF, encoding="utf-8")
    (tmp_path / "slurm" / "cgroup.conf").write_text("ConstrainDevices=yes\n", encoding="utf-8")
    (tmp_path / "slurm" / "gres.conf").write_text(GRES, encoding="utf-8")
    result = run("adopt", tmp_path / "slurm", "--slurm-version", "24.11", "-o", tmp_path / "c")
    assert result.exit_code == 0, result.output
    assert "the same meaning" in result.output
    assert "clustergen manages 3 files of the nodes: /etc/slurm/cgroup.conf, /etc/slurm/gres.conf, " in result.output
    return tmp_path / "c"


def test_an_adopted_tree_has_the_files_of_the_directory_alone(adopted: Path) -> None:
    tree = adopted / "rendered"
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()) == [
        "README.md",
        "ansible.cfg",
        "clustergen.lock.json",
        "inventory/group_vars/all.yml",
        "inventory/group_vars/os_debian_13.yml",
        "inventory/hosts.ini",
        "overlays/slurm_node/etc/slurm/cgroup.conf",
        "overlays/slurm_node/etc/slurm/gres.conf",
        "overlays/slurm_node/etc/slurm/slurm.conf",
        "site.yml",
    ]
    variables = yaml.safe_load((tree / "inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    lists = ("secrets", "packages", "paths", "exports", "disks", "file_systems")
    assert [name for name in lists if variables[f"cluster_{name}"]] == []
    # Daemons are told of changed files, and not installed.
    assert variables["cluster_units"] == {
        "slurm_controller": ["slurmctld.service"],
        "slurm_compute": ["slurmd.service"],
    }
    assert run("render", "--check", adopted).exit_code == 0
    validation = run("validate", adopted)
    assert validation.exit_code == 0
    assert "warning" not in validation.output


@pytest.mark.slow
def test_next_shows_what_each_area_changes(adopted: Path) -> None:
    result = run("adopt", "--next", adopted)
    rows = {line.split()[0]: line for line in result.output.splitlines()}
    assert result.exit_code == 0
    assert "ctl,n[1-4]" in rows["daemons"]
    assert "restarts slurmctld and slurmd; no job is lost" in rows["daemons"]
    assert rows["monitoring"].split(maxsplit=1)[1].startswith("nothing")
    assert "slurm" not in rows
    path = adopted / "manifest.yaml"
    text = path.read_text(encoding="utf-8").replace("manage: [slurm]", "manage: [slurm, daemons]")
    path.write_text(text, encoding="utf-8")
    assert "daemons" not in run("adopt", "--next", adopted).output
    assert (run("render", adopted).exit_code, (adopted / "rendered/overlays/all/etc/chrony").exists()) == (0, False)


FIRST: dict[str, tuple[str, dict[str, Any]]] = {
    "accounting": ("the role slurm-accounting", {"roles": ["slurm-accounting"]}),
    "monitoring": ("the role monitoring", {"roles": ["monitoring"]}),
    "logs": ("the section logs, and the role log-collector", {"roles": ["log-collector"], "logs": {}}),
    "firewall": ("firewall: nftables to the section host", {"host": {"hosts_file": False, "firewall": "nftables"}}),
    "backups": ("the section backups", {"backups": {"directory": "/srv/backups"}}),
    "storage": ("the section storage", {"storage": {"s": {"type": "local", "device": "/dev/sdb", "mount": "/s"}}}),
    "reports": ("the section reports", {"reports": {}}),
}


@pytest.mark.slow
def test_next_names_what_an_area_requires(adopted: Path) -> None:
    rows = {line.split()[0]: line for line in run("adopt", "--next", adopted).output.splitlines()}
    text = (adopted / "manifest.yaml").read_text(encoding="utf-8")
    for name, (words, changes) in FIRST.items():
        assert "nothing" in rows[name]
        assert words in rows[name]
        data = yaml.safe_load(text)
        data["nodes"][0] |= {"address": "10.0.0.1", "roles": ["slurm-controller", *changes.get("roles", [])]}
        data["nodes"][1]["address"] = "10.0.0.[11-14]"
        data["networks"]["management"] = {"cidr": "10.0.0.0/24"}
        data |= {key: value for key, value in changes.items() if key != "roles"}
        before, after = (tree_of({**data, "manage": managed}, "m.yaml") for managed in (["slurm"], ["slurm", name]))
        assert before, name
        assert after, name
        assert {file.path for file in after[1]} > {file.path for file in before[1]}, name


def test_a_directory_that_is_adopted_twice_is_kept(adopted: Path) -> None:
    (adopted / "manifest.yaml").write_text("name: c\n", encoding="utf-8")
    result = run("adopt", adopted.parent / "slurm", "-o", adopted)
    assert "already exists" in f"{result.output}{result.exception}"


def _tree(name: str, manage: tuple[str, ...] | None) -> Tree:
    data: Any = load(MANIFESTS[name]).data
    made = tree_of({**data, **({} if manage is None else {"manage": list(manage)})}, "manifest.yaml")
    assert made is not None, (name, manage)
    return made[1]


@pytest.mark.slow
def test_all_areas_are_the_same_as_none_named() -> None:
    assert {file.path: file.content for file in _tree("ml-training", areas())} == {
        file.path: file.content for file in _tree("ml-training", None)
    }


@pytest.mark.slow
def test_each_file_is_of_one_area() -> None:
    """Together the areas have all files of the nodes, and none has one of another, but those of every tree.

    Rules and dashboards of another area need monitoring as well.
    """
    whole = {file.path for file in _tree("home-3090", None) if file.target}
    names = [name for name in areas() if name != "accounting"]  # which needs slurm
    parts = {name: {file.path for file in _tree("home-3090", (name,)) if file.target} for name in names}
    both = {file.path for file in _tree("home-3090", ("slurm", "accounting")) if file.target}
    parts["accounting"] = both - parts["slurm"] | set.intersection(*parts.values())
    everywhere = set.intersection(*parts.values())
    lacking = whole - set.union(*parts.values())
    assert {
        path for path in lacking if "/prometheus/rules/" not in path and "/grafana/dashboards/" not in path
    } == set()
    assert sum(len(part - everywhere) for part in parts.values()) == len(whole - lacking - everywhere)


def test_features_and_rows_have_an_area() -> None:
    assert "slurm" in areas()  # which loads all features
    assert [feature.name for feature in features() if not feature.distribution and not area(feature.package)] == []
    without = {file.template for file in files() if not file.area and file.scope != "tree"}
    assert without == {"all/usr/local/sbin/clustergen-write"}


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        ("manage: [slrum]", "1:10", "did you mean 'slurm'?"),
        ("manage: []", "1:9", "manage"),
        ("manage: [monitoring, accounting]", "1:22", "add slurm to manage"),
        ("manage: [slurm, daemons]\nbackups: {directory: /b}", "2:1", "add backups to manage"),
        ("manage: [slurm]\nstorage: {h: {type: nfs, server: 10.0.0.9, path: /e, mount: /h}}", "2:1", "add storage"),
        (
            "manage: [slurm]\nstorage: {h: {type: nfs, server: 10.0.0.9, path: /e, mount: /h}}",
            "2:1",
            "storage affects Slurm's files alone: storage is not managed",
        ),
    ],
)
def test_wrong_areas(tmp_path: Path, lines: str, place: str, message: str) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(f"{lines}\n{TINY}", encoding="utf-8")
    output = run("validate", path).output
    assert f"{path}:{place}: " in output
    assert message in output


def test_slurmdbd_conf_is_adopted_without_its_database(tmp_path: Path) -> None:
    """Its password becomes a secret of the site, without which slurmdbd would not start."""
    directory, out = tmp_path / "slurm", tmp_path / "c"
    directory.mkdir()
    storage = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=ctl\n"
    (directory / "slurm.conf").write_text(CONF + storage, encoding="utf-8")
    (directory / "gres.conf").write_text(GRES, encoding="utf-8")
    dbd = "DbdHost=ctl\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\nStoragePass=hunter2hunter2\n"
    (directory / "slurmdbd.conf").write_text(dbd, encoding="utf-8")
    result = run("adopt", directory, "--slurm-version", "24.11", "-o", out)
    assert result.exit_code == 0, result.output
    assert "/etc/slurm/gres.conf, /etc/slurm/slurm.conf, /etc/slurm/slurmdbd.conf\n" in result.output
    assert "Not among the originals" not in result.output
    assert "but daemons may restart" in result.output
    variables = yaml.safe_load((out / "rendered/inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    assert [each["name"] for each in variables["cluster_secrets"]] == ["slurmdbd"]
    assert variables["cluster_units"]["slurm_accounting"] == ["slurmdbd.service"]
    assert variables["cluster_packages"] == {}
    assert "is not managed" not in run("validate", out).output
    row = next(line for line in run("adopt", "--next", out).output.splitlines() if line.startswith("accounting"))
    assert "nothing" not in row


@pytest.mark.parametrize("manage", ["slurm, accounting", "slurm", "backups"])
def test_the_password_of_the_database_is_a_secret_of_each_area_that_reads_it(tmp_path: Path, manage: str) -> None:
    path = tmp_path / "manifest.yaml"
    text = TINY.replace('{version: "24.11"}', '{version: "24.11", accounting: {password: true}}')
    text = text.replace("[slurm-controller]", "[slurm-controller, slurm-accounting]")
    path.write_text(f"manage: [{manage}]\nbackups: {{directory: /b}}\n{text}", encoding="utf-8")
    assert run("render", path).exit_code == 0
    variables = yaml.safe_load((tmp_path / "rendered/inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    assert [each["name"] for each in variables["cluster_secrets"]] == ["slurmdbd"]
