"""Packages of one host: which replace what jobs use, and wait until the node is empty."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import Verdict
from ansible_collections.clustergen.cluster.plugins.plugin_utils.packages import modules_of, replaced

GPU = {
    "chrony": ["chrony"],
    "nvidia_pinning": ["nvidia-driver-pinning-580"],
    "nvidia_driver_open": ["nvidia-open"],
    "nvidia_fabricmanager": ["nvidia-fabricmanager"],
}
FAMILY = ["nvidia_pinning", "nvidia_driver_open", "nvidia_fabricmanager"]


def test_a_family_waits_as_a_whole_while_its_module_is_loaded() -> None:
    assert replaced(GPU, ["nvidia-driver-pinning-580"], ["nvidia"]) == (FAMILY, {"NVIDIA driver": "reboot"})
    assert replaced(GPU, ["nvidia-open", "chrony"], ["nvidia"])[0] == FAMILY


def test_a_node_without_the_module_gets_all_packages_at_once() -> None:
    assert replaced(GPU, ["nvidia-driver-pinning-580", "nvidia-open"], []) == ([], {})


def test_a_companion_that_is_missing_replaces_nothing() -> None:
    assert replaced(GPU, ["nvidia-fabricmanager", "chrony"], ["nvidia"]) == ([], {})
    assert modules_of(GPU) == ["nvidia"]
    assert modules_of(["chrony"]) == []


def test_without_permission_to_reboot_the_driver_stays() -> None:
    verdict = Verdict()
    verdict.wait_for("reboot", "packages of NVIDIA driver change", False)
    assert verdict.later == []
    assert verdict.reasons == ["packages of NVIDIA driver change in a run that may reboot"]
    verdict.wait_for("reboot", "packages of NVIDIA driver change", True)
    assert verdict.later == ["reboot"]
