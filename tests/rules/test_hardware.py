"""Hardware and power: stated values are kept, others are derived, and a mistake is reported once."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.compile import validate
from strategies.findings import TINY, changed, findings, reviewed_findings


def of_type(fields: str, more: str = "") -> str:
    """The small cluster with other hardware, and more sections."""
    return changed(TINY, ("{system: dgx-h100}", fields), ("slurm: {", f"{more}slurm: {{"))


CATALOGUE = """\
catalogue:
  gpus:
    h100-oem: {nvml_name: NVIDIA H100 OEM, memory: 80GB, power: 650W}
  systems:
    acme: {cpu: {sockets: 2, cores_per_socket: 32}, memory: 1TiB, gpu: h100-oem, gpu_count: 2, gpu_numa: [0, 1]}
"""
HALVES = "gpu: {mig_plans: {half: {profiles: {3g.40gb: 2}}}}\n"


def infiniband(mtu: int, *edits: tuple[str, str]) -> str:
    """The small cluster with addresses in an InfiniBand fabric of this MTU."""
    fabric = f"networks:\n  fabric: {{type: infiniband, rate: NDR, cidr: 10.1.0.0/24, mtu: {mtu}}}"
    addresses = '10.0.0.[11-14]", addresses: {fabric: "10.1.0.[11-14]"}}'
    return changed(TINY, ("networks:", fabric), ('10.0.0.[11-14]"}', addresses), *edits)


BARE = "{cpu: {sockets: 2, cores_per_socket: 32}, memory: 512GiB, gpus: {model: %s, count: 4, numa: [0, 0, 1, 1]}}"
SWITCH = '{name: leaf1, model: QM9700, nodes: "gpu[1-4]"}'
RIGHT = {
    "a GPU by its id": of_type(BARE % "h100-pcie"),
    "a GPU by the driver's name": of_type(BARE % "NVIDIA H100 PCIe"),
    "a GPU whose name no other has": of_type(BARE % "L40S"),
    "a NIC and a switch as their maker writes them": of_type(
        "{system: hgx-h100-8, nics: [{device: mlx5_0, model: ConnectX-7}]}"
    ).replace("networks:", f"networks:\n  fabric: {{type: infiniband, rate: NDR, switches: [{SWITCH}]}}"),
    "an own GPU with a name of the catalogue's": of_type(
        BARE % "h100", "catalogue: {gpus: {h100: {nvml_name: NVIDIA H100 PCIe, memory: 80GB, power: 350W}}}\n"
    ),
    "the short name of the system's GPU": of_type("{system: dgx-h100, gpus: {model: H100}}"),
    "threads as the system has them": of_type("{system: dgx-h100, cpu: {threads_per_core: 2}}"),
    "threads with all that slurmd -C prints": of_type(
        "{system: dgx-h100, cpu: {sockets: 2, cores_per_socket: 56, threads_per_core: 1}}"
    ),
    "threads without a system": of_type("{cpu: {cores_per_socket: 8, threads_per_core: 1}, memory: 64GiB}"),
    "half of the memory, and fewer GPUs, than the system has": of_type(
        "{system: dgx-h100, memory: 1TiB, gpus: {count: 4}}"
    ),
    "an exact size": of_type("{system: hgx-h100-8, memory: 1545000MiB}"),
    "the largest MTU of an InfiniBand message": infiniband(4092),
    "the largest MTU of connected mode": infiniband(65520, ("mtu:", "ipoib_mode: connected, mtu:")),
    "an MTU that no interface gets": infiniband(9000, (', addresses: {fabric: "10.1.0.[11-14]"}', "")),
    "jumbo frames on Ethernet": of_type("{system: dgx-h100}").replace(
        "networks:", "networks:\n  fabric: {type: roce, rate: 400Gb/s, mtu: 9000}"
    ),
    "a small virtual machine keeps most of its memory for jobs": of_type("{cpu: {cores_per_socket: 2}, memory: 2GiB}"),
    "an own system with an own GPU": of_type("{system: acme}", CATALOGUE),
    "a system of which nothing is known, with all stated": of_type(
        "{system: custom, cpu: {sockets: 2, cores_per_socket: 8}, memory: 64GiB}"
    ),
    "a GPU system without its GPUs": of_type("{system: dgx-h100, gpus: {count: 0}}"),
    "the type as the driver names it": of_type("{system: dgx-h100, gpus: {gres_type: nvidia_h100_80gb_hbm3}}"),
    "no types": of_type("{system: dgx-h100, gpus: {gres_type: false}}"),
    "a GPU of which nobody says what it is": of_type("{system: dgx-h100, gpus: {model: unknown, gres_type: fermi}}"),
    "types of instances that begin later": of_type("{system: dgx-h100, gpus: {mig: half, mig_prefix: hbm3}}", HALVES),
    "some GPUs split, the others whole": of_type('{system: dgx-h100, gpus: {mig: {"0": half, 7: half}}}', HALVES),
    "the lowest power limit": of_type("{system: dgx-h100, gpus: {power_limit: 200W}}"),
    "power supplies just large enough by a power limit": of_type(
        "{system: ws-4x3090, gpus: {power_limit: 250W}, power: {psus: 1, psu: 1.6kW}}"
    ),
    "the feeds of a rack together": of_type(
        "{system: dgx-h100}",
        'racks: {r1: {nodes: "gpu[1-4]", circuits: [{volts: 400, amps: 63, count: 2}]}}\n',
    ),
    "enough feeds on each side": of_type(
        "{system: dgx-h100}",
        'racks: {r1: {nodes: "gpu[1-4]", redundant_feeds: true, circuits: [{volts: 400, amps: 63, count: 4}]}}\n',
    ),
    "firmware with four NUMA nodes in a socket": of_type("{system: dgx-a100-80}"),
    "the same NIC in two types": changed(
        TINY,
        (
            "  h100: {system: dgx-h100}",
            "  h100: {system: dgx-h100, nics: [{device: mlx5_0}]}\n  b: {system: dgx-h100, nics: [{device: mlx5_0}]}",
        ),
        ('  - {name: "gpu', '  - {name: b1, type: b, address: 10.0.0.9}\n  - {name: "gpu'),
    ),
}

WRONG = {
    "memory in thousands": (of_type("{system: hgx-h100-8, memory: 1536GB}"), [("memory-decimal", "1536GB")]),
    "memory in hundreds": (of_type("{system: ws-2xa6000, memory: 400GB}"), [("memory-decimal", "400GB")]),
    "memory in thousands of thousands": (of_type("{system: hgx-h100-8, memory: 1.5TB}"), [("memory-decimal", "1.5TB")]),
    "an interface of two ports, on a NUMA node that two sockets do not have": (
        of_type(
            "{system: dgx-h100, nics: [{device: mlx5_0, interface: ib0, numa: 5}, {device: mlx5_1, interface: ib0}]}"
        ),
        [("gpu-numa-range", "5"), ("nic-twice", "ib0")],
    ),
    "more GPUs than the system has": (
        of_type("{system: dgx-h100, gpus: {count: 9}}"),
        [("hardware-differs", "9")],
    ),
    "more cores than a DGX has, also where NUMA nodes count as sockets": (
        of_type("{system: dgx-h100, cpu: {sockets: 8, cores_per_socket: 15}, gpus: {numa: [0, 0, 1, 1, 4, 4, 5, 5]}}"),
        [("hardware-differs", "15")],
    ),
    "all cores of a DGX, by NUMA node": (
        of_type("{system: dgx-h100, cpu: {sockets: 8, cores_per_socket: 14}, gpus: {numa: [0, 0, 1, 1, 4, 4, 5, 5]}}"),
        [],
    ),
    "processors of another architecture": (
        of_type("{system: dgx-h100, arch: aarch64}"),
        [("hardware-differs", "aarch64")],
    ),
    "a system that the catalogue lacks, and all of its hardware": (
        of_type("{system: workstation, cpu: {cores_per_socket: 16}, memory: 64GiB}"),
        [("system-unknown", "workstation")],
    ),
    "memory with another unit": (of_type("{system: dgx-h100, memory: 2GiB}"), [("hardware-differs", "2GiB")]),
    "memory in the unit of real_memory": (
        of_type(BARE % "l40s").replace("512GiB", "8PiB"),
        [("hardware-differs", "8PiB")],
    ),
    "real_memory in GiB": (
        of_type(BARE % "l40s").replace("memory: 512GiB", "real_memory: 512"),
        [("hardware-differs", "512")],
    ),
    "the MTU of Ethernet on InfiniBand": (
        infiniband(9000),
        [("ipoib-mtu", "9000")],
    ),
    "a system of which nothing is known": (of_type("{system: custom}"), [("hardware-incomplete", "h100")]),
    "types of instances that slurmd would not find": (
        of_type("{system: dgx-h100, gpus: {mig: half, mig_prefix: h100}}", HALVES),
        [("gres-type-mismatch", "h100")],
    ),
    "a GPU that nobody knows cannot be split": (
        of_type("{system: dgx-h100, gpus: {model: unknown, mig: half}}", HALVES),
        [("mig-not-supported", "half")],
    ),
    "an own system without cores": (
        of_type("{system: acme}", CATALOGUE.replace(", cores_per_socket: 32", "")),
        [("hardware-incomplete", "h100")],
    ),
    "an own system with a GPU that nobody knows": (
        of_type("{system: acme}", CATALOGUE.replace("h100-oem: {n", "h100-ome: {n")),
        [("gpu-unknown", "h100-oem")],
    ),
    "a GPU by AMD": (of_type("{system: dgx-h100, gpus: {model: mi300x}}"), [("gpu-not-nvidia", "mi300x")]),
    "a GPU by AMD and limits on it": (
        changed(
            of_type("{system: dgx-h100, gpus: {model: mi300x}}"),
            ("[slurm-controller]", "[slurm-controller, slurm-accounting]"),
            ('"24.11"}', '"24.11", accounts: {a: {group_tres: {gres/gpu: 8, gres/gpu:mi300x: 4}}}}'),
        ),
        [("gpu-not-nvidia", "mi300x")],
    ),
    "a misspelt system and limits on its GPUs": (
        changed(
            of_type("{system: dgx-h10}"),
            ("[slurm-controller]", "[slurm-controller, slurm-accounting]"),
            ('"24.11"}', '"24.11", accounts: {}, qos: {normal: {max_tres_per_user: {gres/gpu: 8}}}}'),
        ),
        [("system-unknown", "dgx-h10")],
    ),
    "an own GPU by Intel": (
        of_type("{system: acme}", CATALOGUE.replace("NVIDIA H100 OEM", "Intel Gaudi 3")),
        [("gpu-not-nvidia", "Intel Gaudi 3")],
    ),
    "an own system with too few NUMA nodes named": (
        of_type("{system: acme}", CATALOGUE.replace("[0, 1]", "[0]")),
        [("gpu-numa-count", "[0]")],
    ),
    "an own system's port with a misspelt model": (
        of_type("{system: acme}", CATALOGUE.replace("gpu_numa:", "nics: [{device: mlx5_0, model: cx77}], gpu_numa:")),
        [("nic-unknown", "cx77")],
    ),
    "a malformed plan is not an unknown one too": (
        of_type("{system: dgx-h100, gpus: {mig: half}}", "gpu: {mig_plans: {half: {1g.10gb: 7}}}\n"),
        [("key-missing", "half")],
    ),
    "a name of several GPUs": (of_type(BARE % "A100-80"), [("gpu-variant-assumed", "A100-80")]),
    "the short name of another GPU than the system's": (
        of_type("{system: dgx-h100, gpus: {model: H200}}"),
        [("gpu-variant-assumed", "H200"), ("hardware-differs", "H200")],
    ),
    "the GPUs of several nodes": (
        of_type(f"{{cpu: {{cores_per_socket: 64}}, memory: 1TiB, gpus: {{model: l40s, count: 20, numa: {[0] * 20}}}}}"),
        [("hardware-differs", "20")],
    ),
    "a name of two systems": (of_type("{system: dgx-a100}"), [("system-variant-assumed", "dgx-a100")]),
    "a name of two systems, whose GPU and memory are stated": (
        of_type("{system: dgx-a100, memory: 1TiB, gpus: {model: a100-sxm-40}}"),
        [],
    ),
    "a system that is sold with two GPUs": (of_type("{system: xe9680}"), [("system-variant-assumed", "xe9680")]),
    "a system with one of the GPUs that it is sold with": (
        of_type("{system: dell-xe9680, gpus: {model: h200-sxm}}"),
        [],
    ),
    "fewer threads than the system": (
        of_type("{system: dgx-h100, cpu: {threads_per_core: 1}}"),
        [("threads-unlike-system", "1")],
    ),
    "a misspelt plan is not an unused one too": (
        of_type("{system: dgx-h100, gpus: {mig: {0: hlaf}}}", HALVES),
        [("mig-plan-unknown", "hlaf")],
    ),
    "a plan that fits one GPU and not the other": (
        changed(
            of_type("{system: dgx-h100, gpus: {mig: half}}", HALVES),
            ("nodes:\n", "  a100: {system: dgx-a100-40, gpus: {mig: half}}\nnodes:\n"),
            ('  - {name: "gpu', '  - {name: a1, type: a100, address: 10.0.0.9}\n  - {name: "gpu'),
        ),
        [("mig-profile-unknown", "3g.40gb")],
    ),
    "types of instances before and after 23.02.6": (
        changed(of_type("{system: dgx-h100, gpus: {mig: half}}", HALVES), ('"24.11"', '"23.02", build: schedmd')),
        [("mig-type-uncertain", "half")],
    ),
    "all memory for the system": (
        of_type("{system: ws-2xa6000, memory: 128GiB, reserved: {memory: 128GiB}}"),
        [("nothing-left-for-jobs", "128GiB")],
    ),
    "links of three GPUs for two": (
        of_type("{system: ws-2xa6000, gpus: {links: [[-1, 4, 4], [4, -1, 4], [4, 4, -1]]}}"),
        [("links-malformed", "[-1, 4, 4]")],
    ),
    "one row of links too short": (
        of_type("{system: ws-2xa6000, gpus: {links: [[-1, 4], [4]]}}"),
        [("links-malformed", "[4]")],
    ),
    "a GPU with a link to itself": (
        of_type("{system: ws-2xa6000, gpus: {links: [[-1, 4], [4, 0]]}}"),
        [("links-malformed", "0")],
    ),
    "more spare power supplies than there are, of a draw that nobody knows": (
        of_type("{cpu: {cores_per_socket: 8}, memory: 64GiB, power: {psus: 2, redundant: 2}}"),
        [("psu-redundancy", "2")],
    ),
    "GPUs alone are too much for the power supplies": (
        of_type(
            "{cpu: {cores_per_socket: 8}, memory: 64GiB, gpus: {model: h100-sxm, count: 8}, power: {psus: 2, psu: 2kW}}"
        ),
        [("psu-too-small", "power")],
    ),
    "GPUs alone are too much for the rack": (
        of_type(
            "{cpu: {cores_per_socket: 8}, memory: 64GiB, gpus: {model: h100-sxm, count: 8}}",
            'racks: {r1: {nodes: "gpu[1-4]", power: 20kW}}\n',
        ),
        [("rack-power", "20kW")],
    ),
    "feeds that carry the rack only together": (
        of_type(
            "{system: dgx-h100}",
            'racks: {r1: {nodes: "gpu[1-4]", redundant_feeds: true, circuits: [{volts: 400, amps: 63, count: 2}]}}\n',
        ),
        [("rack-circuits", "[{volts: 400, amps: 63, count: 2}]")],
    ),
    "one feed too few": (
        of_type("{system: dgx-h100}", 'racks: {r1: {nodes: "gpu[1-4]", circuits: [{volts: 400, amps: 63}]}}\n'),
        [("rack-circuits", "[{volts: 400, amps: 63}]")],
    ),
    "units enough for a node, but not side by side": (
        of_type("{system: dgx-h100}", 'racks: {r1: {nodes: "gpu[1-2]", units: 20, places: {gpu1: 7}}}\n'),
        [("rack-place", "places")],
    ),
    "nodes on each other's units": (
        of_type("{system: dgx-h100}", 'racks: {r1: {nodes: "gpu[1-2]", places: {gpu1: 7, gpu2: 14}}}\n'),
        [("rack-place", "gpu2")],
    ),
    "a node of one unit above the rack": (
        of_type(
            "{cpu: {cores_per_socket: 8}, memory: 64GiB, rack_units: 1}",
            "racks: {r1: {nodes: gpu1, places: {gpu1: 43}}}\n",
        ),
        [("rack-place", "gpu1")],
    ),
    "a node twice in one rack": (
        of_type("{system: dgx-h100}", 'racks: {r1: {nodes: "gpu[1-4],gpu2"}}\n'),
        [("rack-node-twice", "gpu[1-4]")],
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_manifests_have_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert reviewed_findings("hardware", name, text) == expected


@pytest.mark.parametrize(
    ("stated", "hint"),
    [("400GB", "400GiB"), ("1536GB", "1536GiB"), ("500GB", "500GiB"), ("1000GB", "1TiB"), ("1.5TB", "1.5TiB")],
)
def test_memory_in_decimal_units_gets_the_same_number_in_binary_ones(stated: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(of_type(f"{{system: ws-2xa6000, memory: {stated}}}"), encoding="utf-8")
    hints = [one.hint for one in validate(path).diagnostics if one.code == "memory-decimal"]
    assert hints == [f"write {hint}, or the exact size in MiB"]
