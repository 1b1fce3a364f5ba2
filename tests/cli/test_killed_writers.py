"""Writers of files, killed before any of their system calls: each file is old or new, and no hidden copy stays."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clustergen.cli.writing import write_all, write_own
from clustergen.lint import fix
from clustergen.new_file import NewFile

OLD, NEW = "ClusterName=old\n", "ClusterName=new\n"
CALLS = ("open", "os.link", "os.rename", "os.remove", "os.chmod", "os.chown", "os.scandir", "os.mkdir")


def write_two(path: Path) -> None:
    write_all({path: NEW.encode(), path.with_name("other"): NEW.encode()})


WRITERS: dict[str, Callable[[Path], None]] = {
    "lint --fix": lambda path: fix.write(path, NEW),
    "init, import -o": write_two,
    "plan --out": lambda path: write_own(path, NEW.encode(), lambda place: 0o644 if place.exists() else None),
}


def killed_before(number: int, write: Callable[[Path], None], path: Path) -> bool:
    """True if the writer was killed before its call of this number; False where it ends first."""
    child = os.fork()
    if child == 0:  # pragma: no cover
        seen = 0

        def audit(event: str, _arguments: tuple[object, ...]) -> None:
            nonlocal seen
            if event in CALLS:
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        write(path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


@pytest.mark.slow
@pytest.mark.parametrize("has_unnamed", [True, False])
@pytest.mark.parametrize(
    ("writer", "is_new"), [*((name, False) for name in WRITERS), ("init, import -o", True), ("plan --out", True)]
)
def test_a_killed_writer_leaves_the_old_or_the_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, is_new: bool, has_unnamed: bool
) -> None:
    if not has_unnamed:
        monkeypatch.setattr(os, "O_TMPFILE", os.O_CREAT | os.O_DIRECTORY)  # which every file system refuses
    path = tmp_path / "slurm.conf"
    number, copies, moments = 0, 0, 0
    while True:
        number += 1
        path.unlink(missing_ok=True)
        if not is_new:
            path.write_text(OLD, encoding="utf-8")
        if not killed_before(number, WRITERS[writer], path):
            break
        moments += 1
        assert is_new or path.exists()
        assert not path.exists() or path.read_text(encoding="utf-8") in (OLD, NEW)
        hidden = list(tmp_path.glob(".*"))
        copies += bool(hidden)
        assert len(hidden) <= (1 if has_unnamed else 2)
        with NewFile(path, NEW.encode()) as file:  # the next writer of this directory
            file.replace()
        assert not list(tmp_path.glob(".*"))
    assert moments > 3
    files = 2 if writer == "init, import -o" else 1
    if has_unnamed:  # only between the name and the rename
        assert copies <= files
    assert not list(tmp_path.glob(".*"))


def test_files_of_others_and_unfinished_ones_are_left_untouched(tmp_path: Path) -> None:
    with NewFile(tmp_path / "new", b"new") as file:
        machine = file._temporary_name().split(".")[2]
    names = [
        f".clustergen.{machine}.{os.getpid()}.0",
        f".clustergen.{machine}.{os.getppid()}.1",
        f".clustergen.{'0' * 12}.999999998.1",  # of another machine, or of another namespace of processes
        f".clustergen.{machine}.٣٣.1",
        ".clustergen.x",
        ".slurm.conf.swp",
    ]
    for name in names:
        (tmp_path / name).write_text("x", encoding="utf-8")
    directory = f".clustergen.{machine}.999999999.1"
    (tmp_path / directory).mkdir()
    for name in (f".clustergen.{machine}.999999998.1", f".clustergen.{'0' * 12}.999999998.2"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    day_ago = time.time() - 90_000
    os.utime(tmp_path / f".clustergen.{'0' * 12}.999999998.2", (day_ago, day_ago))
    with NewFile(tmp_path / "new", b"new") as file:
        file.replace()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, directory, "new"])
