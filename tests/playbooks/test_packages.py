"""Packages of one host: which replace what jobs use, and wait until the node is empty."""

from __future__ import annotations

import pytest

from ansible_collections.clustergen.cluster.plugins.action.ask import _window
from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import Verdict
from ansible_collections.clustergen.cluster.plugins.plugin_utils.packages import modules_of, replaced, stopped, waiting

GPU = {
    "chrony": ["chrony"],
    "nvidia_pinning_580": ["nvidia-driver-pinning-580"],
    "nvidia_driver_open": ["nvidia-open"],
    "nvidia_fabricmanager": ["nvidia-fabricmanager"],
}
FAMILY = ["nvidia_pinning_580", "nvidia_driver_open", "nvidia_fabricmanager"]


def test_a_family_waits_as_a_whole_while_its_module_is_loaded() -> None:
    assert replaced(GPU, ["nvidia-driver-pinning-580"], ["nvidia"]) == dict.fromkeys(FAMILY, ("reboot",))
    assert list(replaced(GPU, ["nvidia-open", "chrony"], ["nvidia"])) == FAMILY


def test_a_node_without_the_module_gets_all_packages_at_once() -> None:
    assert replaced(GPU, ["nvidia-driver-pinning-580", "nvidia-open"], []) == {}


def test_a_companion_that_is_missing_replaces_nothing() -> None:
    assert replaced({**GPU, "nvidia_imex": ["nvidia-imex"]}, ["nvidia-imex", "chrony"], ["nvidia"]) == {}
    assert modules_of(GPU) == ["nvidia"]
    assert modules_of(["chrony"]) == []


def test_without_permission_to_reboot_the_driver_stays() -> None:
    verdict = Verdict()
    verdict.replace("reboot", False)
    assert verdict.later == []
    assert verdict.reasons == ["packages in use are replaced by a run that may reboot"]
    verdict.replace("reboot", True)
    assert verdict.later == ["reboot"]


@pytest.mark.parametrize(
    ("purpose", "in_use", "effects", "waits"),
    [
        ("beegfs_8", "beegfs", ("window:beegfs", "reboot"), ["beegfs_8"]),
        ("beegfs_server_8", "beegfs-storage.service", ("window:beegfs",), []),
    ],
)
def test_another_major_version_of_beegfs_takes_a_window_in_which_drained_clients_reboot(
    purpose: str, in_use: str, effects: tuple[str, ...], waits: list[str]
) -> None:
    purposes = {purpose: ["beegfs-client", "beegfs-tools"]}
    assert (replacing := replaced(purposes, ["beegfs-tools"], [in_use])) == {purpose: effects}
    assert replaced(purposes, ["beegfs-tools"], ["chrony.service"]) == {}
    verdict = Verdict()
    for effect in effects:
        verdict.replace(effect, True)
    assert (verdict.windows, verdict.later) == ({"beegfs": True}, list(effects[1:]))
    assert waiting(replacing, True) == waits
    assert waiting(replacing, False) == [], "people replace them, since this run must not reboot"
    assert waiting({"nvidia_driver_open": ("reboot",)}, False) == ["nvidia_driver_open"]


def test_a_window_is_stated_by_the_names_of_what_moves() -> None:
    verdict = Verdict()
    assert _window(verdict, {}) == ""
    verdict.windows = {"home.mount": True, "beegfs": True, "data.mount": False}
    assert _window(verdict, {"cluster_window": ["beegfs", "home.mount"]}) == ""
    assert """state the window: -e '{"cluster_window": ["home.mount"]}'""" in _window(
        verdict, {"cluster_window": ["beegfs"]}
    )


def test_only_services_that_nobody_depends_on_are_stopped() -> None:
    units = ["ssh.service", "mariadb.service", "ufm.service", "grafana-server.service", "nvidia-dcgm-exporter.service"]
    assert stopped(units, ["nvidia-*"]) == ["grafana-server.service"]
