"""The shell script that collects a machine's facts: it reads only, and writes a tar archive to its standard output."""

from __future__ import annotations

COMMANDS = {
    "slurmd-C": "slurmd -C",
    "lscpu.json": "lscpu -J",
    "meminfo": "cat /proc/meminfo",
    "nvidia-smi.csv": "nvidia-smi --query-gpu=index,name,pci.bus_id,memory.total,power.limit,clocks.max.sm,"
    "mig.mode.current,vbios_version,driver_version --format=csv",
    "nvidia-smi-q.xml": "nvidia-smi -q -x",
    "nvidia-smi-topo-m": "nvidia-smi topo -m",
    "ibstat": "ibstat",
    "infiniband": "grep -H . /sys/class/infiniband/*/fw_ver /sys/class/infiniband/*/hca_type "
    "/sys/class/infiniband/*/ports/1/rate /sys/class/infiniband/*/ports/1/state "
    "/sys/class/infiniband/*/ports/1/phys_state /sys/class/infiniband/*/ports/1/link_layer",
    "nic-firmware": "sh -c 'command -v mstconfig >/dev/null || exit 0; for device in /sys/class/infiniband/*; do "
    'link=$(readlink -f "$device/device") && echo "adapter ${device##*/}" && mstconfig -d "${link##*/}" query; done\'',
    "net": "grep -H . /sys/class/net/*/speed /sys/class/net/*/operstate",
    "dmidecode": "dmidecode -t bios -t system",
    "lspci": "lspci -Dnnvv",
    "lsblk.json": "lsblk -J -b -o NAME,SIZE,TYPE,ROTA,MODEL,MOUNTPOINTS,FSTYPE",
    "ip.json": "ip -j addr",
    "dev": "ls /dev",
    "uname": "uname -r",
    "cmdline": "cat /proc/cmdline",
}
"""File → command for `sh`. Lines with serial numbers are removed from what they print."""

SERIAL = "/<[a-z_]*serial[a-z_]*>/d; /Serial [Nn]umber/d; /^[[:space:]]*UUID:/d"
"""Commands of `sed` that remove serial numbers of GPUs, adapters and the machine."""

SECONDS = 30
"""Limit of each command: nvidia-smi waits for ever on a GPU that fell off the bus."""


def without_serials(command: str) -> str:
    """A line for `sh` that runs a command and removes serial numbers from its output."""
    return f"{{ {command}; }} 2>/dev/null | sed '{SERIAL}'"


def collector() -> str:
    """The script, for `sh`."""
    lines = [
        "#!/bin/sh",
        "# Collects what `clustergen discover --facts` reads. Changes nothing; leaves out commands that are missing.",
        "set -u",
        "LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH; export LC_ALL PATH",
        "place=$(mktemp -d) || exit 1",
        "trap 'rm -rf \"$place\"' EXIT",
        "collect() {",
        "  file=$1; shift",
        '  command -v "$1" >/dev/null 2>&1 || return 0',
        f'  timeout -k 5 {SECONDS} "$@" >"$place/$file" 2>/dev/null || [ -s "$place/$file" ] || rm -f "$place/$file"',
        f'  [ ! -f "$place/$file" ] || sed -i \'{SERIAL}\' "$place/$file"',
        "}",
        *(f"collect {name} {command}" for name, command in COMMANDS.items()),
        'tar -C "$place" -cf - .',
    ]
    return "\n".join(lines) + "\n"
