"""Changes drawn from the fields of the manifest: another value of a field, and what differs in Slurm's files for it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import Change as Difference
from clustergen.diff.slurm import slurm_changes
from effects.change import Change
from effects.configuration import Configuration, Edit
from effects.verdicts import judged
from strategies.fields import BASES, Base, Trial

SEED = 30
_MOST_TRIALS = 2  # of one field
OF_THE_CLUSTER = frozenset((
    "AccountingStorageEnforce", "AccountingStorageHost", "AccountingStoragePort", "AccountingStorageTRES",
    "AccountingStorageType", "AccountingStorageBackupHost", "AccountingStorageUser", "AcctGatherEnergyType",
    "AcctGatherInterconnectType", "AuthAltParameters", "AuthAltTypes", "AuthInfo", "AuthType", "BatchStartTimeout",
    "ClusterName", "CredType", "GresTypes", "JobAcctGatherParams", "JobAcctGatherType", "JobContainerType",
    "JobSubmitPlugins", "MpiDefault", "NamespaceType", "NodeFeaturesPlugins", "PreemptMode", "PreemptType",
    "PriorityFlags", "ProctrackType", "PrologFlags", "RebootProgram", "ReconfigFlags", "SelectType",
    "SelectTypeParameters", "SlurmUser", "SlurmctldHost", "SlurmctldPort", "SlurmdParameters", "SlurmdPort",
    "SlurmdUser", "StateSaveLocation", "SuspendTime", "SwitchType", "TaskPlugin", "TopologyParam", "TopologyPlugin",
    "TmpFS", "Gres", "NodeAddr", "NodeHostname", "Port", "State", "Nodes", "Sockets", "CoresPerSocket",
    "ThreadsPerCore", "Boards", "CPUs", "RealMemory", "MemSpecLimit", "CoreSpecCount", "QOS", "AllowQos",
    "AllowAccounts", "AllowGroups", "PartitionName", "NodeName", "CommunicationParameters", "SlurmctldParameters",
    "MaxArraySize", "MaxJobCount", "MinJobAge", "DefCPUPerGPU", "DefMemPerGPU",
))  # fmt: skip
"""Keys that the cluster of these tests has for itself, or that have changes of their own."""
_EDITS = {"key": "options", "node": "nodes", "partition": "partitions"}


def drawn(release: str, count: int, seed: int = SEED) -> list[Change]:
    """So many changes, the same for the same seed; of each field the first that a cluster of four nodes can make."""
    names = [name for name in _base().by_name if name.startswith(("slurm.", "node_types."))]
    random.Random(seed).shuffle(names)
    changes: list[Change] = []
    for name in names:
        if len(changes) == count:
            break
        if change := _first(name, release):
            changes.append(change)
    return changes


def groups(changes: list[Change], size: int) -> Iterator[list[Change]]:
    """Lists of at most `size` changes for one cluster each; no two of them are about one key."""
    rest = list(changes)
    while rest:
        group: list[Change] = []
        keys: set[str] = set()
        for change in list(rest):
            own = set(change.name.partition(": ")[2].split())
            if len(group) < size and not own & keys:
                group.append(change)
                keys |= own
                rest.remove(change)
        yield group


@cache
def _base() -> Base:
    """A manifest that has nearly every field."""
    return Base(next(path for path in BASES if path.name == "planned.yaml"))


def _first(name: str, release: str) -> Change | None:
    for trial in islice(_base().trials(name), _MOST_TRIALS):
        differences = [
            each for each in _differences(_base().start, trial, SlurmRelease(release)) if _is_usable(each, release)
        ]
        if not differences:
            continue
        keys = " ".join(f"{each.kind}.{each.key}" for each in differences)
        new, old = (tuple(_edit(each, side) for each in differences) for side in ("new", "old"))
        change = Change(f"{name}: {keys}", new, old=old)
        if not judged(change, release)[0].is_refusal:
            return change
    return None


def _differences(start: Trial, trial: Trial, release: SlurmRelease) -> tuple[Difference, ...]:
    path = "/etc/slurm/slurm.conf"
    sides = [
        {path: next(content.decode() for name, content in files.items() if name.endswith(path))}
        for files in (start.files, trial.files)
    ]
    return slurm_changes(*sides, release) if sides[0] != sides[1] else ()


def _is_usable(each: Difference, release: str) -> bool:
    """True if the cluster can make it, and the release knows its key; a path would be of a file that is not there."""
    block = {"node": "NodeName", "partition": "PartitionName"}.get(each.kind, "")
    row = slurm.key("slurm.conf", each.key, block) if each.kind in _EDITS and each.key else None
    if row is None or row.state(SlurmRelease(release)) != "known" or each.key in OF_THE_CLUSTER:
        return False
    return not any(text.startswith(("/", "pmix")) for text in (each.old or "", each.new or ""))


def _edit(each: Difference, side: str) -> Edit:
    def edit(to: Configuration) -> None:
        value = getattr(each, side)
        entries = to.options if each.kind == "key" else next(iter(getattr(to, _EDITS[each.kind]).values()))
        if value is None:
            entries.pop(each.key, None)
        else:
            entries[each.key] = value

    return edit
