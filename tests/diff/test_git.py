"""`REV:path` as a side of a diff: what is read from git, and the errors if it cannot be."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from clustergen.diagnostics import ClustergenError
from strategies.diffs import COMMAND, LONGER, diff, error_of, git, rendered, write


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "repository"
    write(directory / "clusters/small")
    site = directory / "clusters/small/site/all/etc/motd"
    site.parent.mkdir(parents=True)
    site.write_text("old\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        git(directory, *words)
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("where", [".", "clusters", "clusters/small"])
def test_a_commit_of_git_is_a_side(repository: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository / "clusters/small", LONGER)
    (repository / "clusters/small/site/all/etc/motd").write_text("new\n")
    monkeypatch.chdir(repository / where)
    for old, new in (
        ("HEAD:clusters/small/manifest.yaml", repository / "clusters/small/manifest.yaml"),
        ("HEAD:clusters/small", repository / "clusters/small"),
        ("HEAD:clusters", repository / "clusters"),
    ):
        done = diff(old, new)
        assert (done.exit_code, done.stderr) == (1, "")
        assert "partition debug MaxTime" in done.stdout
        assert "/etc/motd: +1 -1 lines" in done.stdout
        assert re.search(r"^HEAD:clusters/small/manifest.yaml \([0-9a-f]{7,}\) → ", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_a_path_of_git_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "clusters/small")
    for path in ("HEAD:manifest.yaml", "HEAD:./manifest.yaml", "HEAD:."):
        assert diff(path, "manifest.yaml").exit_code == 0


@pytest.mark.slow
def test_a_commit_alone_stands_for_what_the_other_side_names(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository / "clusters/small", LONGER)
    git(repository, "commit", "-q", "-a", "-m", "second")
    assert diff("HEAD~1", "clusters").exit_code == 1
    monkeypatch.chdir(repository / "clusters/small")
    for sides in (("HEAD~1", "HEAD"), ("HEAD~1", "manifest.yaml"), ("manifest.yaml", "HEAD~1")):
        done = diff(*sides)
        assert (done.exit_code, done.stderr) == (1, "")
    assert re.match(r"small: .*\nHEAD~1:./manifest.yaml \(\w+\) → HEAD:./manifest.yaml", diff("HEAD~1", "HEAD").stdout)


@pytest.mark.slow
def test_by_default_the_work_tree_is_compared_with_the_last_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "clusters/small")
    assert diff().exit_code == 0
    write(Path(), LONGER)
    for old in ((), ("HEAD",)):
        done = diff(*old)
        assert (done.exit_code, done.stderr) == (1, "")
        assert "partition debug MaxTime" in done.stdout
        assert re.search(r"^HEAD:./manifest.yaml \([0-9a-f]{7,}\) → manifest.yaml, ", done.stdout, re.MULTILINE)
    alone = diff("manifest.yaml")  # a gate in CI that compares a file with itself would pass everything
    assert isinstance(alone.exception, ClustergenError)
    assert (alone.exception.exit_code, alone.stdout) == (2, "")
    git(repository, "commit", "-qam", "second")
    assert diff().exit_code == 0
    assert diff("HEAD~1").exit_code == 1
    monkeypatch.chdir(repository)
    assert "no manifest.yaml in this directory" in diff().stderr


@pytest.mark.slow
def test_both_sides_are_commits_of_git(repository: Path) -> None:
    write(repository / "clusters/small", LONGER)
    rendered(repository / "clusters/small/manifest.yaml")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "second")
    done = diff("HEAD~1:clusters", "HEAD:clusters")
    assert "HEAD:clusters/small/manifest.yaml:15:40 slurm.partitions.debug.max_time: 30 → 60" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("", "OLD and NEW may not be empty"),
        ("HEAD:nothing.yaml", "HEAD:nothing.yaml: no such file in this commit"),
        ("nobranch:clusters", "git has no commit 'nobranch'"),
        ("--output=x:clusters", "No such option"),
        ("HEAD:../..", "outside the repository"),
        ("nothing", "nothing: no such file or directory"),
        ("empty", "neither a manifest, nor a rendered tree, nor a directory of clusters"),
        ("clusters/small", "compare two of the same kind"),
    ],
)
def test_sides_that_do_not_exist_are_reported(repository: Path, old: str, words: str) -> None:
    (repository / "empty").mkdir()
    done = subprocess.run(
        [*COMMAND, "diff", old, "clusters"], capture_output=True, text=True, timeout=300, check=False, cwd=repository
    )
    assert done.returncode in (2, 3)
    assert words in done.stderr
    assert "hint: " in done.stderr or "No such option" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_a_commit_without_the_new_files_of_its_tree(repository: Path) -> None:
    """`git commit -a` takes the lock file, and not the files that are new."""
    cluster = repository / "clusters/small"
    rendered(cluster / "manifest.yaml")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "tree")
    (cluster / "site/all/etc/issue").write_text("new\n")
    rendered(cluster / "manifest.yaml")
    git(repository, "commit", "-q", "-a", "-m", "without the new file")
    message = error_of("HEAD:rendered", cluster)
    assert re.search("commit [0-9a-f]{7,} lacks overlays/all/etc/issue, which its lock file lists", message), message
    assert "hint: git add rendered && git commit" in message
    (cluster / "rendered/overlays/all/etc/issue").unlink()
    message = error_of(str(cluster / "rendered"), cluster)  # a directory is no commit
    assert "overlays/all/etc/issue: no such file" in message
    assert "hint: render the tree again" in message


@pytest.mark.slow
def test_a_shallow_clone_says_how_to_get_the_rest(repository: Path, tmp_path: Path) -> None:
    write(repository / "clusters/small", LONGER)
    git(repository, "commit", "-q", "-a", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    assert "git fetch --unshallow" in error_of("HEAD~1:clusters", tmp_path / "shallow")


@pytest.mark.slow
def test_a_submodule_has_commits_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository.as_uri(), "inner")
    git(outer, "commit", "-q", "-m", "first")
    assert "inner is a submodule" in error_of("HEAD:inner/clusters", outer)
    done = subprocess.run(
        [*COMMAND, "diff", "HEAD:clusters", "clusters"],
        capture_output=True,
        timeout=300,
        cwd=outer / "inner",
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.slow
def test_two_commits_of_a_bare_repository(repository: Path, tmp_path: Path) -> None:
    write(repository / "clusters/small", LONGER)
    git(repository, "commit", "-q", "-a", "-m", "second")
    git(tmp_path, "clone", "-q", "--bare", repository.as_uri(), "bare.git")
    done = subprocess.run(
        [*COMMAND, "diff", "HEAD~1:clusters", "HEAD:clusters"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path / "bare.git", check=False,
    )  # fmt: skip
    assert "partition debug MaxTime" in done.stdout, done.stderr


@pytest.mark.slow
def test_an_object_that_git_has_lost(repository: Path) -> None:
    sha = subprocess.check_output(["git", "rev-parse", "HEAD:clusters/small/manifest.yaml"], text=True, timeout=300)
    (repository / ".git/objects" / sha[:2] / sha[2:].strip()).unlink()
    assert "git cannot read clusters/small/manifest.yaml" in error_of("HEAD:clusters", repository)


@pytest.mark.slow
def test_a_directory_too_far_up_names_the_one_that_is_meant(repository: Path) -> None:
    assert "did you mean HEAD:clusters?" in error_of("HEAD:", repository)


@pytest.mark.slow
def test_outside_of_any_repository(tmp_path: Path) -> None:
    write(tmp_path)
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run(
        [*COMMAND, "diff", "HEAD:manifest.yaml", "manifest.yaml"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 3
    assert "not a git repository" in done.stderr
    assert "cd into the repository" in done.stderr


@pytest.mark.slow
def test_a_commit_alone_and_a_path_from_the_root_get_the_right_form(tmp_path: Path) -> None:
    write(tmp_path / "inventories/a")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    assert "did you mean HEAD:./inventories?" in error_of("HEAD", tmp_path)
    assert "does not begin with a slash" in error_of("HEAD:/inventories", tmp_path)
    assert "commit" not in error_of("nowhere", tmp_path).partition("\n")[0]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("mian:clusters", "did you mean 'main'?"),
        ("mian", "did you mean 'main'?"),
        ("feature:clusters", "did you mean 'origin/feature'?"),
        ("elsewhere:clusters", "the branches and tags are main, origin/feature"),
    ],
)
def test_a_branch_that_git_does_not_have(repository: Path, word: str, hint: str) -> None:
    git(repository, "branch", "-M", "main")
    git(repository, "update-ref", "refs/remotes/origin/feature", "HEAD")
    done = diff(word, "clusters")
    assert isinstance(done.exception, ClustergenError)
    assert hint in str(done.exception.hint)
