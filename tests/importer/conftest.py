"""Directories of Slurm's files that a test makes, and what import makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clustergen.importer.directory import ImportResult, import_directory
from clustergen.manifest.source import load

Imported = Callable[..., tuple[ImportResult, dict[str, Any]]]


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    """Files by name → the import of a directory of these, which has the same meaning, and the manifest's data.

    `NAME_conf` and `NAME_yaml` are NAME.conf and NAME.yaml.
    """

    def call(version: str = "24.11", **files: str) -> tuple[ImportResult, dict[str, Any]]:
        directory = tmp_path / "slurm"
        directory.mkdir()
        for name, text in files.items():
            (directory / name.replace("_", ".")).write_text(text, encoding="utf-8")
        import_result = import_directory(directory, version=version)
        assert import_result.errors == ()
        assert [
            (item.change.key, item.change.old, item.change.new) for item in import_result.compared if not item.meant
        ] == []
        path = tmp_path / "manifest.yaml"
        path.write_text(import_result.text, encoding="utf-8")
        data = load(path).data
        assert data is not None
        return import_result, data

    return call
