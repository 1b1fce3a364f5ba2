"""Two branches that change different values merge: git conflicts only in the lock file and in summaries of the tree."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.render.lock_file import LockFileError
from clustergen.render.registry import files
from clustergen.render.tree import LOCK, TOP, Tree
from clustergen.render.write import write
from strategies.diffs import git
from strategies.inventories import ML_TRAINING

TEXT = ML_TRAINING.read_text(encoding="utf-8")
EDITS = {
    "a longer partition": ("max_time: 30,", "max_time: 90,"),
    "a login node": (
        "  - {name: mds1,",
        "  - {name: login2, type: login, address: 10.0.0.4, addresses: {bmc: 10.0.9.4}, roles: [login]}\n"
        "  - {name: mds1,",
    ),
    "another home": ("path: /export/home", "path: /srv/home"),
    "more read-ahead": ("max_read_ahead_mb: 1024", "max_read_ahead_mb: 2048"),
    "another mail relay": ("smtp: mail.example.org:25", "smtp: relay.example.org:25"),
    "a monthly report": ("period: week", "period: month"),
    "another user": ("users: [carol]", "users: [carol, erin]"),
    "another governor": ("governor: performance", "governor: powersave"),
    "another clock": ("ntp: [ntp.example.org]", "ntp: [time.example.org]"),
    "more jobs": ("max_jobs_per_user: 4", "max_jobs_per_user: 8"),
}
NAMES = list(EDITS)
PAIRS = [(NAMES[number], NAMES[(number + 1 + number % 3) % len(NAMES)]) for number in range(len(NAMES))]
SUMMARIES = {LOCK, "README.md", "facility/README.md", "inventory/group_vars/all.yml"}
"""Files about the whole cluster: both changes may be in neighbouring lines."""


def edited(text: str, name: str) -> str:
    old, new = EDITS[name]
    assert text.count(old) == 1
    return text.replace(old, new)


@cache
def tree_of(text: str, directory: Path) -> Tree:
    (directory / "manifest.yaml").write_text(text, encoding="utf-8")
    compiled = compiler.validate(directory / "manifest.yaml")
    assert compiled.ok, compiled.diagnostics
    tree, diagnostics = compiler.render(compiled, directory / "manifest.yaml")
    assert tree is not None, diagnostics
    return tree


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where manifests are compiled; each once."""
    return tmp_path_factory.mktemp("trees")


def commit(repository: Path, text: str, tree: Tree, message: str) -> None:
    (repository / "manifest.yaml").write_text(text, encoding="utf-8")
    write(tree, repository / "rendered")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", message)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_two_branches_merge(ours: str, theirs: str, trees: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "merge.conflictStyle", ("merge", "diff3")[NAMES.index(ours) % 2])
    commit(tmp_path, TEXT, tree_of(TEXT, trees), "base")
    for branch, name in (("ours", ours), ("theirs", theirs)):
        git(tmp_path, "checkout", "-q", "-b", branch, "main")
        text = edited(TEXT, name)
        commit(tmp_path, text, tree_of(text, trees), name)
    git(tmp_path, "checkout", "-q", "ours")
    done = subprocess.run(["git", "merge", "-q", "theirs"], cwd=tmp_path, capture_output=True, timeout=300, check=False)
    status = subprocess.run(
        ["git", "diff", "--name-only", "--diff-filter=U"], cwd=tmp_path, capture_output=True, timeout=300, check=True
    )
    conflicts = {path.removeprefix("rendered/") for path in status.stdout.decode().split()}
    assert done.returncode == 1
    assert {LOCK} <= conflicts <= SUMMARIES
    assert edited(edited(TEXT, ours), theirs) == (tmp_path / "manifest.yaml").read_text(encoding="utf-8")
    manifest = str(tmp_path / "manifest.yaml")
    refusal = CliRunner().invoke(group, ["diff", str(tmp_path / "rendered"), manifest]).exception
    assert isinstance(refusal, LockFileError)
    assert refusal.exit_code == 3
    assert "conflict markers of a git merge" in refusal.message
    outdated = CliRunner().invoke(group, ["render", "--check", manifest])
    assert outdated.exit_code == 1
    assert f"rendered/{LOCK}: changed, has the conflict markers of a git merge\n" in outdated.output
    assert CliRunner().invoke(group, ["render", manifest]).exit_code == 0
    assert CliRunner().invoke(group, ["render", "--check", manifest]).exit_code == 0
    names = {path.relative_to(tmp_path / "rendered") for path in (tmp_path / "rendered").rglob("*") if path.is_file()}
    assert names == {Path(path) for path in tree_of(edited(edited(TEXT, ours), theirs), trees).contents()}


def test_the_top_of_trees_is_that_of_the_registry() -> None:
    paths = [file.path for file in files() if "tree" in (file.scope, file.per)]
    assert {path.partition("/")[0] for path in paths} | {"overlays"} == TOP


@pytest.mark.slow
def test_files_of_the_other_branch_alone_are_removed(trees: Path, tmp_path: Path) -> None:
    """A file that the lock file lists on one side of a conflict belongs to clustergen as well, if trees have such."""
    tree = tree_of(TEXT, trees)
    write(tree, tmp_path / "rendered")
    (tmp_path / "manifest.yaml").write_text(TEXT, encoding="utf-8")
    lock = tmp_path / "rendered" / LOCK
    extra = tmp_path / "rendered/overlays/all/etc/extra"
    foreign = tmp_path / "rendered/notes/extra"
    foreign.parent.mkdir()
    for place in (extra, foreign):
        place.write_text("1\n", encoding="utf-8")
    digest = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
    entry = (
        f'  "overlays/all/etc/extra": {{"sha256": "{digest}", "group": "all", "target": "/etc/extra", "mode": "0644",'
        ' "owner": "root:root", "effect": "none", "source": ""},\n'
    )
    entry += f'  "notes/extra": {{"sha256": "{digest}"}},\n'
    head, line, tail = lock.read_text(encoding="utf-8").partition('  "overlays/all/etc/hosts"')
    lock.write_text(f"{head}<<<<<<< HEAD\n=======\n{entry}>>>>>>> theirs\n{line}{tail}", encoding="utf-8")
    done = CliRunner().invoke(group, ["render", str(tmp_path / "manifest.yaml")])
    assert done.exit_code == 0, done.output
    assert not extra.exists()
    assert f"{extra}: removed. A side of the merge lists it" in done.stderr
    assert foreign.read_text(encoding="utf-8") == "1\n", "no tree has a directory of this name"
    assert lock.read_bytes() == tree.lock()
