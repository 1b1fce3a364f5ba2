"""Nodes of one cluster with different processors: each gets the packages, repositories and paths of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.render.write import write

ROLES = Path(__file__).parents[3] / "playbooks/ansible_collections/clustergen/cluster/roles"
PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
MANIFEST = """\
name: mixed
os: ubuntu-24.04
networks:
  management: {cidr: 10.0.0.0/24}
  fabric: {type: infiniband, rate: NDR}
node_types:
  tray: {system: gb200-nvl72-tray}
  grace: {os: rocky-9, memory: 480GiB, cpu: {cores_per_socket: 72}, gpus: {model: gh200-96, count: 1, numa: [0]}}
  cpu: {os: rocky-9, memory: 256GiB, cpu: {cores_per_socket: 32}}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller, monitoring]}
  - {name: t1, type: tray, address: 10.0.0.11}
  - {name: g1, type: grace, address: 10.0.0.21}
  - {name: c1, type: cpu, address: 10.0.0.31}
slurm: {version: "24.11", build: schedmd, pyxis: {enabled: true}}
"""
NAMES = [
    "repositories_cuda_url",
    "repositories_cuda_key",
    "repositories_nvidia_container_url",
    "repositories_doca_url",
    "archives_enroot",
    "archives_mig_manager",
    "archives_prometheus",
    "archives_alertmanager",
]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Host → what Ansible makes of the roles' defaults there, and the facts of its system."""
    directory = tmp_path_factory.mktemp("mixed")
    (directory / "manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    compiled = compiler.validate(directory / "manifest.yaml")
    tree, diagnostics = compiler.render(compiled, directory / "manifest.yaml")
    assert tree is not None, [*compiled.diagnostics, *diagnostics]
    write(tree, directory / "tree")
    content = {"facts": "os_facts", "packages": "os_packages"} | {name: name for name in NAMES}
    text = "{{ {" + ", ".join(f"'{key}': {name}" for key, name in content.items()) + "} | to_json }}"
    play = {
        "hosts": "all",
        "gather_facts": False,
        "connection": "local",
        "vars_files": [str(ROLES / role / "defaults/main.yml") for role in ("repositories", "archives")],
        "tasks": [
            {"ansible.builtin.copy": {"dest": f"{directory}/{{{{ inventory_hostname }}}}.json", "content": text}}
        ],
    }
    (directory / "tree/play.yml").write_text(yaml.safe_dump([play]), encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "LANG": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"}
    more = ["ansible_become=false repositories_doca_version=3.1.0", f"ansible_python_interpreter={sys.executable}"]
    done = subprocess.run(
        [PLAYBOOK, "-i", "inventory/hosts.ini", "play.yml", *(word for text in more for word in ("-e", text))],
        cwd=directory / "tree", env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {place.stem: json.loads(place.read_text(encoding="utf-8")) for place in directory.glob("*.json")}


@pytest.mark.slow
def test_x86_nodes_get_nothing_for_grace_and_the_other_way_round(hosts: dict[str, dict[str, Any]]) -> None:
    assert hosts.keys() == {"head", "t1", "g1", "c1"}
    for host, other in {"head": "aarch64|arm64|sbsa", "c1": "aarch64|arm64|sbsa", "t1": "x86_64|amd64"}.items():
        assert [word for word in other.split("|") if word in json.dumps(hosts[host])] == [], host
    assert "x86_64" not in json.dumps(hosts["g1"])


@pytest.mark.slow
def test_vendors_have_names_of_their_own_for_an_architecture(hosts: dict[str, dict[str, Any]]) -> None:
    tray, grace = hosts["t1"], hosts["g1"]
    assert tray["repositories_cuda_url"].endswith("/cuda/repos/ubuntu2404/sbsa/")
    assert grace["repositories_cuda_url"].endswith("/cuda/repos/rhel9/sbsa/")
    assert tray["repositories_nvidia_container_url"].endswith("/stable/deb/arm64/")
    assert grace["repositories_nvidia_container_url"].endswith("/stable/rpm/aarch64/")
    assert tray["repositories_doca_url"].endswith("/3.1.0/ubuntu24.04/arm64-sbsa/")
    assert [url.rpartition("/")[2] for url in tray["archives_enroot"]] == [
        "enroot_4.1.2-1_arm64.deb",
        "enroot+caps_4.1.2-1_arm64.deb",
    ]
    assert grace["archives_enroot"][0].endswith("/enroot-4.1.2-1.el8.aarch64.rpm")
    assert tray["archives_prometheus"].endswith(".linux-arm64.tar.gz")
    assert hosts["head"]["archives_prometheus"].endswith(".linux-amd64.tar.gz")
    assert tray["facts"]["slurm_plugin_dir"] == "/usr/lib/aarch64-linux-gnu/slurm-wlm"


@pytest.mark.slow
def test_packages_that_differ_by_architecture_are_split(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    compiled = compiler.validate(tmp_path / "manifest.yaml")
    tree, diagnostics = compiler.render(compiled, tmp_path / "manifest.yaml")
    assert tree is not None, diagnostics
    openmpi = {file.target: tree.groups[file.group] for file in tree if file.target and "openmpi" in file.target}
    assert openmpi["/etc/openmpi-aarch64/openmpi-mca-params.conf"] == ("g1",)
    assert openmpi["/etc/openmpi-x86_64/openmpi-mca-params.conf"] == ("c1",)
