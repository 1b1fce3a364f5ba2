"""The order in which a node carries out what changed files require: the commands that it runs, recorded."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import effects, journal
from ansible_collections.clustergen.cluster.plugins.modules import node_put
from strategies.recorded_node import Node

SLURMD, SLURMCTLD, SLURMDBD = "slurmd.service", "slurmctld.service", "slurmdbd.service"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "DIRECTORY", str(tmp_path))
    monkeypatch.setattr(journal, "PLACE", str(tmp_path / "state.json"))


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A port that somebody listens on, as slurmdbd's."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(effects, "_dbd_port", lambda: server.getsockname()[1])
        yield


def pending(*names: str) -> list[str]:
    """Effects that the journal has."""
    content = journal.read()
    journal.add_pending(content, names)
    journal.write(content)
    return list(names)


def run_local(node: Node, *names: str) -> effects.Worker:
    worker = effects.Worker(node)
    effects.local(worker, pending(*names))
    return worker


def test_units_are_enabled_in_one_call_and_one_by_one_where_it_fails() -> None:
    node = Node("b.timer")
    node.disabled = {"a.mount", "b.timer"}
    worker = effects.Worker(node)
    worker.start(["a.mount", "b.timer", "c.service"])
    enable = "SYSTEMCTL_SKIP_SYSV=1 systemctl enable a.mount b.timer"
    assert node.commands == [enable, "systemctl start a.mount", "systemctl start c.service"]
    assert worker.done == ["start:a.mount", "start:b.timer", "start:c.service"]

    node = Node("a.mount", "b.timer")
    node.disabled = {"a.mount", "b.timer"}
    node.failing = {enable, "systemctl enable a.mount"}
    worker = effects.Worker(node)
    worker.start(["a.mount", "b.timer"])
    assert worker.done == ["start:b.timer"]
    assert worker.failed == ["systemctl enable a.mount failed: failed"]


def test_each_effect_comes_after_what_it_needs() -> None:
    node = Node("chrony.service")
    worker = run_local(
        node,
        "restart:nfs-server.service",
        "reload:chrony.service",
        "remount:home.mount",
        "run:clustergen-network.service",
        "sysctl",
        "daemon-reload",
        "create",
    )
    assert node.commands[0] == "systemd-sysusers"
    assert node.commands[1].startswith("systemd-tmpfiles --create")
    assert node.commands[2:] == [
        "systemctl daemon-reload",
        "sysctl --system --quiet --ignore",
        "systemctl restart clustergen-network.service",
        "systemctl restart home.mount",
        "systemctl reload chrony.service",
        "systemctl restart nfs-server.service",
    ]
    assert worker.failed == []
    assert journal.read()["pending"] == []


def test_a_new_mount_comes_after_the_restart_of_what_it_requires() -> None:
    node = Node("lnet.service", "old.mount")
    node.needs = {"new.mount": "lnet.service", "old.mount": "lnet.service"}
    worker = effects.Worker(node)
    pending("restart:lnet.service", "restart:chrony.service")
    node_put.carry_out(worker, [], ["new.mount", "old.mount"])
    assert node.commands == [
        "systemctl restart lnet.service",
        "systemctl start new.mount",
        "systemctl start old.mount",
        "systemctl restart chrony.service",
    ]
    node.commands.clear()
    pending("restart:lnet.service")
    node_put.carry_out(worker, [], ["new.mount", "old.mount"])
    assert node.commands == ["systemctl restart lnet.service"]


def test_a_failed_effect_stays_pending_and_the_others_are_done() -> None:
    node = Node()
    node.failing = {"systemctl restart home.mount"}
    worker = run_local(node, "restart:chrony.service", "remount:home.mount")
    assert node.commands == ["systemctl restart home.mount", "systemctl restart chrony.service"]
    assert worker.done == ["restart:chrony.service"]
    assert len(worker.failed) == 1
    assert journal.read()["pending"] == ["remount:home.mount"]


def test_slurmd_is_started_again_after_a_mount_that_took_it_along() -> None:
    node = Node(SLURMD)
    node.needs = {SLURMD: "scratch.mount"}
    worker = run_local(node, "remount:scratch.mount")
    assert node.commands == ["systemctl restart scratch.mount", "systemctl start slurmd.service"]
    assert worker.done == ["remount:scratch.mount", "start:slurmd.service"]


@pytest.mark.parametrize("active", [(), (SLURMD,)], ids=["stopped", "not dependent on the mount"])
def test_slurmd_is_not_started_where_the_mount_did_not_stop_it(active: tuple[str, ...]) -> None:
    node = Node(*active)
    run_local(node, "remount:scratch.mount")
    assert node.commands == ["systemctl restart scratch.mount"]


def test_directories_of_daemons_are_made_in_what_was_mounted_over_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """systemd-tmpfiles ran before the mount: without its directory below /var/log, slurmctld has no log."""
    monkeypatch.setattr(effects, "tmpfiles", lambda: ["systemd-tmpfiles", "--create", "slurmctld.conf"])
    made = "systemd-tmpfiles --create --prefix=/var/log slurmctld.conf"
    node = Node()
    node.places = {"var-log.mount": "/var/log"}
    run_local(node, "remount:var-log.mount")
    assert node.commands == ["systemctl restart var-log.mount", made]
    fresh = Node()
    fresh.places = node.places
    effects.Worker(fresh).start(["var-log.mount", "chrony.service"])
    assert fresh.commands == ["systemctl start var-log.mount", made, "systemctl start chrony.service"]


def test_slurms_daemons_follow_each_other_and_are_no_local_effects(database: None) -> None:
    node = Node(SLURMD, SLURMCTLD, SLURMDBD)
    units = [SLURMD, SLURMCTLD, SLURMDBD]
    names = pending("restart-slurmd", "restart-slurmctld", "restart-slurmdbd", f"restart:{SLURMD}")
    worker = effects.Worker(node)
    effects.local(worker, names)
    assert node.commands == []
    effects.slurm(worker, names, units)
    assert node.commands == [f"systemctl restart {unit}" for unit in (SLURMDBD, SLURMCTLD, SLURMD)]
    assert worker.failed == []
    assert journal.read()["pending"] == []


def test_a_running_controller_is_reconfigured_and_a_started_one_is_not() -> None:
    running, stopped = Node(SLURMCTLD), Node()
    for node in (running, stopped):
        effects.slurm(effects.Worker(node), pending("reconfigure"), [SLURMCTLD])
    assert running.commands == ["scontrol reconfigure"]
    assert stopped.commands == ["systemctl start slurmctld.service"]


def test_the_identity_of_a_cluster_is_forgotten_while_the_controller_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = tmp_path / "clustername"
    identity.write_text("old\n", encoding="ascii")
    monkeypatch.setattr(effects, "_setting", lambda file, key: str(tmp_path))
    node = Node(SLURMCTLD)
    effects.slurm(effects.Worker(node), pending("new-cluster-id", "reconfigure"), [SLURMCTLD])
    words = ["systemctl stop slurmctld.service", "systemctl start slurmctld.service", "scontrol reconfigure"]
    assert node.commands == words, "slurmd reads files again that a slurmctld which starts does not tell it of"
    assert not identity.exists()


@pytest.mark.parametrize("places", [("old",), ("old", "new"), ("new", "old")])
def test_the_state_of_a_stopped_controller_is_copied_unless_the_new_place_is_newer(
    places: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"StateSaveLocation": f"{tmp_path}/new", "SlurmUser": "root"}
    monkeypatch.setattr(effects, "_setting", lambda file, key: settings.get(key))
    for seconds, name in enumerate(places):
        (tmp_path / name).mkdir()
        (tmp_path / name / "job_state").write_text(name, encoding="ascii")
        os.utime(tmp_path / name / "job_state", (seconds, seconds))
    node = Node(SLURMCTLD)
    worker = effects.Worker(node)
    effects.slurm(worker, pending(f"move-state:{tmp_path}/old", "restart-slurmctld"), [SLURMCTLD])
    stopped, *between, started = node.commands
    assert (stopped, started) == ("systemctl stop slurmctld.service", "systemctl start slurmctld.service")
    made = [] if "new" in places else [f"/usr/local/sbin/clustergen-write --directory {tmp_path}/new root"]
    copied = f"cp --archive --no-target-directory {tmp_path}/old {tmp_path}/new"
    assert [line.partition(" --init-groups ")[2] or line for line in between] == (
        [] if places[-1] == "new" else [*made, copied]
    )
    assert (worker.failed, journal.read()["pending"]) == ([], [])


def test_a_controller_whose_state_could_not_be_copied_stays_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"StateSaveLocation": str(tmp_path), "SlurmUser": "root"}
    monkeypatch.setattr(effects, "_setting", lambda file, key: settings.get(key))
    node = Node(SLURMCTLD)
    node.failing = {f"setpriv --reuid=0 --regid=0 --init-groups cp --archive --no-target-directory / {tmp_path}"}
    worker = effects.Worker(node)
    effects.slurm(worker, pending("move-state:/"), [SLURMCTLD])
    assert node.commands[0] == "systemctl stop slurmctld.service"
    assert SLURMCTLD not in node.active
    assert worker.failed == [f"copy / to {tmp_path}: failed"]
    assert journal.read()["pending"] == ["move-state:/"]


@pytest.mark.parametrize(("replaces", "earlier"), [(True, []), (False, ["restart:chrony.service"])])
def test_live_files_replace_what_an_earlier_run_left_but_for_what_needs_an_empty_node(
    replaces: bool, earlier: list[str]
) -> None:
    """The effects of a live run have been judged anew; another phase knows of its own alone."""
    waiting = ["remount:home.mount", "drain:lnet.service", "reboot"]
    pending("restart:chrony.service", *waiting)
    asked = {"replaces": replaces, "effects": ["sysctl"], "tree": "new", "record": {}, "units": ["a.timer", SLURMD]}
    state, _ = node_put.planned(asked)
    assert state["units"] == ["a.timer"]
    assert state["pending"] == [*earlier, *waiting, "sysctl"]


@pytest.mark.parametrize(("boot", "left"), [(None, ["reboot", "sysctl"]), ("of an earlier boot", ["sysctl"])])
def test_a_reboot_is_pending_until_the_node_has_booted(boot: str | None, left: list[str]) -> None:
    pending("reboot", "sysctl")
    content = journal.read()
    journal.write({**content, "boot": boot or content["boot"]})
    assert journal.read()["pending"] == left


def test_a_unit_of_another_node_is_off_the_journal_without_a_command() -> None:
    node = Node()
    worker = effects.Worker(node, without=["nfs-*"])
    effects.local(worker, pending("restart:nfs-server.service"))
    assert node.commands == []
    assert journal.read()["pending"] == []


def test_a_service_is_stopped_once_and_last() -> None:
    content = journal.read()
    journal.write({**content, "units": ["grafana-server.service", "prometheus.service"]})
    node = Node("grafana-server.service")
    run_local(node, "stop:grafana-server.service", "reload:prometheus.service")
    assert node.commands[-1] == "systemctl disable --now grafana-server.service"
    assert journal.read()["units"] == ["prometheus.service"]
    assert journal.read()["pending"] == []
