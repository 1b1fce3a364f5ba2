"""The roles: every variable is documented, and a missing one fails with one line before any change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.catalogue.operating_systems import operating_systems

ROOT = Path(__file__).resolve().parents[3]
ROLES = ROOT / "playbooks/ansible_collections/clustergen/cluster/roles"
NAMES = sorted(path.name for path in ROLES.iterdir() if (path / "tasks").is_dir())
FORMAT = ROLES / "local_disk/files/format-empty-disk.sh"


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8")) or {}


@pytest.mark.parametrize("role", NAMES)
def test_every_default_is_an_argument(role: str) -> None:
    specs = read(ROLES / role / "meta/argument_specs.yml")["argument_specs"]
    options = {name: option for spec in specs.values() for name, option in spec.get("options", {}).items()}
    defaults = read(ROLES / role / "defaults/main.yml")
    assert defaults.keys() - options.keys() == set()
    for name, option in options.items():
        if "default" in option and name in defaults:
            assert option["default"] == defaults[name], name


@pytest.mark.slow
def test_the_page_is_what_the_roles_say() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/update-roles", "--check"], timeout=300, check=False)
    assert done.returncode == 0, "run tools/update-roles"


def refusal(role: str, directory: Path, **variables: Any) -> str:
    """The one line with which a role fails on this machine in the place of a node; it must not get further."""
    play = [
        {
            "hosts": "node",
            "gather_facts": False,
            "vars": variables,
            "tasks": [{"ansible.builtin.include_role": {"name": f"clustergen.cluster.{role}"}}],
        }
    ]
    (directory / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    (directory / "hosts").write_text(
        f"[slurm_node]\nnode ansible_connection=local ansible_python_interpreter={sys.executable}\n", encoding="utf-8"
    )
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
    }
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", "hosts", "--check", "play.yml"],
        cwd=directory, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert "changed=0" in done.stdout
    answer, _ = json.JSONDecoder().raw_decode(done.stdout.partition("FAILED! => ")[2])
    return str(answer["msg"])


FACTS = operating_systems()["debian-13"].facts


@pytest.mark.slow
def test_a_purpose_without_a_package_names_its_row_of_the_catalogue(tmp_path: Path) -> None:
    answer = refusal(
        "packages",
        tmp_path,
        os_facts=FACTS,
        os_packages={"slurmd": ["slurmd"], "sackd": []},
        cluster_packages={"slurm_node": ["slurmd", "sackd", "dcgm_4"], "other": ["zfs"]},
        cluster_without_packages=["dcgm_4"],
    )
    assert answer.startswith("missing package: ")
    assert "operating_systems/, package_sackd)" in answer
    assert "dcgm_4" not in answer


@pytest.mark.slow
def test_a_repository_that_only_the_site_can_have_is_asked_for(tmp_path: Path) -> None:
    answer = refusal(
        "repositories",
        tmp_path,
        os_facts=FACTS,
        os_repositories={"slurmd": "slurm", "slurmctld": "slurm", "dcgm_4": "cuda"},
        cluster_packages={"slurm_node": ["slurmd", "dcgm_4"]},
    )
    assert answer.startswith("repositories_slurm_url is not set: a repository with slurmd for this system")
    assert "cuda" not in answer


@pytest.mark.slow
def test_a_secret_of_the_site_that_is_neither_there_nor_given_is_named(tmp_path: Path) -> None:
    secret = {"owner": "root", "mode": "0600", "origin": "given", "groups": ["slurm_node"]}
    answer = refusal(
        "secrets",
        tmp_path,
        slurm_controllers=["node"],
        secrets_given={"scratch": "word"},
        cluster_secrets=[
            {**secret, "name": "slurmdbd", "path": str(tmp_path / "absent")},
            {**secret, "name": "scratch", "path": str(tmp_path / "given")},
            {**secret, "name": "there", "path": str(tmp_path / "hosts")},
        ],
    )
    assert "secrets_given.slurmdbd" in answer
    assert "scratch" not in answer
    assert "there" not in answer


@pytest.mark.parametrize("device", ["LABEL=no-such-label", "UUID=0000-0000", "/dev/null", "/no/such/device"])
def test_a_disk_that_is_not_empty_is_left_alone(device: str) -> None:
    done = subprocess.run(
        ["sh", FORMAT, device, "xfs", "yes"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert device in done.stderr
