"""The steps for one host, by the files that differ on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import (
    Verdict,
    boot,
    elsewhere,
    emptied_by,
    judge,
)

CONF = "/etc/slurm/slurm.conf"
NODE = ["slurmd.service", "munge.service"]
HOME = "/etc/systemd/system/home.mount"
MOVED = {HOME: "window:home.mount"}
PAM = "/etc/pam.d/sshd"
HEAD = ["slurmctld.service", "slurmdbd.service"]
SLURM = """ClusterName=c
SlurmctldHost=head
NodeName=n[1-2] CPUs=4 RealMemory=1000
PartitionName=all Nodes=n[1-2] MaxTime=60
"""


def verdict(
    files: dict[str, str],
    *,
    host: str = "n1",
    units: Iterable[str] = NODE,
    exists: bool = True,
    what: Iterable[str] = ("content",),
    old: str = SLURM,
    new: str = SLURM,
    release: str = "24.11",
    running: Iterable[str] = ("slurmd.service",),
    idle: Iterable[str] = (),
    pending: Iterable[str] = (),
    leftovers: dict[str, str] | None = None,
    **more: Any,
) -> Verdict:
    """`files`: target → effect of the tree; all of them differ."""
    state = {
        "differs": [{"target": target, "what": list(what), "there": exists} for target in files],
        "leftovers": list(leftovers or {}),
        "effects_of": leftovers or {},
        "pending": list(pending),
        "units": {key: {} for key in idle},
        "running": list(running),
    }
    roles = {"all", {"head": "slurm_controller", "rtr1": "lnet_router"}.get(host, "slurm_compute")}
    contents = {CONF: (old if exists else None, new)} if CONF in files else {}
    entries = {target: {"effect": effect} for target, effect in files.items()}
    return judge(host, roles, release, entries, state, contents, list(units), "head", **more)


def test_a_changed_comment_in_slurm_conf_has_no_effect() -> None:
    assert verdict({CONF: "reconfigure"}, old=SLURM + "# by hand\n").effects == []


def test_a_partition_limit_requires_the_controller_alone() -> None:
    new = SLURM.replace("MaxTime=60", "MaxTime=90")
    assert verdict({CONF: "reconfigure"}, host="head", units=HEAD, new=new).effects == ["reconfigure"]
    assert "restart-slurmd" not in verdict({CONF: "reconfigure"}, new=new).effects


@pytest.mark.parametrize(
    ("release", "node", "head"), [("22.05", "restart-slurmd", "restart-slurmctld"), ("24.11", None, "reconfigure")]
)
def test_more_memory_of_a_node_takes_what_the_release_needs(release: str, node: str | None, head: str) -> None:
    new = SLURM.replace("RealMemory=1000", "RealMemory=2000")
    assert head in verdict({CONF: "reconfigure"}, host="head", units=HEAD, new=new, release=release).effects
    assert (node in verdict({CONF: "reconfigure"}, new=new, release=release).effects) == (node is not None)


def test_another_select_type_is_refused_while_jobs_are_there_and_restarts_both() -> None:
    new = SLURM + "SelectType=select/linear\n"
    answer = verdict({CONF: "reconfigure"}, host="head", units=HEAD, new=new)
    assert answer.refuse
    assert "restart-slurmctld" in answer.effects
    assert "restart-slurmd" in verdict({CONF: "reconfigure"}, new=new).effects


def test_switching_accounting_on_removes_the_saved_cluster_id_on_the_controller_alone() -> None:
    new = SLURM + "AccountingStorageType=accounting_storage/slurmdbd\n"
    on_head = verdict({CONF: "reconfigure"}, host="head", units=HEAD, new=new)
    assert on_head.effects == ["restart-slurmctld", "new-cluster-id"]
    assert verdict({CONF: "reconfigure"}, new=new).effects == []
    before = verdict({CONF: "reconfigure"}, host="head", units=HEAD, new=new, release="22.05")
    assert before.effects == ["restart-slurmctld"]


def test_nodes_that_are_set_to_down_are_drained_first() -> None:
    new = SLURM.replace("RealMemory=1000", "RealMemory=1000 State=DOWN")
    contents = {CONF: (SLURM, new)}
    assert verdict({CONF: "reconfigure"}, new=new).together
    assert emptied_by(["n1", "n2"], "24.11", contents) == ["n1", "n2"]
    assert emptied_by(["n1", "n2"], "24.11", contents, ("vacate",)) == ["n1", "n2"]
    assert emptied_by(["n1", "n2"], "24.11", contents, ("drain",)) == []


def test_a_changed_mount_waits_until_the_node_is_empty() -> None:
    answer = verdict({"/etc/systemd/system/home.mount": "remount:home.mount", "/etc/nccl.conf": "none"})
    assert answer.withheld == ["/etc/systemd/system/home.mount"]
    assert answer.later == ["remount:home.mount"]
    assert answer.effects == []


@pytest.mark.parametrize(("running", "guarded"), [([], [PAM]), (["slurmd.service"], [])])
def test_logins_are_restricted_once_slurmd_runs(running: list[str], guarded: list[str]) -> None:
    answer = verdict({PAM: "after:slurmd.service"}, running=running)
    assert (answer.guarded, answer.withheld, answer.effects, answer.later) == (guarded, [], [], [])


def test_a_mount_that_is_not_there_yet_is_only_started() -> None:
    answer = verdict({"/etc/systemd/system/home.mount": "remount:home.mount"}, exists=False, idle=["home.mount"])
    assert (answer.withheld, answer.later) == ([], [])


def test_a_unit_that_does_not_run_is_not_drained_for() -> None:
    assert verdict({"/etc/lnet.conf": "drain:lnet.service"}, idle=["lnet.service"]).effects == ["restart:lnet.service"]


def test_a_router_has_a_turn_though_it_runs_no_jobs() -> None:
    answer = verdict({"/etc/lnet.conf": "drain:lnet.service"}, host="rtr1", running=[])
    assert (answer.effects, answer.withheld, answer.later) == ([], ["/etc/lnet.conf"], ["drain:lnet.service"])


def test_a_changed_mode_alone_has_no_effect() -> None:
    assert verdict({"/etc/default/slurmd": "restart-slurmd"}, what=["mode"]).effects == []


def test_the_next_run_completes_one_that_was_cut_off() -> None:
    answer = verdict({}, pending=["restart-slurmd", "sysctl", "reboot"])
    assert answer.effects == ["restart-slurmd", "sysctl"]
    assert answer.later == ["reboot"]
    assert verdict({}, pending=["reboot"], reboots=False).later == []


def test_a_daemon_of_another_host_is_no_concern() -> None:
    assert verdict({"/etc/slurm/slurmdbd.conf": "restart-slurmdbd", "/x": "restart-slurm"}).effects == [
        "restart-slurmd"
    ]


def test_a_unit_file_that_goes_is_forgotten_by_systemd() -> None:
    leftovers = {"/etc/systemd/system/chrony.service.d/50-clustergen.conf": "restart:chrony.service"}
    assert verdict({}, leftovers=leftovers).effects == ["daemon-reload"]


def test_nothing_is_restarted_that_goes_with_its_file() -> None:
    effect = "run:clustergen-fabric-interfaces.service"
    settings, unit = "/etc/clustergen/fabric-interfaces", "/etc/systemd/system/clustergen-fabric-interfaces.service"
    assert verdict({}, leftovers={settings: effect}).effects == [effect]
    assert verdict({}, leftovers={settings: effect, unit: effect}).effects == ["daemon-reload"]


def test_a_configless_node_follows_its_controllers_changes() -> None:
    old = SLURM + "SlurmdSpoolDir=/var/spool/a\n"
    answer = elsewhere(["n1", "n2"], "24.11", {CONF: (old, old.replace("/a", "/b"))})
    assert set(answer) == {"n1", "n2"}
    assert elsewhere(["n1"], "24.11", {CONF: (SLURM, SLURM.replace("MaxTime=60", "MaxTime=90"))}) == {}
    assert elsewhere(["n1"], "24.11", {CONF: (None, SLURM)}) == {}
    user = SLURM + "SlurmdUser=slurmd\n"
    assert elsewhere(["n1"], "24.11", {CONF: (SLURM, user)}) == {"n1": ["restart-slurmd"]}


def test_a_partition_that_goes_names_itself_so_that_only_its_jobs_count() -> None:
    old = SLURM + "PartitionName=debug Nodes=n1\n"
    answer = verdict({CONF: "reconfigure"}, host="head", units=HEAD, old=old, new=SLURM)
    assert list(answer.cancels) == ["debug"]
    assert answer.refuse == []


@pytest.mark.parametrize(("inside", "effects"), [("none", []), ("daemon-reload", ["daemon-reload"])])
def test_a_file_counts_by_what_differs_inside(inside: str, effects: list[str]) -> None:
    answer = verdict({HOME: "remount:home.mount"}, inside={HOME: inside})
    assert (answer.withheld, answer.later, answer.effects) == ([], [], effects)
    answer = verdict({"/etc/modprobe.d/x.conf": "reboot"}, inside={"/etc/modprobe.d/x.conf": "none"}, reboots=False)
    assert answer.reasons == []


@pytest.mark.parametrize(
    ("changed", "leftovers", "withheld", "expected"),
    [
        (["/etc/hosts"], [], [], (False, False, False)),
        (["/etc/modprobe.d/nvidia.conf"], [], [], (True, False, True)),
        (["/etc/modprobe.d/nvidia.conf"], [], ["/etc/modprobe.d/nvidia.conf"], (True, False, False)),
        (["/etc/default/grub.d/50-x.cfg", "/etc/hosts"], [], ["/etc/hosts"], (False, True, True)),
        ([], ["/etc/clustergen/kernel-options"], ["/etc/clustergen/kernel-options"], (False, True, False)),
    ],
)
def test_the_initramfs_and_the_boot_loader_are_updated_for_the_files_that_they_copy(
    changed: list[str], leftovers: list[str], withheld: list[str], expected: tuple[bool, bool, bool]
) -> None:
    assert tuple(boot(changed, leftovers, withheld).values()) == expected


def test_a_file_system_of_another_server_is_remounted_with_those_of_all_clients() -> None:
    answer = verdict({HOME: "remount:home.mount"}, inside=MOVED)
    assert (answer.windows, answer.effects) == ({"home.mount": True}, ["remount:home.mount"])
    assert (answer.withheld, answer.later) == ([], [])
    answer = verdict({HOME: "remount:home.mount"}, inside=MOVED, idle=["home.mount"])
    assert (answer.windows, answer.withheld) == ({"home.mount": False}, [])


def test_a_file_system_that_moves_to_another_mount_point_goes_in_the_window() -> None:
    users = {"/etc/systemd/system/users.mount": "remount:users.mount"}
    leftovers = {HOME: "remount:home.mount"}
    answer = verdict(users, exists=False, leftovers=leftovers, inside=MOVED, idle=["users.mount"])
    assert (answer.windows, answer.later, answer.withheld) == ({"home.mount": True}, [], [])
    answer = verdict(users, exists=False, leftovers=leftovers, idle=["users.mount"])
    assert (answer.windows, answer.later, answer.withheld) == ({}, ["remount:home.mount"], [HOME])


OST, LNET = "/etc/systemd/system/srv-lustre-big-OST0001.mount", "/etc/lnet.conf"
OF_TARGET, OF_LNET = "window:big-data", "window:lnet.service"


@pytest.mark.parametrize(
    ("target", "effect", "inside", "exists", "effects", "windows"),
    [
        (OST, OF_TARGET, "none", True, [], {}),
        (OST, OF_TARGET, "daemon-reload", True, ["daemon-reload"], {}),
        (OST, OF_TARGET, OF_TARGET, True, ["run:clustergen-lustre-targets-big-data.service"], {"big-data": True}),
        (OST, OF_TARGET, None, False, ["daemon-reload"], {}),
        (LNET, OF_LNET, OF_LNET, True, ["restart:lnet.service"], {"lnet.service": True}),
        (LNET, OF_LNET, None, False, ["restart:lnet.service"], {"lnet.service": True}),
    ],
)
def test_servers_change_what_clients_use_in_a_window(
    target: str, effect: str, inside: str | None, exists: bool, effects: list[str], windows: dict[str, bool]
) -> None:
    answer = verdict({target: effect}, exists=exists, inside={target: inside} if inside else {}, running=())
    assert (answer.effects, answer.windows, answer.withheld) == (effects, windows, [])


def test_a_target_goes_in_a_window_or_when_no_client_is_left() -> None:
    export = "/etc/exports.d/clustergen-home.exports"
    leftovers = {OST: OF_TARGET, export: "reload:nfs-server.service"}
    answer = verdict({}, leftovers=leftovers, running=(), mounted={"mount_big_data"})
    assert (answer.windows, answer.withdrawn, answer.effects) == ({"big-data": True}, [export], ["daemon-reload"])
    answer = verdict({}, leftovers=leftovers, running=(), mounted={"mount_home"})
    assert (answer.windows, answer.effects) == ({}, [])
    assert (answer.withdrawn, answer.withdrawing) == ([OST, export], ["daemon-reload", "reload:nfs-server.service"])


def test_services_of_an_earlier_tree_are_stopped_and_not_restarted() -> None:
    answer = verdict({"/etc/grafana/grafana.ini": "restart:grafana-server.service", "/etc/nccl.conf": "none"})
    answer.stop(["grafana-server.service"])
    assert (answer.effects, answer.later) == (["stop:grafana-server.service"], [])
    answer = verdict({"/etc/systemd/system/scratch.mount": "remount:scratch.mount"})
    answer.later.append("drain:lnet.service")  # of the file that goes, without which it does not start again
    answer.stop(["lnet.service"])  # which the mount needs until the node is empty
    assert (answer.effects, answer.later) == ([], ["remount:scratch.mount", "stop:lnet.service"])
