"""GRES of NodeName lines: what they say, whether gres.conf agrees, and whether jobs are kept to their own GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from clustergen.diagnostics import Severity
from clustergen.lint.found import Found
from clustergen.lint.gres_conf import SHARED, Record, read_records
from clustergen.lint.site import TRUE, Site

_ITEM = re.compile(
    r"(?P<name>[^:()]+)(?::(?P<type>[A-Za-z][^:()]*|[0-9]+[A-Za-z_][^:()]*))?(?::no_consume)?"
    r"(?::(?P<count>[0-9]+[kKmMgGtTpP]?))?(?:\(.*\))?"
)
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
        found.append(Item(match["name"].lower(), (match["type"] or "").lower(), amount, offset, len(word)))
    return found


def declared(site: Site) -> Iterator[Found]:
    """Gres of NodeName lines."""
    types = site.words("GresTypes")
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
                yield site.warning(
                    "gres-undeclared",
                    where,
                    f"'{item.name}' is not among GresTypes, so Slurm ignores it",
                    f"GresTypes={','.join([*types, item.name])}",
                )
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
    wanted_types = site.words("GresTypes")
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
        found = node.value("Gres")
        read = [item for item in items(found.text) if item] if found else []
        has: dict[str, int] = {}
        for record in mine:
            if record.name:
                has[record.name] = has.get(record.name, 0) + record.number
        want: dict[str, int] = {}
        for item in read:
            want[item.name] = want.get(item.name, 0) + item.number
        for name, number in want.items():
            mark = (node.line.number, name)
            if (
                name in wanted_types
                and has.get(name, 0) < number
                and mark not in told
                and found
                and (has.get(name) or name == "gpu")
            ):
                told.add(mark)
                yield site.warning(
                    "gres-mismatch",
                    found,
                    f"'{host}' has {number} {name} here and {has.get(name, 0)} in gres.conf; it registers as invalid",
                    "the same number in both files",
                )
        for name, number in has.items():
            mark = (node.line.number, name)
            if name in wanted_types and want.get(name, 0) < number and mark not in told and by_host.get(host):
                told.add(mark)
                yield site.warning(
                    "gres-mismatch",
                    found or node.name,
                    f"'{host}' has {number} {name} in gres.conf and {want.get(name, 0)} here; jobs get no more",
                    "the same number in both files",
                )
        types = {(item.name, item.type) for item in read if item.type}
        given = {(record.name, record.type) for record in mine if record.type}
        for name, kind in sorted(types):
            mark = (node.line.number, f"{name}:{kind}")
            there = [other for what, other in given if what == name]
            if there and kind not in there and mark not in told and found:
                told.add(mark)
                yield site.warning(
                    "gres-mismatch",
                    found,
                    f"'{host}' has {name} of type '{kind}' here, and of type '{there[0]}' in gres.conf",
                    "one type in both files",
                )


def _off(record: Record) -> bool:
    auto = record.entry.own("AutoDetect")
    return auto is not None and auto.text.lower() == "off"


def _no_file(site: Site) -> Iterator[Found]:
    """GPUs in slurm.conf, and no gres.conf that says where they are."""
    if site.slurm is None or site.folder.has("gres.conf") or "gpu" not in site.words("GresTypes"):
        return
    for node in site.nodes:
        found = node.value("Gres")
        if found and any(item and item.name == "gpu" for item in items(found.text)):
            yield site.note(
                "gres-mismatch",
                found,
                "no gres.conf beside slurm.conf: nodes without one register with no GPUs, and are set invalid",
                "a gres.conf with the line AutoDetect=nvml",
            )
            return


def constraint(site: Site) -> Iterator[Found]:
    """Without cgroups every job can open every GPU."""
    gpus = next((found for node in site.nodes if (found := node.value("Gres")) and "gpu" in found.text.lower()), None)
    if gpus is None:
        return
    tasks = {word.rpartition("/")[2] for word in site.words("TaskPlugin")}
    plugin = site.setting("TaskPlugin")
    cgroup = site.folder.config("cgroup.conf")
    devices = cgroup.value("ConstrainDevices") if cgroup else None
    why = "every job can open all GPUs of its node, also those of others"
    if "cgroup" not in tasks:
        yield site.warning(
            "gres-without-constraint",
            plugin or gpus,
            f"without task/cgroup {why}",
            "TaskPlugin=task/cgroup,task/affinity",
        )
    elif cgroup is None:
        yield site.found(
            "gres-without-constraint",
            Severity.INFO,
            gpus,
            f"no cgroup.conf beside slurm.conf: unless the nodes have one with ConstrainDevices, {why}",
            "ConstrainDevices=yes in cgroup.conf",
        )
    elif devices is None or devices.text.lower() not in TRUE:
        spot = devices or cgroup.name
        yield site.warning("gres-without-constraint", spot, f"without ConstrainDevices {why}", "ConstrainDevices=yes")
    if site.plugin("SelectType") == "linear":
        yield site.warning(
            "slurm-value-harmful",
            site.setting("SelectType") or gpus,
            "select/linear hands out whole nodes, and knows no GPUs",
            "SelectType=select/cons_tres",
        )
    tracked = site.words("AccountingStorageTRES")
    if site.plugin("AccountingStorageType") == "slurmdbd" and not any(word.startswith("gres/gpu") for word in tracked):
        yield site.note(
            "tres-unknown",
            site.setting("AccountingStorageTRES") or gpus,
            "GPUs are not counted: no limits and no usage of them",
            "AccountingStorageTRES=gres/gpu",
        )


CHECKS = (declared, agreement, constraint)
