"""File systems: every package is registered, and the stages do not know which kinds there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clustergen
from clustergen.filesystems import KINDS, file_system, part

SOURCE = Path(clustergen.__file__).parent
# What a kind has and no other: who serves NFS and its metrics, LNet, WEKA's cores, Ansible's view of exports and disks.
SPECIAL = {
    "cluster/cores.py",
    "cluster/nfs.py",
    "cluster/storage.py",
    "lab/file_systems.py",
    "render/views/alerts/storage.py",
    "render/views/dashboards/exported.py",
    "render/views/packages.py",
}


def test_every_package_is_a_kind() -> None:
    packages = {path.parent.name for path in (SOURCE / "filesystems").glob("*/__init__.py")}
    assert packages == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_one_name(kind: str) -> None:
    descriptor = file_system(kind)
    assert descriptor.kind == kind
    assert descriptor.model.model_json_schema()["properties"]["type"]["const"] == kind
    assert all(part(kind, stage) is not None for stage in ("entry", "views"))
    assert part(kind, "poetry") is None


def test_stages_name_no_kind() -> None:
    importing = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "filesystems" not in path.relative_to(SOURCE).parts
        and re.search(r"from clustergen\.filesystems\.(?!descriptor|entry)\w+", path.read_text(encoding="utf-8"))
    }
    assert importing == SPECIAL
