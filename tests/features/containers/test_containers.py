"""Container runtimes: which nodes get them, and what depends on the node. Their programs read the files in `verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.render.tree import Tree
from strategies.trees import codes_of, manifest, node_files, text_of, tree_of

DAEMON = "/etc/docker/daemon.json"
REGISTRIES = "/etc/containers/registries.conf.d/50-clustergen.conf"
CDI = "/etc/systemd/system/clustergen-cdi.service"
ALL: dict[str, Any] = {
    "docker": {"roles": ["slurm-controller", "slurm-compute"]},
    "podman": {"storage": "/srv/podman", "roles": ["slurm-compute"]},
    "apptainer": {"binds": ["/data"]},
    "oci_jobs": "crun",
    "mirrors": {"docker.io": "https://m.example.org:5000", "quay.io": "http://m.example.org:5001"},
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return tree_of(manifest(containers=ALL), tmp_path_factory.mktemp("containers"))


@pytest.mark.slow
def test_a_runtime_is_on_the_nodes_of_its_roles(tree: Tree) -> None:
    head, compute = node_files(tree, "head"), node_files(tree, "c1")
    assert {DAEMON} == {target for target in (DAEMON, REGISTRIES, CDI) if target in head}
    assert {DAEMON, REGISTRIES, CDI, "/etc/apptainer/apptainer.conf", "/etc/slurm/oci.conf"} <= compute.keys()
    packages = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)["cluster_packages"]
    assert {group for group in packages if "docker" in packages[group]} == {"docker_node__gpu", "docker_node__service"}
    assert packages["podman_node"] == ["podman"]
    assert packages["cdi_node"] == ["nvidia_container_toolkit"]


def test_only_nodes_with_gpus_have_the_runtime_of_nvidia(tree: Tree) -> None:
    assert "runtimes" not in json.loads(text_of(tree, "head", DAEMON))
    assert json.loads(text_of(tree, "c1", DAEMON))["runtimes"]["nvidia"]["path"] == "nvidia-container-runtime"


def test_mirrors_reach_every_runtime_that_can_use_them(tree: Tree) -> None:
    assert json.loads(text_of(tree, "c1", DAEMON))["registry-mirrors"] == ["https://m.example.org:5000"]
    text = text_of(tree, "c1", REGISTRIES)
    assert text.count("[[registry.mirror]]") == 2
    assert 'location = "m.example.org:5001"\ninsecure = true' in text


@pytest.mark.slow
@pytest.mark.parametrize(("group", "owner"), [(None, "root"), ("docker", "docker")])
def test_docker_is_for_root_unless_a_group_is_named(group: str | None, owner: str, tmp_path: Path) -> None:
    data = manifest(containers={"docker": {"group": group} if group else {}})
    drop_in = text_of(tree_of(data, tmp_path), "c1", "/etc/systemd/system/docker.socket.d/50-clustergen.conf")
    assert f"\nSocketGroup={owner}\n" in drop_in
    assert ("docker-group-is-root" in codes_of(data, tmp_path)) == (group is not None)


def test_bridges_of_docker_do_not_overlap_the_cluster(tmp_path: Path) -> None:
    for pool, codes in (("10.0.0.0/16", ["networks-overlap"]), ("172.30.0.1/16", ["cidr-malformed"])):
        assert codes_of(manifest(containers={"docker": {"address_pool": pool}}), tmp_path) == codes


def test_oci_jobs_require_a_release(tmp_path: Path) -> None:
    data = manifest(containers={"oci_jobs": "runc"}, os="debian-12", slurm={"version": "22.05"})
    assert "slurm-feature-too-new" in codes_of(data, tmp_path)


def test_a_configless_cluster_has_oci_conf_on_its_controller(tmp_path: Path) -> None:
    tree = tree_of(manifest(containers={"oci_jobs": "crun"}, slurm={"version": "24.11", "configless": True}), tmp_path)
    assert "/etc/slurm/oci.conf" in node_files(tree, "head")
    assert "/etc/slurm/oci.conf" not in node_files(tree, "c1")
