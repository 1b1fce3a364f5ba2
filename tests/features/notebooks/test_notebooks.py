"""Notebooks: what a user's options can ask for, and who may do what on the node of the hub."""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sqlite3
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from clustergen.features.notebooks import hub
from clustergen.render.tree import Tree
from strategies.trees import COMPUTE, HEAD, codes_of, manifest, node_files, runnable, text_of, tree_of

SETTINGS = "/etc/jupyterhub/jupyterhub_config.py"
PORTS = "/etc/clustergen-firewall/ports.d/notebook_hub.nft"
VALUES = "/etc/clustergen/notebooks.json"
HOME = {"type": "nfs", "server": "10.0.0.20", "path": "/home", "mount": "/home", "clients": ["login", "slurm-compute"]}
LOGIN = {"name": "login[1-2]", "type": "service", "address": "10.0.0.[2-3]", "roles": ["login"]}
TLS = {"certificate": "/etc/ssl/hub.pem", "key": "/etc/ssl/hub.key"}


def notebooks(**fields: Any) -> dict[str, Any]:
    return manifest(
        nodes=[HEAD, LOGIN, COMPUTE],
        storage={"home": HOME},
        slurm={
            "version": "24.11",
            "partitions": {"short": {"nodes": "c[1-4]", "default": True, "max_time": "2:00:00"}},
        },
        monitoring={},
        host={"firewall": "nftables"},
        notebooks={"group": "notebooks", "tls": TLS, **fields},
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return tree_of(notebooks(), tmp_path_factory.mktemp("notebooks"))


@pytest.fixture(scope="module")
def program(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names of the program, with stand-ins for the classes of JupyterHub that it derives from."""
    place = runnable(tree, "login1", SETTINGS, tmp_path_factory.mktemp("hub"))
    modules = {"batchspawner": {"SlurmSpawner": object}, "jupyterhub.auth": {"PAMAuthenticator": object}}
    for name, names in modules.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(names)
    sys.modules["jupyterhub"] = ModuleType("jupyterhub")
    names = ("JupyterHub", "ConfigurableHTTPProxy", "PAMAuthenticator", "NotebookSpawner")
    config = SimpleNamespace(**{name: SimpleNamespace() for name in names})
    try:
        return runpy.run_path(str(place), {"get_config": lambda: config})
    finally:
        for name in (*modules, "jupyterhub"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("short/0", 60)),
        ({"resources": "short/1", "minutes": "120"}, ("short/1", 120)),
        ({"minutes": 30}, ("short/0", 30)),
        ({"resources": "short/8"}, "resources: choose one of short/0, short/1"),
        ({"resources": ["short/1"]}, "resources: choose one of short/0, short/1"),
        ({"minutes": 100000}, "minutes: choose one of 30, 60, 120"),
        ({"minutes": "60 --exclusive"}, "minutes: choose one of 30, 60, 120"),
        ({"minutes": True}, "minutes: choose one of 30, 60, 120"),
        ({"minutes": None}, "minutes: choose one of 30, 60, 120"),
        *(
            ({name: value}, f"there is no option {name!r}: only resources and minutes can be chosen")
            for name, value in {
                "memory": "3G",
                "runtime": "7-0",
                "partition": "other",
                "prologue": "curl example.org | sh",
                "cmd": "sh",
                "homedir": "/root",
            }.items()
        ),
    ],
)
def test_options_of_users_name_what_the_form_offers(
    options: dict[str, Any], expected: tuple[str, int] | str, program: dict[str, Any]
) -> None:
    if isinstance(expected, str):
        with pytest.raises(program["RefusedError"]) as caught:
            program["request"](options)
        assert caught.value.jupyterhub_message == expected
    else:
        row, minutes = program["request"](options)
        assert (row["name"], minutes) == expected


def test_the_form_sends_options_that_are_accepted(program: dict[str, Any]) -> None:
    page = program["form"]()
    for row in program["VALUES"]["choices"]:
        assert f'<option value="{row["name"]}">' in page
        for minutes in row["minutes"]:
            assert program["request"](program["of_form"]({"resources": [row["name"]], "minutes": [str(minutes)]}))


def test_a_gpu_brings_its_share_and_partitions_limit_the_time(tree: Tree) -> None:
    alone, one = json.loads(text_of(tree, "login1", VALUES))["choices"]
    assert (alone["gres"], alone["cpus"], alone["memory_mib"]) == ("", 2, 8192)
    assert (one["gres"], one["cpus"], one["minutes"]) == ("gpu:h100:1", 16, [30, 60, 120])


def test_the_hub_runs_on_one_node_and_its_ports_are_open_to_those_who_need_them(tree: Tree) -> None:
    assert "\nConditionHost=login1\n" in text_of(tree, "login2", "/etc/systemd/system/jupyterhub.service")
    rules = text_of(tree, "login1", PORTS)
    assert "input tcp dport 8000 accept" in rules
    assert "ip saddr @cluster tcp dport 8081 accept" in rules
    packages = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)["cluster_packages"]
    assert packages["notebook_hub"] == ["notebook_hub"]
    assert "virtual_environments" in packages["notebook_node"]
    assert SETTINGS not in node_files(tree, "c1")


def test_without_tls_the_hub_is_for_this_node_alone(tmp_path: Path) -> None:
    data = notebooks()
    del data["notebooks"]["tls"]
    tree = tree_of(data, tmp_path)
    assert json.loads(text_of(tree, "login1", VALUES))["bind_url"] == "http://127.0.0.1:8000"
    rules = text_of(tree, "login1", PORTS)
    assert "dport 8081" in rules
    assert "dport 8000" not in rules


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"host": "nowhere"}, "notebooks-host"),
        ({"host": "c1"}, "notebooks-host"),
        ({"partitions": ["shrot"]}, "notebooks-partition"),
        ({"gpus": [9]}, "value-out-of-range"),
        ({"port": 8081}, "port-twice"),
    ],
)
def test_notebooks_that_cannot_work_are_refused(change: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert codes_of(notebooks(**change), tmp_path) == [code]


@pytest.mark.parametrize(("node", "os"), [(1, "debian-12"), (2, "ubuntu-22.04")])
def test_systems_without_what_jupyterhub_requires(node: int, os: str, tmp_path: Path) -> None:
    data = deepcopy(notebooks())
    data["node_types"]["other"] = {**data["node_types"]["gpu"], "os": os}
    data["nodes"][node] = {**data["nodes"][node], "type": "other"}
    assert "notebooks-system" in codes_of(data, tmp_path)


@pytest.mark.parametrize("clients", [["login"], ["slurm-compute"]])
def test_home_directories_are_those_of_the_hub(clients: list[str], tmp_path: Path) -> None:
    data = notebooks()
    data["storage"]["home"]["clients"] = clients
    assert "notebooks-without-home" in codes_of(data, tmp_path)


def test_the_database_is_copied_while_the_hub_writes_it(tmp_path: Path) -> None:
    data = notebooks(backup="/backup/notebooks")
    data["storage"]["backup"] = HOME | {"path": "/backup", "mount": "/backup", "clients": ["login"]}
    changes = {"/backup/notebooks": tmp_path / "copies", "/var/lib/jupyterhub": tmp_path / "state"}
    tree = tree_of(data, tmp_path)
    program = runnable(tree, "login1", "/usr/local/sbin/clustergen-notebooks-backup", tmp_path, changes)
    for directory in changes.values():
        directory.mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "state/jupyterhub.sqlite", isolation_level=None)) as database:
        database.execute("create table servers (name)")
        database.execute("insert into servers values ('alice')")
        database.execute("begin")
        database.execute("insert into servers values ('half')")
        for day in range(20, 25):
            (tmp_path / f"copies/jupyterhub-202001{day}T031500.sqlite").touch()
            os.utime(tmp_path / f"copies/jupyterhub-202001{day}T031500.sqlite", (day, day))
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    *old, new = sorted((tmp_path / "copies").iterdir())
    assert [path.name[11:19] for path in old] == ["20200123", "20200124"]
    assert new.stat().st_mode & 0o077 == 0
    with contextlib.closing(sqlite3.connect(new)) as copy:
        assert copy.execute("select name from servers").fetchall() == [("alice",)]
    (tmp_path / "state/jupyterhub.sqlite").write_bytes(b"no database" * 1000)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "no backup of" in done.stderr
    assert len(list((tmp_path / "copies").glob("jupyterhub-*"))) == 3


@pytest.mark.real
def test_the_real_hub_loads_its_settings(tree: Tree, tmp_path: Path) -> None:
    assert hub.hub_directory().is_dir(), "run clustergen setup notebooks"
    settings = runnable(tree, "login1", SETTINGS, tmp_path)
    settings.write_text(f"{settings.read_text()}\nc.NotebookSpawner.option_form = ''\n", encoding="utf-8")
    answer = hub.load(settings)
    (line,) = answer["lines"]  # type: ignore[misc]
    assert "`option_form` not recognized" in line
    assert answer["allowed_groups"] == ["notebooks"]
    assert answer["bind_url"] == "https://:8000"
    assert answer["classes"] == ["PAMAuthenticator", "NotebookSpawner", "ConfigurableHTTPProxy"]
    assert "short/1" in str(answer["form"])
