"""`clustergen init`: the manifest that it writes is valid and commented, and replaces no file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.cli.common import assumed_by
from clustergen.cli.init import SCHEMA, STARTER, STARTERS
from clustergen.diagnostics import ClustergenError


def init(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["init", *map(str, arguments)], catch_exceptions=True)


@pytest.mark.slow
def test_the_starter_is_valid_without_messages_and_renders(tmp_path: Path) -> None:
    done = init(tmp_path / "new" / "cluster.yaml")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    compiled = compiler.validate(tmp_path / "new" / "cluster.yaml")
    assert compiled.diagnostics == ()
    tree, result = compiler.render(compiled, tmp_path / "new" / "cluster.yaml")
    assert tree is not None
    assert result == ()
    assert [name for name in tree.files if name.endswith("/guide.html")] != []


@pytest.mark.slow
@pytest.mark.parametrize("kind", STARTERS)
def test_other_starters_are_valid_without_messages_and_render(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    assert init("--from", kind, path).exit_code == 0
    compiled = compiler.validate(path)
    assert [*compiled.diagnostics, *assumed_by(compiled)] == []
    tree, result = compiler.render(compiled, path)
    assert tree is not None
    assert result == ()
    assert [name for name in tree.files if name.endswith("/guide.html")] != []


def test_the_starter_is_short_and_commented() -> None:
    lines = STARTER.read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# yaml-language-server: $schema=./{SCHEMA}"
    assert len(lines) <= 28
    assert max(map(len, lines)) <= 120
    assert sum("#" in line for line in lines) >= 8


@pytest.mark.slow
def test_a_directory_gets_manifest_yaml_and_the_schema_beside_it(tmp_path: Path) -> None:
    assert init(tmp_path).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.yaml", SCHEMA}
    schema = json.loads((tmp_path / SCHEMA).read_text(encoding="utf-8"))
    assert {"name", "nodes", "slurm"} <= schema["properties"].keys()
    printed = CliRunner().invoke(group, ["schema"]).stdout
    assert json.loads(printed) == schema


@pytest.mark.slow
def test_without_a_path_it_is_the_directory_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert init().exit_code == 0
    assert (tmp_path / "manifest.yaml").read_text(encoding="utf-8") == STARTER.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "manifest"),
    [
        ("mycluster", "mycluster/manifest.yaml"),
        ("new/", "new/manifest.yaml"),
        ("odd.yaml/", "odd.yaml/manifest.yaml"),
        ("one.yml", "one.yml"),
        ("a/two.yaml", "a/two.yaml"),
    ],
)
def test_a_name_without_yaml_is_a_directory(
    path: str, manifest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert init(path).exit_code == 0
    assert (tmp_path / manifest).is_file()
    assert (tmp_path / manifest).with_name(SCHEMA).is_file()


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_existing_files_stay(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "manifest.yaml"
    if kind == "file":
        place.write_text("mine\n", encoding="utf-8")
    else:
        place.symlink_to("nowhere")
    done = init(tmp_path)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert "manifest.yaml already exists" in done.exception.message
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.yaml"]
    assert place.is_symlink() or place.read_text(encoding="utf-8") == "mine\n"


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = init(tmp_path / "file" / "manifest.yaml")
    assert isinstance(done.exception, ClustergenError)
    assert str(tmp_path / "file") in done.exception.message


@pytest.mark.slow
def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A failed run leaves no partial manifest and keeps the editor's schema, so that a second one succeeds."""
    (tmp_path / SCHEMA).write_text("{}\n", encoding="utf-8")
    limited = "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); sys.argv = ['clustergen', 'init'];"
    limited += "runpy.run_module('clustergen', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-B", "-c", limited], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (3, f"clustergen: {SCHEMA}: file too large\n")
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {SCHEMA: "{}\n"}
    assert init(tmp_path).exit_code == 0
