"""Commits that try to write or run something: they are refused by the entry's name, and nothing is written."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.diff import git_objects
from strategies.diffs import LONGER, MANIFEST, diff, git, write

FILE, LINK, DIRECTORY, MODULE = "100644", "120000", "40000", "160000"


class Repository:
    """Makes objects that no ordinary git command makes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        write(path)
        git(path, "init", "-q", "-b", "main")
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", "first")
        self.manifest = self.blob(MANIFEST)

    def object(self, kind: str, content: bytes) -> str:
        command = ["git", "hash-object", "-t", kind, "--literally", "-w", "--stdin"]
        done = subprocess.run(command, cwd=self.path, input=content, capture_output=True, timeout=300, check=True)
        return done.stdout.decode().strip()

    def blob(self, text: str) -> str:
        return self.object("blob", text.encode())

    def tree(self, *entries: tuple[str, str, str]) -> str:
        lines = [f"{mode} {name}".encode() + b"\0" + bytes.fromhex(sha) for mode, name, sha in entries]
        return self.object("tree", b"".join(lines))

    def commit(self, tree: str) -> str:
        lines = f"tree {tree}\nauthor x <x> 1 +0000\ncommitter x <x> 1 +0000\n\nx\n"
        return self.object("commit", lines.encode())

    def with_site(self, *entries: tuple[str, str, str]) -> str:
        """A commit of the manifest and of these entries in site/all/etc."""
        tree = self.tree(*entries)
        for name in ("etc", "all"):
            tree = self.tree((DIRECTORY, name, tree))
        return self.commit(self.tree((FILE, "manifest.yaml", self.manifest), (DIRECTORY, "site", tree)))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    path = tmp_path_factory.mktemp("hostile") / "deep/down/repository"
    (path.parent / "tmp").mkdir(parents=True)
    return Repository(path)


@pytest.fixture(autouse=True)
def _working_directory(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository.path)
    monkeypatch.setattr(tempfile, "tempdir", str(repository.path.parent / "tmp"))


def everything(top: Path) -> dict[str, bytes | str]:
    """All that is below a directory, outside of .git."""
    contents: dict[str, bytes | str] = {}
    for root, directories, files in os.walk(top):
        directories[:] = [name for name in directories if name != ".git"]
        contents[root] = " ".join(sorted([*directories, *files]))
        contents |= {f"{root}/{name}": Path(root, name).read_bytes() for name in files}
    return contents


def refusal(repository: Repository, commit: str, path: str = "manifest.yaml") -> str:
    """The message for a commit that cannot be extracted, which leaves everything as it is."""
    top = repository.path.parents[2]
    before = everything(top)
    done = diff(f"{commit}:{path}", "manifest.yaml")
    assert isinstance(done.exception, ClustergenError), done.output
    assert (done.exception.exit_code, done.stdout) == (3, "")
    assert everything(top) == before
    assert done.exception.message.isprintable()
    assert done.exception.hint
    if "is a submodule" in done.exception.message or "outside the repository" in done.exception.message:
        assert done.exception.hint == f"compare the rendered trees: clustergen diff {commit}:rendered rendered"
    return done.exception.message


NAMES = {
    "..": "site/all/etc/.. is named '..'",
    ".": "site/all/etc/. is named '.'",
    "": "is named ''",
    ".git": "site/all/etc/.git has the name of git's own directory",
    ".GiT": ".GiT has the name of git's own directory",
    "git~1": "git~1 has the name of git's own directory",
    ".git . ": "has the name of git's own directory",
    ".git::$INDEX_ALLOCATION": "has the name of git's own directory",
    ".g\u200cit": "has the name of git's own directory",
    "../../../../../../PWNED": "site/all/etc/../../../../../../PWNED has a slash in its name",
    "/tmp/PWNED": "site/all/etc//tmp/PWNED has a slash in its name",
    "a/b": "site/all/etc/a/b has a slash in its name",
    "a\nb": "site/all/etc/a␊b has a control character in its name",
    "\x1b[2K": "site/all/etc/␛[2K has a control character in its name",
    "a\x7f": "has a control character in its name",
    "é" * 128: "has a name of more than 255 bytes",
    "x" * 2000: "has a longer path than 1,024 characters and 64 directories",
}


@pytest.mark.parametrize(
    ("name", "mode"),
    [*((name, FILE) for name in NAMES), *product(["..", ".git", "a/b"], [DIRECTORY, LINK, MODULE])],
)
def test_an_entry_with_a_wrong_name_is_refused_by_that_name(repository: Repository, name: str, mode: str) -> None:
    content = repository.blob("../motd" if mode == LINK else "PWNED")
    sha = repository.tree((FILE, "PWNED", content)) if mode == DIRECTORY else content
    commit = repository.with_site((mode, name, sha))
    message = refusal(repository, commit)
    assert message.startswith(f"{commit}:manifest.yaml: commit {commit[:12]} cannot be extracted: site/all/etc/")
    assert NAMES[name] in message


@pytest.mark.slow
@pytest.mark.parametrize("modes", [(FILE, FILE), (LINK, DIRECTORY), (FILE, DIRECTORY), (DIRECTORY, DIRECTORY)])
def test_two_entries_of_one_name_are_refused(repository: Repository, modes: tuple[str, str]) -> None:
    blob = repository.blob("somewhere")
    entries = [(mode, "motd", repository.tree((FILE, "a", blob)) if mode == DIRECTORY else blob) for mode in modes]
    message = refusal(repository, repository.with_site(*entries))
    assert "site/all/etc/motd is listed twice in its directory" in message
    twice = repository.commit(repository.tree(*[(FILE, "manifest.yaml", repository.manifest)] * 2))
    assert "manifest.yaml is listed twice in its directory" in refusal(repository, twice)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/etc/passwd", "is a link to '/etc/passwd', outside the repository"),
        ("../../../../etc/passwd", "is a link to '../../../../etc/passwd', outside the repository"),
        ("a/../../../../../etc/passwd", "is a link to 'a/../../../../../etc/passwd', with .. behind a name"),
        ("a/../b", "is a link to 'a/../b', with .. behind a name"),
        ("", "is a link without a valid target"),
        ("a\0b", "is a link without a valid target"),
        ("x" * 256, "is a link to a path of more than 1,024 characters, or with a name of more than 255 bytes"),
        ("a/" * 2000, "is a link to a path of more than 1,024 characters"),
        ("x" * 4000, "is a link to a path of more than 1,024 characters"),
    ],
)
def test_a_link_that_leads_outside_is_refused(repository: Repository, target: str, reason: str) -> None:
    message = refusal(repository, repository.with_site((LINK, "link", repository.blob(target))))
    assert f"site/all/etc/link {reason}" in message


@pytest.mark.parametrize("mode", ["100600", "104755", "020000", "60000", "140000", "0"])
def test_a_mode_that_git_does_not_create_is_refused(repository: Repository, mode: str) -> None:
    sha = repository.blob("x")
    message = refusal(repository, repository.with_site((mode, "motd", sha)))
    assert f"motd has the mode {int(mode, 8):06o}" in message or "git cannot read site/all/etc" in message


@pytest.mark.slow
def test_a_submodule_a_directory_that_is_a_file_and_a_broken_tree(repository: Repository) -> None:
    blob = repository.blob("x")
    assert "site/all/etc/sub is a submodule" in refusal(repository, repository.with_site((MODULE, "sub", blob)))
    for entry in ((DIRECTORY, "d", blob), (FILE, "f", repository.tree())):
        message = refusal(repository, repository.with_site(entry))
        assert message == f"git cannot read site/all/etc/{entry[1]} of this commit"
    cut = repository.object("tree", b"100644 motd\0" + bytes(7))
    message = refusal(repository, repository.with_site((DIRECTORY, "d", cut)))
    assert message == "git cannot read site/all/etc/d of this commit"


@pytest.mark.slow
def test_number_depth_and_size_have_limits(repository: Repository) -> None:
    blob = repository.blob("x")
    deep = bomb = repository.tree((FILE, "x", blob))
    for _ in range(70):
        deep = repository.tree((DIRECTORY, "d", deep))
    for _ in range(12):
        bomb = repository.tree(*((DIRECTORY, str(number), bomb) for number in range(10)))
    large = repository.blob("x" * (1 << 20))
    many = repository.tree(*((FILE, f"f{number:04}", large) for number in range(1025)))
    for tree, reason in (
        (deep, "and 64 directories"), (bomb, "more than 100,000 entries"), (many, "files of more than 1 GiB"),
    ):  # fmt: skip
        assert reason in refusal(repository, repository.with_site((DIRECTORY, "d", tree)))


@pytest.mark.slow
def test_plan_refuses_what_diff_refuses(repository: Repository) -> None:
    hostile = repository.tree((FILE, "PWNED", repository.blob("x")))
    commit = repository.with_site((DIRECTORY, "..", hostile))
    top = repository.path.parents[2]
    git(repository.path, "update-ref", "refs/heads/pr", commit)
    before = everything(top)
    done = CliRunner().invoke(group, ["plan", "--against", "pr"])
    assert "commit" in str(done.exception)
    assert "site/all/etc/.. is named '..'" in str(done.exception)
    assert everything(top) == before


@pytest.mark.slow
def test_hostile_entries_elsewhere_prevent_no_comparison(repository: Repository) -> None:
    blob = repository.blob("x")
    hostile = repository.tree((DIRECTORY, "..", repository.tree((FILE, "PWNED", blob))))
    good = repository.tree((FILE, "manifest.yaml", repository.manifest))
    top = [(DIRECTORY, "..", hostile), (FILE, "x/../a.yaml", blob), (LINK, "b.yaml", repository.blob("/etc/passwd"))]
    commit = repository.commit(repository.tree(*top, (DIRECTORY, "a", good), (DIRECTORY, "other", hostile)))
    for path in ("a", "a/manifest.yaml"):
        assert diff(f"{commit}:{path}", "manifest.yaml").exit_code == 0
    assert "other/.. is named '..'" in refusal(repository, commit, "other")
    assert ".. is named '..'" in refusal(repository, commit, "")


@pytest.mark.slow
def test_links_lead_where_they_lead_in_a_checkout(repository: Repository, tmp_path: Path) -> None:
    files = repository.tree((FILE, "base", repository.blob("shared\n")), (LINK, "motd", repository.blob("base")))
    cluster = repository.tree(
        (LINK, "manifest.yaml", repository.blob("../latest/manifest.yaml")),
        (DIRECTORY, "site", repository.tree((DIRECTORY, "all", files))),
        (LINK, "up", repository.blob("..")),
    )
    commit = repository.commit(
        repository.tree(
            (DIRECTORY, "a", cluster),
            (LINK, "latest", repository.blob("v2")),
            (DIRECTORY, "v2", repository.tree((FILE, "manifest.yaml", repository.manifest))),
        )
    )
    git(repository.path, "worktree", "add", "-q", str(tmp_path / "work"), commit)
    for path in ("a/manifest.yaml", "a"):
        done = diff(f"{commit}:{path}", tmp_path / "work" / path)
        assert (done.exit_code, done.stderr, done.exception) == (0, "", None)
        assert "/motd" in diff(f"{commit}:{path}", "manifest.yaml").stdout


PARTIAL = """\
[core]
repositoryFormatVersion = 1
sshCommand = PROGRAM
gitProxy = PROGRAM
fsmonitor = PROGRAM
hooksPath = DIRECTORY
[extensions]
partialClone = origin
[protocol]
allow = always
[protocol "ext"]
allow = always
[remote "origin"]
promisor = true
uploadpack = PROGRAM
fetch = +refs/heads/*:refs/remotes/origin/*
url = URL
"""


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    """A clone without the files of older commits."""
    source = tmp_path / "source"
    write(source / "clusters/small")
    site = source / "clusters/small/site/all/etc/motd"
    site.parent.mkdir(parents=True)
    site.write_text("old\n")
    git(source, "init", "-q", "-b", "main")
    git(source, "config", "uploadpack.allowFilter", "true")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "first")
    write(source / "clusters/small", LONGER)
    site.write_text("new\n")
    git(source, "commit", "-q", "-a", "-m", "second")
    git(tmp_path, "clone", "-q", "--filter=blob:none", source.as_uri(), "partial")
    return tmp_path / "partial"


@pytest.mark.slow
@pytest.mark.parametrize("url", ["ssh://host/x", "git://host/x", "ext::PROGRAM x", "SOURCE"])
@pytest.mark.parametrize("variable", ["", "GIT_SSH_COMMAND"])
def test_a_missing_object_is_not_fetched(
    partial: Path, tmp_path: Path, url: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("trap", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\necho $0 >>{tmp_path}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    program = str(hooks / "trap")
    if variable:
        monkeypatch.setenv(variable, program)
    config = PARTIAL.replace("URL", url).replace("SOURCE", (tmp_path / "source").as_uri())
    (partial / ".git/config").write_text(config.replace("PROGRAM", program).replace("DIRECTORY", str(hooks)))
    monkeypatch.chdir(partial / "clusters/small")
    for arguments in (["diff", "HEAD~1:./manifest.yaml", "manifest.yaml"], ["plan", "--against", "HEAD~1"]):
        done = CliRunner().invoke(group, arguments)
        assert isinstance(done.exception, ClustergenError)
        assert done.exception.message == "git cannot read clusters/small/manifest.yaml of this commit"
        assert "this clone is partial" in str(done.exception.hint)
    assert not (tmp_path / "ran").exists()
    git_runs = subprocess.run(["git", "diff", "--numstat", "HEAD~1"], capture_output=True, timeout=300, check=False)
    assert git_runs.returncode  # git itself would fetch
    assert (tmp_path / "ran").exists()


@pytest.mark.slow
def test_the_hint_for_a_partial_clone_can_be_pasted(partial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(partial / "clusters/small")
    done = diff("HEAD~1:./manifest.yaml", "manifest.yaml")
    assert isinstance(done.exception, ClustergenError)
    command = str(done.exception.hint).splitlines()[1]
    subprocess.run(["sh", "-c", command], check=True, timeout=300, stdout=subprocess.DEVNULL)
    done = diff("HEAD~1:./manifest.yaml", "manifest.yaml")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "partition debug MaxTime" in done.stdout
    assert "/etc/motd: +1 -1 lines" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", ["manifest.yaml", "", "./manifest.yaml"])
def test_a_message_about_a_site_file_of_a_commit_names_it_as_in_git(repository: Repository, path: str) -> None:
    commit = repository.with_site((LINK, "motd", repository.blob("nowhere")))
    done = diff(f"{commit}:{path}", "manifest.yaml")
    assert f"{commit}:{'./' if path.startswith('./') else ''}site/all/etc/motd: error" in done.stderr
    assert "clustergen-diff-" not in done.stderr


@pytest.mark.slow
def test_a_pipe_in_the_place_of_an_object_blocks_for_seconds(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_objects, "_SILENCE", 3)
    text = repository.blob(f"# a pipe\n{MANIFEST}")
    commit = repository.commit(repository.tree((FILE, "manifest.yaml", text)))
    stored = repository.path / ".git/objects" / text[:2] / text[2:]
    stored.unlink()
    os.mkfifo(stored)
    start = time.monotonic()
    try:
        done = diff(f"{commit}:manifest.yaml", "manifest.yaml")
    finally:
        stored.unlink()
    assert time.monotonic() - start < 60
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.message == "git cannot read manifest.yaml of this commit within 3 s"
    assert "! -type f" in (done.exception.hint or "")


@pytest.mark.slow
def test_replaced_and_altered_objects_are_not_read(repository: Repository, tmp_path: Path) -> None:
    other = repository.blob(MANIFEST.replace(*LONGER))
    git(repository.path, "replace", repository.manifest, other)
    assert diff("HEAD:manifest.yaml", "manifest.yaml").exit_code == 0
    git(repository.path, "replace", "-d", repository.manifest)
    objects = repository.path / ".git/objects"
    stored = objects / repository.manifest[:2] / repository.manifest[2:]
    content = stored.read_bytes()
    (objects / other[:2] / other[2:]).replace(stored)
    try:
        assert refusal(repository, "HEAD") == "git cannot read manifest.yaml of this commit"
    finally:
        stored.chmod(0o644)
        stored.write_bytes(content)
