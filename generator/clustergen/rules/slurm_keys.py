"""The escape hatches for Slurm's own keys, checked by release: keys, words of lists, plugins, values that print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.slurmconf.printing import quote_value

Hatch = tuple[ManifestPath, str, str, Mapping[str, object]]
_NUMBERS = {"uint16": 0xFFFF, "uint32": 0xFFFFFFFF, "uint64": (1 << 64) - 1, "int": 0x7FFFFFFF, "long": (1 << 63) - 1}
_WORDS_OF_NUMBERS = re.compile(r"-1|infinite|unlimited", re.IGNORECASE)

# Keys that the manifest says in words of its own, or that clustergen must write itself: a hatch would contradict it.
MANAGED = {
    ("slurm.conf", ""): {
        "ClusterName": "slurm.cluster_name",
        "SlurmctldHost": "the role slurm-controller",
        "ControlMachine": "the role slurm-controller",
        "BackupController": "the role slurm-controller",
        "ControlAddr": "the address of the controller",
        "Include": "slurm.options",
        "PreemptType": "slurm.preemption.by",
        "PreemptMode": "slurm.preemption.mode",
        "TopologyPlugin": "slurm.topology.plugin",
        "GresTypes": "gpus of the node types",
        "AccountingStorageHost": "the role slurm-accounting",
        "SlurmUser": "slurm.user",
        "AccountingStorageType": "the role slurm-accounting",
        "StateSaveLocation": "slurm.state_location",
        "AuthType": "slurm.auth",
        "CredType": "slurm.auth",
        "NodeName": "nodes",
        "PartitionName": "slurm.partitions",
        "NodeSet": "slurm.node_sets",
    },
    ("slurm.conf", "NodeName"): {
        "NodeName": "nodes",
        "NodeAddr": "address",
        "Gres": "gpus",
        "Sockets": "cpu.sockets",
        "CoresPerSocket": "cpu.cores_per_socket",
        "ThreadsPerCore": "cpu.threads_per_core",
        "RealMemory": "memory",
        "CoreSpecCount": "reserved.cores",
        "MemSpecLimit": "reserved.memory",
        "Feature": "features",
        "Features": "features",
        "Weight": "weight",
        "State": "state",
    },
    ("slurm.conf", "PartitionName"): {
        "PartitionName": "the partition's name",
        "Nodes": "nodes",
        "Default": "default",
        "MaxTime": "max_time",
        "State": "state",
        "DefaultTime": "default_time",
        "PriorityTier": "priority_tier",
        "Priority": "priority_tier and priority_factor",
        "DefMemPerGPU": "memory_per_gpu",
        "DefCpuPerGPU": "cpus_per_gpu",
        "PreemptMode": "preempt",
    },
    ("slurmdbd.conf", ""): {
        "DbdHost": "the role slurm-accounting",
        "StorageHost": "slurm.accounting.database_host",
        "StorageType": "clustergen itself",
        "StorageUser": "slurm.accounting.database_user",
        "StorageLoc": "slurm.accounting.database_name",
        "SlurmUser": "slurm.user",
    },
    ("gres.conf", ""): dict.fromkeys(
        ("Name", "NodeName", "Type", "File", "Count", "AutoDetect"), "gpus of the node types"
    ),
}


def hatches(cluster: Cluster) -> Iterator[Hatch]:
    """Path, file, block and options of each hatch."""
    written = cluster.manifest.slurm
    yield ("slurm", "options"), "slurm.conf", "", written.options
    yield ("slurm", "cgroup_options"), "cgroup.conf", "", written.cgroup_options
    yield ("slurm", "gres_options"), "gres.conf", "", written.gres_options
    yield ("slurm", "mpi_options"), "mpi.conf", "", written.mpi_options
    yield ("slurm", "accounting", "options"), "slurmdbd.conf", "", written.accounting.options
    for name, partition in written.partitions.items():
        yield ("slurm", "partitions", name, "options"), "slurm.conf", "PartitionName", partition.options
    for name, kind in cluster.manifest.node_types.items():
        yield ("node_types", name, "slurm_options"), "slurm.conf", "NodeName", kind.slurm_options


def options(cluster: Cluster) -> Iterator[Finding]:
    for path, file, block, given in hatches(cluster):
        seen: dict[str, str] = {}
        for name, value in given.items():
            where: ManifestPath = (*path, name)
            if name.lower() in seen:
                yield Finding(
                    "slurm-key-twice", where, f"'{name}' and '{seen[name.lower()]}' are one key to Slurm", key=True
                )
                continue
            seen[name.lower()] = name
            yield from _option(cluster.release, where, file, block, name, value)


def _option(
    release: SlurmRelease, path: ManifestPath, file: str, block: str, name: str, value: object
) -> Iterator[Finding]:
    known = slurm.key(file, name, block)
    place = f"{file}" if not block else f"a {block} line of {file}"
    if known is None:
        names = [key.key for key in slurm.keys(file, block)]
        yield Finding(
            "slurm-key-unknown",
            path,
            f"{place} has no key '{name}' in any release",
            did_you_mean(name, names),
            key=True,
        )
        return
    managed = {key.lower(): where for key, where in MANAGED.get((file, block), {}).items()}
    if name.lower() in managed:
        yield Finding(
            "slurm-key-managed",
            path,
            f"'{known.key}' is written by clustergen",
            f"it follows from {managed[name.lower()]}",
            key=True,
        )
        return
    state = known.state(release)
    if state != "known":
        yield Finding(*_gone(path, known, release, state), key=True)
        return
    yield from _value(release, path, known, value)


def _gone(
    path: ManifestPath, known: slurm.SlurmKey, release: SlurmRelease, state: str
) -> tuple[str, ManifestPath, str, str | None]:
    instead = f"write {known.instead}" if known.instead else None
    if state == "too-new":
        return (
            "slurm-key-too-new",
            path,
            f"'{known.key}' exists from Slurm {known.since} on; this is {release}, which would not start",
            None,
        )
    if state == "defunct":
        return (
            "slurm-key-defunct",
            path,
            f"'{known.key}' has no effect any more in Slurm {release}: it is only logged as an error",
            instead,
        )
    return "slurm-key-removed", path, f"Slurm {release} does not start with '{known.key}'", instead


def _value(release: SlurmRelease, path: ManifestPath, known: slurm.SlurmKey, value: object) -> Iterator[Finding]:
    text = str(value)
    try:
        quote_value(text)
    except ValueError as err:
        yield Finding("slurm-value-unprintable", path, str(err))
        return
    if any(ord(char) < 32 for char in text):
        yield Finding(
            "slurm-value-unprintable", path, "a value of Slurm's stands on one line and holds no control characters"
        )
        return
    limit = _NUMBERS.get(known.type)
    if (
        limit is not None
        and not _WORDS_OF_NUMBERS.fullmatch(text)
        and not (text.lstrip("-").isdigit() and -limit <= int(text) <= limit)
    ):
        yield Finding("slurm-value-wrong", path, f"'{known.key}' takes a number up to {limit}, not '{text}'")
    elif known.type == "boolean" and text.lower() not in (
        "yes",
        "no",
        "true",
        "false",
        "up",
        "down",
        "0",
        "1",
        "y",
        "n",
        "t",
        "f",
    ):
        yield Finding("slurm-value-wrong", path, f"'{known.key}' takes yes or no, not '{text}'")
    if slurm_values.has_tokens(known.key):
        yield from _tokens(release, path, known.key, text)
    if slurm_values.has_plugins(known.key) and text:
        yield from _plugins(release, path, known.key, text)


def _tokens(release: SlurmRelease, path: ManifestPath, key: str, text: str) -> Iterator[Finding]:
    for word in filter(None, (part.strip() for part in text.split(","))):
        known = slurm_values.token(key, word)
        if known is None:
            names = [token.token for token in slurm_values.tokens(key)]
            how = (
                "Slurm does not start with it"
                if slurm_values.unknown_token_is_fatal(key)
                else "Slurm would ignore it without a sound"
            )
            yield Finding("slurm-word-unknown", path, f"{key} has no word '{word}'; {how}", did_you_mean(word, names))
        elif (state := known.state(release)) != "known":
            since = f"from {known.since} on" if state == "too-new" else f"before {known.removed or known.defunct}"
            hint = f"write {known.instead}" if known.instead else None
            yield Finding(
                "slurm-word-unknown", path, f"{key} has the word '{known.token}' only {since}; this is {release}", hint
            )


def _plugins(release: SlurmRelease, path: ManifestPath, key: str, text: str) -> Iterator[Finding]:
    for name in text.split(","):
        known = slurm_values.plugin(key, name)
        if known is None:
            names = [plugin.value for plugin in slurm_values.plugins(key)]
            yield Finding("slurm-plugin-unknown", path, f"{key} has no plugin '{name}'", did_you_mean(name, names))
        elif (state := known.state(release)) != "known":
            since = f"from {known.since} on" if state == "too-new" else f"before {known.removed}"
            yield Finding("slurm-plugin-unknown", path, f"'{known.value}' exists only {since}; this is {release}")


def scheduler_words(cluster: Cluster) -> Iterator[Finding]:
    """The lists of words that have fields of their own."""
    written = cluster.manifest.slurm
    lists = (
        (("slurm", "scheduler", "parameters"), "SchedulerParameters", written.scheduler.parameters),
        (("slurm", "priority", "flags"), "PriorityFlags", written.priority.flags),
        (("slurm", "topology", "parameters"), "TopologyParam", written.topology.parameters),
        (("slurm", "accounting", "private"), "PrivateData", written.accounting.private),
    )
    for path, key, words in lists:
        for index, word in enumerate(words):
            yield from _tokens(cluster.release, (*path, index), key, word)


RULES = (options, scheduler_words)
