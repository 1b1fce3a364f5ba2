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
from clustergen.render.registry import files
from effects.change import Change
from effects.configuration import Configuration, Edit
from effects.verdicts import judged
from strategies.fields import BASES, Base, Trial

SEED = 30
_CONF = "/etc/slurm/slurm.conf"
_MOST_TRIALS = 2  # of one field
_KEYS = """
AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageHost AccountingStoragePort AccountingStorageTRES
AccountingStorageType AccountingStorageUser AcctGatherEnergyType AcctGatherInterconnectType AllowAccounts AllowGroups
AllowQos AuthAltParameters AuthAltTypes AuthInfo AuthType BatchStartTimeout Boards ClusterName CommunicationParameters
CoreSpecCount CoresPerSocket CPUs CpuSpecList CPUSpecList CredType DefCPUPerGPU DefMemPerCPU DefMemPerGPU
DefMemPerNode Gres GresTypes JobAcctGatherParams JobAcctGatherType JobContainerType JobSubmitPlugins MaxArraySize
MaxJobCount MemSpecLimit MinJobAge MpiDefault NamespaceType NodeAddr NodeFeaturesPlugins NodeHostname NodeName Nodes
PartitionName Port PreemptMode PreemptType PriorityFlags ProctrackType PrologFlags QOS RealMemory RebootProgram
ReconfigFlags SelectType SelectTypeParameters SlurmctldHost SlurmctldParameters SlurmctldPort SlurmdParameters
SlurmdPort SlurmdUser SlurmUser Sockets State StateSaveLocation SuspendTime SwitchType TaskPlugin ThreadsPerCore TmpFS
TopologyParam TopologyPlugin TRESBillingWeights
"""
OF_THE_CLUSTER = frozenset(_KEYS.split())
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
            more = set(change.name.partition(": ")[2].split())
            if len(group) < size and not more & keys:
                group.append(change)
                keys |= more
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
    row = next(row for row in files() if row.template.endswith(_CONF))
    sides = [{_CONF: text.decode()} for each in (start, trial) if (text := each.file(row))]
    if len(sides) != 2 or sides[0] == sides[1]:  # a manifest without Slurm
        return ()
    return slurm_changes(*sides, release)


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
