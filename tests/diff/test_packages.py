"""Packages in a plan: what replaces the driver under jobs, and what is installed beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustergen.diff.steps import PREPARE, PUT, TURNS
from strategies.diffs import diff, rendered, write

pytestmark = pytest.mark.slow

BRANCH = ("slurm:", "gpu: {driver: '570'}\nslurm:")
NEWER = ("slurm:", "gpu: {driver: '580'}\nslurm:")
OLD = "nvidia-driver-pinning-570 nvidia-fabricmanager-570 libnvidia-nscq-570"
NEW = "nvidia-driver-pinning-580 nvidia-fabricmanager libnvidia-nscq"


def plan(*sides: Path) -> tuple[str, list[dict[str, Any]], list[str]]:
    """The verdict, the changes of packages, and the steps: play and text."""
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    packages = [change for change in whole["changes"] if change["kind"] == "packages"]
    return whole["verdict"], packages, [f"{step['play']}: {step['text']}" for step in whole["steps"]]


@pytest.mark.parametrize(("edits", "old", "new"), [((BRANCH, NEWER), OLD, NEW), ((NEWER, BRANCH), NEW, OLD)])
@pytest.mark.parametrize("of_trees", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_another_branch_of_the_driver_takes_an_empty_node_and_a_reboot(
    tmp_path: Path, edits: tuple[tuple[str, str], ...], old: str, new: str, of_trees: bool
) -> None:
    sides = [write(tmp_path / str(number), edit) for number, edit in enumerate(edits)]
    verdict, (change,), steps = plan(*(map(rendered, sides) if of_trees else sides))
    assert verdict == "drains and reboots 4 nodes (c[1-4]); no job is lost"
    assert (change["name"], change["old"], change["new"], change["nodes"]) == ("NVIDIA driver", old, new, "c[1-4]")
    assert [value["label"] for value in change["manifest"]] == ["gpu.driver"]
    assert steps == [f"{TURNS}: node by node: drain, install {new}, reboot, resume"]


def test_a_branch_that_the_manifest_no_longer_names_is_released_by_hand(tmp_path: Path) -> None:
    _, _, steps = plan(write(tmp_path / "a", BRANCH), write(tmp_path / "b"))
    text = "None: release branch 570 of the driver on type_gpu: apt-get purge nvidia-driver-pinning-570, or dnf"
    assert steps[-1].startswith(text)
    _, _, steps = plan(write(tmp_path / "c", BRANCH), write(tmp_path / "d", NEWER))
    assert "None" not in steps[-1]


def test_another_flavour_of_the_kernel_modules_is_a_replacement(tmp_path: Path) -> None:
    one = write(tmp_path / "a", ("slurm:", "gpu: {kernel_modules: open}\nslurm:"))
    other = write(tmp_path / "b", ("slurm:", "gpu: {kernel_modules: proprietary}\nslurm:"))
    _, (change,), _ = plan(one, other)
    assert (change["old"], change["new"]) == ("nvidia-open", "cuda-drivers")
    assert [effect["kind"] for effect in change["effects"]] == ["reboot"]


def test_gpus_are_partitioned_while_nodes_are_drained_once_and_before_slurm_counts_instances(tmp_path: Path) -> None:
    mig = [
        ("memory: 1TiB}", "memory: 1TiB, gpus: {mig: all}}"),
        ("slurm:\n", "gpu: {mig_plans: {all: {profiles: {1g.10gb: 7}}}}\nslurm:\n"),
    ]
    _, _, steps = plan(write(tmp_path / "a"), write(tmp_path / "b", *mig))
    assert [step.partition(": ")[2] for step in steps] == [
        "install nvidia-mig-manager",
        "drain, and wait for their jobs",
        "install the changed files",
        "systemctl daemon-reload",
        "restart nvidia-mig-manager.service",
        "scontrol reconfigure, once",
        "resume",
    ]


def test_packages_of_something_new_are_installed_beside_jobs_and_those_of_something_gone_stay(tmp_path: Path) -> None:
    one = write(tmp_path / "a")
    entry = "storage:\n  home: {type: nfs, server: 10.0.9.9, path: /home, mount: /home}\nslurm:"
    other = write(tmp_path / "b", ("slurm:", entry))
    _, (change,), steps = plan(one, other)
    assert (change["old"], change["new"], change["nodes"]) == (None, "nfs-common", "c[1-4]")
    assert steps[0] == f"{PREPARE}: install nfs-common"
    _, (change,), _ = plan(other, one)
    assert (change["old"], change["new"], change["reason"]) == (
        "nfs-common",
        None,
        "no playbook removes packages: they stay installed",
    )


def test_a_service_that_nothing_needs_any_more_is_stopped(tmp_path: Path) -> None:
    monitor = ("slurm-accounting]}", "slurm-accounting, monitoring]}")
    grafana = "slurm:\n", "monitoring: {grafana: {enabled: %s}}\nslurm:\n"
    sides = [write(tmp_path / word, monitor, (grafana[0], grafana[1] % word)) for word in ("true", "false")]
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    (change,) = [change for change in whole["changes"] if change["kind"] == "unit"]
    assert (change["old"], change["nodes"]) == ("grafana-server.service", "head")
    assert [value["label"] for value in change["manifest"]] == ["monitoring.grafana.enabled"]
    texts = [step["text"] for step in whole["steps"]]
    assert "stop and disable grafana-server.service" in texts
    assert "restart grafana-server.service" not in texts


def test_the_database_of_an_accounting_role_that_moves_is_copied_by_people(tmp_path: Path) -> None:
    one = write(tmp_path / "a", ("slurm:\n", "  - {name: db, type: service, address: 10.0.255.2}\nslurm:\n"))
    roles = (
        ("slurm-controller, slurm-accounting]", "slurm-controller]"),
        ("address: 10.0.255.2", "address: 10.0.255.2, roles: [slurm-accounting]"),
    )
    other = write(tmp_path / "b", *roles, text=one.read_text())
    whole = json.loads(diff("--format", "json", one, other).stdout)["clusters"][0]
    text = "stop slurmdbd on head, and copy its database: slurmctld ends without it"
    assert (None, text, "db") in [(step["play"], step["text"], step["hosts"]) for step in whole["steps"]]


FILE_SYSTEMS = {
    "beegfs": '{type: beegfs, version: "8.2", mount: /data, mgmtd: 10.0.9.9}',
    "lustre": '{type: lustre, version: "2.15", mount: /data, mgs: [10.0.9.9@tcp]}',
    "nfs": '{type: nfs, version: "4.1", mount: /data, server: 10.0.9.9, path: /data}',
}


def storage(path: Path, *entries: str) -> Path:
    listed = "".join(f"  {name}: {text}\n" for name, text in zip(("data", "two"), entries, strict=False))
    return write(path, ("debian-13", "rocky-9"), ("slurm:\n", f"storage:\n{listed}slurm:\n"))


@pytest.mark.parametrize(("kind", "old", "new"), [("beegfs", "8.2", "8.4"), ("lustre", "2.15", "2.16")])
def test_another_release_of_packages_with_equal_names_is_a_manual_upgrade(
    tmp_path: Path, kind: str, old: str, new: str
) -> None:
    text = FILE_SYSTEMS[kind]
    sides = [storage(tmp_path / "a", text), storage(tmp_path / "b", text.replace(old, new))]
    verdict, (change,), steps = plan(*sides)
    assert verdict == "files only; step 1 is manual"
    assert (change["name"], change["old"], change["new"], change["nodes"]) == (f"{kind} data", old, new, "c[1-4]")
    assert [value["label"] for value in change["manifest"]] == ["storage.data.version"]
    assert steps[0] == f"None: upgrade {kind} data from {old} to {new} by its guide: servers, then drained clients"
    assert not any("install 8" in step or "install 2" in step for step in steps)


def test_packages_of_beegfs_are_replaced_on_drained_nodes_that_then_reboot(tmp_path: Path) -> None:
    """The module in use is of the old version: the new configuration is mounted by the boot alone."""
    text = FILE_SYSTEMS["beegfs"].replace("8.2", "7.4")
    verdict, changes, steps = plan(storage(tmp_path / "a", text), storage(tmp_path / "b", text.replace("7.4", "8.2")))
    assert verdict.startswith("needs a maintenance window for beegfs; drains and reboots 4 nodes (c[1-4])")
    assert [each["kind"] for each in changes[0]["effects"]] == ["window", "reboot"]
    drained = [
        "install beegfs-tools",
        "stop and disable beegfs-helperd.service",
        "reboot",
    ]
    of_site = [step.partition(": ")[2] for step in steps]
    assert of_site[of_site.index("drain, and wait for their jobs") :] == [
        "drain, and wait for their jobs",
        "install the changed files",
        "systemctl daemon-reload",
        *drained,
        "resume",
    ]
    assert of_site.count("install beegfs-tools") == 1


@pytest.mark.parametrize(("kind", "old", "new"), [("beegfs", "8.2", "7.4"), ("nfs", "4.1", "4.2")])
def test_another_major_release_and_another_protocol_are_no_upgrade_under_the_same_names(
    tmp_path: Path, kind: str, old: str, new: str
) -> None:
    text = FILE_SYSTEMS[kind]
    sides = [storage(tmp_path / "a", text), storage(tmp_path / "b", text.replace(old, new))]
    _, changes, _ = plan(*sides)
    assert [change["name"] for change in changes] == ["BeeGFS"] * (kind == "beegfs")


@pytest.mark.parametrize("replaced", [False, True])
def test_lnet_ends_with_its_file(tmp_path: Path, *, replaced: bool) -> None:
    """lnet.service imports /etc/lnet.conf and does not start without it."""
    old = storage(tmp_path / "a", FILE_SYSTEMS["lustre"].replace("}", ", lnet: [{name: tcp, interfaces: [eno1]}]}"))
    new = storage(tmp_path / "b", FILE_SYSTEMS["nfs"]) if replaced else write(tmp_path / "b", ("debian-13", "rocky-9"))
    _, _, steps = plan(old, new)
    (last,) = [step.partition(": ")[2] for step in steps if "lnet" in step]
    turn = "node by node: drain, unmount data.mount, stop and disable lnet.service, resume"
    assert last == ("stop and disable lnet.service" if replaced else turn)


def test_a_second_file_system_is_mounted_without_a_turn(tmp_path: Path) -> None:
    text = FILE_SYSTEMS["beegfs"]
    other = text.replace("/data", "/two").replace("9.9", "9.8")
    sides = [storage(tmp_path / "a", text), storage(tmp_path / "b", text, other)]
    verdict, _, steps = plan(*sides)
    assert verdict == "files only; no restart required"
    assert steps[-1] == f"{PUT}: mount two.mount"
