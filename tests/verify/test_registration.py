"""Nodes register on simulated hardware, and what is wrong with one is named with slurmctld's or slurmd's own reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clustergen.records import replace
from clustergen.render.node_hardware import Hardware
from clustergen.render.write import write
from clustergen.verify import simulated_hardware
from clustergen.verify.checks import CHECKS
from clustergen.verify.registration import complaints
from clustergen.verify.rows import Row
from clustergen.verify.run import verify
from clustergen.verify.simulated_hardware import Node
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.trees import COMPUTE, GPU, HEAD, manifest, tree_of

pytestmark = pytest.mark.real

H100 = Hardware(
    2,
    8,
    2,
    1,
    "sockets",
    memory=65536,
    gpu="NVIDIA H100 80GB HBM3",
    mig_family="h100-80",
    cpus=(*2 * ("0-7,16-23",), *2 * ("8-15,24-31",)),
)
CPU = Hardware(2, 8, 2, 1, "sockets", memory=65536)
CARDS = replace(CPU, disk=100_000, devices=("/dev/fpga0", "/dev/fpga1", "/dev/cards/nic0"))
SIZE = "Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000"
GPUS = "Gres=gpu:h100:4"
FPGAS = "Gres=fpga:u280:2,nic:1"
FPGA_FILES = "Name=fpga Type=u280 File=/dev/fpga[0-1]\nName=nic File=/dev/cards/nic0"
FILES = "Name=gpu Type=h100 File=/dev/nvidia[0-3]"
SPLIT = (None, None, None, {"3g.40gb": 2})

RIGHT = {
    "files": (H100, f"{SIZE} {GPUS}", FILES),
    "cores": (H100, f"{SIZE} {GPUS}", f"{FILES} Cores=0-15"),
    "detects": (H100, f"{SIZE} {GPUS}", "AutoDetect=nvml"),
    "plain": (CPU, SIZE, ""),
    "memory": (CPU, SIZE.replace("64000", "65536"), ""),
    "shards": (H100, f"{SIZE} {GPUS},shard:16", f"{FILES}\nName=shard Count=16"),
    "drained": (CPU, f"{SIZE} State=DRAIN Reason=memory", ""),
    "mig": (H100, f"{SIZE} Gres=gpu:h100:3,gpu:h100_80gb_hbm3_3g.40gb:2", "AutoDetect=nvml"),
    "cards": (CARDS, f"{SIZE} {FPGAS} TmpDisk=100000", FPGA_FILES),
}
"""Node name → its hardware, values of its line in slurm.conf, and lines of gres.conf."""

WRONG = {
    "more-gpus": (H100, f"{SIZE} Gres=gpu:h100:5", FILES, "gres/gpu count reported lower than configured (4 < 5)"),
    "fewer-gpus": (
        H100,
        f"{SIZE} Gres=gpu:h100:3",
        FILES.replace("3", "2"),
        "Gres=gpu:h100:3, its hardware has 4 GPUs",
    ),
    "no-gpus": (H100, SIZE, "", "Gres=(null), its hardware has 4 GPUs"),
    "lost-file": (H100, f"{SIZE} Gres=gpu:h100:5", FILES.replace("-3", "-4"), "/dev/nvidia4"),
    "no-file": (H100, f"{SIZE} {GPUS}", "", "count reported lower than configured (0 < 4)"),
    "half-files": (H100, f"{SIZE} {GPUS}", FILES.replace("-3", "-1"), "reported lower than configured (2 < 4)"),
    "type": (H100, f"{SIZE} {GPUS}", FILES.replace("h100", "gpu:h10 "), "gpu:h10 "),
    "other-gpu": (H100, f"{SIZE} Gres=gpu:a100:4", "AutoDetect=nvml", "lower than configured (0 < 4)"),
    "detects-fewer": (H100, f"{SIZE} Gres=gpu:h100:8", "AutoDetect=nvml", "lower than configured (4 < 8)"),
    "duplicate": (H100, f"{SIZE} Gres=gpu:4", "Name=gpu Count=2\nName=gpu Count=2", "duplicate records for gpu"),
    "same-file": (H100, f"{SIZE} Gres=gpu:h100:8", f"{FILES}\n{FILES}", "duplicate device file name (/dev/nvidia0)"),
    "same-type": (
        H100,
        f"{SIZE} {GPUS}",
        FILES.replace("3", "1") + "\n" + FILES.replace("0-3", "1-3"),
        "duplicate device file name (/dev/nvidia1)",
    ),
    "shards-alone": (CPU, f"{SIZE} Gres=shard:8", "Name=shard Count=8", "no gres that is sharing"),
    "fewer-shards": (
        H100,
        f"{SIZE} {GPUS},shard:16",
        f"{FILES}\nName=shard Count=8",
        "multiple configurations without",
    ),
    "shard-of-nic": (
        H100,
        f"{SIZE} {GPUS},shard:16",
        f"{FILES}\nName=shard Count=16 File=/dev/nvidia9",
        "/dev/nvidia9",
    ),
    "more-mps": (H100, f"{SIZE} {GPUS},mps:400", f"{FILES}\nName=mps Count=200", "multiple configurations without"),
    "nic": (CPU, f"{SIZE} Gres=nic:2", "Name=nic Count=1\nName=nic Count=1", "duplicate records for nic"),
    "gres-cores": (H100, f"{SIZE} {GPUS}", f"{FILES} Cores=0-99", "Invalid GRES data for gpu, Cores=0-99"),
    "sockets": (CPU, SIZE.replace("Sockets=2", "Sockets=4"), "", "Low socket*core*thread count"),
    "fewer-sockets": (CPU, SIZE.replace("Sockets=2", "Sockets=1"), "", "CPUs=16:32(hw)"),
    "more-cores": (CPU, SIZE.replace("Socket=8", "Socket=16"), "", "Low socket*core*thread count"),
    "fewer-cores": (CPU, SIZE.replace("Socket=8", "Socket=4"), "", "CPUs=16:32(hw)"),
    "threads": (CPU, SIZE.replace("Core=2", "Core=4"), "", "Low socket*core*thread count"),
    "one-thread": (CPU, SIZE.replace("Core=2", "Core=1"), "", "ThreadsPerCore=1:2(hw)"),
    "boards": (CPU, f"Boards=2 {SIZE}".replace("Sockets", "SocketsPerBoard"), "", "Low socket*core*thread count"),
    "more-memory": (
        CPU,
        SIZE.replace("64000", "65537"),
        "",
        "Low RealMemory (reported:65536 < 100.00% of configured:65537)",
    ),
    "mig-count": (H100, f"{SIZE} Gres=gpu:h100:3,gpu:h100_80gb_hbm3_3g.40gb:3", "AutoDetect=nvml", "5"),
    "mig-size": (H100, f"{SIZE} Gres=gpu:h100:3,gpu:h100_80gb_hbm3_4g.40gb:2", "AutoDetect=nvml", "count"),
    "lost-card": (CARDS, f"{SIZE} Gres=fpga:3", "Name=fpga File=/dev/fpga[0-2]", "/dev/fpga2"),
    "no-card": (CPU, f"{SIZE} {FPGAS}", FPGA_FILES, "/dev/fpga0"),
    "fewer-cards": (CARDS, f"{SIZE} {FPGAS}", FPGA_FILES.replace("0-1", "1"), 'lacks "File=" parameter for node fewer'),
    "card-type": (CARDS, f"{SIZE} {FPGAS}", FPGA_FILES.replace("u280", "u250"), "u2"),
    "more-disk": (CARDS, f"{SIZE} TmpDisk=100001", "", "TmpDisk=100001 for more-disk, its hardware has 100000 MiB"),
    "half-cpus": (CPU, f"{SIZE} CPUs=16", "", "CPUs=16:32(hw)"),
}
"""The same, and words of Slurm that say what is wrong."""

CONF = """\
ClusterName=test
SlurmctldHost=head
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd/%n
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu,shard,mps,nic,fpga
"""


def _nodes(rows: Mapping[str, tuple[Any, ...]]) -> list[Node]:
    return [
        Node(
            name,
            row[0],
            SPLIT if name.startswith("mig") else (),
            row[3] if len(row) > 3 and isinstance(row[3], tuple) else (),
        )
        for name, row in rows.items()
    ]


def _write(directory: Path, rows: Mapping[str, tuple[Any, ...]]) -> None:
    names = [f"NodeName={name} {row[1]}\n" for name, row in rows.items() if row[1] is not None]
    (directory / "slurm.conf").write_text(f"{CONF}{''.join(names)}PartitionName=all Nodes=ALL\n", encoding="utf-8")
    lines = [f"NodeName={name} {line}\n" for name, row in rows.items() for line in row[2].splitlines()]
    (directory / "gres.conf").write_text("".join(lines), encoding="utf-8")
    (directory / "cgroup.conf").write_text("", encoding="utf-8")


@pytest.fixture(scope="module")
def report(slurm: SlurmInstall, tmp_path_factory: pytest.TempPathFactory) -> SlurmReport:
    directory = tmp_path_factory.mktemp("registration")
    rows = {**RIGHT, **WRONG}
    _write(directory, rows)
    return read_config(slurm, directory, simulated=_nodes(rows), timeout=300)


@pytest.mark.parametrize("name", RIGHT)
def test_correct_nodes_register(report: SlurmReport, name: str) -> None:
    node = next(node for node in _nodes(RIGHT) if node.name == name)
    assert list(complaints(node, report.registered[name])) == []


@pytest.mark.parametrize("name", WRONG)
def test_slurm_says_what_is_wrong(report: SlurmReport, name: str) -> None:
    node = next(node for node in _nodes(WRONG) if node.name == name)
    words = list(complaints(node, report.registered[name]))
    assert any(WRONG[name][3] in line for line in words), words


DYNAMIC = {
    "future": (CPU, f"{SIZE} State=FUTURE", "", ()),
    "cloud": (CPU, f"{SIZE} State=CLOUD", "", ()),
    "future-small": (CPU, f"{SIZE} State=FUTURE Feature=small", "", ("-Fsmall",)),
    "future-gres": (CARDS, f"{SIZE} {FPGAS} State=FUTURE", FPGA_FILES, ()),
    "normal": (CPU, None, "", ("-Z",)),
    "normal-gpus": (H100, None, FILES, ("-Z", "--conf", f"RealMemory=64000 {GPUS}")),
}
"""The same with slurmd's options; nodes without a line come to slurmctld by registering."""

NOT_DYNAMIC = {
    "future-large": (CPU, f"{SIZE.replace('Sockets=2', 'Sockets=4')} State=FUTURE", "", (), "Low socket*core*thread"),
    "cloud-large": (CPU, f"{SIZE.replace('64000', '65537')} State=CLOUD", "", (), "has 65536 MiB"),
    "normal-large": (CPU, None, "", ("-Z", "--conf", "RealMemory=65537"), "reported:65536"),
    "normal-more": (H100, None, FILES, ("-Z", "--conf", "Gres=gpu:h100:5"), "(4 < 5)"),
    "normal-fewer": (H100, None, "", ("-Z",), "Gres=(null), its hardware has 4 GPUs"),
}


@pytest.fixture(scope="module")
def dynamic(slurm: SlurmInstall, tmp_path_factory: pytest.TempPathFactory) -> SlurmReport:
    directory = tmp_path_factory.mktemp("dynamic")
    rows = {**DYNAMIC, **NOT_DYNAMIC}
    _write(directory, rows)
    with (directory / "slurm.conf").open("a", encoding="utf-8") as file:
        file.write("MaxNodeCount=100\nTreeWidth=65533\n")
    return read_config(slurm, directory, simulated=_nodes(rows), timeout=300)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, "CPUTot=64") for name in ("sockets", "more-cores", "threads", "boards")),
        ("more-memory", "RealMemory=65537"),
        ("more-disk", "TmpDisk=100001"),
    ],
)
def test_hardware_that_is_less_is_named_with_both_values(report: SlurmReport, name: str, values: str) -> None:
    node = next(node for node in _nodes(WRONG) if node.name == name)
    mib = node.hardware.disk if "Disk" in values else node.hardware.memory
    has = "32 CPUs" if "CPU" in values else f"{mib} MiB"
    words = list(complaints(node, report.registered[name]))
    assert f"slurmctld has {values} for {name}, its hardware has {has}" in words


@pytest.mark.parametrize("name", DYNAMIC)
def test_future_cloud_and_dynamic_nodes_register(dynamic: SlurmReport, name: str) -> None:
    node = next(node for node in _nodes(DYNAMIC) if node.name == name)
    assert list(complaints(node, dynamic.registered[name])) == []
    assert ("DYNAMIC_NORM" in dynamic.registered[name].summary) == ("-Z" in node.options)


@pytest.mark.parametrize("name", NOT_DYNAMIC)
def test_errors_of_such_nodes_are_reported(dynamic: SlurmReport, name: str) -> None:
    node = next(node for node in _nodes(NOT_DYNAMIC) if node.name == name)
    words = list(complaints(node, dynamic.registered[name]))
    assert any(NOT_DYNAMIC[name][4] in line for line in words), words


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("cgroup.conf", "CgroupPlugin=cgroup/v3\n", "cgroup/v3"),
        ("slurm.conf", "TopologyPlugin=topology/tree\n", "plain"),
        ("slurm.conf", "NodeName=other Featurs=fast\n", "Featurs"),
        ("slurm.conf", "NodeName=other CPUs=32 CpuSpecList=0-99\n", "CpuSpecList=0-99"),
        ("slurm.conf", "AuthType=auth/mung\n", "mung"),
        ("slurm.conf", "TaskPlugin=task/affinty\n", "affinty"),
        ("slurm.conf", "SlurmdPort=none\n", "SlurmdPort"),
        ("slurm.conf", "NodeName=plain NodeAddr=192.0.2.1\n", "plain"),
    ],
)
def test_slurm_says_what_is_wrong_for_all_nodes(
    current_slurm: SlurmInstall, tmp_path: Path, name: str, text: str, words: str
) -> None:
    rows = {"plain": RIGHT["plain"]}
    _write(tmp_path, rows)
    (tmp_path / "topology.conf").write_text("SwitchName=leaf Nodes=other\n", encoding="utf-8")
    with (tmp_path / name).open("a", encoding="utf-8") as file:
        file.write(text)
    report = read_config(current_slurm, tmp_path, simulated=_nodes(rows))
    assert any(words in line for line in report.complaints), report


def test_without_a_compiler_nothing_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_hardware, "COMPILERS", ())
    monkeypatch.setattr(simulated_hardware, "libraries", simulated_hardware.libraries.__wrapped__)
    assert "no compiler (tcc, cc or gcc) here" in simulated_hardware.not_simulated()


def test_verify_has_a_row_for_each_type(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    plain = {"cpu": {"sockets": 2, "cores_per_socket": 8}, "memory": "64GiB"}
    few = {**plain, "gpus": {"model": "a100-sxm-40", "count": 2}}
    disk = {"disks": [{"device": "sda", "size": "1TB"}], "slurm_options": {"TmpDisk": 953674}}
    cards = {**plain, **disk, "gres": {"fpga": {"files": "/dev/fpga[0-1]", "type": "u280"}, "localtmp": "900GiB"}}
    types = {"gpu": GPU, "plain": plain, "few": few, "cards": cards, "lost": cards, "large": cards}
    others = list(types)[1:]
    nodes = [{"name": f"{kind}1", "type": kind, "address": f"10.0.0.{21 + n}"} for n, kind in enumerate(others)]
    data = manifest(node_types=types, nodes=[HEAD, COMPUTE, *nodes], slurm={"version": current_slurm.release})
    place = tmp_path / "rendered"
    write(tree_of(data, tmp_path), place)
    for file, pattern, value in (
        ("slurm.conf", r"(NodeName=few1 .*RealMemory=)\d+", "65537"),
        ("slurm.conf", r"(NodeName=large1 .*TmpDisk=)\d+", "953675"),
        ("gres.conf", r"(NodeName=lost1 .*File=)\S+", "/dev/fpga[0-2]"),
    ):
        conf = place / "overlays/slurm_node/etc/slurm" / file
        text, count = re.subn(pattern, rf"\g<1>{value}", conf.read_text(encoding="utf-8"))
        assert count == 1, file
        conf.write_text(text, encoding="utf-8")
    (check,) = (one for one in CHECKS if one.name == "slurm")
    rows = {row.what: row for row in verify(place, [check]) if row.what.startswith("slurmd registers")}
    assert {what: row.status for what, row in rows.items()} == {
        "slurmd registers: gpu (8 × H100 80GB HBM3)": "passed",
        "slurmd registers: plain (2 × 8 cores)": "passed",
        "slurmd registers: few (2 × A100-SXM4-40GB)": "failed",
        "slurmd registers: cards (2 × 8 cores)": "passed",
        "slurmd registers: lost (2 × 8 cores)": "failed",
        "slurmd registers: large (2 × 8 cores)": "failed",
    }
    lost, large = (rows[f"slurmd registers: {kind} (2 × 8 cores)"].words for kind in ("lost", "large"))
    assert any("/dev/fpga2" in line for line in lost), lost
    assert "slurmctld has TmpDisk=953675 for large1, its hardware has 953674 MiB" in large
    reason = "Low RealMemory (reported:65536 < 100.00% of configured:65537)"
    assert reason in rows["slurmd registers: few (2 × A100-SXM4-40GB)"].words[-1]


CONFIGLESS = {"configless": True, "private_tmp": {}, "build": "schedmd"}


def _configless(tmp_path: Path, release: str, old: str = "", new: str = "") -> Row:
    """The row of a node that fetches its files, with other options in /etc/default/slurmd."""
    place = tmp_path / "rendered"
    write(tree_of(manifest(slurm={"version": release, **CONFIGLESS}), tmp_path), place)
    (options,) = place.rglob("etc/default/slurmd")
    text = options.read_text(encoding="utf-8")
    assert old in text
    options.write_text(text.replace(old, new), encoding="utf-8")
    (check,) = (one for one in CHECKS if one.name == "slurm")
    (row,) = (row for row in verify(place, [check]) if row.what.startswith("slurmd registers"))
    return row


def test_a_configless_node_registers_with_what_slurmctld_hands_out(slurm: SlurmInstall, tmp_path: Path) -> None:
    row = _configless(tmp_path, slurm.release)
    assert row.status == "passed", row.words
    assert "State=IDLE" in row.words[0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("10.0.0.1:6817", "10.0.0.1:6800", "failed to fetch remote configs"),
        ("--conf-server 10.0.0.1:6817", "", "cannot stat file /etc/slurm/slurm.conf"),
        ("6817", "6817 -Z", "did not register"),
    ],
)
def test_a_configless_node_that_finds_no_files_does_not_register(
    current_slurm: SlurmInstall, tmp_path: Path, old: str, new: str, words: str
) -> None:
    row = _configless(tmp_path, current_slurm.release, old, new)
    assert row.status == "failed"
    assert any(words in line for line in row.words), row.words


@pytest.mark.parametrize("release", ["24.11", "26.05"])
def test_sackd_fetches_the_files_of_a_login_node(tmp_path: Path, release: str) -> None:
    login = {"name": "login1", "type": "service", "address": "10.0.0.3", "roles": ["login"]}
    data = manifest(slurm={"version": release, **CONFIGLESS}, nodes=[HEAD, COMPUTE, login])
    place = tmp_path / "rendered"
    write(tree_of(data, tmp_path), place)
    (check,) = (one for one in CHECKS if one.name == "slurm")
    (row,) = (row for row in verify(place, [check]) if row.parser == "sackd")
    assert row.status == "passed", row.words
    (options,) = place.rglob("etc/default/sackd")
    options.write_text(options.read_text(encoding="utf-8").replace(":6817", ":6800"), encoding="utf-8")
    (row,) = (row for row in verify(place, [check]) if row.parser == "sackd")
    assert row.status == "failed"
    assert any("failed to fetch remote configs" in words for words in row.words), row.words


def test_a_release_that_is_not_installed_is_not_run_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "rendered"
    write(tree_of(manifest(), tmp_path), place)
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path / "parsers"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (check,) = (one for one in CHECKS if one.name == "slurm")
    rows = {row.what: row for row in verify(place, [check])}
    row = rows["slurmd registers: gpu (8 × H100 80GB HBM3)"]
    assert row.status == "not run"
    assert "the tree requires Slurm 24.11; installed or in" in row.words[0]
    assert {other.status for other in rows.values()} == {"not run"}
