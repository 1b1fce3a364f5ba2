"""GRES of NodeName lines: what they say, whether gres.conf agrees, and whether jobs are kept to their own GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clustergen.lint.found import Found
from clustergen.lint.gres_conf import SHARED, Record, read_records, undeclared_hint
from clustergen.lint.site import TRUE, Site, bare
from clustergen.slurmconf.folder import Entry, Setting

_ITEM = re.compile(
    r"(?P<name>[^:()]+)(?::(?P<type>[A-Za-z][^:()]*|[0-9]+[A-Za-z_][^:()]*))?(?::no_consume)?"
    r"(?::(?P<count>[0-9]+[kKmMgGtTpP]?))?(?:\(.*\))?"
)
_SAME = "the same number in both files"
_FACTORS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}


class Item(NamedTuple):
    """One item of a node's Gres: `gpu:a100:4`."""

    name: str
    type: str
    number: int
    offset: int
    length: int


def items(text: str) -> list[Item | None]:
    """The items of a Gres list; None for one that Slurm drops."""
    found: list[Item | None] = []
    start = 0
    for part in re.split(r",(?![^()]*\))", text):
        word = part.strip()
        match = _ITEM.fullmatch(word)
        offset = start + part.find(word)
        start += len(part) + 1
        if not word:
            continue
        if match is None:
            found.append(None)
            continue
        number = match["count"] or "1"
        amount = int(number.rstrip("kKmMgGtTpP")) * _FACTORS.get(number[-1].lower(), 1)
        found.append(Item(match["name"], match["type"] or "", amount, offset, len(word)))
    return found


def declared(site: Site) -> Iterator[Found]:
    """Gres of NodeName lines."""
    types = site.gres_types
    told: set[str] = set()
    for node in site.nodes:
        found = node.value("Gres")
        if found is None or found.text.lower() in ("", "none", "(null)"):
            continue
        read = items(found.text)
        if None in read:
            yield site.warning(
                "slurm-value-wrong",
                found,
                "Slurm drops what it cannot read here: name, type and count with colons between",
                "Gres=gpu:a100:4",
            )
        known = [item for item in read if item is not None]
        for item in known:
            if item.name not in types and item.name not in told:
                told.add(item.name)
                where = site.part(found, item.offset, item.length)
                message = f"'{item.name}' is not among GresTypes, so Slurm ignores it"
                yield site.warning("gres-undeclared", where, message, undeclared_hint(site, item.name))
        kinds: dict[str, set[bool]] = {}
        for item in known:
            kinds.setdefault(item.name, set()).add(bool(item.type))
        mixed = next((name for name, typed in kinds.items() if len(typed) > 1), None)
        if mixed:
            yield site.error(
                "gres-mismatch",
                found,
                f"some {mixed} have a type and others none: slurmd does not start",
                "a type for all of them, or for none",
            )
        names = {item.name for item in known}
        if names & set(SHARED) and "gpu" not in names:
            message = "there is no gpu here that could be shared; slurmd does not start"
            yield site.error("gres-mismatch", found, message, "Gres=gpu:1,shard:8")


def agreement(site: Site) -> Iterator[Found]:
    """gres.conf against slurm.conf, node by node; said once for each kind of difference and line."""
    if site.slurm is None or not site.complete or not site.folder.has("gres.conf"):
        yield from _no_file(site)
        return
    records, everywhere = read_records(site.folder.config("gres.conf"))
    by_host: dict[str, list[Record]] = {}
    general = [record for record in records if record.hosts is None]
    for record in records:
        for host in record.hosts or ():
            by_host.setdefault(host, []).append(record)
    told: set[tuple[int, str]] = set()
    for host, node in site.hosts.items():
        mine = [*by_host.get(host, ()), *general]
        if (everywhere and not any(_off(record) for record in mine)) or any(record.auto for record in mine):
            continue
        for name, found in _differences(site, host, node, mine, own=host in by_host):
            if (node.line.number, name) not in told:
                told.add((node.line.number, name))
                yield found


_Counts = dict[str, dict[str, int]]
"""Name → type, empty for none → number."""


def _counts(parts: Iterable[Item | Record]) -> _Counts:
    found: _Counts = {}
    for part in parts:
        if part.name:
            types = found.setdefault(part.name, {})
            types[part.type] = types.get(part.type, 0) + part.number
    return found


def _differences(site: Site, host: str, node: Entry, mine: list[Record], *, own: bool) -> Iterator[tuple[str, Found]]:
    """What one node has otherwise in the two files, by name of the GRES. `own`: lines of gres.conf name the node."""
    setting = node.value("Gres")
    wanted = _counts(item for item in items(setting.text) if item) if setting else {}
    given = _counts(mine)
    for name in site.gres_types:
        here, there = wanted.get(name, {}), given.get(name, {})
        loose = name in SHARED and not any(part.entry.own("File", "Files") for part in mine if part.name == name)
        if setting and here and there and name not in SHARED and any(here) != any(there):
            yield name, _type_on_one_side(site, setting, host, name, here, there)
            continue
        for kind in _kinds(here, there):
            what = f"{name}:{kind}" if kind else name
            want = here.get(kind, 0) if kind else sum(here.values())
            has = there.get(kind, 0) if kind else sum(there.values())
            if setting and has < want and (there or name == "gpu"):
                others = [other for other in there if other != kind]
                yield name, _too_few(site, setting, host, (what, want, has), others, stops=loose)
            elif want < has and own:
                message = f"'{host}' has {has} {what} in gres.conf and {want} here; jobs get no more"
                yield name, site.warning("gres-mismatch", setting or node.name, message, _SAME)


def _type_on_one_side(
    site: Site, setting: Setting, host: str, name: str, here: dict[str, int], there: dict[str, int]
) -> Found:
    if any(here):
        message = f"'{host}' has {name} with a type here, and without one in gres.conf; it registers as invalid"
        return site.warning("gres-mismatch", setting, message, f"Type={max(here)} in gres.conf")
    message = f"'{host}' has {name} without a type here: slurmd drops the one of gres.conf, and warns"
    return site.warning("gres-mismatch", setting, message, f"Gres={name}:{max(there)}:{sum(there.values())}")


def _kinds(here: dict[str, int], there: dict[str, int]) -> list[str]:
    """The types to compare one by one; the empty one stands for all together where a file names no types."""
    typed = here and there and "" not in here and "" not in there
    return sorted({*here, *there}, key=lambda kind: (kind not in here, kind)) if typed else [""]


def _too_few(
    site: Site, setting: Setting, host: str, which: tuple[str, int, int], others: list[str], *, stops: bool
) -> Found:
    """`which`: what there is too little of, how many slurm.conf wants, and how many gres.conf has."""
    what, want, has = which
    unless = "" if has else ", unless it has a gres.conf of its own"
    does = "slurmd does not start" if stops and has else "it registers as invalid"
    message = f"'{host}' has {want} {what} here and {has} in gres.conf; {does}{unless}"
    if stops and has:
        return site.error("gres-mismatch", setting, message, _SAME)
    hint = _SAME
    kind = what.partition(":")[2]
    same = next((other for other in others if other.lower() == kind.lower()), None)
    if same:
        hint = f"write '{same}' in both files: the case of a type counts"
    elif others and not has:
        hint = f"one type in both files; gres.conf has '{others[0]}'"
    return site.warning("gres-mismatch", setting, message, hint)


def _off(record: Record) -> bool:
    auto = record.entry.own("AutoDetect")
    return auto is not None and auto.text.lower() == "off"


def _no_file(site: Site) -> Iterator[Found]:
    """GPUs in slurm.conf, and no gres.conf that says where they are."""
    if site.slurm is None or site.folder.has("gres.conf"):
        return
    for node in site.nodes:
        found = node.value("Gres")
        names = {item.name for item in items(found.text) if item} & set(site.gres_types) if found else set()
        if found and names & set(SHARED):
            message = "no gres.conf beside slurm.conf: where it is missing on a node too, slurmd does not start"
            hint = "a gres.conf that names the files of the GPUs that are shared"
            yield site.warning("gres-mismatch", found, message, hint)
            return
        if found and "gpu" in names:
            message = "no gres.conf beside slurm.conf: nodes without one register with no GPUs, and are set invalid"
            yield site.note("gres-mismatch", found, message, "a gres.conf with the line AutoDetect=nvml")
            return


def _gpus(site: Site) -> Setting | None:
    """The first Gres of a node with GPUs."""
    return next((found for node in site.nodes if (found := node.value("Gres")) and "gpu" in found.text.lower()), None)


def constraint(site: Site) -> Iterator[Found]:
    """Without cgroups every job can open every GPU."""
    gpus = _gpus(site)
    if gpus is None:
        return
    cgroup = site.folder.config("cgroup.conf")
    devices = cgroup.value("ConstrainDevices") if cgroup else None
    why = "every job can open all GPUs of its node, also those of others"
    if "cgroup" not in map(bare, site.words("TaskPlugin")):
        spot, message = site.setting("TaskPlugin") or gpus, f"without task/cgroup {why}"
        yield site.warning("gres-without-constraint", spot, message, "TaskPlugin=task/cgroup,task/affinity")
    elif cgroup is None:
        message = f"no cgroup.conf beside slurm.conf: unless the nodes have one with ConstrainDevices, {why}"
        yield site.note("gres-without-constraint", gpus, message, "ConstrainDevices=yes in cgroup.conf")
    elif devices is None or devices.text.lower() not in TRUE:
        message = f"without ConstrainDevices {why}"
        yield site.warning("gres-without-constraint", devices or cgroup.name, message, "ConstrainDevices=yes")


def known(site: Site) -> Iterator[Found]:
    """Whether what hands out and what counts knows the GPUs."""
    gpus = _gpus(site)
    if gpus is None:
        return
    if site.plugin("SelectType") == "linear":
        message = "select/linear hands out whole nodes, and knows no GPUs"
        place = site.setting("SelectType") or gpus
        yield site.warning("slurm-value-harmful", place, message, "SelectType=select/cons_tres")
    tracked = site.words("AccountingStorageTRES")
    if site.plugin("AccountingStorageType") == "slurmdbd" and not any(word.startswith("gres/gpu") for word in tracked):
        message = "GPUs are not counted: no limits and no usage of them"
        place = site.setting("AccountingStorageTRES") or gpus
        yield site.note("tres-unknown", place, message, "AccountingStorageTRES=gres/gpu")


CHECKS = (declared, agreement, constraint, known)
