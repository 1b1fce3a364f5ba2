"""GPU and port placement from lscpu and nvidia-smi, on machines that differ from the catalogue's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.hardware.discovery.facts import Cpus
from clustergen.hardware.discovery.processors import lscpu, slurmd
from clustergen.hardware.discovery.recognise import named_systems
from clustergen.hardware.discovery.topology import topology
from strategies.machines import infiniband
from strategies.reviewed import same

Link = Callable[[int, int], str]
EPYC = [f"{16 * i}-{16 * i + 15},{128 + 16 * i}-{128 + 16 * i + 15}" for i in range(8)]


def matrix(link: Link, numa: Sequence[str], ports: Sequence[str], memory_nodes: Sequence[str] = ()) -> str:
    """`nvidia-smi topo -m`: `link` of each GPU and port, NUMA affinity of each GPU, and its own node of memory."""
    columns = [*(f"GPU{i}" for i in range(len(numa))), *(f"NIC{i}" for i in range(len(ports)))]
    lines = ["\t".join(("", *columns, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"))]
    for gpu, node in enumerate(numa):
        row = [" X " if other == gpu else "NV18" for other in range(len(numa))]
        row += [link(gpu, port) for port in range(len(ports))]
        lines.append("\t".join((f"GPU{gpu}", *row, "0-9", node, memory_nodes[gpu] if memory_nodes else "N/A")))
    lines += ["", "NIC Legend:", "", *(f"  NIC{i}: {port}" for i, port in enumerate(ports))]
    return "\n".join(lines) + "\n"


def processors(sockets: int, cores: int, threads: int, numa: Sequence[str], arch: str = "x86_64") -> str:
    """The text of lscpu."""
    rows = [("Architecture", arch), ("Thread(s) per core", threads), ("Core(s) per socket", cores)]
    rows += [("Socket(s)", sockets), ("NUMA node(s)", len(numa))]
    rows += [(f"NUMA node{i} CPU(s)", cpus) for i, cpus in enumerate(numa)]
    return "".join(f"  {name + ':':<30}{value}\n" for name, value in rows)


def named(name: str, count: int) -> str:
    """`nvidia-smi -L`."""
    return "".join(f"GPU {i}: {name} (UUID: GPU-{i})\n" for i in range(count))


def discovered(directory: Path, **files: str) -> tuple[dict, str]:
    """The node type of one machine, and all that is printed. `__` in the name of a file is a minus."""
    (directory / "n1").mkdir()
    for file, text in files.items():
        (directory / "n1" / file.replace("__", "-")).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(group, ["discover", "--facts", str(directory)], catch_exceptions=False)
    same("discover", result.output.replace(str(directory), ""))
    (kind,) = yaml.safe_load(result.stdout)["node_types"].values()
    return kind, result.stdout


def networks(kind: dict) -> dict[str, str]:
    return {nic["device"]: nic["network"] for nic in kind["nics"]}


@pytest.mark.parametrize("size", [0, 8])
def test_a_topology_is_read_with_tabs_and_as_a_terminal_shows_it(size: int) -> None:
    text = matrix(lambda gpu, _: ("SYS", "PXB")[gpu], ("3", "0"), ("mlx5_2",))
    places = topology(text.replace("0-9\t", "128-191,384-447\t").expandtabs(size) if size else text)
    assert (places.numa, places.close) == ((3, 0), ((), ("mlx5_2",)))
    assert places.ports == (("mlx5_2", 0),)


@pytest.mark.parametrize(
    "text",
    [
        "        GPU0    CPU Affinity    NUMA Affinity\nGPU0     X                      0\n",
        "        GPU0    NIC0NIC1    CPU Affinity    NUMA Affinity\nGPU0     X    NODE   PIX    0-9    0\n",
    ],
)
def test_a_topology_whose_columns_cannot_be_told_apart_is_reported(text: str) -> None:
    with pytest.raises(ValueError, match="without tabs"):
        topology(text)


def shared(gpu: int, port: int) -> str:
    """Places of a DGX A100: two GPUs and two ports behind one switch."""
    return "PXB" if gpu // 2 == port // 2 else "SYS"


@pytest.mark.parametrize(("size", "system"), [(40, "dgx-a100-40"), (80, "dgx-a100-80")])
def test_a_product_with_its_part_number_and_gpus_that_share_ports(tmp_path: Path, size: int, system: str) -> None:
    """With one storage card, mlx5_4 and mlx5_5 are compute ports; the catalogue's system has two storage cards."""
    kind, text = discovered(
        tmp_path,
        dmidecode="System Information\n\tManufacturer: NVIDIA\n\tProduct Name: DGXA100 920-23687-2530-000\n",
        nvidia__smi__L=named(f"NVIDIA A100-SXM4-{size}GB", 8),
        nvidia__smi__topo__m=matrix(shared, "33117755", [f"mlx5_{i}" for i in range(10)]),
        lscpu=processors(2, 64, 2, EPYC),
    )
    assert kind["system"] == system
    assert "cpu" not in kind
    assert networks(kind) == {f"mlx5_{i}": "fabric" for i in range(8)}
    assert [nic["numa"] for nic in kind["nics"]] == [3, 3, 1, 1, 7, 7, 5, 5]
    assert "CHECK: ibstat shows the networks of mlx5_8, mlx5_9" in text


def test_ports_that_are_those_of_the_catalogue_are_not_printed(tmp_path: Path) -> None:
    ports = (0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 10, 11)
    kind, text = discovered(
        tmp_path,
        dmidecode="System Information\n\tProduct Name: DGXA100 920-23687-2531-001\n",
        nvidia__smi__L=named("NVIDIA A100-SXM4-80GB", 8),
        nvidia__smi__topo__m=matrix(shared, "33117755", [f"mlx5_{i}" for i in ports]),
    )
    assert kind == {"system": "dgx-a100-80"}
    assert "ibstat" not in text


def test_a_tray_of_grace_is_recognised_by_its_gpus(tmp_path: Path) -> None:
    """The memory of its GPUs is NUMA nodes without CPUs, and every port is far from every GPU."""
    lists = ["0-71", "72-143", *[""] * 32]
    kind, text = discovered(
        tmp_path,
        nvidia__smi__L=named("NVIDIA GB200", 4),
        nvidia__smi__topo__m=matrix(
            lambda *_: "SYS", ["0,3-9,11-17"] * 2 + ["1,19-25,27-33"] * 2, ("mlx5_0", "mlx5_1"), ["2", "10", "18", "26"]
        ),
        lscpu=processors(2, 72, 1, lists, "aarch64"),
        meminfo="MemTotal: 1003297792 kB\n",
    )
    assert kind == {"system": "gb200-nvl72-tray", "real_memory": 979783}
    assert "CHECK: system is a guess by the GPUs alone: no row of the catalogue has this product name" in text
    assert "CHECK: ibstat shows the networks of mlx5_0, mlx5_1" in text


@pytest.mark.parametrize(("product", "system"), [("DGX GB200", "dgx-gb200"), ("NVIDIA DGX GB300 NVL72", "dgx-gb300")])
def test_a_tray_of_a_dgx_rack_is_recognised_by_its_product(product: str, system: str) -> None:
    assert [made.id for made in named_systems(product)] == [system]


@pytest.mark.parametrize(
    ("product", "cores", "system"),
    [("ARS-111GL-NHR", 72, "smc-111gl-nhr"), ("Super Server", 72, "mgx-gh200"), ("Standard PC", 64, "mgx-gh200")],
)
def test_a_gh200_is_recognised_by_its_product_or_its_gpu(product: str, cores: int, system: str, tmp_path: Path) -> None:
    """Topology and NUMA nodes of NVIDIA/nvbandwidth issue 23, memory of node 0 and 1 of another such machine."""
    kind, text = discovered(
        tmp_path,
        dmidecode=f"System Information\n\tProduct Name: {product}\n",
        nvidia__smi__L=named("NVIDIA GH200 480GB", 1),
        nvidia__smi__topo__m=matrix(lambda *_: "SYS", ["0"], ("mlx5_0", "mlx5_1"), ["1"]),
        lscpu=processors(1, cores, 1, [f"0-{cores - 1}", *[""] * 8], "aarch64"),
        meminfo="MemTotal: 601412608 kB\n",
    )
    cpu = kind.get("cpu", {}).get("cores_per_socket", 72)
    assert (kind["system"], cpu, kind["gpus"]) == (system, cores, {"model": "gh200-96"})
    assert "real_memory" not in kind
    assert "CHECK: the 587317 MiB of Linux include memory of the GPUs" in text


def test_cards_with_two_ports_next_to_every_other_gpu(tmp_path: Path) -> None:
    """The board's own ports are an assumption of the catalogue, so those of the machine are always printed."""
    kind, _ = discovered(
        tmp_path,
        nvidia__smi__L=named("NVIDIA H100 80GB HBM3", 8),
        nvidia__smi__topo__m=matrix(
            lambda gpu, port: (
                "SYS" if gpu // 4 != port // 4 else "PIX" if gpu % 2 == 0 and gpu == port // 2 * 2 else "NODE"
            ),
            "00001111",
            [f"mlx5_{i}" for i in range(8)],
        ),
    )
    assert kind["system"] == "hgx-h100-8"
    assert networks(kind) == {f"mlx5_{i}": "fabric" for i in range(8)}
    assert [nic["numa"] for nic in kind["nics"]] == [0] * 4 + [1] * 4, "NODE shows it for ports without a GPU"


def test_roce_ports_without_a_topology_are_the_fastest_ones(tmp_path: Path) -> None:
    ports = infiniband((400, 400, 25)).replace("InfiniBand", "Ethernet")
    kind, text = discovered(tmp_path, nvidia__smi__L=named("NVIDIA H200", 8), infiniband=ports)
    assert networks(kind) == {"mlx5_0": "fabric", "mlx5_1": "fabric", "mlx5_2": "management"}
    assert "CHECK: the network of each port" in text


def test_rails_follow_the_numbers_of_ports(tmp_path: Path) -> None:
    """The shell that lists sysfs sorts names as text."""
    blocks = infiniband((400,) * 12).splitlines(keepends=True)
    kind, _ = discovered(tmp_path, nvidia__smi__L=named("NVIDIA H200", 8), infiniband="".join(sorted(blocks)))
    assert [nic["device"] for nic in kind["nics"]] == [f"mlx5_{number}" for number in range(12)]


def test_gpus_of_the_bus_where_no_driver_was_asked(tmp_path: Path) -> None:
    lines = [
        f"0000:{bus}:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:26b9] (rev a1)" for bus in ("16", "38")
    ]
    kind, _ = discovered(tmp_path, lspci="\n".join(lines), lscpu=processors(1, 32, 2, ["0-63"]))
    assert kind["gpus"] == {"model": "l40s", "count": 2}


def test_machines_of_which_only_the_matrix_is_known(tmp_path: Path) -> None:
    """GPUs and ports are kept, and machines whose links differ are two types."""
    same = matrix(lambda gpu, port: "NODE", "0011", ["mlx5_0", "mlx5_1"])
    texts = {"a1": same, "a2": same.replace("NV18", "NV4"), "a3": same}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "nvidia-smi-topo-m").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(group, ["discover", "--facts", str(tmp_path)], catch_exceptions=False)
    document = yaml.safe_load(result.stdout)
    assert [node["name"] for node in document["nodes"]] == ["a[1,3]", "a2"]
    for kind in document["node_types"].values():
        assert kind["gpus"] == {"model": "unknown", "count": 4, "numa": [0, 0, 1, 1]}
        assert networks(kind) == {"mlx5_0": "fabric", "mlx5_1": "fabric"}
    assert result.stdout.count("CHECK: the model of the GPUs") == 2
    assert result.stdout.count("CHECK: the network of each port; ibstat shows them") == 2


def test_the_matrix_places_gpus_of_the_bus(tmp_path: Path) -> None:
    lines = [f"0000:{bus}:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:26b9]" for bus in ("16", "38")]
    text = matrix(lambda gpu, port: "SYS", "01", [])
    kind, _ = discovered(tmp_path, lspci="\n".join(lines), nvidia__smi__topo__m=text)
    assert kind["gpus"] == {"model": "l40s", "count": 2, "numa": [0, 1]}


EVEN, ODD = (",".join(map(str, range(first, 128, 2))) for first in (0, 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (processors(2, 32, 2, (EVEN, ODD)), Cpus(2, 32, 2, 1, "", "x86_64", "alternating")),
        (processors(2, 32, 2, ("0-31,64-95", "32-63,96-127")), Cpus(2, 32, 2, 1, "", "x86_64", "sockets")),
        (processors(2, 32, 2, ("0-63", "64-127")), Cpus(2, 32, 2, 1, "", "x86_64", "siblings")),
        (processors(2, 32, 1, ("0-31", "32-63")), Cpus(2, 32, 1, 1, "", "x86_64", "sockets")),
        (processors(2, 32, 2, ("0,4,8", "1,5,9", "2,6", "3,7")), Cpus(2, 32, 2, 2, "", "x86_64", "")),
        (processors(1, 64, 1, ("0-63", "", ""), "aarch64"), Cpus(1, 64, 1, 1, "", "aarch64", "")),
    ],
)
def test_the_numbers_of_cpus(text: str, expected: Cpus) -> None:
    assert lscpu(text) == expected
    rows = [line.split(":", 1) for line in text.splitlines()]
    fields = [{"field": f"{name.strip()}:", "data": value.strip() or None} for name, value in rows]
    assert lscpu(json.dumps({"lscpu": fields})) == expected


@pytest.mark.parametrize(
    ("counts", "sockets"), [("Boards=1 SocketsPerBoard=2", 2), ("Boards=2 SocketsPerBoard=4", 8), ("Sockets=2", 2)]
)
def test_slurmd_counts_the_sockets_of_a_board(counts: str, sockets: int) -> None:
    line = f"NodeName=n CPUs=64 {counts} CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000"
    assert slurmd(f"{line}\nUpTime=0-01:00:00\n") == (line, Cpus(sockets, 8, 2), 64000)


def test_a_guest_on_arm_has_clusters() -> None:
    text = "Architecture: aarch64\nThread(s) per core: 1\nCore(s) per cluster: 64\nSocket(s): -\nCluster(s): 1\n"
    assert lscpu(text) == Cpus(1, 64, 1, None, "", "aarch64")


@pytest.mark.parametrize("text", ["", "Socket(s): 2\n", "CPU:     64\nKerne pro Sockel:   32\nSockel:   2\n"])
def test_another_language_is_reported(text: str) -> None:
    with pytest.raises(ValueError, match="LC_ALL=C lscpu -J"):
        lscpu(text)


def test_the_numbering_of_cpus_is_printed(tmp_path: Path) -> None:
    kind, _ = discovered(
        tmp_path, lscpu=processors(2, 52, 2, ("0,2,4", "1,3,5")), nvidia__smi__L=named("NVIDIA H200", 8)
    )
    assert kind["cpu"]["numbering"] == "alternating"


def test_an_arm_server_is_recognised(tmp_path: Path) -> None:
    assert discovered(tmp_path, lscpu=processors(1, 80, 1, ("0-79",), "aarch64"))[0]["arch"] == "aarch64"


def test_files_with_txt_and_files_that_nothing_reads(tmp_path: Path) -> None:
    kind, text = discovered(
        tmp_path,
        **{"lscpu.txt": processors(1, 32, 2, ["0-63"]), "nvidia__smi__L.txt": named("NVIDIA L40S", 2), "free.txt": "x"},
    )
    assert (kind["cpu"]["cores_per_socket"], kind["gpus"]["count"]) == (32, 2)
    assert "# files that discover does not read: free.txt" in text


ROW = "|   {}  {:<30} {}  | 00000000:{}:00.0 Off |                    0 |\n| N/A   27C    P8    {}W / 350W |\n"


@pytest.mark.parametrize("mode", ["On ", "Off", "N/A"])
def test_the_table_of_nvidia_smi(tmp_path: Path, mode: str) -> None:
    rows = "".join(ROW.format(index, "NVIDIA H200", mode, bus, 20) for index, bus in enumerate(("1B", "43")))
    kind, _ = discovered(tmp_path, nvidia__smi="| NVIDIA-SMI 570.86.15   Driver Version: 570.86.15 |\n" + rows)
    assert kind["gpus"] == {"model": "h200-sxm", "count": 2}


def test_cut_names_of_the_table_are_reported(tmp_path: Path) -> None:
    text = discovered(
        tmp_path, nvidia__smi=ROW.format(0, "NVIDIA A100-SXM...", "On ", "07", 50), meminfo="MemTotal: 9999999 kB"
    )[1]
    assert "# not read on n1: nvidia-smi: its names are cut: run nvidia-smi -L" in text


def test_a_directory_with_other_files_only(tmp_path: Path) -> None:
    (tmp_path / "n1").mkdir()
    (tmp_path / "n1/cpuinfo").write_text("x", encoding="utf-8")
    result = CliRunner().invoke(group, ["discover", "--facts", str(tmp_path)])
    assert isinstance(result.exception, ClustergenError)
    assert "no facts of any node" in str(result.exception)
