"""Recorded outputs of machines become node types and nodes that match what slurmd detects."""

from __future__ import annotations

import json
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.compile import tree_of
from clustergen.diagnostics import ClustergenError
from clustergen.hardware.discovery.devices import lspci
from clustergen.hardware.discovery.recordings import Reader
from clustergen.hardware.discovery.script import SERIAL, collector
from clustergen.hostlist import expand
from strategies.machines import infiniband, smi_log
from strategies.machines import lspci as machine_lspci
from strategies.reviewed import same

H100 = "NVIDIA H100 80GB HBM3"
COMPUTE = (0, 3, 4, 5, 6, 9, 10, 11)  # mlx5_N of a DGX H100's rails
PORTS = (*COMPUTE, 1, 7, 2, 8)


def slurmd(name: str, memory: int) -> str:
    return (
        f"NodeName={name} CPUs=224 Boards=1 SocketsPerBoard=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory={memory}\n"
        "UpTime=3-04:05:06\n"
    )


def lscpu(*, nested: bool = False) -> str:
    rows = [("Architecture:", "x86_64"), ("Model name:", "Intel(R) Xeon(R) Platinum 8480C")]
    rows += [("Thread(s) per core:", "2"), ("Core(s) per socket:", "56"), ("Socket(s):", "2"), ("NUMA node(s):", "2")]
    fields = [{"field": name, "data": value} for name, value in rows]
    return json.dumps(
        {"lscpu": [{"field": "Vendor ID:", "data": "GenuineIntel", "children": fields}] if nested else fields}
    )


def smi(name: str = H100, count: int = 8, driver: str = "550.90.07") -> str:
    head = "index, name, uuid, pci.bus_id, memory.total [MiB], driver_version\n"
    return head + "".join(f"{i}, {name}, GPU-{i}, 00000000:{i:02X}:00.0, 81559 MiB, {driver}\n" for i in range(count))


def topo() -> str:
    """With the header underlined, as nvidia-smi prints it even into a pipe."""
    nics = [f"NIC{i}" for i in range(len(PORTS))]
    names = [*(f"GPU{i}" for i in range(8)), *nics, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    lines = ["\t" + "\t".join(f"\x1b[4m{name}\x1b[0m" for name in names)]
    for gpu in range(8):
        row = ["X" if other == gpu else "NV18" for other in range(8)]
        row += ["PIX" if nic == gpu else "NODE" for nic in range(len(PORTS))]
        lines.append(
            "\t".join([f"GPU{gpu}", *row, "0-55,112-167" if gpu < 4 else "56-111", "0" if gpu < 4 else "1", "N/A"])
        )
    legend = [f"  NIC{i}: mlx5_{number}" for i, number in enumerate(PORTS)]
    return "\n".join([*lines, "", "NIC Legend:", "", *legend]) + "\n"


def ibstat() -> str:
    text = ""
    for number in PORTS:
        link, rate = ("Ethernet", 200) if number in (2, 8) else ("InfiniBand", 400)
        text += f"CA 'mlx5_{number}'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: {rate}\n"
        text += f"\t\tLink layer: {link}\n"
    return text


DMI = (
    "# dmidecode 3.4\nHandle 0x0001, DMI type 1\nSystem Information\n\tManufacturer: NVIDIA\n\tProduct Name: DGXH100\n"
)


def addresses(number: int) -> str:
    entry = {"family": "inet", "local": f"10.0.0.{number}", "prefixlen": 24, "scope": "global"}
    other = {"family": "inet", "local": f"10.1.0.{number}", "prefixlen": 24, "scope": "global"}
    return json.dumps([{"ifname": "ibp24s0", "addr_info": [other]}, {"ifname": "eno3", "addr_info": [entry]}])


DISKS = {"blockdevices": [{"name": "nvme0n1", "size": 1920383410176, "type": "disk", "mountpoints": ["/"]}]}


def dgx(directory: Path, name: str, number: int, memory: int = 2063426, **files: str | None) -> None:
    (directory / name).mkdir(parents=True)
    outputs = {
        "slurmd-C": slurmd(name, memory),
        "lscpu.json": lscpu(),
        "nvidia-smi.csv": smi(),
        "nvidia-smi-topo-m": topo(),
        "ibstat": ibstat(),
        "dmidecode": DMI,
        "ip.json": addresses(number),
        "lsblk.json": json.dumps(DISKS),
        **files,
    }
    for file, text in outputs.items():
        if text is not None:
            (directory / name / file.replace("__", "-")).write_text(text, encoding="utf-8")


def discovered(directory: Path, *, is_reviewed: bool = True) -> tuple[dict, str]:
    result = CliRunner().invoke(group, ["discover", "--facts", str(directory)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    if is_reviewed:
        same("discover", result.output.replace(str(directory), ""))
    return yaml.safe_load(result.stdout), result.stdout


def node_lines(document: dict) -> list[str]:
    head = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]}
    data = {
        "name": "found",
        "os": "debian-13",
        "networks": {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "infiniband", "rate": "NDR"}},
        "slurm": {"version": "24.11"},
        "node_types": document["node_types"],
        "nodes": [head, *document["nodes"]],
    }
    made = tree_of(data, "manifest.yaml")
    assert made is not None, "what was discovered is a valid manifest"
    path = next(path for path in made[1].files if path.endswith("etc/slurm/slurm.conf"))
    return [line for line in made[1].files[path].content.decode().splitlines() if line.startswith("NodeName=")]


def test_equal_machines_become_one_type_of_the_catalogue(tmp_path):
    for number in (11, 12, 13, 14):
        dgx(tmp_path, f"gpu{number - 10:02}", number, 2063426 - number)
    document, text = discovered(tmp_path)
    assert list(document["node_types"]) == ["dgx-h100"]
    kind = document["node_types"]["dgx-h100"]
    assert kind["system"] == "dgx-h100"
    assert "nics" not in kind, "those of the catalogue's system"
    assert "cpu" not in kind
    assert kind["real_memory"] == 2063412, "the smallest: a node that reports less is drained"
    assert "largest has 2063415" in text
    assert document["nodes"] == [{"name": "gpu[01-04]", "type": "dgx-h100", "address": "10.0.0.[11-14]"}]


def test_addresses_of_several_subnets_are_folded_in_the_order_of_the_nodes(tmp_path):
    numbers = {f"gpu{number}": f"10.0.{number // 4}.{number % 4}" for number in (*range(1, 11), 13)}
    for name, address in numbers.items():
        dgx(tmp_path, name, 1)
        entry = {"family": "inet", "local": address, "scope": "global"}
        (tmp_path / name / "ip.json").write_text(json.dumps([{"ifname": "eno1", "addr_info": [entry]}]))
    (entry,) = discovered(tmp_path)[0]["nodes"]
    assert entry["address"] == "10.0.0.[1-3],10.0.1.[0-3],10.0.2.[0-2],10.0.3.1"
    assert dict(zip(expand(entry["name"]), expand(entry["address"]), strict=True)) == numbers


def test_the_manifest_means_what_slurmd_counted(tmp_path):
    dgx(tmp_path, "gpu1", 11)
    (line,) = node_lines(discovered(tmp_path)[0])
    counted = dict(field.split("=") for field in slurmd("gpu1", 2063426).splitlines()[0].split())
    meant = dict(field.split("=", 1) for field in line.split() if "=" in field)
    for key in ("CPUs", "CoresPerSocket", "ThreadsPerCore", "RealMemory"):
        assert meant.get(key, counted[key]) == counted[key]
    assert "gpu:h100:8" in line or "gpu:nvidia_h100_80gb_hbm3:8" in line or ":8" in meant["Gres"]


def test_a_swapped_gpu_or_less_memory_is_another_type(tmp_path):
    dgx(tmp_path, "gpu1", 11)
    dgx(tmp_path, "gpu2", 12, **{"nvidia-smi.csv": smi(count=7)})
    dgx(tmp_path, "gpu3", 13, memory=1934400)
    document, text = discovered(tmp_path)
    assert [entry["name"] for entry in document["nodes"]] == ["gpu1", "gpu2", "gpu3"]
    assert document["node_types"][document["nodes"][1]["type"]]["gpus"]["count"] == 7
    assert "CHECK: no system of the catalogue fits" in text


def test_an_unknown_machine_is_described_by_its_parts(tmp_path):
    """Ports close to a GPU are the fabric's; the NUMA nodes come from the topology."""
    gpus = smi("NVIDIA L40S", 8)
    dgx(
        tmp_path,
        "n1",
        11,
        **{"nvidia-smi.csv": gpus, "dmidecode": None, "slurmd-C": None, "meminfo": "MemTotal: 1055776000 kB\n"},
    )
    document, _ = discovered(tmp_path)
    (kind,) = document["node_types"].values()
    assert kind["gpus"] == {"model": "l40s", "count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1]}
    assert kind["cpu"] == {"sockets": 2, "cores_per_socket": 56, "threads_per_core": 2, "numa_per_socket": 1}
    assert kind["real_memory"] == 1055776000 // 1024
    networks = {nic["device"]: nic["network"] for nic in kind["nics"]}
    assert {device for device, network in networks.items() if network == "fabric"} == {f"mlx5_{i}" for i in COMPUTE}
    assert (networks["mlx5_1"], networks["mlx5_2"]) == ("storage", "management")
    assert node_lines(document)


def test_different_drivers_are_reported(tmp_path):
    dgx(tmp_path, "gpu1", 11)
    dgx(tmp_path, "gpu2", 12, **{"nvidia-smi.csv": smi(driver="535.1")})
    assert "CHECK: NVIDIA drivers differ: 535.1, 550.90.07" in discovered(tmp_path)[1]


@pytest.mark.parametrize(
    "file", ["slurmd-C", "lscpu.json", "nvidia-smi.csv", "nvidia-smi-topo-m", "ibstat", "lsblk.json", "ip.json"]
)
@pytest.mark.parametrize(
    "text", ["", "\0\x1b[2J\xff", "[" * 100_000, '{"lscpu": 5}', "GPU0\tx\nGPU0\t", "NodeName=x CPUs=z"]
)
def test_a_broken_output_costs_its_own_fields_alone(tmp_path, file, text):
    dgx(tmp_path, "gpu1", 11)
    dgx(tmp_path, "gpu2", 12, **{file: text})
    document, printed = discovered(tmp_path)
    assert "\x1b" not in printed
    hosts = [host for entry in document["nodes"] for host in expand(entry["name"])]
    assert sorted(hosts) == ["gpu1", "gpu2"]
    assert document["node_types"][document["nodes"][0]["type"]]["system"] == "dgx-h100", "gpu1 is as it was"


@pytest.mark.parametrize("name", ["=cmd", "gpu1: {x", "a b", "gpu[1-3]", "gpü", "\x1b[31m", "-x", "n" * 64])
def test_a_directory_that_no_node_is_called_by(tmp_path, name):
    dgx(tmp_path, name, 11)
    result = CliRunner().invoke(group, ["discover", "--facts", str(tmp_path)])
    assert isinstance(result.exception, ClustergenError)
    assert "\x1b" not in str(result.exception)


@pytest.mark.parametrize("sign", ["\u2028", "\x0b", "\x85", "\x1b", "\u0301"])
def test_a_product_adds_no_line(tmp_path, sign):
    dmi = f"System Information\n\tManufacturer: A{sign}  evil: {{system: hgx-h100-8}} #\n\tProduct Name: B{sign}\n"
    dgx(tmp_path, "gpu1", 11, dmidecode=dmi)
    document, text = discovered(tmp_path)
    assert len(document["node_types"]) == 1
    assert text.isascii()


def test_words_of_yaml_are_quoted(tmp_path):
    dgx(tmp_path, "null", 11)
    assert discovered(tmp_path)[0]["nodes"][0]["name"] == "null"


def test_a_link_or_a_pipe_is_not_read(tmp_path):
    dgx(tmp_path, "gpu1", 11, ibstat=None)
    (tmp_path / "gpu1/ibstat").symlink_to("/etc/passwd")
    (tmp_path / "gpu1/slurmd-C").unlink()
    subprocess.run(["mkfifo", str(tmp_path / "gpu1/slurmd-C")], check=True, timeout=300)
    assert "not read on gpu1: ibstat" in discovered(tmp_path)[1]


def test_lscpu_of_newer_releases_nests_its_fields(tmp_path):
    dgx(tmp_path, "gpu1", 11, **{"slurmd-C": None, "lscpu.json": lscpu(nested=True)})
    assert discovered(tmp_path)[0]["node_types"]["dgx-h100"]["system"] == "dgx-h100"


def test_the_script_collects_this_machine(tmp_path):
    script = tmp_path / "collect.sh"
    script.write_text(collector(), encoding="utf-8")
    done = subprocess.run(["sh", str(script)], capture_output=True, check=True, timeout=300)
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(tmp_path / "facts/here", filter="data")
    document, _ = discovered(tmp_path / "facts", is_reviewed=False)
    (kind,) = document["node_types"].values()
    cpu = kind["cpu"]
    threads = cpu["sockets"] * cpu["cores_per_socket"] * cpu["threads_per_core"]
    online = int(subprocess.run(["nproc", "--all"], capture_output=True, check=True, timeout=300).stdout)
    assert threads == online


@pytest.mark.parametrize("arguments", [[], ["--script", "--facts", "x"], ["--facts", "nowhere"], ["--facts", "."]])
def test_wrong_use(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(group, ["discover", *arguments])
    assert isinstance(result.exception, ClustergenError | SystemExit)
    assert result.stdout == ""


def test_the_script_leaves_no_serial_number(tmp_path):
    """`sed` of the script, on lines as nvidia-smi, dmidecode and lspci print them."""
    lines = ["\t<serial>165422", "\tSerial Number: X1", "\tUUID: 03000200-0400", "\t\t[SN] Serial number: MT2"]
    lines += [
        "\tCapabilities: [100] Device Serial Number 94-6d",
        "root=UUID=0a1b ro console=serial0",
        "<uuid>GPU-1</uuid>",
    ]
    text = "".join(f"{line}\n" for line in lines).replace("<serial>165422", "<serial>165422</serial>")
    done = subprocess.run(["sed", SERIAL], input=text, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.splitlines() == lines[-2:]


def test_the_log_of_nvidia_smi_is_enough_to_know_the_gpus(tmp_path):
    dgx(tmp_path, "gpu1", 11, **{"nvidia-smi.csv": None, "nvidia-smi-q.xml": smi_log(8)})
    document, _ = discovered(tmp_path)
    assert document["node_types"]["dgx-h100"]["system"] == "dgx-h100"


def test_ports_of_sysfs_have_their_models(tmp_path):
    dgx(
        tmp_path,
        "n1",
        11,
        **{"dmidecode": None, "ibstat": None, "infiniband": infiniband((400, 200)), "nvidia-smi.csv": None},
    )
    (kind,) = discovered(tmp_path)[0]["node_types"].values()
    assert [(nic["device"], nic["model"]) for nic in kind["nics"]] == [
        ("mlx5_0", "connectx-7"),
        ("mlx5_1", "connectx-7"),
    ]


def test_links_of_lspci(tmp_path):
    facts = list(lspci(machine_lspci(lost=3, lanes=8)))
    assert [(one.ident, one.lanes, one.most_lanes, one.is_lost) for one in facts[3:5]] == [
        ("10de:2330", 16, 16, True),
        ("15b3:1021", 8, 16, False),
    ]


def test_a_machine_without_a_pci_bus_has_no_devices():
    assert list(lspci("")) == []


@pytest.mark.parametrize("text", ["00:00.0 Host bridge: Intel\n", "\0" * 1000])
def test_lspci_without_numbers_is_refused(text):
    with pytest.raises(ValueError, match="lspci -Dnn"):
        list(lspci(text))


def test_lspci_without_numbers_is_a_remark(tmp_path):
    dgx(tmp_path, "gpu1", 11, lspci="18:00.0 Infiniband controller: Mellanox Technologies MT2910 [ConnectX-7]\n")
    assert "# not read on gpu1: lspci: no device with the numbers of its class" in discovered(tmp_path)[1]


@pytest.mark.parametrize("options", ["", "p"])
def test_disks_by_name_and_by_path(tmp_path, options):
    """A mounted partition, a mounted disk as older releases of lsblk print it, and an empty disk."""
    path = "/dev/" if options == "p" else ""
    rows = [
        {"name": f"{path}nvme0n1", "size": 960 * 10**9, "type": "disk", "mountpoints": [None]},
        {"name": f"{path}sda", "size": "480000000000", "type": "disk", "mountpoint": "/scratch"},
        {"name": f"{path}sdb", "size": 480 * 10**9, "type": "disk", "mountpoints": [None]},
    ]
    rows[0]["children"] = [{"name": f"{path}nvme0n1p1", "size": 1, "type": "part", "mountpoints": [None, "/"]}]
    dgx(tmp_path, "gpu1", 11, **{"lsblk.json": json.dumps({"blockdevices": rows})})
    (kind,) = discovered(tmp_path)[0]["node_types"].values()
    assert [(disk["device"], disk["size"], disk["use"]) for disk in kind["disks"]] == [
        ("nvme0n1", "960GB", "system"),
        ("sda", "480GB", "system"),
        ("sdb", "480GB", "spare"),
    ]


def test_sizes_of_disks_that_are_no_bytes_are_a_remark(tmp_path):
    rows = [{"name": "sda", "size": "1.8T", "type": "disk", "mountpoints": ["/"]}]
    dgx(tmp_path, "gpu1", 11, **{"lsblk.json": json.dumps({"blockdevices": rows})})
    assert (
        "# not read on gpu1: lsblk.json: sizes such as 1.8T are not in bytes: run lsblk -J -b"
        in discovered(tmp_path)[1]
    )


def test_a_system_with_fewer_ports_than_the_catalogues_lists_them(tmp_path):
    dgx(tmp_path, "gpu1", 11, ibstat=None, infiniband=infiniband((400,)))
    (kind,) = discovered(tmp_path)[0]["node_types"].values()
    assert [nic["device"] for nic in kind["nics"]] == ["mlx5_0"]


@pytest.mark.slow
def test_equal_outputs_are_parsed_once(tmp_path):
    """The cost of ten thousand alike machines is that of reading their files: only addresses differ."""
    for number in range(1, 41):
        dgx(tmp_path, f"gpu{number:02}", number, 2063426 - number, **{"slurmd-C": slurmd("gpu", 2063426)})
    reader = Reader(tmp_path)
    nodes = [reader.node(f"gpu{number:02}") for number in range(1, 41)]
    assert len({node.gpus for node in nodes}) == 1
    per_node = [file for file, _ in reader._alike if file.startswith("ip.json")]
    assert len(reader._alike) - len(per_node) < 20


def test_a_machine_without_hardware_is_a_service_node(tmp_path):
    """Facts of a head node on which no tool was installed give no empty node type."""
    (tmp_path / "head1").mkdir()
    (tmp_path / "head1/uname").write_text("6.12.0\n", encoding="utf-8")
    dgx(tmp_path, "gpu1", 11)
    document, text = discovered(tmp_path)
    assert list(document["node_types"]) == ["dgx-h100"]
    assert {"name": "head1", "type": "service"} in document["nodes"]
    assert "no hardware was recorded" in text
