"""Recorded facts of a small cluster as its own tools would print them, with ways to break each."""

from __future__ import annotations

import json
from pathlib import Path

MANIFEST = """\
name: night
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24}
  fabric: {type: infiniband, rate: NDR}
node_types:
  h100:
    cpu: {sockets: 2, cores_per_socket: 56, threads_per_core: 2}
    memory: 2TiB
    real_memory: 2000000
    gpus: {model: h100-sxm, count: 4, numa: [0, 0, 1, 1], driver: "570"}
    nics:
      - {device: mlx5_0, model: connectx-7, numa: 0}
      - {device: mlx5_1, model: connectx-7, numa: 1}
nodes:
  - {name: head, type: service, address: 10.0.0.10, roles: [slurm-controller]}
  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}
slurm: {version: "24.11"}
"""
GPU = "NVIDIA H100 80GB HBM3"
NODES = ("gpu1", "gpu2", "gpu3", "gpu4")


def slurmd(memory: int = 2063426, cores: int = 56) -> str:
    return (
        f"NodeName=n CPUs={cores * 4} Boards=1 SocketsPerBoard=2 CoresPerSocket={cores} ThreadsPerCore=2"
        f" RealMemory={memory}\nUpTime=0-01:00:00\n"
    )


def smi(count: int = 4, name: str = GPU, driver: str = "570.86.15", limit: int = 700) -> str:
    head = "index, name, pci.bus_id, memory.total [MiB], power.limit [W], mig.mode.current, vbios_version, driver_version\n"
    return head + "".join(
        f"{i}, {name}, 00000000:{16 * i + 27:02X}:00.0, 81559 MiB, {limit}.00 W, Disabled, 96.00.99.00.01, {driver}\n"
        for i in range(count)
    )


def smi_log(count: int = 4, *, vbios: str = "96.00.99.00.01", ecc: str = "Enabled", lanes: int = 16) -> str:
    gpus = "".join(
        f'<gpu id="00000000:{16 * i + 27:02X}:00.0"><product_name>{GPU}</product_name>'
        f"<vbios_version>{vbios}</vbios_version><mig_mode><current_mig>Disabled</current_mig></mig_mode>"
        "<inforom_version><img_version>G520.0200.00.05</img_version></inforom_version>"
        f"<pci><pci_bus_id>00000000:{16 * i + 27:02X}:00.0</pci_bus_id><pci_gpu_link_info><link_widths>"
        f"<max_link_width>16x</max_link_width><current_link_width>{lanes}x</current_link_width></link_widths>"
        f"</pci_gpu_link_info></pci><ecc_mode><current_ecc>{ecc}</current_ecc></ecc_mode>"
        "<gpu_power_readings><current_power_limit>700.00 W</current_power_limit></gpu_power_readings></gpu>\n"
        for i in range(count)
    )
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>'
        f"<driver_version>570.86.15</driver_version><attached_gpus>{count}</attached_gpus>{gpus}</nvidia_smi_log>\n"
    )


def infiniband(rates: tuple[int, ...] = (400, 400), firmware: str = "28.39.2048", state: str = "4: ACTIVE") -> str:
    lines = []
    for index, rate in enumerate(rates):
        base = f"/sys/class/infiniband/mlx5_{index}"
        lines += [f"{base}/fw_ver:{firmware}", f"{base}/hca_type:MT4129", f"{base}/ports/1/rate:{rate} Gb/sec (4X NDR)"]
        physical = "5: LinkUp" if "ACTIVE" in state else "2: Polling"
        lines += [f"{base}/ports/1/state:{state}", f"{base}/ports/1/phys_state:{physical}"]
        lines += [f"{base}/ports/1/link_layer:InfiniBand"]
    return "\n".join(lines) + "\n"


def lspci(*, gpus: int = 4, lost: int | None = None, lanes: int = 16, speed: str = "32") -> str:
    blocks = []
    for i in range(gpus):
        revision = "ff" if i == lost else "a1"
        blocks.append(
            f"0000:{16 * i + 27:02x}:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330]"
            f" (rev {revision})\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
            "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16\n"
        )
    for place in ("18", "5e"):
        blocks.append(
            f"0000:{place}:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7]"
            f" [15b3:1021]\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
            f"\t\tLnkSta:\tSpeed {speed}GT/s, Width x{lanes}\n"
        )
    return "".join(blocks)


def addresses(host: int) -> str:
    entry = {"family": "inet", "local": f"10.0.0.{host}", "prefixlen": 24, "scope": "global"}
    return json.dumps([{"ifname": "lo", "addr_info": []}, {"ifname": "eno1", "addr_info": [entry]}])


def net(speed: int = 20000, state: str = "up") -> str:
    """Files of sysfs: a bond, a port without a cable, whose speed cannot be read, and a bridge of containers."""
    shown = f"/sys/class/net/bond0/speed:{speed}\n" if state == "up" else "/sys/class/net/bond0/speed:-1\n"
    shown += "/sys/class/net/docker0/speed:-1\n/sys/class/net/lo/operstate:unknown\n"
    return shown + f"/sys/class/net/bond0/operstate:{state}\n/sys/class/net/eno2/operstate:down\n"


def dmi(product: str = "DGXH100", bios: str = "1.5.3") -> str:
    return (
        f"BIOS Information\n\tVendor: AMI\n\tVersion: {bios}\n\nSystem Information\n\tManufacturer: NVIDIA\n"
        f"\tProduct Name: {product}\n"
    )


def scontrol(**lines: str) -> str:
    """`scontrol -o show nodes` of the four nodes; a node named in `lines` has that line, an empty one none."""
    shown = []
    for number, name in enumerate(NODES, 11):
        line = lines.get(name, scontrol_line(name, f"10.0.0.{number}"))
        shown += [line] if line else []
    return "\n".join(shown) + "\n"


def scontrol_line(
    name: str,
    address: str = "10.0.0.11",
    *,
    state: str = "IDLE",
    gres: str = "gpu:h100:4",
    memory: int = 2000000,
    tail: str = "",
) -> str:
    return (
        f"NodeName={name} Arch=x86_64 CoresPerSocket=56 CPUAlloc=0 CPUEfctv=224 CPUTot=224 CPULoad=0.01"
        f" AvailableFeatures=h100 ActiveFeatures=h100 Gres={gres}(S:0-1) NodeAddr={address} NodeHostName={name}"
        f" Version=24.11.5 OS=Linux 6.12.9 #1 SMP RealMemory={memory} AllocMem=0 FreeMem=1900000 Sockets=2 Boards=1"
        f" State={state} ThreadsPerCore=2 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A Partitions=batch"
        f" CfgTRES=cpu=224,mem={memory}M,billing=224,gres/gpu=4 AllocTRES={tail}"
    )


def scontrol_partition(name: str, nodes: str, **values: str) -> str:
    """A line of `scontrol -o show partitions`, as Slurm 24.11 prints it."""
    shown = {"Default": "YES", "DefaultTime": "01:00:00", "MaxTime": "UNLIMITED", "State": "UP", **values}
    return (
        f"PartitionName={name} AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default={shown['Default']}"
        f" QoS=N/A DefaultTime={shown['DefaultTime']} DisableRootJobs=NO ExclusiveUser=NO ExclusiveTopo=NO GraceTime=0"
        f" Hidden=NO MaxNodes=UNLIMITED MaxTime={shown['MaxTime']} MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED"
        f" Nodes={nodes} PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO PreemptMode=OFF"
        f" State={shown['State']} TotalCPUs=896 TotalNodes=4 SelectTypeParameters=NONE\n"
    )


def healthy(host: int) -> dict[str, str]:
    """Files of one GPU node."""
    return {
        "slurmd-C": slurmd(),
        "nvidia-smi.csv": smi(),
        "nvidia-smi-q.xml": smi_log(),
        "infiniband": infiniband(),
        "lspci": lspci(),
        "ip.json": addresses(host),
        "dmidecode": dmi(),
        "net": net(),
        "dev": "".join(f"nvidia{i}\n" for i in range(4)) + "null\nnvidiactl\n",
        "uname": "6.12.9-amd64\n",
        "cmdline": f"BOOT_IMAGE=/vmlinuz root=UUID=0a1b2c3d-0000-0000-0000-0000000000{host} ro iommu=pt\n",
        "tree.json": "{}",
    }


def record(directory: Path, **changes: dict[str, str | None]) -> Path:
    """The facts of all nodes below `directory`; node → files that differ, of which None leaves one out."""
    files = {name: healthy(number) for number, name in enumerate(NODES, 11)}
    files["head"] = {"ip.json": addresses(10), "tree.json": "{}", "scontrol-nodes": scontrol()}
    files["head"]["scontrol-partitions"] = scontrol_partition("main", "gpu[1-4]")
    for name, changed in changes.items():
        for file, text in changed.items():
            if text is None:
                files[name].pop(file, None)
            else:
                files.setdefault(name, {})[file] = text
    for name, outputs in files.items():
        (directory / name).mkdir(parents=True)
        for file, text in outputs.items():
            (directory / name / file).write_text(text, encoding="utf-8")
    return directory
