"""Commands that are interrupted or denied: one message at most, a documented exit code, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strategies.diffs import write

pytestmark = pytest.mark.slow

CONF = "ClusterName=c\nSlurmctldHost=h\nNodeName=n CPUs=1\nPartitionName=p Nodes=n Default=YES\n"


def run(*words: str, to: str | None = None) -> tuple[int, str]:
    """Exit code and stderr. Root's right to read everything is put down first."""
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    with Path(to or os.devnull).open("wb") as out:
        done = subprocess.run(
            [*drop, sys.executable, "-m", "clustergen", *words],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    return done.returncode, done.stderr


@pytest.mark.many
@pytest.mark.parametrize("verb", ["lint", "import", "diff"])
@pytest.mark.parametrize("mode", [("slurm.conf", 0), (".", 0)], ids=["file", "directory"])
def test_files_without_the_right_to_read(tmp_path: Path, verb: str, mode: tuple[str, int]) -> None:
    directory = tmp_path / "etc"
    directory.mkdir()
    (directory / "slurm.conf").write_text(CONF)
    closed = directory / mode[0]
    before = closed.stat().st_mode
    closed.chmod(mode[1])
    try:
        for path in (directory, directory / "slurm.conf"):
            code, answer = run(verb, str(path), *([str(path)] if verb == "diff" else []))
            assert "Traceback" not in answer
            assert code == 3 or (verb, code) == ("diff", 2)
            assert answer.strip()
    finally:
        closed.chmod(before)


def test_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    code, answer = run("lint", str(tmp_path), "--format", "json", to="/dev/full")
    assert (code, answer) == (3, "clustergen: cannot write: no space left on device\n")


@pytest.mark.parametrize("verb", ["validate", "render", "diff"])
def test_a_manifest_that_may_not_be_read_is_of_the_environment(tmp_path: Path, verb: str) -> None:
    manifest = write(tmp_path)
    manifest.chmod(0)
    code, answer = run(verb, str(manifest), *([str(manifest)] if verb == "diff" else []))
    assert code == 3
    assert "cannot read this file: permission denied" in answer


@pytest.mark.many
@pytest.mark.parametrize("where", ["2>&-", ">/dev/full", "2>/dev/full", ">&- 2>&-"])
def test_the_exit_code_survives_closed_streams(tmp_path: Path, where: str) -> None:
    """A message that cannot be printed must not end in exit code 1, which means differences."""
    (tmp_path / "bad.yaml").write_text("just text\n")
    manifest = write(tmp_path)
    expected = {
        f"validate {tmp_path / 'bad.yaml'}": 3 if where == ">/dev/full" else 2,
        f"diff {manifest} {tmp_path / 'none.yaml'}": 3,
        f"render {manifest} -o {tmp_path / 'tree'}": 3 if "full" in where else 0,
    }
    for words, code in expected.items():
        done = subprocess.run(["sh", "-c", f"{sys.executable} -m clustergen {words} {where}"], timeout=300, check=False)
        assert done.returncode == code
    assert (tmp_path / "tree" / "README.md").is_file()


_INTERRUPTED = """
import os, signal, sys
from clustergen.cli import main

def interrupt(frame, event, _):
    if sys.argv[1] in frame.f_code.co_filename:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)

sys.setprofile(interrupt)
main(sys.argv[2:])
"""


@pytest.mark.many
@pytest.mark.parametrize(
    ("words", "within"),
    [
        (("lint", "slurm.conf"), "slurmconf/parse.py"),
        (("import", "slurm.conf"), "slurmconf/parse.py"),
        (("diff", "manifest.yaml", "manifest.yaml"), "render/build.py"),
        (("explain", "manifest.yaml", "/etc/slurm/slurm.conf"), "render/build.py"),
        (("lab", "up", "manifest.yaml"), "manifest/source.py"),
        (("render", "manifest.yaml"), "rules/names.py"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_an_interruption(tmp_path: Path, words: tuple[str, ...], within: str) -> None:
    """The signal comes as soon as the command is in that module."""
    (tmp_path / "slurm.conf").write_text(CONF)
    write(tmp_path)
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, within, *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("clustergen: interrupted")


def test_an_interruption_while_git_is_asked_leaves_no_directory(tmp_path: Path) -> None:
    """A `git` that takes its time: what is unpacked for the diff is removed."""
    started = tmp_path / "started"
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntouch {started}\nexec sleep 60\n")
    slow.chmod(0o755)
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    environment = {**os.environ, "PATH": f"{slow.parent}:{os.environ['PATH']}", "TMPDIR": str(unpacked)}
    process = subprocess.Popen(
        [sys.executable, "-m", "clustergen", "diff", "HEAD:a", "b"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    while not started.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the children hear it too
    _, answer = process.communicate(timeout=300)
    assert (process.returncode, answer) == (130, "clustergen: interrupted\n")
    assert list(unpacked.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [("lint", "DIRECTORY", "--format", "json"), ("import", "DIRECTORY"), ("explain",), ("schema",)],
    ids=lambda w: w[0],
)
def test_a_reader_that_has_seen_enough(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    items = [str(tmp_path) if word == "DIRECTORY" else word for word in words]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "clustergen", *items],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_terminal_without_unicode_gets_escapes(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    manifest.write_text(manifest.read_text(encoding="utf-8") + "nöde→: 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "clustergen", "validate", str(manifest)],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stdout
    assert b"\\u2192" in done.stdout


@pytest.mark.slow
def test_explain_on_a_terminal_without_unicode(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "clustergen", "explain", str(manifest), "slurm.conf"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "slurm.conf, on the nodes" in done.stdout.decode("latin-1")
