"""Kinds of file systems: each has one name, and what is below the features does not know which there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clustergen
from clustergen.cluster.file_system import file_system, file_systems
from clustergen.feature import module
from clustergen.features.storage import ORDER

SOURCE = Path(clustergen.__file__).parent


def test_every_package_is_a_kind_of_the_schema() -> None:
    packages = {path.parent.name for path in (SOURCE / "features" / "storage").glob("*/__init__.py")}
    assert packages == set(ORDER)
    assert tuple(each.kind for each in file_systems())[: len(ORDER)] == ORDER


@pytest.mark.parametrize("kind", ORDER)
def test_a_kind_has_one_name(kind: str) -> None:
    section, files = (module(f"storage.{kind}", stage) for stage in ("section", "files"))
    assert section is not None
    assert files is not None
    assert file_system(kind).kind == kind
    mount = section.PLACES[f"storage.*.{kind}"]
    assert mount.model_json_schema()["properties"]["type"]["const"] == kind
    assert module(f"storage.{kind}", "poetry") is None


def test_code_outside_of_the_kinds_compares_no_type_with_one_of_them() -> None:
    comparison = re.compile(rf'\.type\b[^\n]*["\']({"|".join(ORDER)})["\']')
    naming = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[:2] != ("features", "storage") and comparison.search(path.read_text("utf-8"))
    }
    assert naming == set()
