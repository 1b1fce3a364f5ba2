"""Rendered files are read back: the manifest that comes of a tree's files renders to the same meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.compile import render, validate
from clustergen.importer.directory import import_directory
from strategies.slurm_manifests import RIGHT

_GROUPS = ("slurm_node", "slurm_conf_server", "slurm_accounting", "slurm_controller", "slurm_compute")
_INVENTORIES = sorted(Path(__file__).parents[2].glob("inventories/*/manifest.yaml"))


def _comes_back(manifest: str, directory: Path) -> None:
    path = directory / "manifest.yaml"
    path.write_text(manifest, encoding="utf-8")
    compiled = validate(path)
    assert compiled.ok
    assert compiled.cluster is not None
    tree, _ = render(compiled, path)
    assert tree is not None
    for file in tree:
        if file.group in _GROUPS and file.target and file.target.startswith("/etc/slurm/"):
            place = directory / file.target[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content)
    import_result = import_directory(
        directory / "etc/slurm", version=str(compiled.cluster.slurm.release), os=compiled.cluster.os.id
    )
    assert import_result.errors == ()
    assert [
        (item.change.key, item.change.old, item.change.new) for item in import_result.compared if not item.meant
    ] == []


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", RIGHT)
def test_manifests_about_slurm(name: str, tmp_path: Path) -> None:
    _comes_back(RIGHT[name], tmp_path)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("manifest", _INVENTORIES, ids=lambda path: path.parent.name)
def test_inventories(manifest: Path, tmp_path: Path) -> None:
    _comes_back(manifest.read_text(encoding="utf-8"), tmp_path)
