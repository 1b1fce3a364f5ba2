"""The table of fields by Slurm's keys: a field and an option cannot contradict silently, and every field is printed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.catalogue import slurm as catalogue
from clustergen.cluster.model import Cluster
from clustergen.cluster.resolve import resolve
from clustergen.cluster.slurm.keys.nodes import partition_line
from clustergen.cluster.slurm.keys.table import TOPICS, settings_of
from clustergen.diagnostics import Finding
from clustergen.features.health.rules import options_of_health
from clustergen.importer.forms import value_of
from clustergen.manifest.model import Manifest
from clustergen.manifest.partitions import Partition
from clustergen.rules import findings_of, rules_of, slurm_keys
from clustergen.slurmrules.field_table import Field
from clustergen.slurmrules.fields import current_names, fields_of, rows

BASE: dict[str, Any] = {
    "name": "tiny",
    "os": "debian-13",
    "networks": {"management": {"cidr": "10.0.0.0/24"}},
    "node_types": {"gpu": {"cpu": {"sockets": 2}, "memory": "64GiB", "gpus": {"model": "a100-80", "count": 2}}},
    "nodes": [
        {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-accounting"]},
        {"name": "n[1-2]", "type": "gpu", "address": "10.0.0.[11-12]"},
    ],
    "slurm": {"version": "25.11", "partitions": {"p": {"nodes": "all"}}},
}
HATCHES = {
    ("slurm.conf", ""): ("slurm", "options"),
    ("slurm.conf", "PartitionName"): ("slurm", "partitions", "p", "options"),
    ("slurm.conf", "NodeName"): ("node_types", "gpu", "slurm_options"),
    ("slurmdbd.conf", ""): ("slurm", "accounting", "options"),
    ("gres.conf", "NodeName"): ("slurm", "gres_options"),
}
OF_ENTRIES = ("address", "state")
# Values of fields whose type does not tell one.
SAMPLES: dict[str, Any] = {
    "slurm.partitions": {"p": {"nodes": "all"}},
    "slurm.node_sets": {"s": "n1"},
    "gres": {"localtmp": "900GiB"},
    "slurm.priority": {"max_age": "7-0"},
    "slurm.private_tmp": {"path": "/var/lib/jobs"},
    "slurm.srun_ports": "60001-63000",
    "slurm.scheduler.parameters": ["bf_continue"],
    "slurm.scheduler.dependency_parameters": ["kill_invalid_depend"],
    "slurm.topology.parameters": ["TopoOptional"],
    "slurm.topology.plugin": "tree",
    "slurm.preemption.mode": "cancel",
    "slurm.preemption.by": "partition",
    "slurm.resources.select_parameters": ["CR_Core"],
    "slurm.accounting.gather_parameters": ["NoShared"],
    "slurm.accounting.tres": ["gres/gpu"],
    "slurm.accounting.private": ["jobs"],
    "slurm.accounting.energy": "rapl",
    "slurm.priority.flags": ["MAX_TRES"],
    "slurm.accounting.purge.": "12months",
    "gpus": {"model": "a100-80", "count": 2},
    "cpu": {"sockets": 2},
    "gpus.gres_type": "a100",
    "gpus.autodetect": "nvml",
    "gpus.links": [[0, 4], [4, 0]],
    "gpus.numa": [0, 1],
    "address": "10.0.0.[11-12]",
    "memory": "64GiB",
    "features": ["fast"],
    "billing": {"cpu": 1.0},
    "oversubscribe": "force:4",
    "slurm.accounting.enforce": ["limits"],
    "slurm.accounting.store": ["job_script"],
    "slurm.resources.task_plugins": ["cgroup", "affinity"],
    "health.states": ["ANY"],
    "slurm.power_saving": {"suspend_time": 600},
    "slurm.power_saving.except_nodes": "n1",
    "slurm.power_saving.except_partitions": ["p"],
}
GUESSES = (
    True,
    300,
    90,
    "DOWN",
    1,
    2000,
    "1-0",
    "/srv/some/where",
    "info",
    "munge",
    "cons_tres",
    "cgroup",
    "pmix",
    "some",
    "UP",
    "requeue",
    "8GiB",
    "NONE",
    ["some"],
)


def put(data: dict[str, Any], path: tuple[str | int, ...], value: Any) -> None:
    for name in path[:-1]:
        data = data[name] if isinstance(name, int) else data.setdefault(name, {})
    data[path[-1]] = value


def cluster(data: dict[str, Any]) -> Cluster:
    return resolve(manifest(data), lambda _: None)


def manifest(data: dict[str, Any]) -> Manifest:
    return Manifest.model_validate(compiler.frozen(data))


def place(block: str, file: str, row: Field) -> tuple[str | int, ...]:
    """Where the manifest has the field: relative ones belong to a partition, a node type or an entry."""
    path = tuple(row.path.split("."))
    if block == "PartitionName":
        return ("slurm", "partitions", "p", *path)
    if block == "NodeName":
        return ("nodes", 1, *path) if row.path in OF_ENTRIES else ("node_types", "gpu", *path)
    return path


def with_field(file: str, block: str, row: Field, *, bare: bool) -> tuple[dict[str, Any], Any]:
    """A manifest that sets the field, and the value."""
    base = deepcopy(BASE)
    if bare:
        base["slurm"]["defaults"] = "slurm"
    if row.path.startswith("slurm.power_saving."):
        base["slurm"]["power_saving"] = {"suspend_time": 900}  # required
    if row.path.startswith("slurm.preemption."):
        base["slurm"]["preemption"] = {"by": "partition"}
    if row.path == "nodes":
        return base, "all"  # every manifest has them
    sample = next((value for path, value in SAMPLES.items() if path == row.path), None)
    sample = sample or next((value for path, value in SAMPLES.items() if path[-1] == "." and path in row.path), None)
    for value in GUESSES if sample is None else (sample,):
        data = deepcopy(base)
        put(data, place(block, file, row), value)
        if row.path == "real_memory":
            data["node_types"]["gpu"].pop("memory")
        try:
            Manifest.model_validate(compiler.frozen(data))
        except ValueError:
            continue
        return data, value
    raise AssertionError(f"no value for {row.path}")


def findings(data: dict[str, Any]) -> list[Finding]:
    rules = (*rules_of(slurm_keys), options_of_health)
    return [finding for rule in rules for finding in findings_of(rule, cluster(data), manifest(data))]


def refused(data: dict[str, Any], hatch: tuple[str | int, ...], key: str, text: Any) -> bool:
    data = deepcopy(data)
    put(data, (*hatch, key), text)
    return any(finding.code == "slurm-key-managed" and finding.path == (*hatch, key) for finding in findings(data))


@pytest.mark.slow
@pytest.mark.parametrize("bare", [False, True], ids=["recommended", "slurm"])
def test_no_option_contradicts_a_field_that_the_manifest_sets(bare: bool) -> None:
    """Whatever the option says, and also under the old names of the key."""
    silent = []
    for file, block, key, row in rows():
        if bare and row.other_key:
            continue
        data, value = with_field(file, block, row, bare=bare)
        hatch = HATCHES[file, block]
        if block == "NodeName" and row.path in OF_ENTRIES:
            hatch = ("nodes", 1, "slurm_options")
        text = "" if row.form == "word" else "another"
        names = [key, key.lower(), *old_names(file, block, key)]
        silent += [(name, row.path, value) for name in names if not refused(data, hatch, name, text)]
    assert silent == []


def old_names(file: str, block: str, key: str) -> list[str]:
    """Other names of a key, by the catalogue."""
    names = [row.key for row in catalogue.keys(file, block)]
    return [
        name
        for name in names
        if name.lower() != key.lower() and key.lower() in [one.lower() for one in current_names(file, block, name)]
    ]


@pytest.mark.slow
def test_old_names_lead_to_the_same_fields() -> None:
    aliases = {old: (file, block, key) for file, block, key, _ in rows() for old in old_names(file, block, key)}
    assert {"Shared", "Features", "CryptoType", "Link"} <= aliases.keys()
    for old, (file, block, key) in aliases.items():
        assert all(row in fields_of(file, block, old) for row in fields_of(file, block, key)), old
    both = [row.path for row in fields_of("slurm.conf", "PartitionName", "Priority")]
    assert both == ["priority_tier", "priority_factor"]


@pytest.mark.slow
@pytest.mark.parametrize("value", [True, False])
def test_a_list_and_the_switch_for_one_of_its_words_agree(value: bool) -> None:
    for file, block, key, row in rows():
        if row.form != "word":
            continue
        data = deepcopy(BASE)
        put(data, tuple(row.path.split(".")), value)
        if row.path.startswith("slurm.preemption."):
            data["slurm"]["preemption"]["by"] = "partition"
        data["slurm"]["defaults"] = "slurm"
        assert refused(data, HATCHES[file, block], key, f"{row.word},more") is not value, row.path
        assert refused(data, HATCHES[file, block], key, "more") is value, row.path


def test_lines_of_the_manifest_contradict_no_field() -> None:
    data = deepcopy(BASE)
    data["slurm"] |= {"slurmd_timeout": 300, "lines": [{"SlurmdTimeout": 60}]}
    assert [(result.code, result.path) for result in findings(data)] == [
        ("slurm-key-managed", ("slurm", "lines", 0, "SlurmdTimeout"))
    ]
    data["slurm"] = {**BASE["slurm"], "lines": [{"KillWait": 60}], "options": {"killwait": 30}}
    assert [(result.code, result.path) for result in findings(data)] == [
        ("slurm-key-twice", ("slurm", "options", "killwait"))
    ]


def printed(of: Cluster, file: str, block: str) -> dict[str, str]:
    if block == "PartitionName":
        return {key.lower(): value for key, value in partition_line(of, of.slurm.partitions[0]).keys.items()}
    return {row.key.lower(): row.value for row in settings_of(of, file).rows}


@pytest.mark.slow
@pytest.mark.parametrize("bare", [False, True], ids=["recommended", "slurm"])
def test_a_field_is_printed_under_its_key_and_read_back_from_it(bare: bool) -> None:
    """With Slurm's own defaults too, where only what the manifest sets is printed."""
    wrong = []
    for file, block, key, row in rows():
        if not row.form or block == "NodeName":
            continue
        data, value = with_field(file, block, row, bare=bare)
        if row.path.startswith("slurm.preemption.") and row.path != "slurm.preemption.by":
            data["slurm"]["preemption"]["by"] = "partition"
        made = cluster(data)
        text = printed(made, file, block).get(key.lower(), "")
        if not block:
            assert settings_of(made, file).place(key) == place(block, file, row)
        if row.form in ("word", "switch"):
            wrong += [] if row.word in text and text else [(key, row.path, text)]
            continue
        read = value_of(row, text, Partition if block == "PartitionName" else Manifest)
        put(data, place(block, file, row), list(read) if isinstance(read, tuple) else read)
        again = printed(cluster(data), file, block).get(key.lower(), "")
        wrong += [] if text and again == text else [(key, row.path, value, text, read)]
    assert wrong == []


def test_a_field_that_is_printed_as_it_is_has_no_code_and_is_below_a_heading_of_its_file() -> None:
    """CompleteWait is a row of the table and a field of the manifest."""
    titles = {(topic.file, topic.title) for topic in TOPICS}
    assert {(file, row.topic) for file, _, _, row in rows() if row.topic} <= titles
    data = deepcopy(BASE)
    data["slurm"] |= {"complete_wait": 32, "slurmd_timeout": 301}
    settings = settings_of(cluster(data), "slurm.conf")
    keys = [row.key for row in settings.rows]
    assert keys.index("SlurmdTimeout") < keys.index("CompleteWait") < keys.index("RebootProgram")
    assert (settings.text("CompleteWait"), settings.text("SlurmdTimeout")) == ("32", "301")
