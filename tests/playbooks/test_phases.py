"""Actions of a node in each phase of a run: the arguments of its modules, recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.action import put, settle
from strategies.pages import ROOT

TREE = str(ROOT / "inventories/ml-training/rendered")
EXPORT = "/etc/exports.d/clustergen-old.exports"
PAM = "/etc/pam.d/sshd"
CONF, MOUNT = "/etc/slurm/slurm.conf", "/etc/systemd/system/home.mount"
OLD, OLD_MOUNT = "/etc/sysctl.d/80-clustergen-old.conf", "/etc/systemd/system/old.mount"
FACT = {
    "files": [CONF, MOUNT, PAM],
    "content": [CONF, MOUNT, PAM],
    "guarded": [PAM],
    "leftovers": [OLD, OLD_MOUNT, EXPORT],
    "withdrawn": [EXPORT],
    "withdrawing": ["reload:nfs-server.service"],
    "withheld": [MOUNT, OLD_MOUNT],
    "effects": ["reconfigure", "restart-slurmdbd", "sysctl"],
    "later": ["remount:home.mount", "drain", "reboot"],
    "units": ["slurmd.service"],
    "start": [],
    "without": [],
    "absent": [],
    "booting": [],
    "unrecorded": False,
    "packages": [],
    "replaces": [],
}


def asked(
    module: Any, arguments: dict[str, Any], fact: dict[str, Any], *, reconfigures: bool = False, **variables: Any
) -> Any:
    """Arguments of a module in an action of a compute node; None if there is nothing to do."""
    task = SimpleNamespace(args=arguments, async_val=0, check_mode=False)
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir="/tmp"))
    templar = SimpleNamespace(template=lambda value: value)
    action = module.ActionModule(task, connection, None, None, templar, None)
    recorded: list[Any] = []
    action.ask = lambda _name, request, _variables: recorded.append(request) or {"done": []}
    plan = {"reconfigures": reconfigures, "from_afar": {}, "tries": ""}
    action.run(
        task_vars={
            "inventory_hostname": "gpu1",
            "group_names": ["slurm_node", "slurm_compute", "gpu_node", "mount_home", "compute_only"],
            "ansible_facts": {"clustergen": {**FACT, **fact}},
            "hostvars": {"localhost": {"ansible_facts": {"clustergen_plan": plan}}},
            **variables,
        }
    )
    return recorded[0] if recorded else None


@pytest.mark.parametrize(
    ("phase", "files", "removed", "effects", "has_mount"),
    [
        ("users", [], [], ["create", "restart-slurmdbd"], False),
        ("trial", [CONF, MOUNT, PAM], [OLD, OLD_MOUNT, EXPORT], FACT["effects"], False),
        ("live", [CONF], [OLD], FACT["effects"], False),
        ("waiting", [], [], ["reboot"], False),
        ("emptied", [MOUNT], [OLD_MOUNT], FACT["later"], True),
        ("logins", [PAM], [], [], False),
        ("last", [], [EXPORT], FACT["withdrawing"], True),
    ],
)
def test_files_that_wait_for_an_empty_node_are_put_removed_and_recorded_last(
    phase: str, files: list[str], removed: list[str], effects: list[str], has_mount: bool
) -> None:
    request = asked(put, {"tree": TREE, "phase": phase}, {})
    assert [file["target"] for file in request["files"]] == files
    assert request["remove"] == removed
    assert request["effects"] == effects
    assert CONF in request["record"]
    assert (MOUNT in request["record"]) is has_mount
    assert (PAM in request["record"]) is (phase == "logins"), "or the original would not be kept"
    assert request["only_trial"] is (phase == "trial")
    assert request["replaces"] is (phase == "live"), "the journal keeps what other phases have to do"


@pytest.mark.parametrize(
    ("phase", "fact", "is_recorded"),
    [
        ("live", {}, False),
        ("live", {"unrecorded": True}, True),
        ("live", {"packages": ["slurmd"]}, True),
        ("trial", {"unrecorded": True}, False),
        ("emptied", {"replaces": ["nvidia_driver_open"]}, True),
    ],
)
def test_versions_of_held_packages_are_recorded_where_some_came(phase: str, fact: Any, is_recorded: bool) -> None:
    held = asked(put, {"tree": TREE, "phase": phase}, fact, cluster_held_packages=["slurm*"])["held"]
    assert held == (["slurm*"] if is_recorded else [])


def test_units_of_packages_that_wait_are_started_with_them() -> None:
    units = ["chrony.service", "nvidia-imex.service", "data.mount"]
    fact = {"units": units, "absent": ["nvidia-imex.service", "data.mount"], "booting": ["data.mount"]}
    assert asked(put, {"tree": TREE, "phase": "live"}, fact)["units"] == ["chrony.service"]
    assert asked(put, {"tree": TREE, "phase": "emptied"}, fact)["units"] == units[:2], (
        "the boot mounts what needs the module"
    )


def test_values_are_put_before_the_programs_that_read_them() -> None:
    program, values = "/etc/slurm/health.d/10-gpu-count", "/etc/clustergen/dcgm.nft"
    request = asked(put, {"tree": TREE, "phase": "live"}, {"files": [program, values], "content": []})
    assert [file["target"] for file in request["files"]] == [values, program]


@pytest.mark.parametrize(
    ("units", "reconfigures", "effects"),
    [
        (["slurmd.service"], True, ["restart-slurmd"]),
        (["slurmd.service"], False, ["reconfigure", "restart-slurmd"]),
        (["slurmctld.service", "slurmd.service"], True, ["reconfigure", "restart-slurmd"]),
    ],
)
def test_a_controller_that_reconfigures_tells_all_nodes_at_once(
    units: list[str], reconfigures: bool, effects: list[str]
) -> None:
    fact = {"units": units, "effects": ["reconfigure", "restart-slurmd"]}
    assert asked(settle, {}, fact, reconfigures=reconfigures)["effects"] == effects


def test_a_daemon_that_runs_as_it_should_is_left_alone() -> None:
    assert asked(settle, {"units": ["slurmd.service"]}, {"effects": ["restart-slurmdbd"]}) is None
