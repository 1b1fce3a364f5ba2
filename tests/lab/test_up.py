"""Checks of `lab up` before it builds anything."""

from __future__ import annotations

import ipaddress
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.diagnostics import ClustergenError
from clustergen.lab import engine as engines
from clustergen.lab import file_systems, images, node_images, nodes, run, substitutions
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare
from strategies.inventories import ML_TRAINING
from strategies.trees import COMPUTE, GPU, HEAD, cluster_of, manifest


@pytest.mark.slow
def test_a_network_in_use_is_reported_before_an_image_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[tuple[str, ...]] = []

    def recorded(engine: Any, *words: str, **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(words)
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path))
    monkeypatch.setattr(engines.Engine, "run", recorded)
    monkeypatch.setattr(nodes, "_routes", lambda: [ipaddress.ip_network("10.0.0.0/16")])
    monkeypatch.setattr(images, "_make", lambda *_: pytest.fail("an image was built"))
    monkeypatch.setattr(images, "exists", lambda *_: False)
    lab = prepare(compiler.validate(ML_TRAINING), ML_TRAINING, "in-use", Wish())
    engine = engines.Engine("docker", "/bin/false", tmp_path, hybrid=False)
    with pytest.raises(ClustergenError, match=r"10\.0\.0\.0/24 is in use on this machine"):
        run.up(engine, lab, Wish(), lambda _: None)
    assert not [words for words in commands if words[:2] == ("network", "create")]


@pytest.mark.slow
def test_installed_packages_are_another_image_and_a_substitution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path))
    compiled = compiler.validate(ML_TRAINING)
    listed, names = [], set()
    for wish in (Wish(), Wish(installed=True).over(Wish()), Wish().over(Wish(installed=True))):
        lab = prepare(compiled, ML_TRAINING, "installed", wish)
        listed.append("--installed" in lab.work.substitutions.read_text(encoding="utf-8"))
        names.add(node_images.images_of(lab, wish)["debian-13"])
    assert listed == [False, True, True]
    assert len(names) == 2


@pytest.mark.slow
def test_containers_mount_a_file_system_that_needs_no_kernel_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path))
    place = tmp_path / "manifest.yaml"
    ceph = {"type": "cephfs", "monitors": ["m1"], "fsid": "00000000-0000-0000-0000-000000000000", "user": "hpc"}
    storage = {
        "a": {**ceph, "mount": "/a", "mounter": "fuse"},
        "b": {**ceph, "mount": "/b", "mounter": "fuse"},
        "c": {**ceph, "mount": "/c"},
    }
    place.write_text(json.dumps(manifest(storage=storage)), encoding="utf-8")
    compiled = compiler.validate(place)
    lab = prepare(compiled, place, None, Wish(mounts=["a"]))
    without = yaml.safe_load(lab.work.inventory.read_text(encoding="utf-8"))["all"]["vars"]
    assert [unit for unit in without["cluster_without_units"] if unit.endswith(".mount")] == ["b.mount", "c.mount"]
    assert ("cephfs" in without["cluster_without_packages"], "ceph_fuse" in without["cluster_without_packages"]) == (
        True,
        False,
    )
    directories = file_systems.shared_directories(lab.cluster, ["a"])
    assert {place for listed in directories.values() for _, place in listed} == {"/b", "/c"}
    for name, reason in (("c", "a container cannot mount it"), ("d", "no such file system")):
        with pytest.raises(ClustergenError, match=reason):
            prepare(compiled, place, None, Wish(mounts=[name]))


@pytest.mark.slow
def test_nodes_have_the_addresses_of_the_manifest_on_a_network_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hardware address follows from the address: other nodes still know a node that is made anew."""
    commands: list[str] = []

    def recorded(engine: Any, *words: str, **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(" ".join(words))
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path))
    monkeypatch.setattr(engines.Engine, "run", recorded)
    monkeypatch.setattr(nodes, "_prepare", lambda *_: "ssh-ed25519 AAAA")
    monkeypatch.setattr(nodes, "_room", lambda _: None)  # labs of other tests may fill the machine
    place = tmp_path / "manifest.yaml"
    place.write_text(json.dumps(manifest()), encoding="utf-8")
    lab = prepare(compiler.validate(place), place, "addresses", Wish())
    lab.work.key.with_suffix(".pub").write_text("key", encoding="utf-8")
    containers = list(nodes.nodes(lab.work, lab.cluster, {"debian-13": "image"}))
    for sets_mac in (True, False):
        engine = engines.Engine("podman", "/bin/false", tmp_path, hybrid=False, sets_mac=sets_mac)
        commands.clear()
        nodes.make_network(engine, lab.work, lab.cluster, lab.document)
        nodes.start(engine, lab.work, containers, None, lambda _: None)
        made = [one for one in commands if one.startswith("network create --subnet 10.0.0.0/24 ")]
        assert [one.split()[-1] for one in made] == [nodes.network(lab.work)]
        (c3,) = (one for one in commands if " --hostname c3 " in one)
        assert f" --network {nodes.network(lab.work)} --ip 10.0.0.13 " in c3
        assert (" --mac-address 02:42:0a:00:00:0d " in c3) is sets_mac


@pytest.mark.slow
def test_programs_that_only_the_nodes_have_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path / "labs"))
    (tmp_path / "site/slurm_compute/etc/slurm").mkdir(parents=True)
    (tmp_path / "site/slurm_compute/etc/slurm/epilog.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    options = {
        "PluginDir": "/opt/slurm/lib",
        "Prolog": "/etc/slurm/prolog.sh,/etc/slurm/epilog.sh",
        "Epilog": "/etc/slurm/epilog.sh",
        "UnkillableStepProgram": "/usr/bin/true",
    }
    place = tmp_path / "manifest.yaml"
    slurm = {"version": "24.11", "options": options, "scripts": {"prolog": False, "epilog": False}}
    place.write_text(json.dumps(manifest(slurm=slurm)), encoding="utf-8")
    compiled = compiler.validate(place)
    assert compiled.ok, compiled.diagnostics
    lab = prepare(compiled, place, None, Wish())
    kept = lab.document["slurm"]["options"]
    assert {key: value for key, value in kept.items() if key in options} == {
        key: options[key] for key in ("Epilog", "UnkillableStepProgram")
    }
    listed = lab.work.substitutions.read_text(encoding="utf-8")
    assert "only the nodes have: PluginDir=/opt/slurm/lib, Prolog=/etc/slurm/prolog.sh,/etc/slurm/epilog.sh\n" in listed


BY_HAND = {"defaults": "slurm", "state_location": "/var/spool/slurm", "partitions": {"p": {"nodes": "all"}}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slurm", "host"),
    [
        ({"accounting": {"slurmdbd": "db.example.org"}}, "head"),
        ({"accounting": {"slurmdbd": "c1"}}, "head"),
        ({"accounting": {"slurmdbd": "db"}}, "db"),
        ({"options": {"AccountingStorageType": "accounting_storage/slurmdbd"}, **BY_HAND}, "head"),
    ],
)
def test_slurmdbd_of_another_machine_runs_in_the_lab(
    slurm: dict[str, Any], host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path / "labs"))
    place = tmp_path / "manifest.yaml"
    head = {**HEAD, "roles": ["slurm-controller"]}
    db = {**HEAD, "name": "db", "address": "10.0.0.2", "roles": ["login"]}
    text = manifest(nodes=[head, db, COMPUTE], slurm={"version": "24.11", **slurm}, manage=["slurm"])
    place.write_text(json.dumps(text), encoding="utf-8")
    compiled = compiler.validate(place)
    assert compiled.ok, compiled.diagnostics
    lab = prepare(compiled, place, None, Wish())
    assert lab.cluster.slurm.accounting_hosts == (host,)
    conf = (lab.work.tree / "overlays/slurm_node/etc/slurm/slurm.conf").read_text(encoding="utf-8")
    assert f"\nAccountingStorageHost={host}" in conf
    assert list(lab.work.tree.rglob("slurmdbd.conf"))
    assert "slurmdbd and its database on a node" in lab.work.substitutions.read_text(encoding="utf-8")


def test_nodes_have_the_device_files_of_gres_conf(tmp_path: Path) -> None:
    lines = [
        {"AutoDetect": "nvml"},
        {"NodeName": "c[1-2]", "Name": "gpu", "Type": "titan", "File": "/dev/nvidia[0-1]"},
        {"NodeName": "c2", "Name": "gpu", "Type": "gtx", "File": "/dev/nvidia2,/dev/nvidia3"},
        {"NodeName": "c3", "Name": "mic", "File": "/dev/mic0"},
    ]
    kind = {key: value for key, value in GPU.items() if key != "gpus"}
    two = {**COMPUTE, "name": "d1", "address": "10.0.0.21", "type": "two"}
    changes = {
        "nodes": [HEAD, COMPUTE, two],
        "node_types": {"gpu": kind, "two": {**GPU, "gpus": {**GPU["gpus"], "count": 2, "numa": [0, 1]}}},
    }
    cluster = cluster_of(manifest(slurm={"version": "24.11", "gres_lines": lines}, **changes), tmp_path)
    assert substitutions.device_files(cluster) == {"c1": 2, "c2": 4, "d1": 2}
