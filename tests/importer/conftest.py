"""Folders of Slurm's files that a test makes, and what import makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clustergen.importer.folder import ImportResult, import_folder
from clustergen.manifest.source import load

Imported = Callable[..., tuple[ImportResult, dict[str, Any]]]


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    """Files by name → the import of a folder of these, which has the same meaning, and the manifest's data. `NAME_conf`
    and `NAME_yaml` are NAME.conf and NAME.yaml.
    """

    def call(version: str = "24.11", **files: str) -> tuple[ImportResult, dict[str, Any]]:
        folder = tmp_path / "slurm"
        folder.mkdir()
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
        found = import_folder(folder, version=version)
        assert found.errors == ()
        assert [(item.change.key, item.change.old, item.change.new) for item in found.compared if not item.meant] == []
        path = tmp_path / "manifest.yaml"
        path.write_text(found.text, encoding="utf-8")
        data = load(path).data
        assert data is not None
        return found, data

    return call
