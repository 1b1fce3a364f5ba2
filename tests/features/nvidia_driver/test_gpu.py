"""GPU nodes: what the driver, MIG and IMEX read, and scripts that notice when a setting does not hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.compile import validate
from clustergen.render.formats import RenderError
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import (
    COMPUTE,
    GPU,
    HEAD,
    calls,
    codes_of,
    diagnostics_of,
    lay_out,
    manifest,
    node_files,
    run_script,
    runnable,
    text_of,
    tree_of,
)

UNITS = "/etc/systemd/system"
SETTINGS = "/usr/local/sbin/clustergen-gpu-settings"
MIG = "/etc/nvidia-mig-manager/clustergen.yaml"


def with_gpus(
    directory: Path, gpu: dict[str, Any] | None = None, kind: dict[str, Any] | None = None, **gpus: Any
) -> Any:
    types = {"gpu": {**GPU, **(kind or {}), "gpus": {**GPU["gpus"], **gpus}}}
    return tree_of(manifest(node_types=types, gpu=gpu or {}), directory)


# --- kernel modules ---------------------------------------------------------------------------------------------------


@pytest.mark.real
def test_modprobe_reads_the_options(tmp_path: Path) -> None:
    root = root_with("modprobe")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    options = {"NVreg_RegistryDwords": "RMUseSwI2c=0x01;RMI2cSpeed=100"}
    tree = with_gpus(tmp_path, gpu={"profiling": "everybody", "modprobe": options})
    box = sandbox.Sandbox(root, files=((lay_out(tree, "c1", tmp_path / "node"), "/"),))
    result = sandbox.run(box, ["modprobe", "--showconfig"], timeout=300)
    assert {
        "options nvidia NVreg_RestrictProfilingToAdminUsers=0",
        "options nvidia NVreg_RegistryDwords=RMUseSwI2c=0x01;RMI2cSpeed=100",
        "blacklist nouveau",
    } <= set(result.stdout.splitlines())


def test_an_option_of_the_manifest_takes_the_place_of_ours(tmp_path: Path) -> None:
    tree = with_gpus(tmp_path, gpu={"modprobe": {"NVreg_RestrictProfilingToAdminUsers": 0}})
    text = text_of(tree, "c1", "/etc/modprobe.d/clustergen-nvidia.conf")
    assert re.findall(r"RestrictProfiling\w+=(\d)", text) == ["0"]


@pytest.mark.parametrize("value", ['a"b', "a\nblacklist mlx5_core", "a'b", "a\\", "é"])
def test_an_option_with_a_line_break_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises((RenderError, AssertionError)):
        with_gpus(tmp_path, gpu={"modprobe": {"NVreg_X": value}})


@pytest.mark.parametrize(
    ("system", "gpu", "expected", "unwanted"),
    [
        ("dgx-h100", {}, {"nvidia", "nvidia_uvm"}, {"ib_umad", "nvidia_peermem"}),
        ("dgx-b200", {"peermem": True}, {"nvidia_peermem", "ib_umad"}, set()),
        ("gb200-nvl72-tray", {}, {"nvidia"}, {"ib_umad"}),
        ("dgx2", {}, {"nvidia_peermem"}, set()),  # proprietary modules have no DMA-BUF
        ("dgx-h100", {"kernel_modules": "proprietary"}, {"nvidia_peermem"}, set()),
    ],
)
def test_modules_of_each_system(
    tmp_path: Path, system: str, gpu: dict[str, Any], expected: set[str], unwanted: set[str]
) -> None:
    tree = tree_of(manifest(node_types={"gpu": {"system": system}}, gpu=gpu), tmp_path)
    text = text_of(tree, "c1", "/etc/modules-load.d/clustergen-nvidia.conf")
    names = {line for line in text.splitlines() if line and not line.startswith("#")}
    assert expected <= names
    assert not unwanted & names


# --- branches and kernel modules --------------------------------------------------------------------------------------

IMPOSSIBLE = [
    ("dgx-b200", {"driver": "535"}),
    ("dgx-b200", {"driver": "550"}),
    ("dgx-b200", {"kernel_modules": "proprietary"}),
    ("dgx-b300", {"driver": "570"}),
    ("gb300-nvl72-tray", {"driver": "570"}),
    ("gb200-nvl72-tray", {"driver": "550"}),
    ("mgx-gh200", {"driver": "525"}),
    ("dgx-h200", {"driver": "470"}),
    ("dgx1-v100", {"driver": "590"}),
    ("dgx1-v100", {"kernel_modules": "open"}),
    ("dgx-a100-80", {"driver": "470", "kernel_modules": "open"}),
]


@pytest.mark.parametrize("where", ["gpu", "type"])
@pytest.mark.parametrize(("system", "values"), IMPOSSIBLE)
def test_a_driver_that_does_not_serve_the_gpu_is_an_error_with_one_that_does(
    tmp_path: Path, where: str, system: str, values: dict[str, str]
) -> None:
    def findings(values: dict[str, str]) -> list[Any]:
        types = {"gpu": {"system": system, **({"gpus": values} if where == "type" else {})}}
        path = manifest(node_types=types, gpu=values if where == "gpu" else {})
        return [one for one in diagnostics_of(path, tmp_path) if one.code in ("driver-unfit", "kernel-modules-unfit")]

    (finding,) = findings(values)
    field, _, text = finding.hint.removeprefix("write ").partition(": ")
    assert field in values
    assert findings({**values, field: text.strip('"')}) == []


def test_a_branch_that_suits_one_type_alone_is_reported_there(tmp_path: Path) -> None:
    types = {"old": {"system": "dgx1-v100"}, "new": {"system": "dgx-b300"}}
    nodes = [HEAD, *({"name": name, "type": name, "address": f"10.0.0.{20 + n}"} for n, name in enumerate(types))]
    stated = manifest(node_types=types, nodes=nodes, gpu={"driver": "620"})
    (finding,) = [one for one in diagnostics_of(stated, tmp_path) if one.code == "driver-unfit"]
    assert "V100" in finding.message
    assert finding.hint == 'write driver: "580"'  # which serves both
    types["new"]["gpus"] = {"driver": "620"}
    shared = manifest(node_types=types, nodes=nodes, gpu={"driver": "580"})
    assert "driver-unfit" not in codes_of(shared, tmp_path)
    types = {"old": {"system": "dgx1-v100"}, "a": {"system": "dgx-h100"}}
    nodes = [HEAD, *({"name": name, "type": name, "address": f"10.0.0.{20 + n}"} for n, name in enumerate(types))]
    assert "driver-unfit" in codes_of(manifest(node_types=types, nodes=nodes, gpu={"driver": "595"}), tmp_path)
    types["old"]["gpus"] = {"driver": "auto"}
    assert "driver-unfit" not in codes_of(manifest(node_types=types, nodes=nodes, gpu={"driver": "595"}), tmp_path)


def test_mig_takes_a_newer_branch_than_the_gpu(tmp_path: Path) -> None:
    plan = {"mig_plans": {"halves": {"profiles": {"2g.48gb": 2}}}}
    types = {"gpu": {**GPU, "gpus": {"model": "rtx-pro-6000-server", "count": 4, "mig": "halves"}}}
    assert "driver-unfit" in codes_of(manifest(node_types=types, gpu={"driver": "570", **plan}), tmp_path)
    assert "driver-unfit" not in codes_of(manifest(node_types=types, gpu={"driver": "580", **plan}), tmp_path)


# --- power, clocks, compute mode --------------------------------------------------------------------------------------

# Eight GPUs whose state is in files; what it is asked for it does, unless the file `refuses` names it.
SMI = """
cd "$(dirname "$0")/.."
case $1 in
  --query-gpu=index) seq 0 $(($(cat count) - 1)) ;;
  --query-gpu=power.limit) for ((i = 0; i < $(cat count); i++)); do echo "$(cat power).00"; done ;;
  --query-gpu=compute_mode) for ((i = 0; i < $(cat count); i++)); do cat mode; done ;;
  --query-supported-clocks=graphics) printf '1980\\n1965\\n210\\n' ;;
  --power-limit=*) grep -q power refuses && exit 1; grep -q silent refuses || echo "${1#*=}" >power ;;
  --lock-gpu-clocks=*) echo "${1#*=}" >clocks ;;
  --compute-mode=EXCLUSIVE_PROCESS) echo Exclusive_Process >mode ;;
  *) exit 9 ;;
esac
"""


def apply_settings(directory: Path, tree: Any, *, count: int = 8, refuses: str = "") -> Any:
    for name, text in {"count": str(count), "power": "700", "mode": "Default", "refuses": refuses}.items():
        (directory / name).write_text(text + "\n", encoding="utf-8")
    programs = {"nvidia-smi": SMI, "logger": f'echo "$*" >>"{directory}/said"'}
    text = runnable(tree, "c1", SETTINGS, directory).read_text(encoding="utf-8")
    return run_script(text, programs, directory)


@pytest.mark.slow
def test_settings_hold(tmp_path: Path) -> None:
    tree = with_gpus(tmp_path, {"compute_mode": "exclusive-process"}, power_limit="500W", graphics_clock="max")
    assert apply_settings(tmp_path, tree).returncode == 0
    assert (tmp_path / "power").read_text(encoding="utf-8") == "500\n"
    assert (tmp_path / "clocks").read_text(encoding="utf-8") == "1980,1980\n"
    assert (tmp_path / "mode").read_text(encoding="utf-8") == "Exclusive_Process\n"
    assert "set on 8 GPUs" in (tmp_path / "said").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("gpus", "machine", "reason"),
    [
        ({"power_limit": "500W"}, {"refuses": "power"}, "rejects a power limit of 500 W"),
        ({"power_limit": "500W"}, {"refuses": "silent"}, "power limit of a GPU is not 500 W"),
        ({"power_limit": "500W"}, {"count": 7}, "7 GPUs respond, 8 are installed"),
        ({"graphics_clock": 1000}, {}, "1000 MHz is not a clock of these GPUs"),
    ],
)
def test_settings_without_effect_are_reported(
    tmp_path: Path, gpus: dict[str, Any], machine: dict[str, Any], reason: str
) -> None:
    done = apply_settings(tmp_path, with_gpus(tmp_path, **gpus), **machine)
    assert done.returncode == 1
    assert reason in (tmp_path / "said").read_text(encoding="utf-8")


def test_a_driver_that_does_not_answer(tmp_path: Path) -> None:
    tree = with_gpus(tmp_path, power_limit="500W")
    text = runnable(tree, "c1", SETTINGS, tmp_path).read_text(encoding="utf-8")
    done = run_script(text, {"nvidia-smi": "exit 9", "logger": ""}, tmp_path)
    assert done.returncode == 1
    assert not any("--power-limit" in call for call in calls(tmp_path))


def test_no_setting_is_rendered_without_a_request(tmp_path: Path) -> None:
    files = node_files(with_gpus(tmp_path), "c1")
    assert SETTINGS not in files
    assert f"{UNITS}/clustergen-gpu-settings.service" not in files


# --- MIG --------------------------------------------------------------------------------------------------------------

PLANS = {"small": {"profiles": {"1g.10gb": 7}}, "mixed": {"profiles": {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb+me": 1}}}


def mig_specification(text: str) -> dict[str, list[dict[str, Any]]]:
    """The file as nvidia-mig-parted reads it: a version, entries, no other keys, MIG devices only with MIG on."""
    document = yaml.safe_load(text)
    assert set(document) == {"version", "mig-configs"}
    assert document["version"] == "v1"
    assert document["mig-configs"]
    for entries in document["mig-configs"].values():
        assert entries
        for entry in entries:
            assert {"devices", "mig-enabled"} <= set(entry) <= {"devices", "mig-enabled", "mig-devices"}
            devices = entry["devices"]
            assert devices == "all" or all(type(device) is int for device in devices)
            assert type(entry["mig-enabled"]) is bool
            profiles = entry.get("mig-devices")
            if entry["mig-enabled"]:
                assert profiles
                assert all(re.fullmatch(r"[1-9]g\.\d+gb([+-][a-z.]+)?", name) for name in profiles)
                assert all(type(number) is int and number > 0 for number in profiles.values())
            else:
                assert not profiles
    configs: dict[str, list[dict[str, Any]]] = document["mig-configs"]
    return configs


def test_every_gpu_has_one_layout(tmp_path: Path) -> None:
    tree = with_gpus(tmp_path, {"mig_plans": PLANS}, mig={0: "small", 1: "mixed", 5: "small"})
    (entries,) = mig_specification(text_of(tree, "c1", MIG)).values()
    by_gpu = {device: entry.get("mig-devices") for entry in entries for device in entry["devices"]}
    assert sorted(by_gpu) == list(range(8))
    assert sum(len(entry["devices"]) for entry in entries) == 8
    assert by_gpu[0] == by_gpu[5] == {"1g.10gb": 7}
    assert by_gpu[1] == {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb+me": 1}
    assert by_gpu[2] is None


def test_one_plan_is_for_all(tmp_path: Path) -> None:
    tree = with_gpus(tmp_path, {"mig_plans": PLANS}, mig="small")
    (entries,) = mig_specification(text_of(tree, "c1", MIG)).values()
    assert entries == [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 7}}]


def test_the_drop_in_selects_what_the_file_has(tmp_path: Path) -> None:
    tree = with_gpus(tmp_path, {"mig_plans": PLANS}, mig="small")
    places = [path for path in node_files(tree, "c1") if "nvidia-mig-manager.service.d" in path]
    assert len(places) == 1
    # The package's own drop-in, override.conf, selects all-disabled; of two that set a variable the later name wins.
    assert Path(places[0]).name > "override.conf"
    match = re.search(r"MIG_PARTED_CONFIG_FILE=(\S+) MIG_PARTED_SELECTED_CONFIG=(\S+)", text_of(tree, "c1", places[0]))
    assert match
    assert match[1] == MIG
    assert match[2] in mig_specification(text_of(tree, "c1", match[1]))


def test_mig_is_only_where_it_is_planned(tmp_path: Path) -> None:
    types = {"gpu": GPU, "split": {**GPU, "gpus": {**GPU["gpus"], "mig": "small"}}}
    nodes = [HEAD, COMPUTE, {**COMPUTE, "name": "m[1-2]", "type": "split", "address": "10.0.0.[21-22]"}]
    tree = tree_of(manifest(node_types=types, nodes=nodes, gpu={"mig_plans": PLANS}), tmp_path)
    assert MIG not in node_files(tree, "c1")
    drop_in = f"{UNITS}/slurmd.service.d/60-clustergen-gpu.conf"
    assert "Requires=nvidia-mig-manager.service\n" in text_of(tree, "m1", drop_in)
    assert "mig-manager" not in text_of(tree, "c1", drop_in)


# --- units ------------------------------------------------------------------------------------------------------------

PACKAGES = ("nvidia-persistenced", "nvidia-fabricmanager", "nvidia-mig-manager", "nvidia-imex", "nvidia-dcgm")


@pytest.mark.real
@pytest.mark.parametrize("kind", [{"system": "dgx-h100"}, {"system": "gb200-nvl72-tray"}])
def test_systemd_accepts_the_units_and_their_order(tmp_path: Path, kind: dict[str, Any]) -> None:
    root = root_with("systemd-analyze")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    plan = {"mig": "small"} if kind["system"] == "dgx-h100" else {}
    types = {"gpu": {**kind, "gpus": {**plan, "power_limit": "600W"}}}
    tree = tree_of(manifest(node_types=types, gpu={"mig_plans": PLANS}), tmp_path)
    stands = tmp_path / "stands"
    (stands / "usr/lib/systemd/system").mkdir(parents=True)
    (stands / "usr/bin").mkdir()
    for name in PACKAGES:
        text = "[Service]\nType=oneshot\nExecStart=/usr/bin/true\n"
        (stands / f"usr/lib/systemd/system/{name}.service").write_text(text, encoding="utf-8")
    (stands / "usr/bin/nvidia-smi").write_text("#!/bin/sh\n", encoding="utf-8")
    (stands / "usr/bin/nvidia-smi").chmod(0o755)
    ours = [path for path in node_files(tree, "c1") if path.startswith(UNITS)]
    kept = {path: file for path, file in node_files(tree, "c1").items() if "dcgm" not in path}
    assert f"{UNITS}/clustergen-gpu-settings.service" in ours
    directory = tmp_path / "node"
    for path, file in kept.items():
        if path.startswith((UNITS, "/usr/local/sbin")) and "gpu" in file.source:
            place = directory / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content)
            place.chmod(file.mode)
    units = ["clustergen-gpu-settings.service", "slurmd.service", *(f"{name}.service" for name in PACKAGES)]
    box = sandbox.Sandbox(root, files=((stands, "/"), (directory, "/")))
    result = sandbox.run(box, ["systemd-analyze", "verify", "--man=no", *units], timeout=300)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("/usr/lib/systemd/system/systemd-")]
    assert (result.code, lines) == (0, [])


@pytest.mark.slow
def test_slurmd_waits_for_the_switches_where_they_are(tmp_path: Path) -> None:
    drop_in = f"{UNITS}/slurmd.service.d/60-clustergen-gpu.conf"
    dgx = tree_of(manifest(node_types={"gpu": {"system": "dgx-h100"}}), tmp_path)
    assert "nvidia-fabricmanager.service" in text_of(dgx, "c1", drop_in)
    tray = text_of(tree_of(manifest(node_types={"gpu": {"system": "gb200-nvl72-tray"}}), tmp_path), "c1", drop_in)
    assert "nvidia-imex.service" in tray
    assert "nvidia-fabricmanager" not in tray
    assert "nvidia-fabricmanager" not in text_of(with_gpus(tmp_path), "c1", drop_in)


def test_a_board_with_a_missing_gpu_keeps_its_switches(tmp_path: Path) -> None:
    """CUDA does not start on a GPU of NVSwitches without Fabric Manager, however many the board has."""
    drop_in = f"{UNITS}/slurmd.service.d/60-clustergen-gpu.conf"
    for gpus, is_managed in (({"count": 7}, True), ({"count": 7, "nvlink": False}, False)):
        tree = tree_of(manifest(node_types={"gpu": {"system": "dgx-h100", "gpus": gpus}}), tmp_path)
        assert ("nvidia-fabricmanager.service" in text_of(tree, "c1", drop_in)) is is_managed
        assert (",nvlink" in text_of(tree, "c1", "/etc/slurm/slurm.conf")) is is_managed


def test_without_persistence_and_settings_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    files = node_files(with_gpus(tmp_path, {"persistence": False}), "c1")
    assert f"{UNITS}/slurmd.service.d/60-clustergen-gpu.conf" not in files
    assert f"{UNITS}/nvidia-persistenced.service.d/50-clustergen.conf" not in files


# --- IMEX -------------------------------------------------------------------------------------------------------------

DIRECTORY = "/etc/nvidia-imex/clustergen"


CHANNEL_0 = {"NVreg_CreateImexChannel0": 1}
IMEX = "SwitchType: switch/nvidia_imex"
BARE = {"version": "24.11", "defaults": "slurm", "partitions": {"all": {"nodes": "all", "default": True}}}


def tray(**changes: Any) -> dict[str, Any]:
    nodes = [HEAD, {"name": "t[01-40]", "type": "gpu", "address": "10.0.0.[101-140]"}]
    return manifest(node_types={"gpu": {"system": "gb200-nvl72-tray"}}, nodes=nodes, **changes)


def racks(directory: Path, **changes: Any) -> Any:
    return tree_of(tray(**changes), directory)


def domains(tree: Any) -> dict[str, list[str]]:
    files = {path: file for path, file in node_files(tree, "t01").items() if path.startswith(DIRECTORY)}
    return {
        Path(path).stem: [line for line in file.content.decode().splitlines() if not line.startswith("#")]
        for path, file in files.items()
    }


def test_domains_are_as_large_as_a_rack(tmp_path: Path) -> None:
    values = domains(racks(tmp_path))
    assert {name: len(members) for name, members in values.items()} == {"gpu-1": 18, "gpu-2": 18, "gpu-3": 4}
    assert values["gpu-2"][0] == "10.0.0.119"
    assert len({member for members in values.values() for member in members}) == 40


@pytest.mark.slow
def test_racks_of_the_manifest_are_the_domains(tmp_path: Path) -> None:
    values = domains(racks(tmp_path, racks={"r1": {"nodes": "t[01-10]"}, "r2": {"nodes": "t[11-28]"}}))
    assert {name: len(members) for name, members in values.items()} == {"r1": 10, "r2": 18, "gpu-1": 12}
    assert values["r2"] == [f"10.0.0.{number}" for number in range(111, 129)]


@pytest.mark.parametrize(
    ("address", "code"), [("10.0.0.119 192.168.0.1", 0), ("10.9.9.9", 1), ("10.0.0.101 10.0.0.119", 1)]
)
def test_a_node_finds_its_own_domain(tmp_path: Path, address: str, code: int) -> None:
    tree = racks(tmp_path)
    node = lay_out(tree, "t19", tmp_path / "node")
    text = text_of(tree, "t19", "/usr/local/sbin/clustergen-imex-nodes").replace(
        "/etc/nvidia-imex", f"{node}/etc/nvidia-imex"
    )
    programs = {"hostname": f'case $1 in -I) echo "{address} " ;; *) echo t19 ;; esac', "logger": ""}
    done = run_script(text, programs, tmp_path)
    assert done.returncode == code, done
    target = node / "etc/nvidia-imex/nodes_config.cfg"
    assert target.exists() == (code == 0)
    if code == 0:
        assert target.read_text(encoding="utf-8").split() == [f"10.0.0.{number}" for number in range(119, 137)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slurm", "modprobe", "is_switched", "code", "hint"),
    [
        ({"version": "24.11"}, {}, True, "", ""),
        ({"version": "23.11", "build": "schedmd"}, {}, False, "imex-channels-missing", "use Slurm 24.05 or newer"),
        ({"version": "24.11", "options": {"SwitchType": "switch/none"}}, {}, False, "imex-channels-missing", IMEX),
        ({"version": "24.11", "options": {"switchtype": "switch/none"}}, {}, False, "imex-channels-missing", IMEX),
        (BARE, {}, False, "imex-channels-missing", IMEX),
        ({"version": "24.11"}, CHANNEL_0, True, "imex-channel-shared", "Slurm gives each job"),
        ({"version": "23.11", "build": "schedmd"}, CHANNEL_0, False, "imex-channel-shared", "24.05 or newer"),
        ({"version": "24.11"}, {"NVreg_CreateImexChannel0": 0}, True, "", ""),
    ],
)
def test_users_of_a_domain_share_no_channel_unless_stated(
    slurm: dict[str, Any], modprobe: dict[str, int], is_switched: bool, code: str, hint: str, tmp_path: Path
) -> None:
    data = tray(slurm=slurm, gpu={"modprobe": modprobe})
    tree = tree_of(data, tmp_path)
    assert ("SwitchType=switch/nvidia_imex" in text_of(tree, "t01", "/etc/slurm/slurm.conf")) == is_switched
    made = "NVreg_CreateImexChannel0=1" in text_of(tree, "t01", "/etc/modprobe.d/clustergen-nvidia.conf")
    assert made == (modprobe == CHANNEL_0)
    diagnostics = [item for item in validate(tmp_path / "manifest.yaml").diagnostics if item.code.startswith("imex-")]
    assert [item.code for item in diagnostics] == ([code] if code else [])
    assert all(hint in str(item.hint) for item in diagnostics)


@pytest.mark.slow
def test_a_domain_is_a_block_to_slurm_whatever_the_switches_join(tmp_path: Path) -> None:
    infiniband = {"type": "infiniband", "rate": "NDR", "switches": [{"name": "leaf", "nodes": "t[01-40]"}]}
    networks = {"management": {"cidr": "10.0.0.0/24"}, "fabric": infiniband}
    slurm = {"version": "26.05", "build": "schedmd"}
    tree = racks(tmp_path, networks=networks, slurm=slurm, racks={"row-[1-2]": {"nodes": "t[01-36]"}})
    assert "TopologyPlugin=topology/block" in text_of(tree, "t01", "/etc/slurm/slurm.conf")
    assert text_of(tree, "t01", "/etc/slurm/topology.conf").splitlines()[-4:] == [
        "BlockName=row-1 Nodes=t[01-18]",
        "BlockName=row-2 Nodes=t[19-36]",
        "BlockName=gpu-1 Nodes=t[37-40]",
        "BlockSizes=18,36",
    ]
    assert {name: len(members) for name, members in domains(tree).items()} == {"row-1": 18, "row-2": 18, "gpu-1": 4}


def test_a_profile_with_a_line_break_is_refused(tmp_path: Path) -> None:
    plans = {"small": {"profiles": {"1g.10gb\n      x": 1}}}
    types = {"gpu": {**GPU, "gpus": {**GPU["gpus"], "mig": "small"}}}
    assert codes_of(manifest(node_types=types, gpu={"mig_plans": plans}), tmp_path)
