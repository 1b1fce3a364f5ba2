"""Machines of one node type against most of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from clustergen.diagnostics.words import cut
from clustergen.hardware.discovery.facts import GpuFact, NodeFacts, PciFact
from clustergen.hardware.discovery.grouping import MEMORY_GAP
from clustergen.hardware.drift.model import DriftFinding

_LONGEST = 160  # characters of a value that a finding shows


def _of_gpus(field: Callable[[GpuFact], str]) -> Callable[[NodeFacts], str]:
    return lambda facts: ", ".join(dict.fromkeys(value for gpu in facts.gpus if (value := field(gpu))))


def _power(gpu: GpuFact) -> str:
    return "" if gpu.power_limit_w is None else f"{gpu.power_limit_w:g} W"


_FIELDS: tuple[tuple[str, str, Callable[[NodeFacts], str]], ...] = (
    ("driver-differs", "NVIDIA driver", _of_gpus(lambda gpu: gpu.driver)),
    ("kernel-differs", "kernel", lambda facts: facts.kernel),
    ("vbios-differs", "GPU VBIOS", _of_gpus(lambda gpu: gpu.vbios)),
    ("ecc-differs", "ECC of GPUs", _of_gpus(lambda gpu: gpu.ecc)),
    ("power-differs", "GPU power limit", _of_gpus(_power)),
    ("bios-differs", "BIOS", lambda facts: facts.firmware),
    ("inforom-differs", "InfoROM image", _of_gpus(lambda gpu: gpu.inforom)),
    ("options-differ", "kernel options", lambda facts: facts.command_line),
    ("product-differs", "product", lambda facts: facts.product),
)


def findings(members: Sequence[NodeFacts], *, has_power_limit: bool) -> Iterator[DriftFinding]:
    """Differences between machines of one type; the manifest's own power limit is compared elsewhere."""
    for kind, subject, field in _FIELDS:
        if kind != "power-differs" or not has_power_limit:
            yield from _unusual(kind, subject, [(facts.name, field(facts)) for facts in members])
    yield from _of_parts("firmware-differs", "firmware of", _firmware(members))
    speeds = ((facts.name, *link) for facts in members for link in facts.links)
    # Where a port is unplugged on most machines, one that is plugged in is no fault.
    yield from _of_parts("speed-differs", "link of", speeds, unless="down")
    # Numbers that a maker appends to the names differ between releases of the BIOS.
    settings = ((facts.name, *attribute) for facts in members for attribute in facts.bios)
    yield from _of_parts("firmware-setting-differs", "BIOS attribute", settings)
    yield from _memory(members)
    yield from _links(members)


def _unusual(kind: str, subject: str, values: Sequence[tuple[str, str]]) -> Iterator[DriftFinding]:
    counts = Counter(value for _, value in values if value)
    if len(counts) < 2:
        return
    (usual, count), (_, second) = counts.most_common(2)
    expected = f"{cut(usual, _LONGEST)} as on {count} of {sum(counts.values())} nodes"
    for name, value in values:
        if value and count == second:  # nobody can say which one is meant
            yield DriftFinding(kind, (name,), subject, cut(value, _LONGEST), f"one for all: {len(counts)} are in use")
        elif value and value != usual:
            yield DriftFinding(kind, (name,), subject, cut(value, _LONGEST), expected)


def _of_parts(
    kind: str, subject: str, rows: Iterable[tuple[str, str, str]], unless: str = ""
) -> Iterator[DriftFinding]:
    """Differences of each part, from machine, part and value. `unless`: a value that is no norm where most have it."""
    parts: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for machine, part, value in rows:
        parts[part].append((machine, value))
    for part, values in parts.items():
        if not unless or Counter(value for _, value in values).most_common(1)[0][0] != unless:
            yield from _unusual(kind, f"{subject} {part}", values)


def _firmware(members: Sequence[NodeFacts]) -> Iterator[tuple[str, str, str]]:
    """Machine, type of adapter and versions of its firmware."""
    for facts in members:
        versions: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for port in facts.ports:
            if port.firmware:
                versions[port.type or port.link][port.firmware] = None
        yield from ((facts.name, name, ", ".join(values)) for name, values in versions.items())


def _memory(members: Sequence[NodeFacts]) -> Iterator[DriftFinding]:
    sizes = sorted(facts.real_memory_mib for facts in members if facts.real_memory_mib)
    if not sizes:
        return
    usual = sizes[len(sizes) // 2]
    for facts in members:
        size = facts.real_memory_mib
        if size and (size > usual * MEMORY_GAP or size * MEMORY_GAP < usual):
            yield DriftFinding("memory-differs", (facts.name,), "memory", f"{size} MiB", f"about {usual} MiB")


def _links(members: Sequence[NodeFacts]) -> Iterator[DriftFinding]:
    """PCIe links of adapters and GPUs against the same place in most machines; in one machine, what the device can."""
    usual = _usual_links(members)
    for facts in members:
        for device in facts.pci:
            expected = usual.get(device.address)
            if expected and device.speed and device.lanes and _is_slower(device, expected):
                actual = _link(device.speed, device.lanes, device.kind)
                subject = f"PCIe link of {device.address} ({device.ident})"
                yield DriftFinding("pcie-slow", (facts.name,), subject, actual, _link(*expected, device.kind))


def _usual_links(members: Sequence[NodeFacts]) -> dict[str, tuple[float, int]]:
    counts: defaultdict[str, Counter[tuple[float, int]]] = defaultdict(Counter)
    most: dict[str, tuple[float, int]] = {}
    for facts in members:
        for device in facts.pci:
            if device.speed and device.lanes and device.kind != "0108":
                counts[device.address][device.speed, device.lanes] += 1
                most[device.address] = (device.most_speed or device.speed, device.most_lanes or device.lanes)
    if len(members) == 1:
        return most
    return {address: max(links, key=lambda link: (links[link], link)) for address, links in counts.items()}


def _is_slower(device: PciFact, expected: tuple[float, int]) -> bool:
    assert device.speed is not None
    assert device.lanes is not None
    return device.lanes < expected[1] or (device.speed < expected[0] and not device.kind.startswith("03"))


def _link(speed: float, lanes: int, kind: str) -> str:
    """Without the speed of a GPU, which lowers it when idle."""
    return f"x{lanes}" if kind.startswith("03") else f"{speed:g} GT/s x{lanes}"
