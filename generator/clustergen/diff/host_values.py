"""Values of hosts in rendered files, compared: addresses, memory and GPUs, local disks, directories of jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from clustergen.diff.snapshot import Snapshot
from clustergen.render.node_hardware import Hardware

TMPDIR_VALUES = "/etc/clustergen/tmpdir.json"
_UNITS = "/etc/systemd/system/"
_BY_LABEL = "/dev/disk/by-label/"


def readdressed(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """Hosts that both trees have, with another address under a name such as `c1-ib0`, each once."""
    before, after = _addresses(old), _addresses(new)
    hosts: dict[str, None] = {}
    for name, address in after.items():
        host = name.rpartition("-")[0]
        if host in new.inventory.hosts and before.get(name, address) != address:
            hosts[host] = None
    return tuple(hosts)


def _addresses(side: Snapshot) -> dict[str, str]:
    """First name of each line → address."""
    text = next((file.text for file in side.files.values() if file.target == "/etc/hosts"), "")
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {words[1]: words[0] for words in lines if len(words) > 1}


def fitted(old: Snapshot, new: Snapshot) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Hardware that each node gets before Slurm reads of it, and that it loses afterwards: `GPUs: 4 → 8`. slurmctld
    drains a node that has less than slurm.conf states.
    """
    gained: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for host, groups in new.inventory.hosts.items():
        before = _hardware(old, old.inventory.hosts.get(host, ()))
        after = _hardware(new, groups)
        for is_more, words in _differences(before, after) if before and after else ():
            (gained if is_more else lost).setdefault(host, []).append(words)
    return _joined(gained), _joined(lost)


def _joined(side: Mapping[str, list[str]]) -> dict[str, str]:
    return {host: ", ".join(words) for host, words in side.items()}


def _hardware(side: Snapshot, groups: tuple[str, ...]) -> Hardware | None:
    return next((side.hardware[group] for group in groups if group in side.hardware), None)


def _differences(before: Hardware, after: Hardware) -> Iterator[tuple[bool, str]]:
    if before.memory and after.memory and before.memory != after.memory:
        yield after.memory > before.memory, f"memory: {before.memory >> 10} → {after.memory >> 10} GiB"
    counts = (len(before.cpus), len(after.cpus))
    if counts[0] != counts[1]:
        yield counts[1] > counts[0], f"GPUs: {counts[0]} → {counts[1]}"
    elif before.gpu != after.gpu and before.gpu and after.gpu:
        yield True, f"GPUs: {before.gpu} → {after.gpu}"


def reformatted(old: Snapshot, new: Snapshot) -> Mapping[str, str]:
    """The path of a mount unit → what has to be done to its disk before it can be mounted: no playbook formats one."""
    before, after = _mounts(old), _mounts(new)
    texts: dict[str, str] = {}
    for target, (device, kind) in after.items():
        previous = before.get(target)
        if previous and device.startswith("/dev/") and previous[0] == device and previous[1] != kind:
            label = f" with the label {device.removeprefix(_BY_LABEL)}" if device.startswith(_BY_LABEL) else ""
            texts[target] = f"format {device}, which is {previous[1]}, as {kind}{label}: its files are lost"
    return texts


def _mounts(side: Snapshot) -> dict[str, tuple[str, str]]:
    """The path of each mount unit → its device and file system."""
    mounts: dict[str, tuple[str, str]] = {}
    for file in side.files.values():
        if file.target.startswith(_UNITS) and file.target.endswith(".mount"):
            pairs = dict(line.partition("=")[::2] for line in file.text.splitlines() if "=" in line)
            mounts[file.target] = pairs.get("What", ""), pairs.get("Type", "")
    return mounts


def abandoned(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """Values of `slurm.scripts.tmpdir` that the old tree has and the new one lacks."""
    after = _directories(new)
    return tuple(directory for directory in _directories(old) if directory not in after)


def _directories(side: Snapshot) -> list[str]:
    return [json.loads(file.text)["tmpdir"] for file in side.files.values() if file.target == TMPDIR_VALUES]
