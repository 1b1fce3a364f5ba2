"""Readers of what nvidia-smi prints. Each takes any text and gives what it can; ValueError where it is not its own."""

from __future__ import annotations

import csv
import re
from xml.etree import ElementTree

from clustergen.hardware.discovery.facts import GpuFact
from clustergen.hardware.discovery.plain import MOST, plain
from clustergen.records import replace

FILES = ("nvidia-smi.csv", "nvidia-smi-q.xml", "nvidia-smi-topo-m")
_TABLE_ROW = re.compile(r"\|\s{1,6}\d{1,3}\s{1,4}(\S.{0,60}?)\s+(?:On|Off|N/A)\s*\|\s*([0-9A-Fa-f:.]{7,20})\s")
_LISTED = re.compile(r"GPU \d{1,3}: (.{1,100}?)(?: \(UUID: .*)?\s*$")
_FAILURE = re.compile(r"NVIDIA-SMI has failed|Unable to determine the device handle|No devices were found|NVML")


def failure(text: str) -> str:
    """The line by which nvidia-smi says that it cannot reach a GPU; empty where it prints none."""
    return next((line.strip()[:200] for line in plain(text[:4000]).splitlines() if _FAILURE.search(line)), "")


def gpus(text: str) -> tuple[GpuFact, ...]:
    """`nvidia-smi --query-gpu=… --format=csv`; columns in any order, with units or without."""
    try:
        rows = list(csv.reader(plain(text).splitlines(), skipinitialspace=True))
    except csv.Error as err:
        raise ValueError(f"not CSV: {err}") from None
    header = [name.partition(" [")[0] for name in rows[0]] if rows else []
    if "name" not in header:
        raise ValueError("no column called name")
    facts = []
    for row in rows[1:MOST]:
        cells = dict(zip(header, row, strict=False))
        if cells.get("name"):
            facts.append(
                GpuFact(
                    cells["name"],
                    pci_address(cells.get("pci.bus_id", "")),
                    cells.get("driver_version", ""),
                    vbios=cells.get("vbios_version", ""),
                    power_limit_w=watts(cells.get("power.limit", "")),
                    mig=cells.get("mig.mode.current", ""),
                )
            )
    return tuple(facts)


def listed(text: str) -> tuple[GpuFact, ...]:
    """`nvidia-smi -L`: the names alone."""
    facts = tuple(GpuFact(match[1]) for line in plain(text).splitlines()[:MOST] if (match := _LISTED.match(line)))
    if not facts:
        raise ValueError("no line such as GPU 0: NAME")
    return facts


def table(text: str) -> tuple[GpuFact, ...]:
    """The table of `nvidia-smi` without options: names and PCI addresses. Old releases cut the names."""
    facts = tuple(
        GpuFact(match[1], pci_address(match[2]))
        for line in plain(text).splitlines()[:MOST]
        if (match := _TABLE_ROW.match(line))
    )
    if not facts or any(gpu.name.endswith("...") for gpu in facts):
        raise ValueError("its names are cut: run nvidia-smi -L" if facts else "no row of a GPU")
    return facts


def details(text: str) -> tuple[GpuFact, ...]:
    """`nvidia-smi -q -x`, of any version of its format."""
    if "<!ENTITY" in text:
        raise ValueError("it defines entities")
    try:
        root = ElementTree.fromstring(plain(text))
    except (ElementTree.ParseError, RecursionError) as err:
        raise ValueError(f"not XML: {err}") from None
    if root.tag != "nvidia_smi_log":
        raise ValueError("not the log of nvidia-smi")
    driver = _text(root, "driver_version")
    return tuple(_gpu(element, driver) for element in root.findall("gpu")[:MOST])


def _gpu(element: ElementTree.Element, driver: str) -> GpuFact:
    limits = [
        _text(element, f"{section}/{name}")
        for section in ("gpu_power_readings", "power_readings")
        for name in ("current_power_limit", "power_limit")
    ]
    lanes = re.match(r"(\d{1,2})x", _text(element, "pci/pci_gpu_link_info/link_widths/current_link_width"))
    return GpuFact(
        _text(element, "product_name"),
        pci_address(_text(element, "pci/pci_bus_id") or element.get("id", "")),
        driver,
        vbios=_text(element, "vbios_version"),
        inforom=_text(element, "inforom_version/img_version"),
        power_limit_w=next((limit for limit in map(watts, limits) if limit is not None), None),
        ecc=_text(element, "ecc_mode/current_ecc"),
        mig=_text(element, "mig_mode/current_mig"),
        lanes=int(lanes[1]) if lanes else None,
    )


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()[:120]


def combined(queried: tuple[GpuFact, ...], detailed: tuple[GpuFact, ...]) -> tuple[GpuFact, ...]:
    """GPUs of the query with what only the log has; those of the log where there is no query."""
    by_address = {gpu.pci: gpu for gpu in detailed if gpu.pci}
    facts = []
    for gpu in queried:
        other = by_address.get(gpu.pci)
        if other is not None:
            gpu = replace(
                gpu,
                driver=gpu.driver or other.driver,
                vbios=gpu.vbios or other.vbios,
                power_limit_w=other.power_limit_w if gpu.power_limit_w is None else gpu.power_limit_w,
                inforom=other.inforom,
                ecc=other.ecc,
                mig=gpu.mig or other.mig,
                lanes=other.lanes,
            )
        facts.append(gpu)
    return tuple(facts) or detailed


def pci_address(text: str) -> str:
    """`0000:1b:00.0` of NVIDIA's `00000000:1B:00.0`."""
    match = re.fullmatch(r"(?:0000)?([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", text.strip().lower())
    return match[1] if match else ""


def watts(text: str) -> float | None:
    match = re.match(r"(\d{1,5}(?:\.\d{1,4})?)(?: W)?$", text.strip())
    return float(match[1]) if match else None
