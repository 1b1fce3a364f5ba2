"""GRES of NodeName lines: what they say, whether gres.conf agrees, and whether jobs are kept to their own GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from clustergen.diagnostics import Severity
from clustergen.lint.finding import LintFinding
from clustergen.lint.gres_conf import undeclared_hint
from clustergen.lint.gres_records import SHARED, Record, device_names, read_records
from clustergen.lint.site import Site, split_outside
from clustergen.slurmconf.config import Entry, Setting
from clustergen.slurmconf.scalars import amount

_ITEM = re.compile(
    r"(?P<name>[^:()]+)(?::(?!no_consume)(?P<type>(?![0-9]+[kKmMgGtTpP](?:[(]|$))[0-9]*[A-Za-z_][^:()]*))?"
    r"(?::no_consume)?"
    r"(?::(?P<count>[0-9]+[kKmMgGtTpP]?))?(?:\(.*\))?"
)
_MOST_COMPARED = 1_000_000
_DEVICES = "write File=/dev/nvidia[0-3], or AutoDetect=nvml"
_SEVERITY = (Severity.WARNING, "the node registers as invalid"), (Severity.ERROR, "slurmd does not start")
_SAME = "write the same number in both files"


class Item(NamedTuple):
    """One item of a node's Gres: `gpu:a100:4`."""

    name: str
    type: str
    number: int
    offset: int
    length: int


@lru_cache(maxsize=8)  # one text stands for many nodes
def items(text: str) -> tuple[Item | None, ...]:
    """The items of a Gres list; None for one that Slurm drops."""
    parsed: list[Item | None] = []
    start = 0
    for part in split_outside(text, "()"):
        word = part.strip()
        match = _ITEM.fullmatch(word)
        offset = start + part.find(word)
        start += len(part) + 1
        if not word:
            continue
        if match is None:
            parsed.append(None)
            continue
        number = amount(match["count"] or "1") or 0
        parsed.append(Item(match["name"], match["type"] or "", number, offset, len(word)))
    return tuple(parsed)


def declared(site: Site) -> Iterator[LintFinding]:
    """Gres of NodeName lines."""
    types = site.gres_types
    reported: set[str] = set()
    for node in site.nodes:
        setting = node.value("Gres")
        if setting is None or setting.text.lower() in ("", "none", "(null)"):
            continue
        read = items(setting.text)
        if None in read:
            yield site.warning(
                "slurm-value-wrong",
                setting,
                "Slurm silently drops this entry, which is not name[:type]:count",
                "write Gres=gpu:a100:4",
            )
        readable = [item for item in read if item is not None]
        for item in readable:
            if item.name not in types and item.name not in reported:
                reported.add(item.name)
                where = site.part(setting, item.offset, item.length)
                message = f"'{item.name}' is not in GresTypes, so Slurm ignores it"
                yield site.warning("gres-undeclared", where, message, undeclared_hint(site, item.name))
        kinds: dict[str, set[bool]] = {}
        for item in readable:
            kinds.setdefault(item.name, set()).add(bool(item.type))
        mixed = next((name for name, typed in kinds.items() if len(typed) > 1), None)
        if mixed:
            yield site.error(
                "gres-mismatch",
                setting,
                f"some {mixed} have a type and others do not; slurmd does not start",
                "give all of them a type, or none",
            )
        names = {item.name for item in readable}
        if names & set(SHARED) and "gpu" not in names:
            message = "this node has no gpu to share; slurmd does not start"
            yield site.error("gres-mismatch", setting, message, "write Gres=gpu:1,shard:8")


def agreement(site: Site) -> Iterator[LintFinding]:
    """gres.conf against slurm.conf, node by node; said once for each kind of difference and line."""
    if site.slurm is None or not site.complete or not site.directory.has("gres.conf"):
        yield from _no_file(site)
        return
    records, everywhere = read_records(site.directory.config("gres.conf"))
    general = [record for record in records if record.is_general]
    kinds = _kinds_of_nodes(site, records)
    compared = sum(len(general) + len(specific) + len(site.gres_types) for _, specific in kinds)
    if compared > _MOST_COMPARED:
        message = f"not compared with slurm.conf: {len(kinds):,} nodes with separate lines, {len(records):,} lines"
        yield site.warning("gres-mismatch", "gres.conf", message, "write one line for all identical nodes")
        return
    reported: set[tuple[int, str]] = set()
    for host, specific in kinds:
        node = site.hosts[host]
        mine = [*specific, *general]
        detected = (everywhere and not any(_off(record) for record in mine)) or any(record.auto for record in mine)
        if detected:  # slurmd still holds what it detects against the lines that name devices
            mine = [record for record in mine if record.entry.own_value("File", "Files", "Count") is not None]
        elif site.hosts[host].value("Gres"):
            yield from _unshared(site, mine, reported)
        for name, finding in (
            *_repeated(site, host, mine),
            *_differences(site, host, node, mine, detected=detected),
        ):
            if (node.line.number, name) not in reported:
                reported.add((node.line.number, name))
                yield finding


def _kinds_of_nodes(site: Site, records: list[Record]) -> list[tuple[str, list[Record]]]:
    """The first node of each kind: those of one line of slurm.conf that read the same lines of gres.conf, and these."""
    by_host: dict[str, list[Record]] = {}
    for record in records:
        for host in dict.fromkeys(record.hosts()):
            if host in site.hosts:
                by_host.setdefault(host, []).append(record)
    first: dict[tuple[int, ...], str] = {}
    for host, node in site.hosts.items():
        first.setdefault((id(node), *map(id, by_host.get(host, ()))), host)
    return [(host, by_host.get(host, [])) for host in first.values()]


_Counts = dict[str, dict[str, int]]
"""Name → type, empty for none → number."""


def _counts(parts: Iterable[Item | Record]) -> _Counts:
    counts: _Counts = {}
    for part in parts:
        if part.name:
            types = counts.setdefault(part.name, {})
            types[part.type] = types.get(part.type, 0) + part.number
    return counts


def _repeated(site: Site, host: str, mine: list[Record]) -> Iterator[tuple[str, LintFinding]]:
    """Devices of one node that are listed twice for one name, among those that slurm.conf has a number for."""
    setting = site.hosts[host].value("Gres")
    left = _counts(item for item in items(setting.text) if item) if setting else {}
    seen: dict[tuple[str, str], Record] = {}
    for record in sorted(mine, key=lambda one: not one.is_general):  # the order in which slurmd reads them
        numbers, file = left.get(record.name, {}), record.entry.own_value("File", "Files")
        kind = record.type if record.type in numbers else ""
        for device in device_names(record, "File", "Files"):
            if record.name not in SHARED:
                if not numbers.get(kind):
                    break
                numbers[kind] -= 1
            first = seen.get((record.name, device))
            if first is None or file is None:
                seen[record.name, device] = record
                continue
            message = f"{device} of '{host}' is already listed on line {first.entry.line.number}"
            if record.name in SHARED:
                yield record.name, site.warning("gres-mismatch", file, f"{message}; the node registers as invalid")
            elif record.name == "gpu" or site.has("gres-devices-unique"):
                yield record.name, site.error("gres-mismatch", file, f"{message}; slurmd does not start")
            return


def _differences(
    site: Site, host: str, node: Entry, mine: list[Record], *, detected: bool
) -> Iterator[tuple[str, LintFinding]]:
    """Differences of one node between the two files, by name of the GRES.

    `detected`: slurmd finds the GPUs itself, so that gres.conf may leave out a GRES.
    """
    setting = node.value("Gres")
    declared_counts = _counts(item for item in items(setting.text) if item) if setting else {}
    listed_counts = _counts(mine)
    for name in site.gres_types:
        declared, listed = declared_counts.get(name, {}), listed_counts.get(name, {})
        if detected and not listed:
            continue
        shares = any(counts.get(kind) for kind in SHARED for counts in (declared_counts, listed_counts))
        stops = not detected and (name in SHARED or (name == "gpu" and shares))
        if setting and name == "gpu" and declared and listed and not detected and not any(map(_has_gpu_file, mine)):
            severity, does = _SEVERITY[stops]
            message = f"no gpu line that '{host}' reads in gres.conf has a File, so {does}"
            yield name, site.finding("gres-mismatch", severity, setting, message, _DEVICES)
            continue
        stops = stops and (name in SHARED or not listed)
        if setting and declared and listed and name not in SHARED and any(declared) != any(listed):
            yield name, _type_on_one_side(site, setting, host, name, declared, listed)
            continue
        for kind in _kinds(declared, listed):
            what = f"{name}:{kind}" if kind else name
            want = declared.get(kind, 0) if kind else sum(declared.values())
            has = listed.get(kind, 0) if kind else sum(listed.values())
            if setting and has < want and (listed or name == "gpu"):
                others = [other for other in listed if other != kind]
                yield name, _too_few(site, setting, host, (what, want, has), others, stops=stops)
            elif want < has:
                uses = f"jobs can use only {want}" if want else "jobs can use none of them"
                if not want and any(device_names(record) for record in mine if record.name == name):
                    uses = "slurmd does not start where a device file is missing"
                message = f"'{host}' has {has} {what} in gres.conf but {want} here; {uses}"
                hint = _SAME if want else "add NodeName=… to the line of gres.conf"
                yield name, site.warning("gres-mismatch", setting or node.name, message, hint)


def _has_gpu_file(record: Record) -> bool:
    return record.name == "gpu" and record.entry.own_value("File", "Files", "MultipleFiles") is not None


def _unshared(site: Site, mine: list[Record], reported: set[tuple[int, str]]) -> Iterator[LintFinding]:
    """Parts of GPUs on a device that no line of GPUs has."""
    gpus = {device for record in mine if record.name == "gpu" for device in device_names(record)}
    for record in mine if gpus else ():
        missing = [device for device in device_names(record) if device not in gpus] if record.name in SHARED else []
        place = (record.entry.line.number, record.name)
        if missing and place not in reported:
            reported.add(place)
            message = f"no gpu line has {missing[0]}, so slurmd drops its {record.name}; the node registers as invalid"
            yield site.warning("gres-mismatch", record.entry, message, f"write File={min(gpus)}, or another GPU's file")


def _type_on_one_side(
    site: Site, setting: Setting, host: str, name: str, declared: dict[str, int], listed: dict[str, int]
) -> LintFinding:
    if any(declared):
        message = f"'{host}' has {name} with a type here but without one in gres.conf; the node registers as invalid"
        return site.warning("gres-mismatch", setting, message, f"add Type={max(declared)} in gres.conf")
    message = f"'{host}' has {name} without a type here, so slurmd drops the type of gres.conf and logs a warning"
    return site.warning("gres-mismatch", setting, message, f"write Gres={name}:{max(listed)}:{sum(listed.values())}")


def _kinds(declared: dict[str, int], listed: dict[str, int]) -> list[str]:
    """The types to compare one by one; the empty one stands for all together where a file names no types."""
    typed = declared and listed and "" not in declared and "" not in listed
    return sorted({*declared, *listed}, key=lambda kind: (kind not in declared, kind)) if typed else [""]


def _too_few(
    site: Site, setting: Setting, host: str, which: tuple[str, int, int], others: list[str], *, stops: bool
) -> LintFinding:
    """`which`: what there is too little of, how many slurm.conf wants, and how many gres.conf has."""
    what, want, has = which
    unless = "" if has or stops else ", unless it has a separate gres.conf"
    severity, does = _SEVERITY[stops]
    message = f"'{host}' has {want} {what} here but {has} in gres.conf; {does}{unless}"
    hint = _SAME
    kind = what.partition(":")[2]
    same = next((other for other in others if other.lower() == kind.lower()), None)
    if same:
        hint = f"write '{kind.lower()}' in both files: types are case-sensitive"
    elif others and not has:
        hint = f"write the same type in both files; gres.conf has '{others[0]}'"
    return site.finding("gres-mismatch", severity, setting, message, hint)


def _off(record: Record) -> bool:
    auto = record.entry.own_value("AutoDetect")
    return auto is not None and auto.text.lower() == "off"


def _no_file(site: Site) -> Iterator[LintFinding]:
    """GPUs in slurm.conf, and no gres.conf that says where they are."""
    if site.slurm is None or site.directory.has("gres.conf"):
        return
    for node in site.nodes:
        setting = node.value("Gres")
        names = (
            {item.name for item in items(setting.text) if item and item.name in site.gres_types} if setting else set()
        )
        if setting and names & set(SHARED):
            message = "gres.conf is not next to slurm.conf; slurmd does not start if it is missing on the node too"
            hint = "add a gres.conf that lists the device files of the shared GPUs"
            yield site.warning("gres-mismatch", setting, message, hint)
            return
        if setting and "gpu" in names:
            message = (
                "gres.conf is not next to slurm.conf; a node without one registers with no GPUs and becomes invalid"
            )
            yield site.note("gres-mismatch", setting, message, "add a gres.conf with the line AutoDetect=nvml")
            return


def known_types(site: Site) -> Iterator[LintFinding]:
    """True if what hands out and what counts knows the GPUs."""
    gpus = site.first_gpus
    if gpus is None:
        return
    if site.plugin("SelectType") == "linear":
        message = "select/linear allocates whole nodes and does not support GPUs"
        place = site.setting("SelectType") or gpus
        yield site.warning("slurm-value-harmful", place, message, "write SelectType=select/cons_tres")
    tracked = site.words("AccountingStorageTRES")
    if site.plugin("AccountingStorageType") == "slurmdbd" and not any(word.startswith("gres/gpu") for word in tracked):
        message = "GPUs are not tracked, so Slurm records no GPU usage and enforces no GPU limits"
        place = site.setting("AccountingStorageTRES") or gpus
        yield site.note("tres-unknown", place, message, "write AccountingStorageTRES=gres/gpu")
