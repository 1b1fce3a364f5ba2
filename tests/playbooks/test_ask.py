"""Answers of hosts: secrets, processors, and the schema of all keys."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.clustergen.cluster.plugins.action.ask import (
    _fingerprints,
    _hides,
    _mounts_of_modules,
    _replaced,
    _waiting_mounts,
)
from ansible_collections.clustergen.cluster.plugins.modules import node_state
from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers
from ansible_collections.clustergen.cluster.plugins.plugin_utils.node_state import owned_directories, unfit
from clustergen.render.unit_names import mount_unit


def test_no_fingerprint_of_a_password_gets_into_outputs() -> None:
    secrets = [{"path": "/munge.key", "origin": "made"}, {"path": "/password", "origin": "given"}]
    values = {"/munge.key": "c1c6", "/password": "5e88"}
    assert _fingerprints(secrets, values) == {"/munge.key": "c1c6", "/password": "there"}
    assert _fingerprints(secrets, dict.fromkeys(values)) == {"/munge.key": None, "/password": None}


def test_a_given_secret_replaces_another_one_and_no_other_secret() -> None:
    password = {"name": "slurmdbd", "path": "/password", "origin": "given", "form": "StoragePass={}\n"}
    key = {"name": "scratch", "path": "/key", "origin": "given"}
    munge = {"name": "munge", "path": "/munge.key", "origin": "made"}
    values = {
        "/password": hashlib.sha256(b"StoragePass=old\n").hexdigest(),
        "/key": hashlib.sha256(b"old").hexdigest(),
        "/munge.key": "c1c6",
    }

    def names(digests: dict[str, str], previous: dict[str, str | None]) -> list[str]:
        return [secret["name"] for secret in _replaced([password, key, munge], previous, digests)]

    assert names({"slurmdbd": "old", "scratch": "old"}, dict(values)) == []
    assert names({"slurmdbd": "new", "munge": "new"}, dict(values)) == ["slurmdbd"]
    assert names({"scratch": "new"}, dict(values)) == ["scratch"]
    assert names({"slurmdbd": "new", "scratch": "new"}, dict.fromkeys(values)) == []


def test_a_mount_point_with_files_is_not_mounted_over(tmp_path: Path) -> None:
    unit = str(mount_unit(f"{tmp_path}/my-home"))
    assert node_state.hides_files(unit) is False, "it is not there"
    (tmp_path / "my-home/made/before").mkdir(parents=True)
    assert node_state.hides_files(unit) is False, "directories that programs made before"
    (tmp_path / "my-home/made/key").touch()
    assert node_state.hides_files(unit) is True
    state = {"hiding": [unit], "differs": [{"target": f"/etc/systemd/system/{unit}", "there": False}]}
    assert unit in _hides(state, {})
    assert _hides(state, {"cluster_mount_over": [unit]}) == ""
    assert _hides({**state, "differs": []}, {}) == "", "one that is down today"


@pytest.mark.parametrize(("later", "waiting"), [("drain:lnet.service", {"fast.mount": "fast"}), ("reboot", {})])
def test_a_new_mount_waits_for_the_restart_of_what_it_requires(later: str, waiting: dict[str, str]) -> None:
    text = b"[Unit]\nDescription=File system fast\nRequires=lnet.service\nAfter=network-online.target lnet.service\n"
    tree = SimpleNamespace(content=lambda path: text if path == "fast" else text.replace(b"Requires", b"Wants"))
    files = {f"/etc/systemd/system/{name}.mount": {"path": name} for name in ("fast", "home")}
    idle = ["fast.mount", "home.mount", "chrony.service"]
    assert dict(_waiting_mounts(tree, files, idle, [later])) == waiting


def test_mounts_of_a_module_that_is_replaced_wait_for_the_boot() -> None:
    texts = {
        "data": b"[Unit]\nDescription=File system data\n[Mount]\nType=beegfs\n",
        "home": b"[Unit]\nDescription=File system home\n[Mount]\nType=nfs\n",
    }
    tree = SimpleNamespace(content=texts.get)
    files = {f"/etc/systemd/system/{name}.mount": {"path": name} for name in texts}
    assert dict(_mounts_of_modules(tree, files, ["beegfs"])) == {"data.mount": "data"}
    assert dict(_mounts_of_modules(tree, files, [])) == {}


@pytest.mark.parametrize(
    ("group", "arch", "machine", "complaints"),
    [
        ("os_ubuntu_24_04_aarch64", "aarch64", "aarch64", []),
        ("os_ubuntu_24_04", "x86_64", "x86_64", []),
        (
            "os_ubuntu_24_04_aarch64",
            "aarch64",
            "x86_64",
            ["its architecture is x86_64 but the manifest states aarch64: set arch of its node type"],
        ),
    ],
)
def test_a_host_must_have_the_processor_of_its_type(group: str, arch: str, machine: str, complaints: list[str]) -> None:
    state = {
        "root": True, "systemd": True, "host": "c1", "read_only": [], "unwritable": "", "packages": [], "free": {},
        "units": {}, "clock": time.time(),
        "os": {"id": "ubuntu", "version": "24.04", "codename": "noble", "machine": machine},
    }  # fmt: skip
    names = {"group_names": [group], "inventory_hostname": "c1", "os_facts": {"architecture": arch}}
    assert list(unfit(state, names, time.time())) == complaints


@pytest.mark.slow
def test_the_schema_admits_all_that_the_module_itself_answers(tmp_path: Path) -> None:
    """On this machine: a key that the module has and the schema does not would be lost on the way."""
    for name in ("30-gpu", "99-rogue"):
        (tmp_path / name).touch()
    files = {"sha256": "0" * 64, "mode": "0777", "owner": "nobody:nogroup"}
    asked = {
        "files": [{"target": target, **files} for target in ("/etc/hostname", f"{tmp_path}/30-gpu")],
        "directories": [str(tmp_path), "/no/such/directory"],
        "held": ["dpkg*"],
        "packages": ["no-such-package"],
        "modules": ["no_such_module"],
        "paths": ["/no/such/path"],
        "units": ["no-such.service"],
        "secrets": ["/etc/hostname", "/no/such/secret"],
        "commands": {"kernel": "uname -r", "nothing": "true"},
    }
    place = Path(node_state.__file__)
    done = subprocess.run(
        [sys.executable, place], input=json.dumps({"ANSIBLE_MODULE_ARGS": asked | {"_ansible_check_mode": True}}),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    kept = answers.checked("node_state", asked, answer)
    assert set(answer) - set(kept) == {"applied", "changed", "invocation", "python"}
    assert kept == {key: answer[key] for key in kept}
    assert list(kept["outputs"]["files"]) == ["kernel"]
    assert kept["foreign"] == [f"{tmp_path}/99-rogue"]


def test_directories_that_packages_share_are_not_the_trees() -> None:
    owned = ["/etc/prometheus/rules", "/etc/slurm/prolog.d", "/etc/systemd/system/slurmd.service.d"]
    shared = ["/etc/slurm", "/etc/systemd/system", "/etc/sysctl.d", "/etc/logrotate.d", "/etc/systemd/journald.conf.d"]
    assert owned_directories(f"{directory}/50-clustergen" for directory in (*owned, *shared)) == owned
