"""The primitive for what root writes: what is in the place of a file or its directories, and what fails half way."""

from __future__ import annotations

import base64
import io
import json
import os
import pwd
import resource
import signal
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_write
from ansible_collections.clustergen.cluster.plugins.modules import node_secret

PROGRAM = safe_write.__file__
USER = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory with a file; beside it, a file that nothing may touch."""
    directory = tmp_path / "place"
    directory.mkdir()
    (directory / "file").write_text("old")
    victim = tmp_path / "victim"
    victim.write_text("kept")
    victim.chmod(0o600)
    before = victim.stat()
    yield directory
    after = victim.stat()
    assert victim.read_text() == "kept"
    assert (after.st_mode, after.st_uid, after.st_mtime_ns) == (before.st_mode, before.st_uid, before.st_mtime_ns)


def names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


PLANTED: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda file, victim: file.symlink_to(victim),
    "dangling link": lambda file, victim: file.symlink_to(victim.with_name("absent")),
    "hard link": lambda file, victim: file.hardlink_to(victim),
    "pipe": lambda file, _: os.mkfifo(file),
    "nothing": lambda *_: None,
}


@pytest.mark.parametrize("case", PLANTED)
def test_an_object_in_the_place_of_a_file_is_replaced(case: str, place: Path, tmp_path: Path) -> None:
    file = place / "file"
    file.unlink()
    PLANTED[case](file, tmp_path / "victim")
    safe_write.replace(str(file), b"new", 0o640)
    assert file.read_text() == "new"
    assert (stat.S_IMODE(file.lstat().st_mode), names(place)) == (0o640, ["file"])


def test_a_directory_in_the_place_of_a_file_stays(place: Path) -> None:
    (place / "file").unlink()
    (place / "file").mkdir()
    with pytest.raises(IsADirectoryError):
        safe_write.replace(str(place / "file"), b"new")
    assert names(place) == ["file"]


@pytest.mark.parametrize("mode", [0o755, 0o775, 0o777, 0o1777])
def test_links_are_followed_only_in_directories_that_others_cannot_write_to(mode: int, place: Path) -> None:
    """/var/run is such a link; any other could lead anywhere a moment later."""
    around = place.parent / "around"
    around.mkdir()
    around.chmod(mode)
    (around / "link").symlink_to("../place")
    target = str(around / "link/./file")
    if mode == 0o755:
        safe_write.replace(target, b"new")
        assert (place / "file").read_text() == "new"
        return
    for function in (lambda: safe_write.replace(target, b"new"), lambda: safe_write.remove(target)):
        with pytest.raises(OSError, match="link is a symbolic link in a directory that not only root can write to"):
            function()
    assert (place / "file").read_text() == "old"


def test_a_loop_of_links_and_a_relative_path_are_refused(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    for path, reason in ((f"{place}/a/file", "Too many levels"), ("file", "not an absolute path")):
        with pytest.raises(OSError, match=reason):
            safe_write.replace(path, b"new")


def test_a_full_disk_leaves_the_old_file_and_no_other(place: Path) -> None:
    """Stands for ENOSPC: a limit on the size of files, which the kernel checks in the same place."""
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            safe_write.replace(str(place / "file"), b"x" * 4000)
        except OSError as err:
            status = 7 if err.filename == str(place / "file") else 2
        finally:
            os._exit(status)
    assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7
    assert (names(place), (place / "file").read_text()) == (["file"], "old")


def test_a_file_is_closed_to_others_until_it_is_complete(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the default access list of its directory gives nobody more than its mode."""
    nobody, none = 65534, 0xFFFFFFFF
    entries = [(0x01, 6, none), (0x02, 6, nobody), (0x04, 6, none), (0x10, 6, none), (0x20, 0, none)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(place, "system.posix_acl_default", acl)
    seen: list[tuple[int, int]] = []
    real = os.fchown

    def fchown(target: int, user: int, group: int) -> None:
        seen.append((stat.S_IMODE(os.fstat(target).st_mode), os.fstat(target).st_size))
        real(target, user, group)

    monkeypatch.setattr(os, "fchown", fchown)
    before = os.umask(0)
    try:
        safe_write.replace(str(place / "file"), b"secret", 0o640)
    finally:
        os.umask(before)
    assert seen == [(0o600, 6)]
    assert "system.posix_acl_access" not in os.listxattr(place / "file")
    assert stat.S_IMODE((place / "file").stat().st_mode) == 0o640


def test_a_reader_sees_one_name_of_a_regular_file(place: Path, tmp_path: Path) -> None:
    (place / "link").symlink_to(tmp_path / "victim")
    (place / "hard").hardlink_to(tmp_path / "victim")
    os.mkfifo(place / "pipe")
    for name, reason in (("link", "a symbolic link is in its place"), ("hard", "several names"), ("pipe", "not a reg")):
        with pytest.raises(OSError, match=reason):
            safe_write.open_file(str(place / name))
    os.close(safe_write.open_file(str(place / "file")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}/file"], ""),
        ([], "usage: clustergen-write /FILE <TEXT, or clustergen-write --directory /DIRECTORY USER\n"),
        (["--directory", "{}/new", "no-such"], "{}/new: no account no-such\n"),
        (["--directory", "{}/file/new", USER], "{}/file/new: file is not a directory\n"),
        (["{}/absent/file"], "{}/absent/file: No such file or directory\n"),
        (["{}/file/file"], "{}/file/file: file is not a directory\n"),
        (["file"], "file: not an absolute path\n"),
    ],
)
def test_the_program_replaces_a_file_or_says_why_not(arguments: list[str], message: str, place: Path) -> None:
    words = [sys.executable, "-IS", PROGRAM, *(argument.format(place) for argument in arguments)]
    done = subprocess.run(words, input=b"new", capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stderr.decode()) == (1 if message else 0, message.format(place))
    assert (place / "file").read_text() == ("old" if message else "new")


@pytest.mark.slow
def test_a_directory_for_an_account_is_created_only_where_nothing_is(place: Path, tmp_path: Path) -> None:
    """The owner of its parent, such as SlurmUser, gets no directory of root's through a link or an exchange."""
    assert os.geteuid() == 0, "root gives directories to other accounts"
    nobody = pwd.getpwnam("nobody").pw_uid
    roots = tmp_path / "roots"
    roots.mkdir(mode=0o755)
    (place / "link").symlink_to(roots)
    (place / "old").mkdir(mode=0o755)
    os.chown(place, nobody, -1)
    for name in ("link", "file", "old", "new/state"):
        words = [sys.executable, "-IS", PROGRAM, "--directory", str(place / name), "nobody"]
        subprocess.run(words, capture_output=True, timeout=300, check=True)
    new = (place / "new/state").stat()
    assert (new.st_uid, stat.S_IMODE(new.st_mode)) == (nobody, 0o700)
    others = [(path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) for path in (roots, place / "old")]
    assert others == [(0, 0o755)] * 2
    words = [sys.executable, "-IS", PROGRAM, "--directory", str(place / "link/state"), "nobody"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert "link is a symbolic link in a directory that not only root can write to" in done.stderr
    assert not list(roots.iterdir())


def test_a_directory_exchanged_while_it_is_created_keeps_its_owner(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "roots").mkdir()
    (place / "roots/file").touch()
    real = os.open

    def exchanged(name: str, *rest: Any, **more: Any) -> int:
        if name == "state":
            (place / "state").rmdir()
            (place / "roots").rename(place / "state")
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(OSError, match="not the directory that was created"):
        safe_write.make_directory(str(place / "state"), (65534, 65534))
    assert (place / "state").stat().st_uid == os.geteuid()


def secret(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **more: Any) -> Any:
    arguments = {"path": str(path), "owner": USER, "mode": "0400", **more}
    monkeypatch.setattr("sys.argv", ["node_secret"])
    text = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    monkeypatch.setattr("ansible.module_utils.basic._ANSIBLE_ARGS", None)
    with pytest.raises(SystemExit):
        node_secret.main()
    answer = json.loads(capsys.readouterr().out)
    answer.pop("invocation")
    return answer


def test_a_secret_is_installed_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place / "new/key"
    content = base64.b64encode(bytes(range(256))).decode()
    assert secret(path, monkeypatch, capsys, content=content, _ansible_check_mode=True) == {"changed": True}
    assert not path.exists()
    for is_changed in (True, False):
        assert secret(path, monkeypatch, capsys, content=content) == {"changed": is_changed}
    assert path.read_bytes() == bytes(range(256))
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o400, 0o755)
    path.chmod(0o444)
    assert secret(path, monkeypatch, capsys, content=content) == {"changed": True}
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    for more, message in (
        ({"content": "%"}, "not valid base64"),
        ({"content": ""}, "is empty"),
        ({"content": content, "owner": "no-such"}, "no account no-such for"),
    ):
        answer = secret(path, monkeypatch, capsys, **more)
        assert answer["failed"]
        assert message in answer["msg"]


def test_a_key_is_generated_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = place / "key"
    path.touch()  # as a run leaves it that was cut off
    first = secret(path, monkeypatch, capsys)
    assert first == {"changed": True, "content": base64.b64encode(path.read_bytes()).decode()}
    assert path.stat().st_size == 256
    assert secret(path, monkeypatch, capsys) == {**first, "changed": False}
    path.unlink()
    path.symlink_to(tmp_path / "victim")  # its content would become every node's key, which munge's account can read
    answer = secret(path, monkeypatch, capsys)
    assert answer["msg"] == f"{path}: a symbolic link is in its place"
    assert "content" not in answer
