"""Judges what slurmctld says of a node whose slurmd has registered on simulated hardware."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clustergen.records import record
from clustergen.verify.simulated_hardware import Node

_FIELD = re.compile(r"(?:^| )(State|CPUTot|Gres|CfgTRES|RealMemory|TmpDisk|Version)=(\S*)")
_REASON = re.compile(r" Reason=(.*?)(?: \[[^\]]*\])?(?: Comment=|$)")
_GPUS = re.compile(r"(?:^|,)gpu(?::[^:,(]+)*:(\d+)")
_REFUSED = frozenset({"INVAL", "INVALID_REG", "DRAIN", "DOWN", "FAIL", "ERROR", "UNKNOWN", "NOT_RESPONDING"})


@record
class Registration:
    """`before` and `after` are lines of `scontrol -o show node`: once slurmctld has read its files, and once slurmd has
    registered; `messages` are errors and warnings: slurmd's, and slurmctld's that name the node.
    """

    before: str
    after: str
    messages: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """State, and what Slurm has counted."""
        fields = _fields(self.after)
        return " ".join(f"{name}={fields[name]}" for name in ("State", "CfgTRES", "Gres") if name in fields)


def refusals(name: str, registration: Registration) -> Iterator[str]:
    """Why slurmctld gives the node no jobs; nothing where it does, or where slurm.conf itself says so."""
    before, after = _fields(registration.before), _fields(registration.after)
    if "Version" not in after:
        yield f"slurmctld: {name} did not register"
    elif refused := (_states(after) - _states(before)) & _REFUSED:
        reason = _REASON.search(registration.after)
        yield f"slurmctld: {name} is {'+'.join(sorted(refused))}: {reason[1] if reason else 'no reason given'}"


def complaints(node: Node, registration: Registration) -> Iterator[str]:
    """Complaints about a node that should have registered, in Slurm's own words where it has any."""
    yield from registration.messages
    after = _fields(registration.after)
    cores = node.hardware.sockets * node.hardware.cores
    cpus = cores * node.hardware.threads
    # Most reasons name no values, and of nodes in the state CLOUD slurmctld compares none.
    limits = {
        "CPUTot": (cpus, "CPUs"),
        "RealMemory": (node.hardware.memory, "MiB"),
        "TmpDisk": (node.hardware.disk, "MiB"),
    }
    for key, (most, unit) in limits.items():
        if most and int(after.get(key, 0)) > most:
            yield f"slurmctld has {key}={after[key]} for {node.name}, its hardware has {most} {unit}"
    if refused := list(refusals(node.name, registration)):
        yield from refused
        return
    if int(after["CPUTot"]) < cpus and int(after["CPUTot"]) != cores:
        yield f"slurmctld: {node.name} registers with CPUTot={after['CPUTot']}, its hardware has {cpus} CPUs"
    if sum(map(int, _GPUS.findall(after["Gres"]))) != node.count:
        yield f"slurmctld: {node.name} registers with Gres={after['Gres']}, its hardware has {node.count} GPUs"


def _fields(line: str) -> Mapping[str, str]:
    return dict(_FIELD.findall(line))


def _states(fields: Mapping[str, str]) -> frozenset[str]:
    return frozenset(fields.get("State", "").replace("*", "").split("+"))
