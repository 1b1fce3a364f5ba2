"""Readers of what commands print. Each takes any text and gives what it can; ValueError where it is not theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Any

from clustergen.catalogue.firmware import is_known
from clustergen.hardware.discovery.facts import BmcFact, DiskFact, TreeState
from clustergen.hardware.discovery.plain import MOST, json_of, number, plain

_OF_ONE_NODE = re.compile(r"(root|BOOT_IMAGE|initrd|resume|ip|BOOTIF|hostname|systemd\.hostname|rd\.\w+)=")
_UNIQUE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|\d+\.\d+\.\d+\.\d+", re.IGNORECASE)
_MOST_DEPTH = 9


def meminfo_mib(text: str) -> int:
    match = re.search(r"^MemTotal:\s+(\d{1,15}) kB", text, re.MULTILINE)
    if not match:
        raise ValueError("no MemTotal")
    return int(match[1]) // 1024


def product(text: str) -> str:
    """Manufacturer and product of `dmidecode -t system`."""
    block = plain(text).partition("System Information")[2][:4000]
    parts = [re.search(rf"^\s+{name}:\s*(.+)$", block, re.MULTILINE) for name in ("Manufacturer", "Product Name")]
    words = " ".join(match[1].strip() for match in parts if match)
    if not words:
        raise ValueError("no System Information")
    return words[:200]


def disks(text: str) -> Iterator[DiskFact]:
    """`lsblk -J -b`: disks that are neither removable nor of a network."""
    document = json_of(text)
    rows = document.get("blockdevices") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise ValueError("no blockdevices")
    for row in rows[:MOST]:
        if not isinstance(row, dict) or row.get("type") != "disk":
            continue
        name = str(row.get("name", "")).removeprefix("/dev/")  # which `lsblk -p` adds
        if not re.fullmatch(r"(nvme\d+n\d+|sd[a-z]+|vd[a-z]+)", name):
            continue
        size = str(row.get("size"))
        if re.fullmatch(r"[\d.,]+[KMGTP]", size):
            raise ValueError(f"sizes such as {size} are not in bytes: run lsblk -J -b")
        if size.isdecimal() and number(size):
            yield DiskFact(name, number(size), any(_mount_points(row)))


def _mount_points(row: Any, depth: int = 0) -> Iterator[str]:
    """Where a device of `lsblk` and those on it are mounted; older releases have one `mountpoint`."""
    if not isinstance(row, dict) or depth > _MOST_DEPTH:
        return
    points = row.get("mountpoints", row.get("mountpoint"))
    yield from (point for point in (points if isinstance(points, list) else [points]) if isinstance(point, str))
    children = row.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _mount_points(child, depth + 1)


def addresses(text: str) -> Iterator[tuple[str, str]]:
    """`ip -j addr`: interface and IPv4 address."""
    rows = json_of(text)
    for row in rows[:MOST] if isinstance(rows, list) else ():
        name = str(row.get("ifname", "")) if isinstance(row, dict) else ""
        for entry in row.get("addr_info", ()) if name and name != "lo" else ():
            if isinstance(entry, dict) and entry.get("family") == "inet" and entry.get("scope") == "global":
                yield name, str(IPv4Address(str(entry.get("local", ""))))


def interfaces(text: str) -> tuple[str, ...]:
    """All interfaces of `ip -j addr`."""
    rows = json_of(text)
    return tuple(
        str(row["ifname"])[:32]
        for row in (rows[:MOST] if isinstance(rows, list) else ())
        if isinstance(row, dict) and row.get("ifname")
    )


def firmware(text: str) -> str:
    """Version of the BIOS, of `dmidecode -t bios`; empty where the output has none."""
    block = plain(text).partition("BIOS Information")[2][:2000]
    match = re.search(r"^\s+Version:\s*(.+)$", block, re.MULTILINE)
    return match[1].strip()[:100] if match else ""


def bios_attributes(text: str) -> tuple[tuple[str, str], ...]:
    """Attributes of a Redfish Bios resource that the catalogue knows, in order of their names."""
    document = json_of(text)
    listed = document.get("Attributes") if isinstance(document, dict) else None
    if not isinstance(listed, dict):
        raise ValueError("no Attributes of a Redfish Bios resource")
    rows = [(name, value) for name, value in listed.items() if len(name) <= 200 and is_known(name)]
    return tuple(sorted((name, str(value)[:100]) for name, value in rows if isinstance(value, str | int | bool)))


def bmc(text: str) -> BmcFact:
    """The record of the playbook `drift` about a BMC."""
    document = json_of(text)
    if not isinstance(document, dict):
        raise ValueError("not a mapping")
    return BmcFact(*(" ".join(str(document.get(key, "")).split())[:300] for key in ("power", "health", "failure")))


def first_line(text: str) -> str:
    """One line of a file below /proc."""
    return " ".join(plain(text[:8000]).split("\n", 1)[0].split())[:4000]


def command_line(text: str) -> str:
    """Options of the kernel without those that name a disk, an address or the kernel itself."""
    words = first_line(text).split(" ")
    return " ".join(word for word in words if not _OF_ONE_NODE.match(word) and not _UNIQUE.search(word))


def failures(text: str) -> dict[str, str]:
    """File → why the collector has no output of its command."""
    document = json_of(text)
    if not isinstance(document, dict):
        raise ValueError("not a mapping")
    return {str(file)[:60]: " ".join(str(reason).split())[:120] for file, reason in list(document.items())[:100]}


def tree_state(text: str) -> TreeState:
    """The record of the playbook `drift`: what `site.yml --check` reports for this host."""
    document = json_of(text)
    if not isinstance(document, dict):
        raise ValueError("not a mapping")

    def rows(key: str) -> list[Any]:
        listed = document.get(key, [])
        if not isinstance(listed, list):
            raise ValueError(f"{key} is not a list")
        return listed[:MOST]

    def names(key: str) -> tuple[str, ...]:
        return tuple(str(row)[:300] for row in rows(key))

    def triples(key: str) -> tuple[tuple[str, str, str], ...]:
        cells = [[str(cell)[:300] for cell in row] for row in rows(key) if isinstance(row, list)]
        if any(len(row) != 3 for row in cells):
            raise ValueError(f"{key} has no rows of three")
        return tuple((subject, actual, expected) for subject, actual, expected in cells)

    return TreeState(
        files=names("files"),
        leftovers=names("leftovers"),
        units=names("units"),
        packages=names("packages"),
        paths=names("paths"),
        failure=" ".join(str(document.get("failure") or "").split())[:600],
        accounts=triples("accounts"),
        unlisted=names("unlisted"),
        foreign=names("foreign"),
        slipped=triples("slipped"),
    )
