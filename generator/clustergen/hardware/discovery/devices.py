"""Readers of lspci, ibstat and the kernel's own lists of devices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.firmware import ADAPTER_SETTINGS
from clustergen.hardware.discovery.facts import PciFact, PortFact
from clustergen.hardware.discovery.plain import MOST, number, plain

_DEVICE = re.compile(
    r"((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) [^\[\n]{0,80}\[([0-9a-f]{4})\]: .{0,300}?"
    r"\[([0-9a-f]{4}:[0-9a-f]{4})\](?: \(rev ([0-9a-f]{2})\))?"
)
_LINK = re.compile(r"\s+Lnk(Cap|Sta):\s.{0,40}?Speed ([\d.]{1,5})GT/s(?: \(\w+\))?, Width x(\d{1,2})")
_KINDS = ("02", "03", "0108")
_INTERFACE = re.compile(r"/sys/class/net/([\w.-]{1,15})/(speed|operstate):([\w-]{1,20})")
_VIRTUAL = ("br", "cali", "docker", "ib", "lo", "podman", "tap", "tun", "veth", "virbr")
_PORT = re.compile(r"/sys/class/infiniband/([\w.-]{1,63})/(?:ports/1/)?(\w{1,20}):(.{0,120})")


def lspci(text: str) -> Iterator[PciFact]:
    """Network adapters, GPUs and NVMe disks of `lspci -Dnn`, with links where `-vv` adds them.

    Without a PCI bus, as in some virtual machines, lspci prints nothing. ValueError for lines without numbers.
    """
    lines = plain(text).splitlines()
    if lines and not any(_DEVICE.match(line) for line in lines[:50]):
        raise ValueError("no device with the numbers of its class and model: run lspci -Dnnvv")
    device: re.Match[str] | None = None
    links: dict[str, tuple[float, int]] = {}
    count = 0
    for line in lines:
        if match := _DEVICE.match(line):
            if device is not None and count < MOST:
                count += 1
                yield _fact(device, links)
            device, links = (match if match[2].startswith(_KINDS) else None), {}
        elif device is not None and (match := _LINK.match(line)):
            try:
                links.setdefault(match[1], (float(match[2]), int(match[3])))
            except ValueError:
                continue
    if device is not None:
        yield _fact(device, links)


def _fact(device: re.Match[str], links: dict[str, tuple[float, int]]) -> PciFact:
    address = device[1] if device[1].count(":") == 2 else f"0000:{device[1]}"
    speed, lanes = links.get("Sta", (None, None))
    most_speed, most_lanes = links.get("Cap", (None, None))
    return PciFact(
        address=address,
        kind=device[2],
        ident=device[3],
        speed=speed,
        lanes=lanes,
        most_speed=most_speed,
        most_lanes=most_lanes,
        is_lost=device[4] == "ff",
    )


def ibstat(text: str) -> Iterator[PortFact]:
    """The first port of each adapter of `ibstat`."""
    device = ""
    values: dict[str, str] = {}
    for line in plain(text).splitlines()[: MOST * 20]:
        stripped = line.strip()
        if match := re.match(r"CA '([\w.-]{1,63})'", stripped):
            device, values = match[1], {}
        elif match := re.match(r"(CA type|Firmware version|State|Physical state|Rate): ([\w. -]{1,63})", stripped):
            values[match[1]] = match[2].strip()
        elif device and (match := re.match(r"Link layer: (\w+)", stripped)):
            yield PortFact(
                device,
                number(values["Rate"]) if values.get("Rate", "").isdecimal() else None,
                match[1].lower(),
                values.get("CA type", ""),
                firmware=values.get("Firmware version", ""),
                state=values.get("State", "").lower(),
                physical=values.get("Physical state", "").lower(),
            )


_ADAPTER = re.compile(r"adapter (\S{1,64})")
_SETTING = re.compile(r"\s+([A-Z][A-Z0-9_]{1,60})\s+(\S{1,60})\s*")


def adapter_settings(text: str) -> tuple[tuple[str, str, str], ...]:
    """RDMA device, setting of its firmware and value, as `mstconfig query` prints them, of those that are compared."""
    rows, device = [], ""
    for line in plain(text).splitlines():
        if match := _ADAPTER.fullmatch(line):
            device = match[1]
        elif device and (match := _SETTING.fullmatch(line)) and match[1] in ADAPTER_SETTINGS:
            rows.append((device, match[1], match[2]))
    return tuple(rows[:MOST])


def infiniband(text: str) -> Iterator[PortFact]:
    """The same from the files below /sys/class/infiniband, one `path:value` a line."""
    devices: dict[str, dict[str, str]] = {}
    for line in plain(text).splitlines()[: MOST * 8]:
        if match := _PORT.match(line):
            devices.setdefault(match[1], {})[match[2]] = match[3].strip()
    for device, values in devices.items():
        rate = re.match(r"(\d{1,5})", values.get("rate", ""))
        yield PortFact(
            device,
            int(rate[1]) if rate else None,
            values.get("link_layer", "").lower(),
            values.get("hca_type", ""),
            firmware=values.get("fw_ver", ""),
            state=values.get("state", "").partition(": ")[2].lower(),
            physical=values.get("phys_state", "").partition(": ")[2].lower(),
        )


def links(text: str) -> tuple[tuple[str, str], ...]:
    """Speeds and states of network interfaces from the files below /sys/class/net, one `path:value` a line."""
    interfaces: dict[str, dict[str, str]] = {}
    for line in plain(text).splitlines()[: MOST * 2]:
        if (match := _INTERFACE.match(line)) and not match[1].startswith(_VIRTUAL):
            interfaces.setdefault(match[1], {})[match[2]] = match[3]
    shown = []
    for name, values in sorted(interfaces.items()):
        speed = values.get("speed", "")
        if speed.isdecimal() and number(speed):
            shown.append((name, f"{number(speed)} Mb/s"))
        elif values.get("operstate") in ("down", "lowerlayerdown"):
            shown.append((name, "down"))
    return tuple(shown)


def gpu_devices(text: str) -> tuple[str, ...]:
    """nvidiaN of a listing of /dev."""
    names = re.findall(r"^nvidia\d{1,3}$", plain(text), re.MULTILINE)
    return tuple(names[:MOST])
