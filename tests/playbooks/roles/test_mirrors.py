"""Vendors' packages by real apt and dnf, from the signed repositories of a mirror that is laid out as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from strategies.inventories import texts
from strategies.lab_nodes import LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow]

ROCKY = ("midrange-weka", "inventory/group_vars/os_rocky_9.yml")
DEBIAN = ("ml-training", "inventory/group_vars/os_debian_13.yml")
MANIFEST = """\
name: test-mirrors
os: debian-13
networks:
  management: {cidr: 10.89.203.0/29, domain: lab.example.org}
node_types:
  h100: {system: dgx-h100}
nodes:
  - {name: solo, type: h100, address: 10.89.203.1, roles: [slurm-controller, slurm-compute]}
slurm: {version: "24.11"}
host: {ssh_adopt: false}
"""
PURPOSES = ["dcgm_4", "nvidia_container_toolkit", "beegfs_8"]


def variables(place: tuple[str, str]) -> dict[str, Any]:
    """The group variables of an operating system, with packages of three vendors as the only ones of a host."""
    inventory, path = place
    values: dict[str, Any] = yaml.safe_load(texts(inventory)[path])
    return {
        **{name: values[name] for name in ("os_facts", "os_packages", "os_repositories")},
        "cluster_packages": {"all": PURPOSES},
        "cluster_without_packages": [],
        "repositories_beegfs_release": "8.4",
        "repositories_mirror": "http://127.0.0.1:8000",
    }


def names(variables: dict[str, Any]) -> list[str]:
    return sorted(name for purpose in PURPOSES for name in variables["os_packages"][purpose])


class Solo(LabNodes):
    """A bare node that is the mirror and its client."""

    def install(self, variables: dict[str, Any], fails: bool = False) -> str:
        """Both roles, as `install` calls them; what Ansible printed."""
        tasks: list[dict[str, Any]] = []
        if variables["os_facts"]["family"] == "rhel":
            tasks += [{"ansible.builtin.set_fact": {"pkg_mgr": "dnf", "cacheable": True}}]  # this node is a Debian
        for role in ("repositories", "packages"):
            tasks += [{"ansible.builtin.include_role": {"name": f"clustergen.cluster.{role}"}}]
        return self.tasks(tasks, variables, fails)

    def tasks(self, tasks: list[dict[str, Any]], variables: dict[str, Any], fails: bool = False) -> str:
        """Output of Ansible."""
        play = [{"hosts": "solo", "gather_facts": False, "vars": variables, "tasks": tasks}]
        book = self.directory / "play.yml"
        book.write_text(json.dumps(play), encoding="utf-8")
        return self.play(book, status=(2,) if fails else (0,))


@pytest.fixture(scope="module")
def solo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Solo]:
    node = Solo(tmp_path_factory.mktemp("mirrors"), "test-mirrors", MANIFEST)
    packages = []
    for output in (variables(DEBIAN), variables(ROCKY)):
        places = output["os_repositories"]
        packages.append(" ".join(f"{places[p]}:{name}" for p in PURPOSES for name in output["os_packages"][p]))
    script = (Path(__file__).parent / "vendors.sh").read_text(encoding="utf-8")
    try:
        node.verb("up")
        node.out("solo", f"set -- '{packages[0]}' '{packages[1]}'\n{script}", timeout=300)
        yield node
    finally:
        node.verb("down")


def test_apt_takes_what_the_vendor_signed_from_a_mirror(solo: Solo) -> None:
    values = variables(DEBIAN)
    solo.install(values)
    installed = solo.out("solo", "dpkg-query -W -f '${Package} ${Maintainer}\\n' | sed -n 's/ vendor$//p'").split()
    assert sorted(installed) == names(values)
    assert re.search(r"solo .* changed=0 ", solo.install(values))
    # Each key counts for its own repository alone.
    assert solo.out("solo", "ls /etc/apt/trusted.gpg.d | grep -vc debian-archive || true").strip() == "0"
    assert (
        solo.out("solo", "grep -c '^Signed-By: /etc/apt/keyrings/' /etc/apt/sources.list.d/clustergen-*").count(":1")
        == 3
    )


@pytest.mark.many
@pytest.mark.parametrize(("old", "new"), [("580", "590"), ("590", "580")])
def test_a_branch_of_the_driver_is_replaced_as_a_whole(solo: Solo, old: str, new: str) -> None:
    replaced = [f"nvidia_pinning_{new}", "nvidia_driver_open", "nvidia_fabricmanager"]
    values = {
        **variables(DEBIAN),
        "nvidia_driver_branches": {"all": new},
        "cluster_packages": {"all": replaced},
        "kernel_modules_required": False,
    }
    values["os_packages"][f"nvidia_pinning_{new}"] = [f"nvidia-driver-pinning-{new}"]
    names = values["os_packages"]["nvidia_driver_open"] + values["os_packages"]["nvidia_fabricmanager"]
    solo.tasks([{"ansible.builtin.include_role": {"name": "clustergen.cluster.repositories"}}], values)
    install = "apt-get -qq -y --allow-downgrades install"
    solo.out("solo", f"apt-get -qq update && {install} nvidia-driver-pinning-{old} && {install} {' '.join(names)}")
    fact = {"ansible.builtin.set_fact": {"clustergen": {"replaces": replaced, "waiting": replaced}, "cacheable": True}}
    role = {"ansible.builtin.include_role": {"name": "clustergen.cluster.install", "tasks_from": "replace"}}
    solo.tasks([fact, role], values)
    versions = solo.out("solo", f"dpkg-query -W -f '${{Version}}\n' {' '.join(names)}").split()
    assert versions == [f"{new}.10-1"] * 3
    pins = solo.out("solo", "dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'nvidia-driver-pinning-*'")
    assert f"nvidia-driver-pinning-{new} installed" in pins
    assert f"nvidia-driver-pinning-{old} installed" not in pins


def test_apt_takes_nothing_that_another_one_signed(solo: Solo) -> None:
    values = variables(DEBIAN) | {"repositories_mirror": "http://127.0.0.1:8001"}
    name = values["os_packages"]["dcgm_4"][0]
    solo.out("solo", f"apt-get -qq purge -y {name} && rm -rf /var/lib/apt/lists/127*")
    why = solo.install(values, fails=True)
    assert "unreachable mirror: http://127.0.0.1:8001/developer.download.nvidia.com" in why
    assert name in why
    assert solo.out("solo", f"dpkg -l {name} | grep -c ^ii || true").strip() == "0"


def test_a_missing_key_is_reported(solo: Solo) -> None:
    solo.out("solo", "rm /etc/apt/keyrings/clustergen-*")
    values = variables(DEBIAN) | {"repositories_mirror": "http://127.0.0.1:8000/old"}
    why = solo.install(values, fails=True)
    assert "the key of beegfs, http://127.0.0.1:8000/old/www.beegfs.io/release/beegfs_8.4/gpg/GPG-KEY-beegfs" in why
    assert "repositories_beegfs_key, repositories_keys or repositories_mirror" in why


def test_dnf_takes_what_the_vendor_signed_from_a_mirror(solo: Solo) -> None:
    values = variables(ROCKY)
    solo.install(values)
    assert sorted(solo.out("solo", "rpm -qa --qf '%{NAME}\\n' | grep -v gpg-pubkey").split()) == names(values)
    assert re.search(r"solo .* changed=0 ", solo.install(values))


@pytest.mark.long
def test_dnf_takes_a_key_from_a_file_and_nothing_that_another_one_signed(solo: Solo) -> None:
    for signer in ("stranger", "vendor"):
        key = solo.out("solo", f"GNUPGHOME=/srv/keys gpg --armor --export {signer}")
        (solo.directory / f"{signer}.asc").write_text(key, encoding="utf-8")
    solo.out("solo", "rpm -e --allmatches nvidia-container-toolkit gpg-pubkey 2>&1; dnf -q clean all")
    values = variables(ROCKY)
    keys = {"nvidia_container": str(solo.directory / "stranger.asc")}
    why = solo.install(values | {"repositories_keys": keys}, fails=True)
    assert "nvidia-container-toolkit" in why
    keys = {"nvidia_container": str(solo.directory / "vendor.asc")}
    solo.install(values | {"repositories_keys": keys})
    assert solo.out("solo", "rpm -q nvidia-container-toolkit").startswith("nvidia-container-toolkit-1.0")
