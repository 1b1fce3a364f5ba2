"""Reads the output of ibnetdiscover: a section per switch, adapter and router, a line per port that has a link.

    Switch  64 "S-0002c903000a0b40"     # "leaf1" enhanced port 0 lid 7 lmc 0
    [1]     "H-0002c90300100020"[1](2c90300100021)      # "gpu1 mlx5_0" lid 9 4xNDR

The format is that of infiniband-diags, src/ibnetdiscover.c. Each link is printed at both of its ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.hardware import link_rates
from clustergen.diagnostics import Diagnostic, Place, quote
from clustergen.diagnostics.words import counted
from clustergen.hardware.model import ADAPTER, ROUTER, SWITCH, Device, End, Facts, Link

MOST_BYTES = 32 << 20
"""The largest plan has 49,152 links, which ibnetdiscover prints in 8 MB."""
MOST_LINES = 600_000
MOST_LINKS = 200_000
MOST_DEVICES = 100_000
_LONGEST_LINE = 1000
_KINDS = {"Switch": SWITCH, "Ca": ADAPTER, "Rt": ROUTER}
_ID = r'"([SHR]-[0-9A-Za-z]{1,32})"'
_SECTION = re.compile(rf'(Switch|Ca|Rt)\s+\d+\s+{_ID}\s*(?:#\s*"(.*)".*)?$')
_NOTE = r"(?:\[ext \d+\])?(?:\([0-9a-fA-F]*\))?"
_PORT = re.compile(rf"\[(\d{{1,4}})\]{_NOTE}\s+{_ID}\[(\d{{1,4}})\]{_NOTE}\s*(?:#(.*))?$")
_RATE = re.compile(r"(\d{1,2})x([A-Z]+\d*)")
_IDLE = re.compile(r"#|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|Chassis |Non-Chassis Nodes", re.IGNORECASE)
_TERMINAL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Za-z0-9])")
_OTHERS = (
    (re.compile(r"^(?:CA|SW|RT)\s+\d+\s+\d+ 0x", re.MULTILINE), "output of ibnetdiscover -p"),
    (re.compile(r"^(?:Switch|Ca)\s*: 0x", re.MULTILINE), "a list of ibnetdiscover -S or -H, ibswitches or ibhosts"),
    (re.compile(r"==\(\s*\d+X", re.MULTILINE), "output of iblinkinfo"),
    (re.compile(r"^(?:Switch|Hca)\s+\d+\s+\"(?![SHR]-)", re.MULTILINE), "a net file of ibsim"),
    (re.compile(r'\A\s*\{\s*"lldp"'), "output of lldpcli of one machine"),
)
_AGAIN = "run ibnetdiscover without options on a node of the fabric, as root, and save all of its output"


def read(raw: bytes, file: str) -> tuple[Facts | None, list[Diagnostic]]:
    """The fabric in `raw`, and what is wrong with the text; None where it holds no fabric at all."""
    if refusal := _refusal(raw):
        return None, [Diagnostic.of("discovery-unreadable", Place(file), *refusal)]
    reader = _Reader(file)
    text = raw.decode("utf-8-sig", "replace")
    try:
        reader.read(_TERMINAL.sub("", text) if "\x1b" in text else text)
        facts = reader.facts() if reader.devices else None
    except _TooLargeError as err:
        return None, [Diagnostic.of("discovery-unreadable", Place(file), str(err), _AGAIN)]
    if facts is None:
        head = text[:100_000]
        kind = next((what for pattern, what in _OTHERS if pattern.search(head)), "not output of ibnetdiscover")
        return None, [Diagnostic.of("discovery-unreadable", Place(file), f"this is {kind}", _AGAIN)]
    return facts, reader.diagnostics


def _refusal(raw: bytes) -> tuple[str, str] | None:
    if len(raw) > MOST_BYTES:
        return f"more than {MOST_BYTES:,} bytes are not the output of one fabric", _AGAIN
    if not raw.strip():
        return "the file is empty", _AGAIN
    if b"\0" in raw:
        return "the file is not text", _AGAIN
    if raw.count(b"\n") > MOST_LINES:
        return f"more than {MOST_LINES:,} lines are not the output of one fabric", _AGAIN
    return None


class _TooLargeError(Exception):
    """More devices or links than one fabric has."""


def _bound(count: int, most: int, what: str) -> None:
    if count > most:
        raise _TooLargeError(f"more than {most:,} {what} are not one fabric")


class _Reader:
    """The state of the reader."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.devices: dict[str, Device] = {}
        self.ports: dict[End, tuple[End, str, int]] = {}
        self.names: dict[str, str] = {}
        self.unknown: tuple[int, str] = (0, "")  # the first line
        self.unknown_count = 0
        self.contradictions: list[tuple[int, str]] = []
        self.diagnostics: list[Diagnostic] = []
        self._current = ""

    def read(self, text: str) -> None:
        for number, line in enumerate(text.split("\n"), 1):
            line = line.rstrip()
            if line.startswith("[") and len(line) <= _LONGEST_LINE:
                self._port(line, number)
            elif line and not self._section(line[:_LONGEST_LINE], number) and not _IDLE.match(line):
                self._unknown(number, line)

    def _unknown(self, number: int, line: str) -> None:
        self.unknown_count += 1
        if self.unknown_count == 1:
            self.unknown = (number, line[:_LONGEST_LINE])

    def _section(self, line: str, number: int) -> bool:
        match = _SECTION.match(line)
        if match is None:
            return False
        self._current = match[2]
        if match[2] not in self.devices:
            self.devices[match[2]] = Device(match[2], _KINDS[match[1]], match[3] or "", number)
            _bound(len(self.devices), MOST_DEVICES, "devices")
        return True

    def _port(self, line: str, number: int) -> None:
        match = _PORT.match(line)
        if match is None or not self._current:
            self._unknown(number, line)
            return
        end, peer = End(self._current, str(int(match[1]))), End(match[2], str(int(match[3])))
        comment = match[4] or ""
        rate = _RATE.search(comment.rpartition('"')[2])
        first = self.ports.setdefault(end, (peer, rate[0] if rate else "", number))
        _bound((len(self.ports) + 1) // 2, MOST_LINKS, "links")
        if first[0] != peer:
            self.contradictions.append((number, f"{self._words(end)} is listed twice"))
        if peer.device not in self.names:
            self.names[peer.device] = comment.partition('"')[2].partition('"')[0]
            _bound(len(self.names), MOST_DEVICES, "devices")

    def _name(self, device: str) -> str:
        described = self.devices.get(device)
        return (described.name if described else self.names.get(device)) or device

    def _words(self, end: End) -> str:
        return f"port {end.port} of {quote(self._name(end.device))}"

    def facts(self) -> Facts:
        """Links with both ends, and what is wrong with the file as diagnostics."""
        undescribed = {peer.device for peer, _, _ in self.ports.values()} - self.devices.keys()
        _bound(len(undescribed) + len(self.devices), MOST_DEVICES, "devices")
        links: list[Link] = []
        for link in self._links(undescribed):
            links.append(link)
            _bound(len(links), MOST_LINKS, "links")
        self._diagnose(undescribed)
        for device in sorted(undescribed):
            kind = {"S": SWITCH, "R": ROUTER}.get(device[0], ADAPTER)
            self.devices[device] = Device(device, kind, self.names.get(device, ""), 0)
        return Facts(self.file, self.devices, tuple(links), is_complete=not undescribed)

    def _links(self, undescribed: set[str]) -> Iterator[Link]:
        gbit = _GbitByRate()
        for end, (peer, rate, line) in self.ports.items():
            back = self.ports.get(peer)
            if back is not None and back[0] == end:
                if end <= peer:
                    yield Link(end, peer, rate or back[1], gbit[rate or back[1]], min(line, back[2]))
                continue
            if peer.device not in undescribed:
                other = self._words(back[0]) if back else "nothing"
                message = f"{self._words(end)} is linked with {self._words(peer)}, which is linked with {other}"
                self.contradictions.append((line, message))
            yield Link(end, peer, rate, gbit[rate], line)

    def _diagnose(self, undescribed: set[str]) -> None:
        if undescribed:
            kinds = (("S", "switch"), ("H", "adapter"), ("R", "router"))
            counts = [(sum(1 for device in undescribed if device[0] == first), what) for first, what in kinds]
            missing = " and ".join(counted(count, what) for count, what in counts if count)
            message = f"the file has no section for {missing} that it mentions: it is cut off, or a part of the output"
            self.diagnostics.append(Diagnostic.of("discovery-incomplete", Place(self.file), message, _AGAIN))
        if self.unknown_count:
            line, text = self.unknown
            more = f", the first of {self.unknown_count:,} such lines" if self.unknown_count > 1 else ""
            message = f"{quote(text)} is no line that ibnetdiscover prints{more}"
            hint = "save the output alone, without messages; where ibnetdiscover reports errors, run it again"
            place = Place(self.file, line, 1, 1)
            self.diagnostics.append(Diagnostic.of("discovery-line-unknown", place, message, hint))
        if self.contradictions:
            line, text = min(self.contradictions)
            more = f", the first of {len(self.contradictions):,} contradictions" if len(self.contradictions) > 1 else ""
            hint = "save the output of one run: cables that move while it runs, or two files in one, look like this"
            place = Place(self.file, line, 1, 1)
            self.diagnostics.append(Diagnostic.of("discovery-contradiction", place, text + more, hint))


class _GbitByRate(dict[str, float | None]):
    """Gb/s by a printed rate: `4xNDR` is 400, `2xNDR` is 200. None for a rate that the catalogue does not know."""

    def __missing__(self, rate: str) -> float | None:
        lanes, _, name = rate.partition("x")
        full = link_rates().get(name)
        self[rate] = full.gbit * int(lanes) / full.lanes if full and full.lanes else None
        return self[rate]
