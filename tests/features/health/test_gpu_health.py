"""The health check's scripts of each GPU generation, with nvidia-smi and dcgmi that print what real ones print."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clustergen.catalogue.gpu_health import GENERATIONS, dcgm_incidents, generation, xids, xids_of
from clustergen.catalogue.hardware import gpus
from clustergen.render.tree import Tree
from strategies.dcgm import dcgm_report, dcgm_reports
from strategies.trees import GPU, codes_of, manifest, node_files, runnable, text_of, tree_of

SYSTEMS = {
    "ampere": "dgx-a100-80",
    "hopper": "dgx-h100",
    "blackwell": "dgx-b200",
    "grace-blackwell": "gb200-nvl72-tray",
}
NEXT = "Run a field diagnostic on the GPU."
CORRECTED = f"Detected 1 datalink layer CRC error counter NvLink errors on GPU 3's NVLink (should be 0) {NEXT}"
RECOVERED = f"Detected 2 link recovery successful events counter NvLink errors on GPU 3's NVLink (should be 0) {NEXT}"
OLD_DRIVER = 'Field "gpu_recovery_action" is not a valid field to query.\n'
IMEX = "IMEX daemon status is UNAVAILABLE (not READY) Check IMEX domain and daemon status using nvidia-imex-ctl."


class Answer(NamedTuple):
    code: int
    printed: str
    journal: str


class Scripts:
    """health.d of one node type, run outside of any sandbox: the scripts only read."""

    def __init__(self, tree: Tree, directory: Path) -> None:
        self.tree, self.directory = tree, directory
        self.put("logger", f'printf "%s\\n" "${{@: -1}}" >>{directory}/journal')
        self.put("dcgmi", f"cat {directory}/dcgm")
        self.put(
            "nvidia-smi",
            f"""case "$*" in
  *index,gpu_recovery_action*) cat {directory}/recovery ;;
  *gpu_recovery_action*) cut -d" " -f2- {directory}/recovery ;;
  *remapped*) cat {directory}/remapped ;;
  *ecc.errors*) cat {directory}/ecc ;;
esac""",
        )

    def put(self, name: str, body: str) -> None:
        place = self.directory / "bin" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        place.chmod(0o755)

    def run(self, name: str, *, recovery: str = "0, None\n3, None\n", **outputs: str) -> Answer:
        good = {"dcgm": dcgm_reports({}), "ecc": "0, 0\n3, 0\n", "remapped": "", "journal": ""}
        for file, text in {**good, "recovery": recovery, **outputs}.items():
            (self.directory / file).write_text(text, encoding="utf-8")
        script = runnable(self.tree, "c1", f"/etc/slurm/health.d/{name}", self.directory)
        done = subprocess.run(
            ["bash", str(script)],
            capture_output=True, text=True, timeout=120, check=False,
            env={"PATH": f"{self.directory}/bin:/usr/bin:/bin", "LC_ALL": "C"},
        )  # fmt: skip
        assert not done.stderr
        return Answer(done.returncode, done.stdout.strip(), (self.directory / "journal").read_text(encoding="utf-8"))


@cache
def tree_for(system: str, dcgm: str, directory: Path) -> Tree:
    kind: dict[str, Any] = {"system": system, "nics": GPU["nics"]}
    return tree_of(manifest(node_types={"gpu": kind}, health={"dcgm": dcgm}), directory)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trees")


def scripts(name: str, trees: Path, directory: Path, dcgm: str = "drain") -> Scripts:
    return Scripts(tree_for(SYSTEMS[name], dcgm, trees), directory)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("NVLINK system", CORRECTED),
        ("NVLINK system", RECOVERED),
        ("NVLINK system", "Detected 2 nvlink_replay_error_count_total NvLink errors on GPU 3's NVLink (should be 0)"),
        ("NVLINK system", "Detected effective BER 1.50e-255 exceeds minimum threshold on GPU 3's NVLink."),
        ("NVLINK system", IMEX),
        ("NVLINK system", "GPU 3: Fabric State is In Progress (2)."),
        ("NVLINK system", "GPU 3's NvLink link 11 is currently down"),
        ("Power system", "Detected clocks event due to power violation in GPU 3."),
        ("PCIe system", "Detected more than 31 PCIe replays per minute for GPU 3 : 40"),
        ("Internal error", "Detected XID 94 for GPU 3 Please consult the documentation for details of this XID."),
        ("Memory system", "Detected XID 31 for GPU 3 Please consult the documentation for details of this XID."),
        ("InfoROM system", "A corrupt InfoROM has been detected in GPU 3."),
        ("Memory system", "A message of a release that nobody has read."),
    ],
)
def test_no_passing_or_corrected_fault_drains_a_node(
    name: str, system: str, message: str, trees: Path, tmp_path: Path
) -> None:
    """Neither a driver with a recovery action nor one before it: DCGM says Failure, the node stays."""
    for recovery in ("3, None\n", OLD_DRIVER):
        answer = scripts(name, trees, tmp_path).run("70-dcgm", dcgm=dcgm_report(system, message), recovery=recovery)
        assert answer[:2] == (0, "")
        silent = "power violation" in message or ("IMEX" in message and name != "grace-blackwell")
        assert bool(answer.journal) is not silent


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(
    ("system", "message", "reason"),
    [
        (
            "Driver",
            "GPU 3 requires a reset to recover from a fault. Recovery action: 1 (GPU_RESET).",
            "requires a reset",
        ),
        (
            "Driver",
            "GPU 3 operating at reduced capacity due to a fault. Recovery action: 4 (DRAIN_AND_RESET).",
            "reduced",
        ),
        ("Memory system", "GPU 3 had uncorrectable memory errors and row remapping failed.", "row remapping failed"),
        ("Memory system", "63 or more retired pages have been detected in GPU 3. ", "63 or more retired pages"),
        ("NVLINK system", "Detected 1 Fabric Health: Route Unhealthy for GPU 3", "Route Unhealthy"),
        ("NVLINK system", "GPU 3: Fabric State is Failed (4).", "Fabric State is Failed"),
    ],
)
def test_faults_drain_with_the_message_and_also_beside_a_corrected_one(
    name: str, system: str, message: str, reason: str, trees: Path, tmp_path: Path
) -> None:
    box = scripts(name, trees, tmp_path)
    answer = box.run("70-dcgm", dcgm=dcgm_report(system, message))
    assert answer.code == 1
    assert reason in answer.printed
    both = dcgm_reports(
        {(0, "NVLINK system"): ("Failure", (CORRECTED,)), (3, system): ("Failure", (message, RECOVERED))}
    )
    assert box.run("70-dcgm", dcgm=both).printed == answer.printed


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("name", "xid", "drains"),
    [
        ("ampere", 74, True), ("hopper", 74, True), ("blackwell", 74, False), ("grace-blackwell", 74, False),
        ("ampere", 143, False), ("hopper", 143, True), ("blackwell", 143, True), ("ampere", 119, True),
        ("grace-blackwell", 54, False), ("blackwell", 149, False), ("blackwell", 150, True), ("hopper", 150, False),
    ],
)  # fmt: skip
def test_an_xid_drains_by_generation_and_only_until_the_driver_is_content(
    name: str, xid: int, drains: bool, trees: Path, tmp_path: Path
) -> None:
    """DCGM reports an Xid until it restarts, so after the repair the driver's word counts."""
    box = scripts(name, trees, tmp_path)
    report = dcgm_report("Internal error", f"Detected XID {xid} for GPU 3 Please consult the documentation.")
    assert (box.run("70-dcgm", dcgm=report, recovery=OLD_DRIVER).code == 1) is drains
    answer = box.run("70-dcgm", dcgm=report, recovery="3, None\n")
    assert (answer.code, answer.journal) == (0, f"DCGM: Detected XID {xid} for GPU 3\n")


@pytest.mark.slow
def test_a_node_without_watches_or_dcgm_stays(trees: Path, tmp_path: Path) -> None:
    for text in ("", "Error: Health watches not enabled. Please enable watches. \n", dcgm_reports({})):
        assert scripts("hopper", trees, tmp_path).run("70-dcgm", dcgm=text) == (0, "", "")


@pytest.mark.slow
def test_warn_only_logs_and_off_leaves_the_script_out(trees: Path, tmp_path: Path) -> None:
    report = dcgm_report("Memory system", "GPU 3 had uncorrectable memory errors and row remapping failed.")
    answer = scripts("hopper", trees, tmp_path, dcgm="warn").run("70-dcgm", dcgm=report)
    assert answer == (0, "", "DCGM: had uncorrectable memory errors and row remapping failed\n")
    assert "/etc/slurm/health.d/70-dcgm" not in node_files(tree_for("dgx-h100", "off", trees), "c1")
    assert codes_of(manifest(health={"dcgm": True}), tmp_path) == ["value-not-allowed"]


@pytest.mark.many
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        ({"recovery": "0, None\n3, Reset\n"}, "GPU 3 needs Reset;"),
        ({"recovery": "3, Reboot\n"}, "GPU 3 needs Reboot;"),
        ({"recovery": "3, Drain and Reset\n"}, "GPU 3 needs Drain and Reset;"),
        ({"recovery": OLD_DRIVER, "ecc": "3, 2\n"}, "GPU 3 has 2 uncorrected memory errors;"),
        ({"recovery": "3, [N/A]\n", "ecc": "3, 2\n"}, "GPU 3 has 2 uncorrected memory errors;"),
        ({"remapped": "00000000:1B:00.0, Yes, No\n"}, "GPU 00000000:1B:00.0 could not remap a memory row;"),
        # Xid 94: the error was contained and the row waits to be remapped; new jobs are not affected.
        ({"ecc": "3, 2\n", "remapped": "00000000:1B:00.0, No, Yes\n"}, ""),
        ({"recovery": "3, Drain P2P\n"}, ""),
        ({"recovery": "3, Recover IMEX Domain\n"}, ""),
        ({"ecc": "3, [N/A]\n", "recovery": "3, [N/A]\n", "remapped": "No devices found\n"}, ""),
    ],
)
def test_the_driver_decides_what_a_memory_error_means(
    name: str, outputs: dict[str, str], reason: str, trees: Path, tmp_path: Path
) -> None:
    answer = scripts(name, trees, tmp_path).run("20-gpu-errors", **outputs)
    assert (answer.code, answer.printed) == (1 if reason else 0, reason)


@pytest.mark.slow
def test_a_reset_brings_the_node_back(trees: Path, tmp_path: Path) -> None:
    """A reason that a repair can mend clears with it, although DCGM's history stays."""
    box = scripts("hopper", trees, tmp_path)
    history = dcgm_report("Internal error", "Detected XID 48 for GPU 3 Please consult the documentation.")
    assert box.run("20-gpu-errors", recovery="3, Reset\n", ecc="3, 1\n", dcgm=history).code == 1
    for script in ("20-gpu-errors", "70-dcgm"):
        assert box.run(script, ecc="3, 0\n", dcgm=history).code == 0


def test_every_generation_has_its_rows() -> None:
    assert {generation(gpu) for gpu in gpus().values()} == set(GENERATIONS)
    for where in GENERATIONS:
        drained = {row.xid for row in xids_of(where, "drain")}
        assert {46, 48, 62, 79, 95, 109, 119, 120, 140, 158} <= drained
        assert (74 in drained) == (where not in {"blackwell", "grace-blackwell"})
        assert ({150, 155} <= drained) == (where in {"blackwell", "grace-blackwell"})
        assert 154 in {row.xid for row in xids_of(where, "watch")}
        assert not drained & {row.xid for row in xids_of(where, "application")}
    assert {row.xid for row in xids_of(None, "drain")} < {row.xid for row in xids().values() if row.action == "drain"}


def test_no_incident_that_counts_for_life_drains() -> None:
    """Reasons to drain clear with a repair; incidents that DCGM keeps until it restarts are left to the driver."""
    for incident in dcgm_incidents():
        if incident.action == "drain":
            assert "restart" not in incident.clears
            assert "unknown" not in incident.clears
        assert not set("'\"\\\n") & set(incident.text)


SETTINGS = "15-gpu-settings"
GOOD = {"power.limit": "700.00", "clocks.max.sm": "1980", "pcie.link.width.current": "16", "pcie.link.gen.max": "5"}


def settings_of(directory: Path, slowed: str = "0x0000000000000001", **changed: str) -> Answer:
    """The script of a DGX H100 whose GPU 3 reports `changed` values, by field with _ for dots."""
    scripts = Scripts(tree_for("dgx-h100", "off", directory), directory)
    values = GOOD | {field: value for field in GOOD if (value := changed.get(field.replace(".", "_")))}
    cases = "".join(f"""  *index,{field}*) printf '0, {GOOD[field]}\\n3, {values[field]}\\n' ;;\n""" for field in GOOD)
    scripts.put(
        "nvidia-smi",
        f'case "$*" in\n{cases}  *clocks_event*) echo no such field; exit 2 ;;\n'
        f"  *clocks_throttle*) printf '0, 0x0000000000000000\\n3, {slowed}\\n' ;;\nesac",
    )
    return scripts.run(SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, ""),
        ({"power_limit": "500.00"}, "GPU 3: power limit 500.00 instead of 700;"),
        ({"clocks_max_sm": "1755"}, "GPU 3: highest clock 1755 instead of 1980;"),
        ({"pcie_link_width_current": "8"}, "GPU 3: PCIe lanes 8 instead of 16;"),
        ({"pcie_link_gen_max": "4"}, "GPU 3: PCIe generation 4 instead of 5;"),
        ({"power_limit": "[N/A]"}, ""),
        ({"power_limit": "$(reboot)"}, ""),
    ],
)
def test_gpus_have_the_settings_that_acceptance_requires(tmp_path: Path, changed: dict[str, str], reason: str) -> None:
    answer = settings_of(tmp_path, **changed)
    assert (answer.code, answer.printed, answer.journal) == (int(bool(reason)), reason, "")


@pytest.mark.slow
def test_a_slowdown_is_logged_and_drains_nothing(tmp_path: Path) -> None:
    answer = settings_of(tmp_path, slowed="0x0000000000000040")
    assert (answer.code, answer.printed) == (0, "")
    assert answer.journal == "GPU 3 is slowed down by heat or by its power supply (0x0000000000000040)\n"


@pytest.mark.slow
def test_a_stated_power_limit_has_to_be_exactly_that(tmp_path: Path) -> None:
    kind = {"system": "dgx-h100", "nics": GPU["nics"], "gpus": {"power_limit": "500W"}}
    tree = tree_of(manifest(node_types={"gpu": kind}), tmp_path)
    assert "\n  power.limit equal 500 'power limit'\n" in text_of(tree, "c1", "/etc/clustergen/gpu-health.sh")
    off = tree_of(manifest(node_types={"gpu": kind}, health={"gpu_settings": False}), tmp_path)
    assert f"/etc/slurm/health.d/{SETTINGS}" not in node_files(off, "c1")
