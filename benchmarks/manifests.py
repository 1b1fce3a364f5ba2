"""Large manifests."""

from __future__ import annotations

import json
from pathlib import Path


def large(nodes: int, types: int) -> str:
    """A manifest of so many 8-GPU nodes of so many types; nodes is a multiple of 256 times types."""
    per = nodes // types
    kinds = "\n".join(f"  h{t}: {{system: dgx-h100, weight: {t + 1}}}" for t in range(types))
    entries = []
    for t in range(types):
        first, blocks = t * per + 1, per // 256
        second = f"[{t * blocks}-{(t + 1) * blocks - 1}]" if blocks > 1 else str(t * blocks)
        entries.append(
            f'  - {{name: "gpu[{first:05d}-{first + per - 1:05d}]", type: h{t}, address: "10.{second}.1.[0-255]"}}'
        )
    listed = "\n".join(entries)
    return f"""name: big
os: debian-13
networks:
  management: {{cidr: 10.0.0.0/8, domain: big.test}}
  fabric: {{type: infiniband, rate: NDR}}
node_types:
{kinds}
nodes:
  - {{name: head, type: service, address: 10.255.0.1, roles: [slurm-controller, slurm-accounting, monitoring]}}
{listed}
slurm:
  version: "24.11"
  partitions:
    gpu: {{nodes: all, default: true, max_time: 7-0}}
"""


def of_types(types: int, weight: int) -> str:
    """So many node types of four nodes each; `weight` is that of the first."""
    kinds = "\n".join(f"  t{n}: {{system: dgx-h100, weight: {n + 2 if n else weight}}}" for n in range(types))
    entries = "\n".join(
        f'  - {{name: "t{n}n[1-4]", type: t{n}, address: "10.{n // 250}.{n % 250}.[1-4]"}}' for n in range(types)
    )
    lines = large(256, 1).splitlines()
    kind = next(n for n, line in enumerate(lines) if line.startswith("  h0:"))
    entry = next(n for n, line in enumerate(lines) if "type: h0" in line)
    return "\n".join([*lines[:kind], kinds, *lines[kind + 1 : entry], entries, *lines[entry + 1 :], ""])


def weighed(manifest: str, each: int) -> str:
    """The nodes of `large` with one type, each so many with a weight of their own."""
    head, _, rest = manifest.partition('  - {name: "gpu[')
    nodes = int(rest.partition("]")[0].partition("-")[2])
    entries = "\n".join(
        f'  - {{name: "gpu[{first + 1:05d}-{first + each:05d}]", type: h0,'
        f' address: "10.{first // 256}.1.[{first % 256}-{first % 256 + each - 1}]", weight: {first // each + 2}}}'
        for first in range(0, nodes, each)
    )
    return f"{head}{entries}\n{rest.partition(chr(10))[2]}"


def record(directory: Path, nodes: int) -> None:
    """The input of discover and drift for so many nodes of `large`, equal but for their addresses."""
    gpus = "".join(f"{i}, NVIDIA H100 80GB HBM3, 00000000:{16 * i + 27:02X}:00.0, 570.86.15\n" for i in range(8))
    ports = "".join(
        f"/sys/class/infiniband/{device}/ports/1/{key}:{value}\n"
        for device in (*(f"mlx5_{i}" for i in range(12)), "irdma0", "irdma1")
        for key, value in (("state", "4: ACTIVE"), ("rate", "400 Gb/sec (4X NDR)"), ("link_layer", "InfiniBand"))
    )
    files = {
        "slurmd-C": "NodeName=n CPUs=224 SocketsPerBoard=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=2063426\n",
        "nvidia-smi.csv": "index, name, pci.bus_id, driver_version\n" + gpus,
        "infiniband": ports,
        "dmidecode": "System Information\n\tManufacturer: NVIDIA\n\tProduct Name: DGXH100\n",
        "dev": "".join(f"nvidia{i}\n" for i in range(8)),
        "uname": "6.12.9-amd64\n",
        "tree.json": "{}",
    }
    for number in range(nodes):
        place = directory / f"gpu{number + 1:05d}"
        place.mkdir(parents=True)
        entry = {"family": "inet", "local": f"10.{number // 256}.1.{number % 256}", "scope": "global"}
        interfaces = json.dumps([{"ifname": "eno1", "addr_info": [entry]}])
        for name, text in {**files, "ip.json": interfaces}.items():
            (place / name).write_text(text, encoding="utf-8")


def slurm_files(directory: Path, nodes: int) -> None:
    """A hand-written /etc/slurm with a line per node."""
    directory.mkdir(parents=True)
    hardware = "Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=2000000 Gres=gpu:h100:8"
    lines = [
        f"NodeName=gpu{n + 1:05d} NodeAddr=10.{n // 62500}.{n // 250 % 250}.{n % 250 + 1} {hardware}"
        for n in range(nodes)
    ]
    files = {
        "slurm.conf": (
            "ClusterName=big\nSlurmctldHost=head(10.255.0.1)\nSlurmUser=slurm\nGresTypes=gpu\n"
            "StateSaveLocation=/var/spool/slurmctld\nProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
            + "\n".join(lines)
            + "\nPartitionName=gpu Nodes=ALL Default=YES MaxTime=7-0 State=UP\n"
        ),
        "gres.conf": "".join(
            f"NodeName=gpu{n + 1:05d} Name=gpu Type=h100 File=/dev/nvidia[0-7]\n" for n in range(nodes)
        ),
        "cgroup.conf": "ConstrainCores=yes\nConstrainRAMSpace=yes\nConstrainDevices=yes\n",
    }
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
