"""Writing a tree is atomic, and leaves foreign files untouched."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.apply.target import target as target_of
from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.diff.snapshot import of_directory
from clustergen.render import access, staging
from clustergen.render.compare import differences
from clustergen.render.journal import Journal
from clustergen.render.tree import FILE_LIMIT, LOCK
from clustergen.render.write import write
from clustergen.verify.files import read_tree
from strategies.diffs import git
from strategies.output_faults import each_call, full_disk, killed, mounts, plain_tree, separately, texts, two_writers
from strategies.trees import manifest


def test_writes_everything_once(tmp_path: Path) -> None:
    tree = plain_tree({"a/b": "1", "c": "2"}, {"c": 0o755})
    directory = tmp_path / "rendered"
    assert {d.kind for d in write(tree, directory)} == {"missing"}
    assert set(texts(directory)) == {"a/b", "c", LOCK}
    assert os.access(directory / "c", os.X_OK)
    assert not os.access(directory / "a/b", os.X_OK)
    before = (directory / "a/b").stat().st_ino
    assert write(tree, directory) == []
    assert (directory / "a/b").stat().st_ino == before, "nothing differs, so nothing is written"


def test_left_overs_go_and_foreign_files_stay(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"old/file": "1", "same": "x"}), directory)
    foreign = {"notes.txt": "mine", "old/mine": "mine too", "empty": None}
    (directory / "notes.txt").write_text("mine")
    (directory / "old/mine").write_text("mine too")
    (directory / "empty").mkdir()
    (directory / "link").symlink_to("/nowhere")
    inode = (directory / "notes.txt").stat().st_ino
    write(plain_tree({"same": "x", "new/file": "2"}), directory)
    assert texts(directory) == {
        "same": "x",
        "new/file": "2",
        "notes.txt": foreign["notes.txt"],
        "old/mine": "mine too",
        LOCK: (directory / LOCK).read_text(),
    }
    assert (directory / "empty").is_dir()
    assert (directory / "link").readlink() == Path("/nowhere")
    assert (directory / "notes.txt").stat().st_ino == inode
    assert [p.name for p in tmp_path.iterdir()] == ["rendered"], "nothing is left beside the tree"


@pytest.mark.parametrize("path", ["a", "a/b", "a/b/c"])
def test_a_foreign_file_in_our_place_is_never_replaced(tmp_path: Path, path: str) -> None:
    directory = tmp_path / "rendered"
    directory.mkdir()
    (directory / path).parent.mkdir(parents=True, exist_ok=True)
    (directory / path).write_text("mine")
    ours = "a/b" if path == "a" else path if path == "a/b" else "a/b"
    with pytest.raises(ClustergenError, match="was not made by clustergen"):
        write(plain_tree({ours: "ours"}), directory)
    assert texts(directory) == {path: "mine"}


def test_hand_edits_are_detected_and_corrected(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    tree = plain_tree({"a": "1", "b": "2"})
    write(tree, directory)
    (directory / "a").write_text("edited")
    (directory / "b").chmod(0o755)
    assert [(d.path, d.kind) for d in differences(tree, directory)] == [("a", "changed"), ("b", "mode")]
    write(tree, directory)
    assert differences(tree, directory) == []


def test_a_broken_lock_file_ends_the_render(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    (directory / LOCK).write_text("{")
    with pytest.raises(ClustergenError, match="cannot be read: it is not JSON"):
        write(plain_tree({"a": "2"}), directory)
    assert (directory / "a").read_text() == "1"


def test_a_lock_file_that_names_places_outside_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("stays")
    directory = tmp_path / "rendered"
    directory.mkdir()
    lock = json.loads(plain_tree({"a": "1"}).lock())
    (directory / LOCK).write_text(json.dumps({**lock, "files": {"../victim": lock["files"]["a"]}}))
    with pytest.raises(ClustergenError, match=r"'\.\./victim' is outside the tree"):
        write(plain_tree({"a": "1"}), directory)
    assert (tmp_path / "victim").read_text() == "stays"


def test_not_a_directory(tmp_path: Path) -> None:
    (tmp_path / "rendered").write_text("a file")
    with pytest.raises(ClustergenError, match="not a directory"):
        write(plain_tree({"a": "1"}), tmp_path / "rendered")
    assert (tmp_path / "rendered").read_text() == "a file"


def test_an_output_that_is_a_symbolic_link(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    real.mkdir()
    (tmp_path / "rendered").symlink_to(real)
    write(plain_tree({"a": "1"}), tmp_path / "rendered")
    assert (tmp_path / "rendered").is_symlink()
    assert (real / "a").read_text() == "1"


@pytest.mark.parametrize("target", ["../elsewhere", ".", "../elsewhere/gone", "/proc/self/cwd"])
def test_a_link_of_a_commit_in_place_of_the_default_output(tmp_path: Path, target: str) -> None:
    elsewhere, cluster = tmp_path / "elsewhere", tmp_path / "cluster"
    elsewhere.mkdir()
    cluster.mkdir()
    path = cluster / "manifest.yaml"
    path.write_text(json.dumps(manifest()))
    (cluster / "rendered").symlink_to(target)

    def run(*arguments: str) -> None:
        group.main([*arguments, str(path)], standalone_mode=False)

    applied, _, _ = target_of(path)
    assert applied is not None
    for action in (partial(run, "render"), partial(run, "render", "--check"), applied.write, applied.kept_digest):
        with pytest.raises(ClustergenError, match=f"rendered is a link to {target}, outside the directory of the"):
            action()
    assert list(elsewhere.iterdir()) == []
    assert {path.name for path in cluster.iterdir()} == {"manifest.yaml", "rendered"}


def test_a_link_that_is_named_as_the_output_is_followed(tmp_path: Path) -> None:
    elsewhere, cluster = tmp_path / "elsewhere", tmp_path / "cluster"
    elsewhere.mkdir()
    cluster.mkdir()
    (cluster / "manifest.yaml").write_text(json.dumps(manifest()))
    (cluster / "rendered").symlink_to(elsewhere)
    done = CliRunner().invoke(group, ["render", str(cluster / "manifest.yaml"), "-o", str(cluster / "rendered")])
    assert done.exit_code == 0, done.output
    assert (elsewhere / LOCK).exists()


def test_a_directory_of_others_keeps_mode_owner_and_times(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1", "d/a": "1"}), directory)
    for name in ("private", "d"):
        place = directory / name
        place.mkdir(exist_ok=True)
        (place / "mine").write_text("mine")
        place.chmod(0o700)
        os.chown(place, 65534, 65534)
    directory.chmod(0o750)
    os.utime(directory / "private", (1_000_000_000, 1_000_000_000))
    write(plain_tree({"a": "2", "d/b": "2"}), directory)
    assert (directory.stat().st_mode & 0o777, directory.stat().st_uid) == (0o750, os.geteuid())
    for name in ("private", "d"):
        status = (directory / name).stat()
        assert (status.st_mode & 0o777, status.st_uid, status.st_gid) == (0o700, 65534, 65534)
    assert (directory / "private").stat().st_mtime == 1_000_000_000


def test_nothing_beside_the_output_is_touched(tmp_path: Path) -> None:
    for name in (".rendered.new-notes", ".rendered.old-notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("precious")
    for text in "12":
        write(plain_tree({"a": text}), tmp_path / "rendered")
    assert {name: text for name, text in texts(tmp_path).items() if text == "precious"}.keys() == {
        ".rendered.new-notes/x",
        ".rendered.old-notes/x",
    }


@pytest.mark.parametrize("place", ["a", "d/a", LOCK])
@pytest.mark.parametrize(
    "put",
    [
        lambda place: place.symlink_to("/etc/hostname"),
        lambda place: os.mkfifo(place),
        lambda place: place.mkdir(),
        lambda place: socket.socket(socket.AF_UNIX).bind(str(place)),
    ],
    ids=["link", "FIFO", "directory", "socket"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_something_else_in_the_place_of_a_file_stays_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, put: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    directory = Path("rendered")
    write(plain_tree({"a": "1", "d/a": "1"}), directory)
    (directory / place).unlink()
    put(directory / place)
    before = (directory / place).lstat()
    with pytest.raises(ClustergenError, match=place):
        write(plain_tree({"a": "2", "d/a": "2"}), directory)
    assert (directory / place).lstat() == before
    assert {text for path, text in texts(directory).items() if path not in (place, LOCK)} == {"1"}
    if place == LOCK:
        with pytest.raises(ClustergenError, match=LOCK):
            differences(plain_tree({"a": "1", "d/a": "1"}), directory)
    else:
        assert [(d.path, d.kind) for d in differences(plain_tree({"a": "1", "d/a": "1"}), directory)] == [
            (place, "blocked")
        ]


def test_no_link_leads_out_of_the_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    directory = tmp_path / "rendered"
    write(plain_tree({"d/a": "1", "d/left": "1"}), directory)
    (directory / "d").rename(outside)
    (directory / "d").symlink_to(outside)
    assert {(d.path, d.kind) for d in differences(plain_tree({"d/a": "1"}), directory)} >= {("d/a", "blocked")}
    with pytest.raises(ClustergenError, match=r"rendered/d was not made by clustergen.*it is a symbolic link"):
        write(plain_tree({"d/a": "2"}), directory)
    write(plain_tree({"b": "2"}), directory)
    assert texts(outside) == {"a": "1", "left": "1"}


def test_a_lock_file_that_names_a_foreign_file_does_not_delete_it(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    (directory / "keep").write_text("precious")
    lock = json.loads((directory / LOCK).read_text())
    lock["files"]["keep"] = lock["files"]["a"]
    (directory / LOCK).write_text(json.dumps(lock))
    assert ("keep", "kept") in [(change.path, change.kind) for change in write(plain_tree({"a": "1"}), directory)]
    assert (directory / "keep").read_text() == "precious"
    assert write(plain_tree({"a": "1"}), directory) == [], "it is foreign now, and not named again"


@pytest.mark.slow
def test_a_file_that_is_too_large_to_be_ours_is_kept(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1", "b": "1"}), directory)
    os.truncate(directory / "b", FILE_LIMIT + 1)
    assert ("b", "kept") in [(change.path, change.kind) for change in write(plain_tree({"a": "1"}), directory)]
    assert (directory / "b").stat().st_size == FILE_LIMIT + 1


def test_files_without_a_lock_file_are_taken_over_where_nothing_is_lost(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1", "b": "1"}), directory)
    (directory / LOCK).unlink()
    with pytest.raises(ClustergenError, match="b was not made by clustergen"):
        write(plain_tree({"a": "1", "b": "2"}), directory)
    assert [change.path for change in write(plain_tree({"a": "1", "b": "1"}), directory)] == [LOCK]


def test_a_tree_that_lacks_its_lock_file_is_not_called_a_stranger(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"README.md": "<!-- Made by clustergen -->", "b": "1"}), directory)
    (directory / LOCK).unlink()
    changed = plain_tree({"README.md": "<!-- Made by clustergen -->", "b": "2"})
    for use in (read_tree, partial(of_directory, str(directory)), partial(write, changed)):
        with pytest.raises(ClustergenError, match=f"rendered/{LOCK} is missing") as refusal:
            use(directory)
        assert f"git restore {directory}/{LOCK}" in str(refusal.value.hint)


@pytest.mark.slow
def test_one_writer_at_a_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The lock is the kernel's: it ends with the process that holds it, and readers share it."""
    directory = tmp_path / "rendered"
    tree = plain_tree({"a": "1"})
    write(tree, directory)
    with access.reading(directory), access.reading(directory):
        assert differences(tree, directory) == []
        with pytest.raises(ClustergenError, match="rendered is in use by another process"):
            write(tree, directory, wait=0.1)
    holds = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from strategies.output_faults import access, plain_tree, staging
from clustergen.render.journal import Journal
with access.writing(Path(sys.argv[2])):
    staging.stage(Path(sys.argv[2]), Journal([], [], [], []), [])
    print("ready", flush=True)
    time.sleep(60)
"""
    arguments = [sys.executable, "-c", holds, str(Path(__file__).parents[1]), str(directory)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(ClustergenError, match=rf"in use by `-c .*` \(process {process.pid} on ") as caught:
            write(plain_tree({"a": "2"}), directory, wait=1.2)
        with pytest.raises(ClustergenError, match="in use"), access.reading(directory, wait=0.1):
            pass
        process.kill()
    assert caught.value.exit_code == 3
    assert "waiting up to 1 s for `-c" in capfd.readouterr().err
    write(plain_tree({"a": "2"}), directory)
    assert set(texts(directory)) == {"a", LOCK}


def test_a_writer_on_another_machine_is_not_taken_for_dead(tmp_path: Path) -> None:
    """The lock of a directory on NFS holds on one machine; the owner's name is seen on all."""
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    link = directory / f"{staging.STAGING}.owner"
    owner = {"pid": 1, "host": "elsewhere", "boot": "x", "since": "2026-01-01 00:00:00", "command": "clustergen render"}
    link.symlink_to(json.dumps(owner))
    with pytest.raises(ClustergenError, match=r"in use by `clustergen render` \(process 1 on elsewhere") as caught:
        write(plain_tree({"a": "2"}), directory)
    assert str(link) in (caught.value.hint or "")
    link.unlink()
    write(plain_tree({"a": "2"}), directory)
    link.symlink_to(json.dumps({**owner, "host": os.uname().nodename}))  # this machine, before it was started anew
    write(plain_tree({"a": "3"}), directory)
    assert texts(directory).keys() == {"a", LOCK}


@pytest.mark.parametrize("name", [staging.STAGING, f"{staging.STAGING}.owner"])
def test_a_foreign_file_under_the_name_of_the_staging_directory(tmp_path: Path, name: str) -> None:
    directory = tmp_path / "rendered"
    (directory / name).mkdir(parents=True)
    (directory / name / "notes").write_text("precious")
    with pytest.raises(ClustergenError, match=f"{name} was not made by clustergen"):
        write(plain_tree({"a": "1"}), directory)
    assert texts(directory) == {f"{name}/notes": "precious"}


@pytest.mark.parametrize("name", ["new/notes", "old/0/notes", "new/0.orig"])
def test_foreign_files_inside_the_staging_directory_stay(tmp_path: Path, name: str) -> None:
    directory = tmp_path / "rendered"
    file = directory / staging.STAGING / name
    file.parent.mkdir(parents=True)
    file.write_text("precious")
    with pytest.raises(ClustergenError, match="was not made by clustergen"):
        write(plain_tree({"a": "1"}), directory)
    assert texts(directory) == {f"{staging.STAGING}/{name}": "precious"}


@pytest.mark.parametrize(
    "journal",
    [
        "",
        "[" * 100_000,
        '{"format": 2}',
        '{"format": 1, "remove": [["../victim", ""]], "prune": [], "make": [], "place": []}',
        '{"format": 1, "remove": [], "prune": [], "make": ["/tmp/x"], "place": []}',
        '{"format": 1, "remove": [], "prune": [], "make": [], "place": [["a", 1, 2]]}',
    ],
)
def test_a_journal_that_clustergen_did_not_write(tmp_path: Path, journal: str) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    (directory / staging.STAGING).mkdir(0o1755)
    (directory / staging.STAGING / "journal.json").write_text(journal)
    for action in (write, differences):
        with pytest.raises(ClustergenError, match=r"cannot be read|was interrupted"):
            action(plain_tree({"a": "2"}), directory)
    assert (directory / "a").read_text() == "1"


def test_a_journal_moves_no_file_that_it_does_not_know(tmp_path: Path) -> None:
    """A tree that somebody handed over may bring one."""
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    (directory / "mine").write_text("precious")
    (tmp_path / "outside").mkdir()
    (directory / "link").symlink_to(tmp_path / "outside")
    hashed = sha256(b"1").hexdigest()
    for change in (
        {"remove": [["mine", "0" * 64]]},
        {"place": [["mine", "0" * 64, "0" * 64]]},
        {"place": [["mine", None, "0" * 64]]},
        {"place": [["no-staged-file", None, "0" * 64]]},
        {"place": [[".git", None, sha256(b"bad").hexdigest()]]},
        {"place": [["link/mine", None, "0" * 64]]},
        {"make": ["link/mine"]},
        {"place": [["mine", None, "0" * 64], ["a", hashed, "0" * 64], ["link/x", None, "0" * 64]]},
        {"place": [["a", "0" * 64, "0" * 64], ["mine", None, "0" * 64]], "prune": ["link"]},
    ):
        place = directory / staging.STAGING
        for name in ("new", "old"):
            (place / name).mkdir(parents=True)
        place.chmod(0o1755)
        (place / "new/0").write_text("bad")
        journal = {"format": 1, "remove": [], "prune": [], "make": [], "place": [], **change}
        (place / "journal.json").write_text(json.dumps(journal))
        if ".git" in json.dumps(change):
            with pytest.raises(ClustergenError, match=r"journal\.json cannot be read"):
                write(plain_tree({"a": "1"}), directory)
            shutil.rmtree(place)
        write(plain_tree({"a": "1"}), directory)
        assert {path: text for path, text in texts(directory).items() if path not in (LOCK, "a")} == {
            "mine": "precious"
        }
        assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("has_owner", [True, False])
@pytest.mark.parametrize("umask", [0o022, 0o077, 0])
def test_a_journal_of_a_commit_is_not_carried_out(tmp_path: Path, umask: int, has_owner: bool) -> None:
    directory, program = tmp_path / "rendered", "#!/bin/sh\n"
    write(plain_tree({"a": "1"}), tmp_path / "source")
    place = tmp_path / "source" / staging.STAGING
    for name, text in (("new/0", program), ("old/r7", "")):
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text(text)
    journal = {"remove": [], "prune": [], "make": [], "place": [["b", None, sha256(program.encode()).hexdigest()]]}
    (place / "journal.json").write_text(json.dumps({"format": 1, **journal}))
    if has_owner:
        owner = {"pid": 1, "host": os.uname().nodename, "boot": staging._boot(), "since": "x", "command": "render"}
        (tmp_path / "source" / f"{staging.STAGING}.owner").symlink_to(json.dumps(owner))
    git(tmp_path / "source", "init", "-q", "-b", "main")
    git(tmp_path / "source", "add", "-f", ".")
    git(tmp_path / "source", "commit", "-q", "-m", "hostile")
    before = os.umask(umask)
    try:
        git(tmp_path, "clone", "-q", "source", "rendered")
    finally:
        os.umask(before)
    with pytest.raises(ClustergenError, match="was not left by a render of this directory") as caught:
        write(plain_tree({"a": "2"}), directory)
    assert f"git rm -r {directory / staging.STAGING}" in (caught.value.hint or "")
    assert not (directory / "b").exists()
    assert (directory / "a").read_text() == "1"
    git(directory, "rm", "-q", "-r", staging.STAGING)
    write(plain_tree({"a": "2"}), directory)
    assert (directory / "a").read_text() == "2"


def test_git_adds_nothing_that_a_killed_render_staged(tmp_path: Path) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    git(directory, "init", "-q")
    with access.writing(directory):
        staging.stage(directory, Journal([], [], [], [("b", None, "0" * 64)]), [(b"2", 0o644)])
    git(directory, "add", ".")
    listing = subprocess.run(["git", "ls-files"], cwd=directory, capture_output=True, timeout=300, check=True)
    assert f"{staging.STAGING}/".encode() not in listing.stdout
    write(plain_tree({"a": "1"}), directory)
    assert not list(directory.glob(f"{staging.STAGING}*"))


@pytest.mark.parametrize("path", [".git/HEAD", ".GIT/HEAD", "git~1/HEAD", "sub/.git/HEAD"])
def test_a_lock_file_that_names_a_file_of_git_removes_nothing(tmp_path: Path, path: str) -> None:
    directory = tmp_path / "rendered"
    write(plain_tree({"a": "1"}), directory)
    (directory / path).parent.mkdir(parents=True)
    (directory / path).write_text("1")
    lock = (directory / LOCK).read_text()
    (directory / LOCK).write_text(
        lock.replace('"a": {', f'"{path}": {{"sha256": "{sha256(b"1").hexdigest()}"}},\n"a": {{')
    )
    with pytest.raises(ClustergenError, match=f"'{path}' is outside the tree"):
        write(plain_tree({"a": "1"}), directory)
    assert (directory / path).read_text() == "1"


@pytest.mark.slow
def test_two_writers_at_once(tmp_path: Path) -> None:
    assert separately(two_writers, str(tmp_path / "rendered"), 25, 400) == []


@pytest.mark.long
def test_a_thousand_rounds_of_two_writers(tmp_path: Path) -> None:
    assert separately(two_writers, str(tmp_path / "rendered"), 1000, 4000, timeout=3000) == []


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    faults, counts = separately(killed, str(tmp_path / "rendered"), 15)
    assert faults == []
    assert sum(counts.values()) == 15


@pytest.mark.long
def test_two_hundred_kills(tmp_path: Path) -> None:
    faults, counts = separately(killed, str(tmp_path / "rendered"), 200, timeout=600)
    assert faults == []
    assert counts["pending"] > 0, "none came between the first change and the last"


@pytest.mark.slow
def test_killed_at_each_call(tmp_path: Path) -> None:
    faults, counts = separately(each_call, str(tmp_path), "kill", 6)
    assert faults == []
    assert counts["-9"] > 20
    assert counts["recovery -9"] > 20


@pytest.mark.long
def test_killed_at_each_call_and_at_each_call_of_each_recovery(tmp_path: Path) -> None:
    faults, counts = separately(each_call, str(tmp_path), "kill", 1, timeout=600)
    assert faults == []
    assert counts["recovery -9"] > 300


@pytest.mark.slow
@pytest.mark.parametrize(("what", "status"), [("fail", "3"), ("interrupt", "130")])
def test_a_failure_of_each_call_leaves_the_old_tree(tmp_path: Path, what: str, status: str) -> None:
    faults, counts = separately(each_call, str(tmp_path), what, 1)
    assert faults == []
    assert counts[status] > 20


@pytest.mark.slow
@pytest.mark.parametrize("inodes", [False, True])
def test_a_full_disk(tmp_path: Path, inodes: bool) -> None:
    sizes = [60, 90, 140, 150, 160] if inodes else [100, 250, 290, 400, 520, 540, 560, 900]
    faults, counts = separately(full_disk, str(tmp_path), sizes, inodes, private=True)
    assert faults == []
    assert counts.keys() == {"3", "0 3", "0 0"}


@pytest.mark.long
def test_a_full_disk_of_a_hundred_sizes(tmp_path: Path) -> None:
    for sizes, inodes in ((list(range(4, 804, 8)), False), (list(range(3, 203, 2)), True)):
        faults, counts = separately(full_disk, str(tmp_path), sizes, inodes, private=True, timeout=600)
        assert faults == []
        assert counts.keys() == {"3", "0 3", "0 0"}


@pytest.mark.slow
def test_mount_points(tmp_path: Path) -> None:
    assert separately(mounts, str(tmp_path), private=True) == []
