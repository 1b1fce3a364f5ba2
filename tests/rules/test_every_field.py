"""Another value of a field changes the tree, or a diagnostic tells why it does not. A section that is written is on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from clustergen.compile import tree_of
from clustergen.diagnostics import CODES
from clustergen.diagnostics.pages import page
from clustergen.slurmrules.field_table import FIELDS, MORE, Field
from strategies.fields import Trial, all_fields, trials
from strategies.trees import COMPUTE, HEAD, MANIFEST, codes_of, manifest

NO_FILE = {
    "extends": "extends-invalid",
    "manage": "setting-unused",
    "networks.bmc.interface": "network-value-unused",
    "catalogue.systems.*.power.psu": "psu-too-small",
    "catalogue.systems.*.power.redundant": "psu-redundancy",
    **{f"networks.{name}.plan.core": "network-value-unused" for name in ("management", "bmc", "storage")},
    "networks.bmc.plan.ports": "network-value-unused",
    **{f"networks.{name}.plan.leaves": "network-value-unused" for name in ("management", "bmc", "storage", "fabric")},
    "networks.management.plan.spines": "network-value-unused",
    "networks.fabric.plan.unit": "plan-does-not-fit",
    **{f"networks.{name}.plan.planes": "plan-does-not-fit" for name in ("bmc", "fabric")},
    "nccl.gid_index": "nccl-gid-useless",
    "node_types.*.disks[].device": "disk-twice",
    "nodes[].in_no_partition": "node-in-no-partition",
    "slurm.state_shared": "state-not-shared",
    "storage.beegfs.servers.management": "beegfs-server",
    "storage.cephfs.servers.monitors": "ceph-server",
    "storage.lustre.vendor_build": "lustre-kernel",
    "site.replaces": "site-replaces-nothing",
    "site.public": "site-file-secret",
}
"""Fields that change no file, or not alone → the diagnostic that depends on them; its page names the field."""
SOURCES = tuple(f"catalogue.{part}.*.source" for part in ("gpus", "systems", "switches"))
"""Fields that `clustergen explain` shows beside the row."""
_SAMPLE = 24  # of about 790


def _sample(names: list[Any]) -> list[Any]:
    return sorted(names, key=lambda name: crc32(str(name).encode()))[:_SAMPLE]


def _acts(name: str) -> bool:
    return any(trial.files != start.files for start, trial in trials(name))


_ONCE_BROKEN = "node_types.*.power.psu"  # of a site's own system


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [_ONCE_BROKEN, *_sample([name for name in all_fields() if name not in (*NO_FILE, *SOURCES)])]
)
def test_a_field_acts(name: str) -> None:
    assert _acts(name), f"a view has to print {name}, or NO_FILE names the diagnostic that depends on it"


@pytest.mark.long
@pytest.mark.parametrize("name", list(all_fields()))
def test_every_field_acts(name: str) -> None:
    acts = _acts(name)
    assert acts != (name in NO_FILE or name in SOURCES), f"{name} acts: {acts}; NO_FILE has fields that do not"


@pytest.mark.parametrize(("name", "code"), list(NO_FILE.items()))
def test_a_field_without_a_file_has_a_diagnostic(name: str, code: str) -> None:
    assert name in all_fields()
    assert code in CODES
    assert name.rpartition(".")[2] in (page(code) or "")


# --- the table of Slurm's keys ----------------------------------------------------------------------------------------

_PLACES = {
    ("slurm.conf", "NodeName"): ("nodes[].", "node_types.*."),
    ("slurm.conf", "PartitionName"): ("slurm.partitions.*.",),
    ("gres.conf", "NodeName"): ("node_types.*.",),
}
"""File and key that opens the line → sections that a field of its keys can be in."""
_OF_ENTRIES = {
    "slurm.ports": 7017,
    "slurm.pid_files": "/run/other.pid",
    "slurm.log_files": "/var/log/other.log",
    "slurm.log_levels": "debug",
    "slurm.accounting.purge": "90days",
}
"""Mapping with a closed set of keys → another value of an entry."""


def _rows() -> Iterator[tuple[str, str, str, str]]:
    """File, key that opens the line, key and field; without fields that are printed under another key, and those whose
    entries are lines of their own.
    """
    for table in (FIELDS, MORE):
        for (file, opening), keys in table.items():
            for key, rows in keys.items():
                for row in [rows] if isinstance(rows, Field) else rows:
                    if not row.other_key and row.path not in ("nodes", "slurm.partitions"):
                        yield file, opening, key, row.path


def _changes(file: str, opening: str, key: str, path: str) -> bool:
    for section in _PLACES.get((file, opening), ("",)):
        name, value = section + path, None
        if name not in all_fields():
            name, _, entry = name.rpartition(".")
            value = {entry: _OF_ENTRIES[name]} if name in _OF_ENTRIES else None
        for start, trial in trials(name, value):
            if _values(start, file, key) != _values(trial, file, key):
                return True
    return False


def _values(trial: Trial, file: str, key: str) -> list[str]:
    """Values of the key in the lines of the file, on any node."""
    texts = (content.decode() for path, content in sorted(trial.files.items()) if path.endswith(f"/etc/slurm/{file}"))
    return [value for text in texts for value in re.findall(rf"(?m)^(?!#)(?:.* )?{key}=(\S+)", text)]


@pytest.mark.slow
@pytest.mark.parametrize("row", _sample(list(_rows())), ids=":".join)
def test_a_field_changes_its_key(row: tuple[str, str, str, str]) -> None:
    assert _changes(*row), "the field leaves the key as it is: a Row of a topic in cluster/slurm/keys/ sets it"


@pytest.mark.long
@pytest.mark.parametrize("row", list(_rows()), ids=":".join)
def test_every_field_changes_its_key(row: tuple[str, str, str, str]) -> None:
    assert _changes(*row), "the field leaves the key as it is: a Row of a topic in cluster/slurm/keys/ sets it"


# --- sections ---------------------------------------------------------------------------------------------------------


def test_no_section_has_a_switch_that_is_off() -> None:
    switches = {name: info.default for name, info in all_fields().items() if name.endswith(".enabled")}
    assert switches
    assert False not in switches.values()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sections",
    [{"slurm": {"version": "24.11", "pyxis": {}}}, {"acceptance": {}}, {"drift": {}}],
    ids=lambda sections: next(iter(sections)),
)
def test_a_section_that_is_written_is_on(sections: dict[str, Any]) -> None:
    off = {name: {"enabled": False} for name in sections} if "slurm" not in sections else _NO_PYXIS
    texts = [_files(manifest(**each)) for each in ({}, off, sections)]
    assert texts[0] == texts[1] != texts[2]


_NO_PYXIS = {"slurm": {"version": "24.11", "pyxis": {"enabled": False}}}


def _files(data: dict[str, Any]) -> dict[str, bytes]:
    pair = tree_of(data, "manifest.yaml")
    assert pair is not None
    return {file.path: file.content for file in pair[1]}


@pytest.mark.parametrize("section", [{}, {"mode": "requeue"}, {"exempt_time": "3h"}, {"youngest_first": True}])
def test_preemption_that_is_written_says_by_what(section: dict[str, Any], tmp_path: Path) -> None:
    assert codes_of(manifest(slurm={"version": "24.11", "preemption": section}), tmp_path) == ["key-missing"]


@pytest.mark.parametrize(("version", "codes"), [("24.11", ["slurm-feature-too-new"]), ("26.05", [])])
def test_metrics_that_a_release_lacks(version: str, codes: list[str], tmp_path: Path) -> None:
    data = manifest(slurm={"version": version, "build": "schedmd", "metrics": True})
    assert [code for code in codes_of(data, tmp_path) if code != "slurm-packages-lacking"] == codes


_CORES = {"cpu": {"sockets": 2, "cores_per_socket": 32}, "memory": "1TiB"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (
            {"networks": {**MANIFEST["networks"], "fabric": {"type": "infiniband", "roce": {"dscp": 24}}}},
            "network-value-unused",
        ),
        ({"networks": {**MANIFEST["networks"], "fabric": {"type": "ethernet", "sharp": True}}}, "network-value-unused"),
        ({"networks": {"management": {"cidr": "10.0.0.0/24", "routes": ["10.9.0.0/16"]}}}, "network-value-unused"),
        ({"monitoring": {"retention": "90d"}}, "monitoring-missing"),
        (
            {"nodes": [{**HEAD, "roles": [*HEAD["roles"], "monitoring"]}, COMPUTE], "monitoring": {"smtp": "m:25"}},
            "setting-unused",
        ),
        (
            {
                "nodes": [{**HEAD, "roles": ["slurm-controller"]}, COMPUTE],
                "slurm": {"version": "24.11", "accounting": {"database_name": "x"}},
            },
            "setting-unused",
        ),
        ({"node_types": {"gpu": {**_CORES, "gpus": {"power_limit": "300W"}}}}, "setting-unused"),
    ],
)
def test_a_setting_without_effect_is_reported(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of(manifest(**changes), tmp_path)
