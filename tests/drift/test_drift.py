"""Each kind of drift is reported once, about its own nodes, and a cluster as planned has none."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.hardware.drift.kinds import KINDS
from clustergen.hardware.drift.model import DriftFinding
from strategies.machines import (
    GPU,
    MANIFEST,
    NODES,
    addresses,
    dmi,
    infiniband,
    lspci,
    net,
    record,
    scontrol,
    scontrol_line,
    scontrol_partition,
    slurmd,
    smi,
    smi_log,
)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    return tmp_path / "facts"


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["drift", "--facts", "facts", *words])


def findings(*words: str) -> list[dict[str, Any]]:
    done = run("--format", "json", *words)
    assert done.exit_code in (0, 1), done.output
    document = json.loads(done.stdout)
    assert done.exit_code == bool(document["findings"])
    return list(document["findings"])


def test_a_cluster_as_planned_has_no_drift(directory: Path) -> None:
    record(directory)
    done = run()
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "no drift: 5 of 5 nodes compared with manifest.yaml.\n"


FAULTS: dict[str, tuple[dict[str, str | None], str, str]] = {
    "gpu-missing": (
        {"nvidia-smi.csv": smi(3), "nvidia-smi-q.xml": smi_log(3), "lspci": lspci(lost=3)},
        f"GPUs: 3 x {GPU} (0000:4b:00.0 no longer answers)",
        f"4 x {GPU}",
    ),
    "gpu-driver": (
        {"nvidia-smi.csv": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"},
        "nvidia-smi: NVIDIA-SMI has failed",
        GPU,
    ),
    "gpu-device": ({"dev": "nvidia0\nnvidia1\nnvidia3\n"}, "device files: /dev/nvidia2 missing", ""),
    "gpu-model": (
        {"nvidia-smi.csv": smi(3) + smi(4, "NVIDIA H200").splitlines()[-1] + "\n"},
        f"GPUs: 3 x {GPU} + 1 x NVIDIA H200",
        GPU,
    ),
    "gpu-extra": ({"nvidia-smi.csv": smi(5)}, f"GPUs: 5 x {GPU}", "4 x"),
    "gpu-setting": (
        {"nvidia-smi.csv": smi().replace("Disabled", "Enabled", 1)},
        "MIG mode of GPU 0: Enabled",
        "Disabled",
    ),
    "cpu-count": (
        {"slurmd-C": slurmd(cores=28)},
        "processors: 2 sockets x 28 cores x 2 threads",
        "2 sockets x 56 cores",
    ),
    "memory-low": ({"slurmd-C": slurmd(1999999)}, "memory: 1999999 MiB", "RealMemory 2000000 MiB"),
    "memory-differs": ({"slurmd-C": slurmd(2263426)}, "memory: 2263426 MiB", "about 2063426 MiB"),
    "port-missing": ({"infiniband": infiniband((400,))}, "fabric port mlx5_1: not among the RDMA devices (mlx5_0)", ""),
    "port-down": ({"infiniband": infiniband(state="1: DOWN")}, "fabric port mlx5_0: down (polling)", "active"),
    "port-slow": ({"infiniband": infiniband((200, 400))}, "fabric port mlx5_0: 200 Gb/s", "400 Gb/s"),
    "pcie-slow": ({"lspci": lspci(lanes=8)}, "PCIe link of 0000:18:00.0 (15b3:1021): 32 GT/s x8", "32 GT/s x16"),
    "driver-branch": (
        {"nvidia-smi.csv": smi(driver="550.54.15")},
        "NVIDIA driver: 550.54.15",
        "branch 570",
    ),
    "product-differs": (
        {"dmidecode": dmi("SYS-821GE")},
        "product: NVIDIA SYS-821GE",
        "NVIDIA DGXH100 as on 3 of 4 nodes",
    ),
    "address-missing": ({"ip.json": addresses(99)}, "management address: eno1 10.0.0.99", "10.0.0.12"),
    "driver-differs": (
        {"nvidia-smi.csv": smi(driver="570.54.15")},
        "NVIDIA driver: 570.54.15",
        "570.86.15 as on 3 of 4 nodes",
    ),
    "vbios-differs": (
        {"nvidia-smi.csv": None, "nvidia-smi-q.xml": smi_log(vbios="96.00.5E.00.01")},
        "GPU VBIOS: 96.00.5E.00.01",
        "96.00.99.00.01 as on",
    ),
    "ecc-differs": ({"nvidia-smi-q.xml": smi_log(ecc="Disabled")}, "ECC of GPUs: Disabled", "Enabled as on"),
    "power-differs": ({"nvidia-smi.csv": smi(limit=500)}, "GPU power limit: 500 W", "700 W as on"),
    "speed-differs": ({"net": net(speed=10000)}, "link of bond0: 10000 Mb/s", "20000 Mb/s as on 3 of 4 nodes"),
    "inforom-differs": (
        {"nvidia-smi-q.xml": smi_log().replace("G520.0200.00.05", "G520.0200.00.01")},
        "InfoROM image: G520.0200.00.01",
        "G520.0200.00.05",
    ),
    "firmware-differs": (
        {"infiniband": infiniband(firmware="28.36.1010")},
        "firmware of MT4129: 28.36.1010",
        "28.39.2048",
    ),
    "bios-differs": ({"dmidecode": dmi(bios="1.4.0")}, "BIOS: 1.4.0", "1.5.3 as on 3 of 4 nodes"),
    "kernel-differs": ({"uname": "6.12.6-amd64\n"}, "kernel: 6.12.6-amd64", "6.12.9-amd64"),
    "options-differ": ({"cmdline": "ro\n"}, "kernel options: ro", "ro iommu=pt"),
    "unit-stopped": ({"tree.json": '{"units": ["munge.service"]}'}, "munge.service: not running or not enabled", ""),
    "file-differs": ({"tree.json": '{"files": ["/etc/nccl.conf"]}'}, "/etc/nccl.conf: not as in the tree", ""),
    "file-leftover": ({"tree.json": '{"leftovers": ["/etc/old"]}'}, "/etc/old: of an earlier tree", ""),
    "package-missing": ({"tree.json": '{"packages": ["munge"]}'}, "package munge: not installed", ""),
    "path-missing": ({"tree.json": '{"paths": ["/scratch"]}'}, "/scratch: does not exist", ""),
    "package-slipped": (
        {"tree.json": '{"slipped": [["slurmd", "24.11.6", "24.11.5"]]}'},
        "package slurmd: 24.11.6",
        "24.11.5",
    ),
    "file-foreign": (
        {"tree.json": '{"foreign": ["/etc/slurm/prolog.d/99-rogue"]}'},
        "/etc/slurm/prolog.d/99-rogue: not in the tree",
        "",
    ),
    "accounts-differ": (
        {"tree.json": '{"accounts": [["user bob in vision MaxJobs", "9", "1"]]}'},
        "user bob in vision MaxJobs: 9",
        "1",
    ),
    "accounts-unlisted": (
        {"tree.json": '{"unlisted": ["user carol in vision"]}'},
        "user carol in vision: not in the manifest",
        "",
    ),
    "node-unfit": (
        {"tree.json": '{"failure": "its clock is 900 s behind"}'},
        "site.yml: its clock is 900 s behind",
        "",
    ),
    "node-unreachable": (
        {"unreachable": "ssh: connect to host gpu2 port 22: No route to host"},
        "unreachable: ssh",
        "",
    ),
    "bmc-unreachable": ({"bmc.json": '{"failure": "HTTP status 401"}'}, "BMC: HTTP status 401", ""),
    "machine-health": ({"bmc.json": '{"power": "On", "health": "Critical"}'}, "health: Critical", "OK"),
    "facts-unreadable": ({"nvidia-smi-q.xml": "<gpu"}, "nvidia-smi-q.xml: not XML", ""),
}
"""Kind → files of gpu2 that differ, the beginning of what is reported, a part of what is expected."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_one_node_is_reported_once(kind: str, directory: Path) -> None:
    files, actual, expected = FAULTS[kind]
    record(directory, gpu2=files)
    (finding,) = [one for one in findings() if one["kind"] == kind and one["subject"] in actual] or [None]
    assert finding is not None, findings()
    assert finding["nodes"] == ["gpu2"]
    assert f"{finding['subject']}: {finding['actual']}".startswith(actual)
    assert expected in (finding["expected"] or "")
    assert {one for finding in findings() for one in finding["nodes"]} == {"gpu2"}, "nobody else is accused"
    assert finding["severity"] == KINDS[kind].severity


SLURM = {
    "slurm-missing": "",
    "slurm-invalid": scontrol_line(
        "gpu2", state="IDLE+DRAIN+INVALID_REG", tail=" Reason=Low RealMemory [root@2026-01-01]"
    ),
    "slurm-down": scontrol_line("gpu2", state="DOWN*", tail=" Reason=Not responding [slurm@2026-01-01T00:00:00]"),
    "slurm-drained": scontrol_line("gpu2", state="IDLE+DRAIN", tail=" Reason=State=IDLE fans [root@2026-01-01]"),
    "slurm-gres": scontrol_line("gpu2", gres="gpu:h100:3"),
    "slurm-hardware": scontrol_line("gpu2", memory=1000000),
    "slurm-version": scontrol_line("gpu2").replace("24.11.5", "24.05.1"),
    "slurm-unplanned": scontrol_line("gpu2") + "\n" + scontrol_line("gpu9"),
}
PARTITIONS = {
    "state: DOWN": (scontrol_partition("main", "gpu[1-4]", State="DOWN"), "partition main State: DOWN, expected UP"),
    "time": (
        scontrol_partition("main", "gpu[1-4]", MaxTime="2-00:00:00"),
        "partition main MaxTime: 2-00:00:00, expected UNLIMITED",
    ),
    "nodes": (scontrol_partition("main", "gpu[1-3]"), "partition main Nodes: gpu[1-3], expected gpu[1-4]"),
    "none": (scontrol_partition("main", "(null)"), "partition main Nodes: none, expected gpu[1-4]"),
    "odd": (scontrol_partition("main", "gpu[4-"), "partition main Nodes: gpu[4-, expected gpu[1-4]"),
    "extra": (
        scontrol_partition("main", "gpu[1-4]") + scontrol_partition("night", "gpu1", Default="NO"),
        "partition night: is not in the manifest",
    ),
}
"""Output of a controller → the finding that follows."""


@pytest.mark.parametrize("kind", SLURM)
def test_slurms_view_of_one_node(kind: str, directory: Path) -> None:
    record(directory, head={"scontrol-nodes": scontrol(gpu2=SLURM[kind])})
    document = json.loads(run("--format", "json").stdout)
    (finding,) = document["findings"]
    assert finding["kind"] == kind
    assert finding["nodes"] == ["gpu9" if kind == "slurm-unplanned" else "gpu2"]
    assert document["nodes"]["affected"] == (kind != "slurm-unplanned"), "of the manifest's nodes"


@pytest.mark.parametrize("case", PARTITIONS)
def test_a_partition_that_slurmctld_has_otherwise(case: str, directory: Path) -> None:
    shown, message = PARTITIONS[case]
    record(directory, head={"scontrol-partitions": shown})
    (finding,) = findings()
    assert (finding["kind"], finding["nodes"]) == ("slurm-partition", ["head"])
    assert f"slurm-partition] head: {message}\n" in run().stdout


@pytest.mark.slow
def test_a_missing_partition_and_partitions_that_were_not_recorded(directory: Path) -> None:
    record(directory, head={"scontrol-partitions": scontrol_partition("other", "gpu[1-4]")})
    assert {one["subject"]: one["actual"] for one in findings()} == {
        "partition main": "slurmctld does not have it",
        "partition other": "is not in the manifest",
    }
    (directory / "head/scontrol-partitions").write_text("slurm_load_partitions: Connection refused\n", encoding="utf-8")
    (finding,) = findings()
    assert (finding["kind"], finding["subject"]) == ("facts-unreadable", "scontrol-partitions")
    (directory / "head/scontrol-partitions").unlink()
    done = run()
    assert (done.exit_code, done.stderr) == (
        0, "partitions are not compared: head has not recorded scontrol-partitions\n"
    )  # fmt: skip


def test_the_reason_of_a_drain_is_shown_and_is_no_state(directory: Path) -> None:
    record(directory, head={"scontrol-nodes": scontrol(gpu2=SLURM["slurm-drained"])})
    (finding,) = findings()
    assert finding["actual"] == "IDLE+DRAIN (State=IDLE fans)"


def test_a_finding_that_another_one_explains_is_left_out(directory: Path) -> None:
    lines = {"gpu2": SLURM["slurm-down"], "gpu3": SLURM["slurm-invalid"].replace("gpu2", "gpu3")}
    record(
        directory,
        head={"scontrol-nodes": scontrol(**lines, gpu4=SLURM["slurm-gres"].replace("gpu2", "gpu4"))},
        gpu2={"unreachable": "no route"},
        gpu3={"slurmd-C": slurmd(1800000)},
        gpu4={"nvidia-smi.csv": smi(3), "nvidia-smi-q.xml": smi_log(3)},
    )
    assert [(one["kind"], one["hosts"]) for one in findings()] == [
        ("node-unreachable", "gpu2"),
        ("gpu-missing", "gpu4"),
        ("memory-low", "gpu3"),
    ]


def test_subjects_that_differ_alike_are_one_line_and_stay_apart_in_json(directory: Path) -> None:
    files = [f"/etc/f{n:02}" for n in range(20)]
    record(
        directory,
        gpu1={"tree.json": json.dumps({"files": files})},
        gpu2={"infiniband": infiniband(state="1: DOWN")},
        gpu3={"nvidia-smi.csv": smi().replace("Disabled", "Enabled")},
    )
    lines = [line for line in run().stdout.splitlines() if "]" in line.partition(" ")[0]]
    assert [line.partition(": ")[2] for line in lines] == [
        "fabric port mlx5_0, mlx5_1: down (polling), expected active",
        "MIG mode of GPU 0, 1, 2, 3: Enabled, expected Disabled",
        f"{', '.join(files[:12])} and 8 more: not as in the tree",
    ]
    assert len(findings()) == 2 + 4 + 20


def test_next_steps_are_lines_for_a_shell() -> None:
    nodes = ("gpu1", "gpu2", "gpu7")
    commands = [step for kind in KINDS if "  # " in (step := DriftFinding(kind, nodes, "", "").step)]
    assert {command.split()[0] for command in commands} == {"ansible", "ansible-playbook", "scontrol"}
    done = subprocess.run(
        ["bash", "-n"], input="\n".join(commands), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stderr == ""
    assert all("gpu[1-2,7]" in one or "gpu[1:2],gpu7" in one for one in commands if "slurm_controller" not in one)
    bare = [re.sub(r"'[^']*'", "", command.partition("  # ")[0]) for command in commands]
    assert not [command for command in bare if "[" in command], "zsh ends with an error where no file matches"


def test_a_cluster_without_slurm_has_steps_without_it(directory: Path) -> None:
    text = re.sub(r"\nslurm:(.|\n)*", "\n", MANIFEST).replace("roles: [slurm-controller]", "roles: [monitoring]")
    assert "slurm" not in text
    Path("manifest.yaml").write_text(text, encoding="utf-8")
    record(directory)
    (directory / NODES[0] / "slurmd-C").write_text(slurmd(1999999), encoding="ascii")
    report = json.dumps(findings())
    assert "dmidecode -t memory" in report
    assert not re.search("slurm|scontrol|RealMemory|drain", report)


def test_no_kind_of_a_cluster_without_slurm_speaks_of_it() -> None:
    of_others = {name: kind.without_slurm for name, kind in KINDS.items() if kind.topic != "slurm"}
    assert {
        name: kind for name, kind in of_others.items() if re.search("slurm|scontrol", f"{kind.cause}{kind.step}")
    } == {}
    assert all(re.match("[a-z]", kind.step) for kind in of_others.values())


def test_every_kind_has_a_case() -> None:
    others = {
        "facts-missing",
        "node-unplanned",
        "interface-missing",
        "adapter-setting",
        "firmware-setting",
        "firmware-setting-differs",
        "node-off",
        "slurm-partition",
    }
    assert set(FAULTS) | set(SLURM) | others == set(KINDS)


def test_nodes_of_a_rack_that_lost_its_network_are_one_finding_and_one_that_is_off_another(directory: Path) -> None:
    failure = 'no data to "10.0.0.{0}". Reached over ssh: ssh: connect to host 10.0.0.{0} port 22: No route to host'
    silent = {f"gpu{n}": {"unreachable": failure.format(10 + n), "bmc.json": '{"power": "On"}'} for n in (1, 2, 3)}
    record(directory, **silent, gpu4={"unreachable": failure.format(14), "bmc.json": '{"power": "Off"}'})
    first, second = findings("--ignore", "bmc-unreachable")
    assert (first["hosts"], first["actual"]) == (
        "gpu[1-3]",
        "ssh: connect to host port 22: No route to host (power: On)",
    )
    assert (second["hosts"], second["kind"]) == ("gpu4", "node-off")


def test_the_first_line_has_the_first_step(directory: Path) -> None:
    record(directory, gpu1={"uname": "6.1.0\n"}, gpu3={"nvidia-smi.csv": smi(3), "nvidia-smi-q.xml": smi_log(3)})
    first, second, *_ = run().stdout.splitlines()
    assert first.startswith(
        "2 of 5 nodes differ from manifest.yaml: 1 error, 1 warning. First gpu3 (gpu-missing): scontrol"
    )
    assert second.startswith("error[gpu-missing] gpu3: GPUs: 3 x ")


def test_a_port_is_no_faster_than_the_fabric(directory: Path) -> None:
    Path("manifest.yaml").write_text(MANIFEST.replace("rate: NDR", "rate: HDR"), encoding="utf-8")
    record(directory, **{name: {"infiniband": infiniband((200, 200))} for name in NODES})
    assert findings() == []


def test_equal_findings_are_folded(directory: Path) -> None:
    slow = {"infiniband": infiniband((200, 400))}
    record(directory, gpu1=slow, gpu2=slow, gpu3=slow)
    (finding,) = findings()
    assert (finding["kind"], finding["hosts"]) == ("port-slow", "gpu[1-3]")


def test_a_metric_counts_the_nodes_of_a_kind(directory: Path) -> None:
    slow = {"infiniband": infiniband((200, 400))}
    record(directory, gpu1=slow, gpu2=slow, gpu4={"infiniband": infiniband((400,))})
    run("--metrics", "drift.prom")
    lines = Path("drift.prom").read_text(encoding="utf-8").splitlines()
    counts = {match[1]: int(match[2]) for line in lines if (match := re.search(r'kind="(.*)"} (\d+)$', line))}
    assert {kind: count for kind, count in counts.items() if count} == {"port-slow": 2, "port-missing": 1}
    assert counts.keys() == KINDS.keys()


def test_interfaces_that_are_down_and_virtual_ones(directory: Path) -> None:
    """An unplugged port that most machines use is a fault; a port that one machine alone uses is none, nor a bridge."""
    spare = "/sys/class/net/eno2/speed:1000\n/sys/class/net/veth1/speed:10000\n"
    record(directory, gpu1={"net": net() + spare}, gpu2={"net": net(state="down")})
    assert [(one["kind"], one["hosts"], one["subject"], one["actual"], one["expected"]) for one in findings()] == [
        ("speed-differs", "gpu2", "link of bond0", "down", "20000 Mb/s as on 3 of 4 nodes")
    ]


def test_no_majority_accuses_all(directory: Path) -> None:
    old = {"uname": "6.1.0\n"}
    record(directory, gpu1=old, gpu2=old)
    assert {(one["hosts"], one["expected"]) for one in findings()} == {
        ("gpu[1-2]", "one for all: 2 are in use"),
        ("gpu[3-4]", "one for all: 2 are in use"),
    }


@pytest.mark.slow
def test_nodes_without_facts_and_facts_without_a_node(directory: Path) -> None:
    record(directory, spare={"uname": "6.1.0\n"})
    for file in (directory / "gpu4").iterdir():
        file.unlink()
    (directory / "gpu4").rmdir()
    assert {(one["kind"], one["hosts"]) for one in findings()} == {
        ("facts-missing", "gpu4"),
        ("node-unplanned", "spare"),
    }
    assert "1 of 5 nodes differs" in run().stdout.replace("differ ", "differs ")
    assert ", and 1 machine not in it:" in run().stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", sorted({file for files, *_ in FAULTS.values() for file in files if file != "unreachable"})
)
@pytest.mark.parametrize(
    "text", ["", "\0\x1b[2J\xff\u2028", "[" * 100_000, "<a>" * 100_000, "NodeName=x CPUs=z", "[1]"]
)
def test_hostile_output_concerns_its_own_node(directory: Path, file: str, text: str) -> None:
    record(directory, gpu2={file: text})
    done = run()
    assert done.exit_code in (0, 1), done.output
    assert "\x1b" not in done.stdout
    assert {name for one in findings() for name in one["nodes"]} <= {"gpu2"}


@pytest.mark.parametrize("text", ["", "\0", "NodeName=", "x" * 100_000, "NodeName=gpu1 State=\n"])
def test_a_broken_view_of_slurm(directory: Path, text: str) -> None:
    record(directory, head={"scontrol-nodes": text})
    assert run().exit_code in (0, 1)


def test_without_slurms_view_there_is_a_remark(directory: Path) -> None:
    record(directory, head={"scontrol-nodes": None})
    done = run()
    assert done.exit_code == 0
    assert done.stderr == "Slurm's view is missing: no controller has recorded scontrol-nodes\n"


def test_kinds_and_topics_are_selected(directory: Path) -> None:
    record(directory, gpu1={"uname": "6.1.0\n"}, gpu2={"tree.json": '{"units": ["munge.service"]}'})
    assert [one["kind"] for one in findings("--select", "group")] == ["kernel-differs"]
    assert [one["kind"] for one in findings("--ignore", "kernel-differs")] == ["unit-stopped"]
    assert findings("--ignore", "files,group") == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--select", "gpu-mising"), 2, "did you mean 'gpu-missing'?"),
        (("--facts", "nowhere"), 3, "no such file"),
        (("--facts", "empty"), 2, "no facts of any node"),
        (("--facts", "tree"), 2, "tree is a rendered tree, not recorded facts"),
        (("-",), 2, "not read from standard input"),
        (("bad.yaml",), 2, ""),
    ],
)
def test_wrong_use(directory: Path, words: tuple[str, ...], code: int, message: str) -> None:
    record(directory)
    Path("empty").mkdir()
    Path("tree/overlays").mkdir(parents=True)
    Path("tree/clustergen.lock.json").write_text("{}", encoding="utf-8")
    Path("bad.yaml").write_text("name: x\n", encoding="utf-8")
    done = run(*words)
    assert getattr(done.exception, "exit_code", done.exit_code) == code
    assert message in done.output + str(done.exception)
    assert done.stdout == "" or code == 2
    if "--facts" in words:
        assert f"ansible-playbook clustergen.cluster.drift -e facts={words[-1].replace('tree', 'facts')}" in str(
            getattr(done.exception, "hint", "")
        )


def test_markdown_is_a_table(directory: Path) -> None:
    record(directory, gpu2={"uname": "6.1.0|<b>\n"})
    text = run("--format", "markdown").stdout
    assert text.startswith("**Drift: 1 of 5 nodes differ")
    assert "| gpu2 | `kernel-differs` " in text
    assert "6.1.0\\|\\<b>" in text


def test_the_guide_lists_every_kind() -> None:
    page = (Path(__file__).parents[2] / "docs/drift.md").read_text(encoding="utf-8")
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.severity} | {kind.topic} | {kind.cause} |\n" in page


def test_an_address_in_the_fabric_is_compared_with_that_of_the_manifest(directory: Path) -> None:
    text = MANIFEST.replace("{type: infiniband,", "{type: infiniband, cidr: 10.1.0.0/24,")
    text = text.replace('"10.0.0.[11-14]"', '"10.0.0.[11-14]", addresses: {fabric: "10.1.0.[11-14]"}')
    Path("manifest.yaml").write_text(text, encoding="utf-8")
    rows = {f"gpu{number}": json.loads(addresses(10 + number)) for number in range(1, 5)}
    for name, (*_, interface) in rows.items():
        address = f"10.1.0.{10 + int(name[-1]) if name != 'gpu3' else 99}"
        interface["addr_info"].append({"family": "inet", "local": address, "scope": "global"})
    record(directory, **{name: {"ip.json": json.dumps(row)} for name, row in rows.items()})
    (row,) = findings()
    assert (row["kind"], row["nodes"], row["subject"]) == ("address-missing", ["gpu3"], "fabric address")
    assert (row["actual"], row["expected"]) == ("eno1 10.0.0.13, eno1 10.1.0.99", "10.1.0.13")


# --- settings of the firmware -----------------------------------------------------------------------------------------

FIRMWARE = """\
name: night
os: debian-13
networks: {management: {cidr: 10.0.0.0/24}}
node_types: {h100: {system: SYSTEM, tuning: TUNING}}
nodes:
  - {name: head, type: service, address: 10.0.0.10, roles: [slurm-controller]}
  - {name: "gpu[1-3]", type: h100, address: "10.0.0.[11-13]"}
slurm: {version: "24.11"}
"""
SUPERMICRO = {
    "Hyper_Threading_ALL__F27F": "Enable",
    "SNC_F300": "Auto",
    "Above4GDecoding_0041": "Enabled",
    "IntelVTforDirectedI_O_VT_d__1E32": "Enable",
    "RelaxedOrdering_1DD1": "No",
    "RestoreonACPowerLoss_0035": "Last State",
}
DGX = {"ProcessorHyperThreadingDisable": "Enabled", "VTdSupport": "Enable", "PcieRelaxedOrdering": "Yes"}


def firmware_findings(
    directory: Path, system: str, healthy: dict[str, object], changed: dict[str, object], tuning: str = "{}"
) -> list[tuple[str, ...]]:
    """Kind, nodes, subject, actual and expected; gpu2 has the changed attributes."""
    Path("manifest.yaml").write_text(FIRMWARE.replace("SYSTEM", system).replace("TUNING", tuning), encoding="utf-8")
    for name in ("gpu1", "gpu2", "gpu3"):
        (directory / name).mkdir(parents=True)
        attributes = healthy | (changed if name == "gpu2" else {})
        text = json.dumps({"@odata.type": "#Bios.v1_0_7.Bios", "Attributes": attributes})
        (directory / name / "redfish-bios.json").write_text(text, encoding="utf-8")
    keys = ("kind", "hosts", "subject", "actual", "expected")
    return [tuple(one[key] for key in keys) for one in findings("--ignore", "facts-missing")]


@pytest.mark.parametrize(
    ("name", "value", "subject", "expected"),
    [
        ("Hyper_Threading_ALL__F27F", "Disable", "SMT (Hyper-Threading)", "Enable"),
        ("SNC_F300", "Enable SNC2 (2-clusters)", "NUMA nodes per socket (SNC, NPS)", "Disable"),
        ("Above4GDecoding_0041", "Disabled", "PCIe memory above 4 GiB", "Enabled"),
    ],
)
def test_a_firmware_setting_is_compared_with_the_node_type_and_with_other_nodes(
    directory: Path, name: str, value: str, subject: str, expected: str
) -> None:
    rows = firmware_findings(directory, "smc-821ge-tnhr", dict(SUPERMICRO), {name: value})
    usual = f"{SUPERMICRO[name]} as on 2 of 3 nodes"
    assert rows == [
        ("firmware-setting", "gpu2", f"{subject}, {name}", value, expected),
        ("firmware-setting-differs", "gpu2", f"BIOS attribute {name}", value, usual),
    ]


ADAPTERS = """\
name: dgx
os: ubuntu-24.04
networks: {management: {cidr: 10.0.0.0/24}, fabric: {type: infiniband, rate: NDR}}
node_types:
  dgx: {system: dgx-h100, firmware: {adapters: {MAX_ACC_OUT_READ: 44, ADVANCED_PCI_SETTINGS: 1}}}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}
  - {name: "gpu[1-2]", type: dgx, address: "10.0.0.[11-12]"}
slurm: {version: "24.11"}
"""
QUERY = """\
adapter mlx5_0

Device #1:
----------

Device type:        ConnectX7
Name:               MCX750500B-0D0K_DK_Ax
Description:        Nvidia adapter card with four ConnectX-7; each up to 400Gb/s IB (default mode) or 400GbE
Device:             0000:5e:00.0

Configurations:                                      Next Boot
        MODULE_SPLIT_M0                             Array[0..15]
        ADVANCED_PCI_SETTINGS                       True(1)
        MAX_ACC_OUT_READ                            44
        NUM_OF_VFS                                  16
        LINK_TYPE_P1                                IB(1)
"""


@pytest.mark.parametrize(
    ("right", "wrong", "row"),
    [
        ("IB(1)", "ETH(2)", ("LINK_TYPE_P1 of mlx5_0", "ETH(2)", "IB")),
        (" 44\n", " 0\n", ("MAX_ACC_OUT_READ of mlx5_0", "0", "44")),
        ("True(1)", "False(0)", ("ADVANCED_PCI_SETTINGS of mlx5_0", "False(0)", "1")),
        (" 16\n", " 0\n", None),  # the site does not state it
    ],
)
def test_settings_of_adapters_are_those_of_the_fabric_and_the_manifest(
    directory: Path, right: str, wrong: str, row: tuple[str, ...] | None
) -> None:
    Path("manifest.yaml").write_text(ADAPTERS, encoding="utf-8")
    for name, text in (("gpu1", QUERY), ("gpu2", QUERY.replace(right, wrong))):
        (directory / name).mkdir(parents=True)
        (directory / name / "nic-firmware").write_text(text, encoding="utf-8")
    rows = [
        tuple(one[key] for key in ("kind", "hosts", "subject", "actual", "expected"))
        for one in findings("--ignore", "facts-missing")
    ]
    assert rows == ([("adapter-setting", "gpu2", *row)] if row else [])


def test_settings_of_the_site_are_only_compared_with_other_nodes(directory: Path) -> None:
    rows = firmware_findings(directory, "dgx-h100", dict(DGX), {"VTdSupport": "Disable"})
    assert [row[:4] for row in rows] == [
        ("firmware-setting-differs", "gpu2", "BIOS attribute VTdSupport", "Disable"),
    ]


def test_tuning_states_what_the_firmware_has_to_have(directory: Path) -> None:
    off: dict[str, object] = {"VTdSupport": "Disable", "PcieRelaxedOrdering": "No"}
    rows = firmware_findings(directory, "dgx-h100", {**DGX, **off}, {}, "{iommu: pt, relaxed_ordering: true}")
    assert [row[:2] + row[3:] for row in rows] == [
        ("firmware-setting", "gpu[1-3]", "Disable", "Enable"),
        ("firmware-setting", "gpu[1-3]", "No", "Yes"),
    ]


@pytest.mark.slow
def test_stated_settings_are_compared(directory: Path) -> None:
    """`off` as the catalogue knows it, and a value of the maker's."""
    stated = "{}, firmware: {sr_iov: off, power: Performance}"
    healthy: dict[str, object] = {**DGX, "SRIOVEnable": "Enable", "PwrPerfTuning": "BIOS Controls EPB"}
    rows = firmware_findings(directory, "dgx-h100", healthy, {"SRIOVEnable": "Disable"}, stated)
    assert [row[1:] for row in rows if row[0] == "firmware-setting"] == [
        ("gpu[1-3]", "Power and performance profile, PwrPerfTuning", "BIOS Controls EPB", "Performance"),
        ("gpu[1,3]", "SR-IOV, SRIOVEnable", "Enable", "Disable"),
    ]
    assert CliRunner().invoke(group, ["render", "-q"]).exit_code == 0
    page = Path("rendered/facility/firmware.md").read_text(encoding="utf-8")
    assert "| SR-IOV | off (Disable) | SRIOVEnable |" in page
    assert "| Power and performance profile | Performance | PwrPerfTuning |" in page


@pytest.mark.slow
def test_a_stated_family_has_the_names_of_attributes(directory: Path) -> None:
    stated = "{}, firmware: {family: supermicro, resizable_bar: on, acs: on, power: off}"
    healthy: dict[str, object] = {"Re_SizeBARSupport_0042": "Enabled", "PowerPerformanceTuning_3CE0": "OS Controls EPB"}
    rows = firmware_findings(directory, "ws-4x3090", healthy, {"Re_SizeBARSupport_0042": "Disabled"}, stated)
    assert [row for row in rows if row[0] == "firmware-setting"] == [
        ("firmware-setting", "gpu2", "Resizable BAR, Re_SizeBARSupport_0042", "Disabled", "Enabled"),
    ]  # no value of PowerPerformanceTuning means off


@pytest.mark.parametrize(("system", "fields"), [("ws-2xa6000", "sr_iov, power"), ("smc-821ge-tnhr", "")])
def test_values_that_the_catalogue_cannot_compare_are_a_remark(directory: Path, system: str, fields: str) -> None:
    Path("manifest.yaml").write_text(
        FIRMWARE.replace("SYSTEM", system).replace("tuning: TUNING", "firmware: {sr_iov: off, power: PerfOptimized}"),
        encoding="utf-8",
    )
    for name in ("head", "gpu1", "gpu2", "gpu3"):
        (directory / name).mkdir(parents=True)
        (directory / name / "uname").write_text("6.12.9-amd64\n", encoding="utf-8")
    done = run()
    why = f"the catalogue knows no attribute for {fields} of this system"
    remark = f"node_types.h100.firmware is not compared: {why}\n" if fields else ""
    assert (done.exit_code, done.stderr) == (
        0, remark + "Slurm's view is missing: no controller has recorded scontrol-nodes\n"
    )  # fmt: skip


def test_attributes_of_one_machine_alone_are_not_compared(directory: Path) -> None:
    assert firmware_findings(directory, "smc-821ge-tnhr", dict(SUPERMICRO), {"RestoreonACPowerLoss_0035": "On"}) == []


@pytest.mark.parametrize("text", ["", "[]", '{"Attributes": 7}', '{"Attributes": {"SNC_F300": [1]}}', "[" * 100_000])
def test_a_broken_answer_of_a_bmc_concerns_its_own_node(directory: Path, text: str) -> None:
    firmware_findings(directory, "smc-821ge-tnhr", dict(SUPERMICRO), {})
    (directory / "gpu2/redfish-bios.json").write_text(text, encoding="utf-8")
    assert {(one["kind"], one["hosts"]) for one in findings("--ignore", "facts-missing")} <= {
        ("facts-unreadable", "gpu2")
    }


@pytest.mark.slow
def test_the_page_has_the_attributes_that_drift_compares(directory: Path) -> None:
    text = FIRMWARE.replace("SYSTEM", "dell-xe9680").replace("TUNING", "{iommu: pt}")
    Path("manifest.yaml").write_text(text, encoding="utf-8")
    assert CliRunner().invoke(group, ["render", "-q"]).exit_code == 0
    page = Path("rendered/facility/firmware.md").read_text(encoding="utf-8")
    assert "GET `/redfish/v1/Systems/System.Embedded.1/Bios` at the BMC. Their names were read on another model" in page
    assert "| SMT (Hyper-Threading) | on (Enabled) | LogicalProc |" in page
    assert "| IOMMU (VT-d, AMD-Vi) | on (Enabled) | ProcVirtualization |" in page
