"""Forms of values: units of bare numbers, and hints in place of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from clustergen.compile import validate
from clustergen.diagnostics.forms import form_of
from clustergen.manifest.model import Manifest
from clustergen.units import Duration
from strategies.slurm_trees import cluster
from strategies.trees import text_of

LENGTHS = list(Duration.EXAMPLES), ["90s"]


@cache
def whole() -> dict[str, Any]:
    return Manifest.model_json_schema()


def fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, model in {"Manifest": whole(), **whole()["$defs"]}.items():
        for field, schema in model.get("properties", {}).items():
            yield f"{name}.{field}", schema


def inside(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all that it consists of."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict):
        yield schema
    for part in parts:
        yield from inside(part)


@pytest.mark.slow
def test_every_length_of_time_says_what_a_bare_number_is() -> None:
    lengths = {
        name: schema["description"]
        for name, schema in fields()
        if any(part.get("examples") in LENGTHS for part in inside(schema))
    }
    assert len(lengths) > 15
    silent = {
        name
        for name, sentence in lengths.items()
        if not re.search(r" A bare number is (millisecond|second|minute)s\.$", sentence)
    }
    assert silent == {"Logs.retention", "LogSearch.retention", "Monitoring.retention"}  # which refuse them


def test_no_plain_number_is_a_length_of_time() -> None:
    assert not [
        name
        for name, schema in fields()
        if "seconds" in schema.get("description", "").lower() and "A bare number is" not in schema["description"]
    ]


def test_no_pattern_is_without_words() -> None:
    patterns = {part["pattern"] for part in inside(whole()) if isinstance(part.get("pattern"), str)}
    patterns |= {name for part in inside(whole()) for name in part.get("patternProperties", {})}
    assert len(patterns) > 40
    assert [pattern for pattern in patterns if form_of(pattern) is None] == []


def test_bare_numbers_reach_the_files_in_slurms_own_unit(tmp_path: Path) -> None:
    slurm = {
        "partitions": {"main": {"nodes": "all", "max_time": 90, "default_time": 30, "grace_time": 120}},
        "qos": {"low": {"grace_time": 120, "max_wall": 90}},
        "preemption": {"by": "partition", "exempt_time": 5},
        "priority": {"half_life": 1440, "calc_period": 2, "max_age": 60},
        "scheduler": {"backfill_window": 1440},
    }
    slurm["partitions"]["main"]["priority_tier"] = 2
    slurm["partitions"]["under"] = {"nodes": "all", "priority_tier": 1, "preempt": "requeue"}
    tree = cluster(tmp_path, slurm=slurm)
    conf = text_of(tree, "head", "/etc/slurm/slurm.conf")
    for setting in (
        "MaxTime=01:30:00",
        "DefaultTime=00:30:00",
        "GraceTime=120",
        "PreemptExemptTime=00:05:00",
        "PriorityDecayHalfLife=1-00:00:00",
        "PriorityCalcPeriod=00:02:00",
        "PriorityMaxAge=01:00:00",
        "bf_window=1440",
    ):
        assert setting in conf
    accounts = text_of(tree, "head", "/etc/clustergen/accounts.json")
    assert '"GraceTime": "120"' in accounts
    assert '"MaxWallDurationPerJob": "01:30:00"' in accounts


MANIFEST = """name: tiny
os: debian-12
networks: {{management: {{cidr: 10.0.0.0/24, ntp: [pool.ntp.org]}}}}
node_types: {{cpu: {{cpu: {{sockets: 1, cores_per_socket: 8, threads_per_core: 1}}, memory: {memory}}}}}
nodes:
  - {{name: head, type: service, address: 10.0.0.1, roles: [slurm-controller, slurm-accounting, monitoring]}}
  - {{name: "n[1-2]", type: cpu, address: "10.0.0.[11-12]"}}
slurm:
  version: "24.11"
  accounts: {{}}
  {slurm}
"""


@pytest.mark.parametrize(
    ("slurm", "memory", "message", "hint"),
    [
        (
            "accounting: {purge: {job: 24}}",
            "64GiB",
            "slurm.accounting.purge.job: 24 has no unit",
            "write 24months, 24days or 24hours",
        ),
        ("MaxJobCount: 5000", "64GiB", "slurm has no key 'MaxJobCount'", "write scheduler: {max_jobs: 5000}"),
        (
            "partitions: {a: {nodes: all, MaxTime: 5}}",
            "64GiB",
            "slurm.partitions.a has no key 'MaxTime'",
            "write max_time",
        ),
        (
            "KillWait: 60",
            "64GiB",
            "slurm has no key 'KillWait'",
            "write it under slurm.options: it is a key of slurm.conf",
        ),
        (
            "AccountingStorageHost: db",
            "64GiB",
            "slurm has no key 'AccountingStorageHost'",
            "remove it: clustergen derives AccountingStorageHost from the role slurm-accounting",
        ),
        (
            "srun_ports: 63000-60001",
            "64GiB",
            "slurm.srun_ports: '63000-60001' is not a range of ports from a lower to a higher one",
            "write 60001-63000",
        ),
        ("build: auto", "128", "node_types.cpu.memory: 128 has no unit", "write 128GiB"),
        (
            "qos: {a: {grace_time: soon}}",
            "64GiB",
            "slurm.qos.a.grace_time: 'soon' is not a duration",
            "write a duration such as 90s, 30min or 24h",
        ),
    ],
)
def test_a_mistake_gets_a_hint_to_copy(slurm: str, memory: str, message: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(MANIFEST.format(slurm=slurm, memory=memory))
    (diagnostic,) = validate(path).diagnostics
    assert (diagnostic.message, diagnostic.hint) == (message, hint)


def test_years_are_kept_as_months(tmp_path: Path) -> None:
    tree = cluster(tmp_path, slurm={"accounting": {"purge": {"job": "2years", "step": "6months", "event": "90d"}}})
    conf = text_of(tree, "head", "/etc/slurm/slurmdbd.conf")
    assert {"PurgeJobAfter=24months", "PurgeStepAfter=6months", "PurgeEventAfter=90days"} <= set(conf.split())
