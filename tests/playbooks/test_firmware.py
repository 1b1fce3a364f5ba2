"""Settings of firmware are set by Redfish: emulated BMCs obey, refuse, pretend or hang; Slurm is real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import machine_power
from ansible_collections.clustergen.cluster.plugins.module_utils.redfish import RedfishError
from ansible_collections.clustergen.cluster.plugins.modules import bmc_firmware
from clustergen.render.write import write
from clustergen.verify.slurm_roots import root_with
from strategies import redfish_bmc
from strategies.trees import GPU, HEAD, manifest, tree_of

ATTRIBUTES = {"SRIOVEnable": "Enable", "PackageCState": "No Limit", "Re_SizeBARSupport_0042": "Disabled", "Retries": 3}
ATTRIBUTES |= {"Socket0Pcie0AdvertiseACS": True, "Socket0Pcie1AdvertiseACS": False}
HABITS = ("", "strict", "deaf", "later", "refuses", "stays-on", "stays-off")


def row(setting: str, attribute: str, value: str, **more: Any) -> dict[str, Any]:
    return {"setting": setting, "attribute": attribute, "value": value, "stated": True, "confirmed": True, **more}


SR_IOV = row("sr_iov", "SRIOVEnable", "Disable")
PXE = {"setting": "boot_order", "value": "Pxe", "stated": True, "confirmed": True}
ROWS = [
    SR_IOV,
    row("resizable_bar", "Re_SizeBARSupport_*", "Enabled"),
    row("acs", "Socket*Pcie*AdvertiseACS", "False", confirmed=False),
    row("retries", "Retries", "2"),
    PXE,
]


class Bmcs:
    """BMCs of one emulator, by their habits."""

    def __init__(self, directory: Path, addresses: dict[str, str]) -> None:
        self.directory, self.addresses = directory, addresses

    def asked(self, habits: str, rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        login = {"user": "clustergen", "password": "pass word", "check_certificates": False, "seconds": 0}
        return {"address": self.addresses[habits], "rows": bmc_firmware.checked(rows), **login, **changes}

    def differences(self, habits: str, rows: list[dict[str, Any]], **changes: Any) -> list[str]:
        return [str(one) for one in bmc_firmware.awaited(self.asked(habits, rows, **changes))[1]]

    def set(self, habits: str, rows: list[dict[str, Any]], seconds: int = 0) -> None:
        machine, differences, _ = bmc_firmware.awaited(self.asked(habits, rows))
        bmc_firmware.apply(machine, differences, seconds)

    def log(self, habits: str) -> list[str]:
        return [
            line.partition(" ")[2]
            for line in redfish_bmc.requests(self.directory)
            if line.partition(" ")[0] == (habits or "good")
        ]


@pytest.fixture(scope="module")
def bmcs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bmcs]:
    directory = tmp_path_factory.mktemp("bmcs")
    with redfish_bmc.emulated(directory, {habits or "good": (habits, ATTRIBUTES) for habits in HABITS}) as addresses:
        yield Bmcs(directory, {habits: addresses[habits or "good"] for habits in HABITS})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bmc_firmware, "_INTERVAL", 0.1)
    monkeypatch.setattr(machine_power, "_INTERVAL", 0.1)


@pytest.mark.real
@pytest.mark.parametrize("habits", ["", "strict"])
def test_settings_are_sent_applied_with_a_restart_and_read_back(bmcs: Bmcs, habits: str) -> None:
    assert bmcs.differences(habits, ROWS) == [
        "SRIOVEnable is Enable, not Disable",
        "Re_SizeBARSupport_0042 is Disabled, not Enabled",
        "Socket0Pcie0AdvertiseACS is True, not False",
        "Retries is 3, not 2",
        "boot order is Debian, UEFI: PXE IPv4 Adapter 1, not UEFI: PXE IPv4 Adapter 1, UEFI: PXE IPv4 Adapter 2",
    ]
    assert bmcs.log(habits) == []
    bmcs.set(habits, ROWS)
    assert bmcs.differences(habits, ROWS) == []
    sent = {"SRIOVEnable": "Disable", "Re_SizeBARSupport_0042": "Enabled", "Socket0Pcie0AdvertiseACS": False}
    order = ["Boot0001", "Boot0002", "Boot0003", "Boot0000"]
    attributes, boot_order, *power = bmcs.log(habits)
    assert json.loads(attributes.partition(" ")[2]) == {**sent, "Retries": 2}
    assert json.loads(boot_order.partition(" ")[2]) == order
    assert power == ["GracefulShutdown", "On"]


@pytest.mark.real
def test_settings_that_a_bmc_ignores_or_applies_late_still_differ(bmcs: Bmcs) -> None:
    for habits, seconds in (("deaf", 1), ("later", 0)):
        bmcs.set(habits, [SR_IOV])
        assert bmcs.differences(habits, [SR_IOV], seconds=seconds) == ["SRIOVEnable is Enable, not Disable"]
    assert bmc_firmware.Machine(bmcs.asked("deaf", [])).messages() == ["The setting was not applied."]
    bmcs.set("later", [SR_IOV])
    assert bmcs.differences("later", [SR_IOV]) == []


@pytest.mark.real
@pytest.mark.parametrize(
    ("habits", "message", "requests"),
    [
        ("refuses", "HTTP status 400: The value is not in the list of acceptable values.", []),
        ("stays-on", "the machine is not off 0 s after ForceOff", ["GracefulShutdown", "ForceOff"]),
        ("stays-off", "the machine is not on 0 s after it was switched on", ["GracefulShutdown", "On"]),
    ],
)
def test_a_bmc_that_does_not_obey_is_an_error(bmcs: Bmcs, habits: str, message: str, requests: list[str]) -> None:
    with pytest.raises((RedfishError, machine_power.PowerError)) as error:
        bmcs.set(habits, [SR_IOV])
    assert str(error.value) == message
    assert [line for line in bmcs.log(habits) if "PATCH" not in line] == requests


@pytest.mark.real
@pytest.mark.parametrize(("stated", "differs"), [("true", False), ("True", False), ("false", True), ("Enabled", True)])
def test_a_boolean_is_compared_as_it_is_sent(bmcs: Bmcs, stated: str, *, differs: bool) -> None:
    asked = row("acs", "Socket0Pcie0AdvertiseACS", stated)
    assert bool(bmcs.differences("refuses", [asked])) == differs


@pytest.mark.real
def test_a_wrong_password_is_tried_once(bmcs: Bmcs) -> None:
    with pytest.raises(RedfishError, match=r"^HTTP status 401"):
        bmcs.differences("", [SR_IOV], password="other", seconds=60)


@pytest.mark.real
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (row("sr_iov", "SriovEnable", "Disable"), "sr_iov: the BMC has no attribute SriovEnable, but SRIOVEnable"),
        (row("resizable_bar", "", ""), "resizable_bar: the catalogue knows no attribute of this firmware"),
        (
            row("c_states", "PackageCState", ""),
            "c_states: it is not known which value of PackageCState means this; state that value",
        ),
        (
            {**PXE, "value": "*NVMe*"},
            "boot_order: no boot option is '*NVMe*'; the BMC shows Debian, UEFI: PXE IPv4 Adapter 1,"
            " UEFI: PXE IPv4 Adapter 2, UEFI: Built-in EFI Shell",
        ),
    ],
)
def test_settings_that_cannot_be_set_are_refused(bmcs: Bmcs, asked: dict[str, Any], message: str) -> None:
    """Nobody states what follows from the node type: the BMC may lack it."""
    with pytest.raises(bmc_firmware.RefusedError) as error:
        bmcs.differences("deaf", [asked, SR_IOV])
    assert str(error.value) == message
    if asked["setting"] != "boot_order":
        _, differences, absent = bmc_firmware.awaited(bmcs.asked("deaf", [{**asked, "stated": False}, SR_IOV]))
        assert ([str(one) for one in differences], absent) == (["SRIOVEnable is Enable, not Disable"], [message])


# The parsers' root has slurmctld and a slurmd for each node; what they write is in memory.
SLURM = r"""
cd "$PLACE"; mkdir bin; ip link set lo up; ip address add 10.0.0.1/32 dev lo
for path in run tmp etc/slurm var/lib/slurm var/spool; do mkdir -p $ROOT/$path; mount -t tmpfs tmpfs $ROOT/$path; done
for path in proc dev; do mount --rbind /$path $ROOT/$path; done
cp slurm.conf $ROOT/etc/slurm; echo CgroupPlugin=disabled >$ROOT/etc/slurm/cgroup.conf
for name in scontrol squeue; do printf '#!/bin/sh\nexec chroot %s %s "$@"\n' $ROOT $name >bin/$name; done
chmod 755 bin/*
chroot $ROOT slurmctld -D -i >slurmctld.log 2>&1 &
for node in good{1..3}; do chroot $ROOT slurmd -D -N $node >$node.log 2>&1 & done
"$@" 2>emulator.log &
for _ in {1..600}; do [ -e ports.json ] && grep -q 'Running as primary' slurmctld.log && break; sleep 0.1; done
address() { python3 -c "import json; print(json.load(open('$PLACE/ports.json'))['$1'])"; }
{
  for node in good{1..3}; do echo "$node bmc_address=127.0.0.1:$(address $node)"; done
  printf '[all:vars]\nansible_connection=local\nansible_python_interpreter=%s\nbmc_check_certificates=false\n' $PYTHON
} >bmcs.ini
play() {
  : >log; echo "== play"
  (cd rendered; ansible-playbook -i inventory -i ../bmcs.ini clustergen.cluster.firmware -e @../secrets.yml "$@")
  echo "rc $?"; sort log
  scontrol -o show node | sed -E 's/.*NodeName=(\S+).* State=(\S+).*/\1 \2/'
  scontrol -o show node | grep -o 'Reason=[^[]*'
}
"""
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=/var/spool
SlurmdSpoolDir=/var/spool/%n
SlurmdPidFile=/run/%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=1
MailProg=/bin/true
NodeName=good1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17321
NodeName=good2 NodeHostname={host} NodeAddr=127.0.0.1 Port=17322
NodeName=good3 NodeHostname={host} NodeAddr=127.0.0.1 Port=17323
PartitionName=all Nodes=ALL Default=YES
"""


FAILED = """rc 2
good1 GracefulShutdown
good1 GracefulShutdown
good1 On
good1 On
good1 PATCH {"SRIOVEnable": "Disable"}
good1 PATCH {"SRIOVEnable": "Disable"}
good2 GracefulShutdown
good2 On
good2 PATCH {"SRIOVEnable": "Disable"}
good1 IDLE+DRAIN
good2 IDLE
good3 IDLE
Reason=clustergen playbook: firmware settings: SRIOVEnable is Enable, not Disable; The setting was not applied
"""
DONE = """rc 0
good1 GracefulShutdown
good1 On
good1 PATCH {"SRIOVEnable": "Disable"}
good3 GracefulShutdown
good3 On
good3 PATCH {"SRIOVEnable": "Disable"}
good1 IDLE
good2 IDLE
good3 IDLE
"""
UNCONFIRMED = [{**row("sr_iov", "SRIOVEnable", "Disable", confirmed=False), "group": "type_gpu"}]
REFUSED = {
    "-e settings=turbo,sr_iov": "no such setting: turbo; it asks for smt, sr_iov, c_states",
    f"-e '{json.dumps({'cluster_firmware': UNCONFIRMED})}'": "no source confirms the attribute or the value of sr_iov",
    '-e \'{"secrets_given": {"bmc": "other"}}\'': "HTTP status 401",
    "-e bmc_from=good1": "good1 would switch itself off: name another host that reaches the BMCs",
}
IDLE = "good1 IDLE\ngood2 IDLE\ngood3 IDLE\n"


def outcome(text: str) -> str:
    """Exit status, requests, states, and reasons that are more than the first one."""
    text = text[text.index("\nrc ") + 1 :]
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if not line.endswith("firmware settings "))


def ansible(place: Path) -> dict[str, str]:
    return {
        "ANSIBLE_COLLECTIONS_PATH": str(Path(__file__).parents[2] / "playbooks"),
        "ANSIBLE_PIPELINING": "true",
        "HOME": str(place),
        "PATH": f"{place}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin",
    }


@pytest.mark.real
@pytest.mark.slow
def test_without_slurm_nothing_is_drained(bmcs: Bmcs, tmp_path: Path) -> None:
    node_types = {"gpu": {**GPU, "firmware": {"family": "dgx-h100", "sr_iov": "off"}}}
    nodes = [{"name": "gpu1", "type": "gpu", "address": "10.0.0.11", "addresses": {"bmc": "10.0.9.11"}}]
    networks = {**manifest()["networks"], "bmc": {"cidr": "10.0.9.0/24"}}
    document = manifest(nodes=nodes, node_types=node_types, networks=networks)
    del document["slurm"]
    write(tree_of(document, tmp_path), tmp_path / "rendered")
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "bmc_address": bmcs.addresses[""],
        "bmc_check_certificates": False,
        "cluster_firmware": [{**SR_IOV, "value": "Auto", "group": "type_gpu"}],
        "secrets_given": {"bmc": "pass word"},
    }
    command = ["ansible-playbook", "clustergen.cluster.firmware", "-e", json.dumps(variables)]
    done = subprocess.run(
        command, cwd=tmp_path / "rendered", env=ansible(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert bmcs.differences("", [{**SR_IOV, "value": "Auto"}]) == []


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["stops", "continues"])
def test_no_batch_begins_after_a_failure_and_the_next_run_continues(tmp_path: Path, *, is_whole: bool) -> None:
    """good1 is in a batch with good2, and obeys from the second run on."""
    root = root_with("slurmctld")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    node_types = {"gpu": {**GPU, "firmware": {"family": "dgx-h100", "sr_iov": "off", "c_states": "off"}}}
    addresses = {"address": "10.0.0.[11-13]", "addresses": {"bmc": "10.0.9.[11-13]"}}
    nodes = [HEAD, {"name": "good[1-3]", "type": "gpu", **addresses}]
    networks = {**manifest()["networks"], "bmc": {"cidr": "10.0.9.0/24"}}
    write(tree_of(manifest(nodes=nodes, node_types=node_types, networks=networks), tmp_path), tmp_path / "rendered")
    attributes = {"SRIOVEnable": "Enable", "PackageCState": "C0/C1 state", "ProcessorHyperThreadingDisable": "Enabled"}
    bmcs = {"good1": ("deaf", attributes), "good2": ("", attributes), "good3": ("", attributes)}
    redfish_bmc.describe(tmp_path, bmcs)
    (tmp_path / "slurm.conf").write_text(CONF.format(host=os.uname().nodename), encoding="ascii")
    (tmp_path / "secrets.yml").write_text("secrets_given: {bmc: pass word}\n", encoding="ascii")
    environment = {**ansible(tmp_path), "PLACE": str(tmp_path), "PYTHON": sys.executable, "ROOT": str(root)}
    first = "play -e bmc_seconds=0 -e cluster_firmware_batch=2"
    steps = "; ".join([*(f"play {words}" for words in REFUSED), f"play --check; {first}; touch healed; play; play"])
    steps = steps if is_whole else first
    mapped = () if os.geteuid() == 0 else ("--map-root-user",)
    isolated = ["unshare", *mapped, "--mount", "--net", "--pid", "--fork", "--kill-child"]
    command = [*isolated, "bash", "-c", SLURM + steps, "bash", *redfish_bmc.command(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=environment)
    plays = done.stdout.split("== play")[1:]
    assert "pass word" not in done.stdout + done.stderr
    unchanged, refused = f"rc 0\n{IDLE}", f"rc 2\n{IDLE}"
    outcomes = [*[refused] * len(REFUSED), unchanged, FAILED, DONE, unchanged] if is_whole else [FAILED]
    assert [outcome(text) for text in plays] == outcomes, done.stdout + done.stderr
    failed = plays[-3] if is_whole else plays[0]
    assert "failed: SRIOVEnable is Enable, not Disable; The setting was not applied; it stays drained" in failed
    if is_whole:
        for text, message in zip(plays, REFUSED.values(), strict=False):
            assert message in " ".join(text.split())
        assert plays[-4].count("ok: SRIOVEnable is Enable, not Disable") == 3
        assert "as in the manifest" in plays[-1]
