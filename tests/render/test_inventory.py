"""The inventory as Ansible itself reads it, and the playbook as ansible-playbook runs it."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.render.write import write
from strategies import inventories
from strategies.pages import ROOT
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, manifest, tree_of

ANSIBLE = Path(sys.executable).parent
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
HOME = {"type": "nfs", "server": "10.0.0.9", "path": "/export/home", "mount": "/home"}
MIXED: dict[str, Any] = {
    "node_types": {"gpu": GPU, "old": {**GPU, "os": "debian-12", "gpus": {"model": "rtx-a6000", "count": 4}}},
    "networks": {
        "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
        "bmc": {"cidr": "10.9.0.0/24", "protocol": "ipmi", "vlan": 9},
        "storage": {"cidr": "10.8.0.0/24"},
        "fabric": {"type": "roce", "rate": "200Gb/s", "rails": ["10.1.0.0/24", "10.2.0.0/24"]},
    },
    "nodes": [
        HEAD,
        MONITOR,
        {
            "name": "c[1-12]",
            "type": "gpu",
            "address": "10.0.0.[11-22]",
            "addresses": {
                "bmc": "10.9.0.[11-22]",
                "storage": "10.8.0.[11-22]",
                "fabric": ["10.1.0.[11-22]", "10.2.0.[11-22]"],
            },
        },
        {"name": "o[1-2]", "type": "old", "address": "10.0.0.[31-32]"},
        {"name": "login1", "type": "old", "address": "10.0.0.33", "roles": ["login"]},
    ],
    "storage": {"home": HOME},
}


def run(directory: Path, program: str, *arguments: str) -> str:
    """The output of an Ansible program in a tree; it must succeed without a warning."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory.parent),
        "LANG": "C.UTF-8",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_LOCALHOST_WARNING": "false",
    }
    done = subprocess.run(
        [ANSIBLE / program, *arguments],
        cwd=directory,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return done.stdout


def rendered(directory: Path, **changes: Any) -> tuple[Any, Path]:
    tree = tree_of(manifest(**changes), directory)
    place = directory / "rendered"
    write(tree, place)
    return tree, place


def hosts_of(listing: dict[str, Any], group: str) -> set[str]:
    entry = listing.get(group, {})
    return set(entry.get("hosts", ())).union(*(hosts_of(listing, child) for child in entry.get("children", ())))


@pytest.mark.slow
def test_each_variable_of_the_inventory_is_read(tmp_path: Path) -> None:
    """By a playbook, by verify, or by the site, which roles.md tells what it may read. Ansible's own need no reader."""
    tree = tree_of(manifest(**MIXED, gpu={"driver": "580"}), tmp_path)
    texts = {**inventories.texts("ml-training"), **{file.path: file.content.decode() for file in tree}}
    names = {name for path, text in texts.items() if "/group_vars/" in path for name in yaml.safe_load(text)}
    readers = [*(ROOT / "playbooks").rglob("*.yml"), *(ROOT / "playbooks").rglob("*.py"), ROOT / "docs" / "roles.md"]
    package = ROOT / "generator" / "clustergen"
    readers += [*(package / "verify").rglob("*.py"), *(package / "features").rglob("*checks.py")]
    words = {word for path in readers for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    assert {"slurm_release", "nvidia_driver_branches", "bmc_vlan", "slurm_database_host", "os_packages"} <= names
    assert {name for name in names - words if not name.startswith("ansible_")} == set()


@pytest.mark.slow
def test_ansible_sees_the_groups_that_the_files_are_for(tmp_path: Path) -> None:
    tree, place = rendered(tmp_path, **MIXED)
    listing = json.loads(run(place, "ansible-inventory", "--list"))
    assert any("__" in name for name in tree.groups), "a split group must be among them"
    for name, hosts in tree.groups.items():
        assert hosts_of(listing, name) == set(hosts), name
    assert {file.group for file in tree if file.group} <= listing.keys() | {"all"}
    assert hosts_of(listing, "os_debian_12") == {"o1", "o2", "login1"}
    assert hosts_of(listing, "ungrouped") == set()


@pytest.mark.slow
def test_hosts_carry_their_addresses_and_the_variables_of_their_system(tmp_path: Path) -> None:
    _, place = rendered(tmp_path, **MIXED, ansible={"user": "admin", "jump": "ops@gate.example.org", "forks": 7})
    c3 = json.loads(run(place, "ansible-inventory", "--host", "c3"))
    assert c3["ansible_host"] == "10.0.0.13"
    assert c3["bmc_address"] == "10.9.0.13"
    assert c3["storage_address"] == "10.8.0.13"
    assert c3["fabric_addresses"].split(",") == ["10.1.0.13", "10.2.0.13"]
    assert c3["ansible_user"] == "admin"
    assert c3["ansible_become"] is True
    assert c3["ansible_ssh_common_args"] == "-o ProxyJump=ops@gate.example.org"
    assert c3["bmc_protocol"] == "ipmi"
    assert (c3["bmc_netmask"], c3["bmc_vlan"]) == ("255.255.255.0", 9)
    assert c3["slurm_release"] == "24.11"
    assert c3["os_facts"]["codename"] == "trixie"
    assert c3["os_packages"]["slurmd"] == ["slurmd"]
    o1 = json.loads(run(place, "ansible-inventory", "--host", "o1"))
    assert o1["os_facts"]["codename"] == "bookworm"
    assert "bmc_address" not in o1
    assert "forks = 7\n" in (place / "ansible.cfg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_site_yml_leaves_cloud_nodes_out_until_they_are_named(tmp_path: Path) -> None:
    later = {"name": "z[1-2]", "type": "gpu", "state": "CLOUD"}
    _, place = rendered(tmp_path, nodes=[HEAD, COMPUTE, later])
    listing = json.loads(run(place, "ansible-inventory", "--list"))
    assert hosts_of(listing, "cloud") == {"z1", "z2"}
    assert {"z1", "c1"} <= hosts_of(listing, "slurm_compute")
    first = run(place, "ansible-playbook", "site.yml", "--list-hosts").partition("play #2")[0]
    assert "c1\n" in first
    assert "z1" not in first
    named = run(place, "ansible-playbook", "site.yml", "--list-hosts", "-e", "cluster_hosts=z1").partition("play #2")[0]
    assert "z1\n" in named


@pytest.mark.slow
def test_units_of_a_group_are_those_that_its_files_are_about(tmp_path: Path) -> None:
    tree, place = rendered(tmp_path, **MIXED)
    c1 = json.loads(run(place, "ansible-inventory", "--host", "c1"))
    units = c1["cluster_units"]
    assert units.keys() <= tree.groups.keys()
    mine = {unit for group, names in units.items() if "c1" in tree.groups[group] for unit in names}
    assert {"slurmd.service", "munge.service", "nvidia-dcgm.service", "home.mount"} <= mine
    assert not mine & {"slurmctld.service", "prometheus.service", "slurmdbd.service"}
    head = {unit for group, names in units.items() if "head" in tree.groups[group] for unit in names}
    assert {"slurmctld.service", "slurmdbd.service", "mariadb.service", "clustergen-slurm-metrics.timer"} <= head
    assert "slurmd.service" not in head


@pytest.mark.slow
def test_secrets_are_named_and_not_there(tmp_path: Path) -> None:
    tree, place = rendered(
        tmp_path,
        nodes=[HEAD, MONITOR, COMPUTE],
        slurm={"version": "24.11", "accounting": {"database_host": "db.example.org"}},
        monitoring={"receivers": {"chat": {"slack_url_file": "/etc/prometheus/secrets/chat"}}},
    )
    variables = yaml.safe_load((place / "inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    secrets = {secret["name"]: secret for secret in variables["cluster_secrets"]}
    assert secrets["munge"]["groups"] == ["slurm_node", "slurm_accounting"]
    assert secrets["munge"]["origin"] == "made"
    assert secrets["slurmdbd"]["origin"] == "given"
    assert secrets["alerts-chat"]["path"] == "/etc/prometheus/secrets/chat"
    targets = {file.target for file in tree}
    assert not targets & {secret["path"] for secret in secrets.values()}
    assert set().union(*(secret["groups"] for secret in secrets.values())) <= tree.groups.keys()


HOSTILE = {
    "banner": "{{ lookup('pipe', 'id') }}",
    "percent": "{% for x in y %}",
    "comment": "{# gone #}",
    "quotes": """it's "quoted" \\ here""",
    "tag": "!unsafe x",
    "number": "007",
    "yes_word": "yes",
    "hash": "a # b",
    "null": "~",
    "on": "off",
}


@pytest.mark.slow
def test_the_sites_variables_reach_ansible_as_they_are(tmp_path: Path) -> None:
    _, place = rendered(tmp_path, ansible={"variables": {**HOSTILE, "count": 3, "flag": True, "ansible_port": 2222}})
    text = (place / "inventory/group_vars/all.yml").read_text(encoding="utf-8")
    assert text.count("ansible_port") == 1
    message = "msg={{ hostvars.c1 | dict2items | items2dict | to_json | b64encode }}"
    shown = run(place, "ansible", "c1", "-m", "ansible.builtin.debug", "-a", message)
    seen = json.loads(base64.b64decode(shown.partition("msg:")[2].strip().strip("'\"")))
    assert {name: seen[name] for name in HOSTILE} == HOSTILE
    assert (seen["count"], seen["flag"], seen["ansible_port"]) == (3, True, 2222)


@pytest.mark.parametrize(
    "section",
    [
        {"user": "root; reboot"},
        {"jump": "gate -o ProxyCommand=sh"},
        {"python": "/usr/bin/python3 -c x"},
        {"variables": {"a b": 1}},
        {"variables": {"a": ["list"]}},
        {"variables": {"a": "two\nlines"}},
    ],
)
def test_values_that_would_leave_their_place_are_refused(section: dict[str, Any], tmp_path: Path) -> None:
    assert codes_of(manifest(ansible=section), tmp_path)


@pytest.mark.slow
def test_one_more_node_changes_its_own_line_and_one_range(tmp_path: Path) -> None:
    small = [HEAD, {"name": "n[001-199]", "type": "gpu", "address": "10.0.0.[11-209]"}]
    large = [HEAD, {"name": "n[001-200]", "type": "gpu", "address": "10.0.0.[11-210]"}]
    before, after = (
        tree_of(manifest(nodes=nodes), tmp_path).files["inventory/hosts.ini"].content.decode().splitlines()
        for nodes in (small, large)
    )
    assert set(after) - set(before) == {"n200 ansible_host=10.0.0.210", "n[001:200]"}
    assert set(before) - set(after) == {"n[001:199]"}


@pytest.mark.slow
def test_the_playbook_parses_and_names_every_node(tmp_path: Path) -> None:
    _, place = rendered(tmp_path, **MIXED)
    listed = run(place, "ansible-playbook", "site.yml", "--list-hosts")
    assert "hosts (17)" in listed


@pytest.mark.slow
def test_differences_of_a_wrong_machine_are_reported_at_once(tmp_path: Path) -> None:
    """This machine in the place of a node: its name is another, and nothing is written."""
    _, place = rendered(tmp_path)
    local = ["-e", "ansible_connection=local", "-e", f"ansible_python_interpreter={sys.executable}"]
    command = [
        ANSIBLE / "ansible-playbook",
        "site.yml",
        "--check",
        "--limit",
        "c2",
        *local,
        "-e",
        "cluster_clock_tolerance=-1",
    ]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    (line,) = [line for line in done.stdout.splitlines() if line.strip().startswith("c2") and "failed:" in line]
    assert "hostnamectl set-hostname c2" in line
    assert "its clock is" in line


@pytest.mark.slow
def test_yamllint_accepts_what_ansible_reads(tmp_path: Path) -> None:
    _, place = rendered(tmp_path, **MIXED)
    rules = "{extends: default, rules: {line-length: disable, document-start: disable}}"
    done = subprocess.run(
        [ANSIBLE / "yamllint", "-s", "-d", rules, "site.yml", "inventory/group_vars"],
        cwd=place, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("model", "stated", "expected"),
    [
        ("h100-sxm", {}, "open"),
        ("t4", {}, "open"),
        ("v100-pcie-32", {}, "proprietary"),
        ("h100-sxm", {"kernel_modules": "proprietary"}, "proprietary"),
        ("t4", {"driver": "470"}, "proprietary"),
    ],
)
def test_gpus_before_turing_get_the_modules_that_know_them(
    model: str, stated: dict[str, str], expected: str, tmp_path: Path
) -> None:
    types = {"gpu": {**GPU, "gpus": {"model": model, "count": 4}}}
    tree = tree_of(manifest(node_types=types, gpu=stated), tmp_path)
    variables = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)
    assert variables["nvidia_kernel_modules"] == {"type_gpu": expected}


@pytest.mark.slow
def test_types_with_one_operating_system_share_its_files(tmp_path: Path) -> None:
    kinds = {"gpu": GPU, "other": {**GPU, "memory": "2TiB"}, "old": {**GPU, "os": "rocky-9"}}
    more = [{"name": name, "type": name, "address": f"10.0.0.{20 + n}"} for n, name in enumerate(("other", "old"))]
    tree = tree_of(manifest(node_types=kinds, nodes=[HEAD, COMPUTE, *more]), tmp_path)
    groups = {
        file.group for file in tree if str(file.target).endswith(("default/slurmd", "sysconfig/slurmd", "/chrony.conf"))
    }
    assert groups == {f"{group}__{system}" for group in ("all", "slurm_compute") for system in ("debian_13", "rocky_9")}
