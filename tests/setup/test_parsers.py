"""Roots are complete or absent, and a failure names its reason; mmdebstrap is stood in for by a script."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clustergen.diagnostics import ClustergenError
from clustergen.setup import packages, parsers
from clustergen.verify import namespaces

# Writes what the hook of a real build leaves, into the directory or archive that is the last argument but a mirror.
BUILDS = r"""
echo "$@" >>"$LOG"
for last; do case $last in *customize-hook*) recipe=$(expr "$last" : '.*echo \([0-9a-f]*\) >'); esac; done
for word; do case $word in /*.new) target=$word ;; -) target=$(mktemp -d) archive=yes ;; esac; done
mkdir -p "$target/var/lib/clustergen" "$target/usr" "$target/dev"
echo 24.11.5 >"$target/var/lib/clustergen/slurm-version"
echo "$recipe" >"$target/var/lib/clustergen/recipe"
touch "$target/dev/null"
[ -z "$archive" ] || tar -c -C "$target" .
"""
FAILS = r"""
for word; do case $word in /*.new) mkdir -p "$word/usr/closed"; chmod 0 "$word/usr/closed" ;; esac; done
echo 'I: running apt' >&2; echo 'E: Could not resolve deb.example.org' >&2; exit 25
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty parsers' directory on a machine that has everything but a real mmdebstrap."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path / "parsers"))
    monkeypatch.setenv("CLUSTERGEN_MIRROR", "http://mirror.example.org/debian")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setattr(packages, "missing", lambda needs: [])
    monkeypatch.setattr(namespaces, "lacks", list)
    return tmp_path / "parsers"


def mmdebstrap(directory: Path, script: str) -> None:
    program = directory.parent / "bin/mmdebstrap"
    program.write_text(f"#!/bin/bash\n{script}", encoding="utf-8")
    program.chmod(0o755)


def set_up(*suites: str) -> list[tuple[str, str]]:
    reports: list[tuple[str, str]] = []
    parsers.set_up(suites, lambda name, text: reports.append((name, text)))
    return reports


@pytest.mark.parametrize("user", [0, 1000])
def test_a_root_is_built_once(directory: Path, monkeypatch: pytest.MonkeyPatch, user: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    mmdebstrap(directory, BUILDS)
    reports = set_up("trixie")
    assert reports[-1][1].startswith("Slurm 24.11.5: built in ")
    assert sorted(path.name for path in directory.iterdir()) == [".lock", "trixie"]
    assert (directory / "trixie/dev/null").exists() == (user == 0)  # a user's archive leaves device files out
    command = (directory.parent / "log").read_text(encoding="utf-8")
    assert f"--mode={'unshare' if user else 'root'} " in command
    assert command.endswith("http://mirror.example.org/debian\n")
    assert set_up("trixie")[1:] == [("trixie", "Slurm 24.11.5: ready")]
    assert (directory.parent / "log").read_text(encoding="utf-8") == command


def test_an_outdated_root_is_replaced(directory: Path) -> None:
    mmdebstrap(directory, BUILDS)
    set_up("trixie")
    (directory / "trixie/var/lib/clustergen/recipe").write_text("0123456789abcdef\n", encoding="ascii")
    (directory / "trixie/old").touch()
    set_up("trixie")
    assert not (directory / "trixie/old").exists()


@pytest.mark.parametrize("user", [0, 1000])
def test_a_failure_leaves_no_root_and_names_the_reason(
    directory: Path, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    mmdebstrap(directory, FAILS)
    with pytest.raises(ClustergenError) as failure:
        set_up("trixie", "forky")
    assert failure.value.message.splitlines() == [
        "trixie could not be built: E: Could not resolve deb.example.org",
        "forky could not be built: E: Could not resolve deb.example.org",
    ]
    assert failure.value.exit_code == 3
    assert str(directory / "trixie.log") in (failure.value.hint or "")
    assert sorted(path.name for path in directory.iterdir()) == [".lock", "forky.log", "trixie.log"]


def test_a_user_gets_the_one_command_for_an_administrator(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that need no package are done all the same."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages, "missing", lambda needs: ["mmdebstrap"] if "mmdebstrap" in needs else [])
    grant = "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 alice"
    monkeypatch.setattr(
        namespaces,
        "lacks",
        lambda: [
            namespaces.Lack("newuidmap is not installed", package="uidmap"),
            namespaces.Lack("alice has no range of ids in /etc/subuid and /etc/subgid", command=grant),
        ],
    )
    done: list[str] = []
    with pytest.raises(ClustergenError) as failure:
        parsers.set_up(["trixie"], lambda name, text: None, [lambda: done.append("nccl")])
    assert failure.value.message == (
        "mmdebstrap is not installed; newuidmap is not installed; "
        "alice has no range of ids in /etc/subuid and /etc/subgid"
    )
    command = f"sudo apt-get install --no-install-recommends mmdebstrap uidmap && {grant}"
    assert failure.value.hint == f"ask an administrator to run once: {command}"
    assert done == ["nccl"]


def test_roots_that_a_user_cannot_enter_are_not_ready(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mmdebstrap(directory, BUILDS)
    set_up("trixie")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages, "missing", lambda needs: list(needs))  # which building alone requires
    lack = namespaces.Lack("newuidmap is not installed", package="uidmap")
    monkeypatch.setattr(namespaces, "lacks", lambda: [lack])
    with pytest.raises(ClustergenError, match=r"^newuidmap is not installed$") as failure:
        set_up("trixie")
    assert (failure.value.hint or "").endswith("sudo apt-get install --no-install-recommends uidmap")


def test_the_hooks_of_a_build_are_valid_scripts() -> None:
    command = parsers._command("trixie", "-", is_root=False)
    hooks = [word.partition("=")[2] for word in command if word.startswith("--customize-hook=")]
    assert [subprocess.run(["sh", "-n", "-c", hook], check=False, timeout=300).returncode for hook in hooks] == [0, 0]
    assert hooks[-1].endswith(f'echo {parsers.recipe("trixie")} >"$d/recipe"')


def test_recipes_differ() -> None:
    assert len({parsers.recipe(suite) for suite in parsers.SUITES}) == len(parsers.SUITES)


@pytest.mark.parametrize(
    ("system", "files", "url"),
    [
        ("debian", {"sources.list.d/debian.sources": "Types: deb\nURIs: http://one.example/debian/\n"}, "http://one.example/debian/"),
        ("debian", {"sources.list": "deb [arch=amd64] https://two.example/debian trixie main\n"}, "https://two.example/debian"),
        ("debian", {"sources.list.d/more.list": "deb http://three.example/debian trixie main\n"}, "http://three.example/debian"),
        ("debian", {"sources.list": "deb http://four.example/debian-security trixie main\n"}, ""),
        ("ubuntu", {"sources.list": "deb http://five.example/debian noble main\n"}, ""),
        ("debian", {}, ""),
    ],
)  # fmt: skip
def test_packages_come_from_the_mirror_of_this_machines_apt(
    system: str, files: dict[str, str], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLUSTERGEN_MIRROR", raising=False)
    (tmp_path / "os-release").write_text(f'NAME="any"\nID={system}\n', encoding="utf-8")
    for name, text in files.items():
        (tmp_path / "apt" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "apt" / name).write_text(text, encoding="utf-8")
    assert parsers.mirror(tmp_path) == url


SET_UP = """
from clustergen import child_process
from clustergen.setup import packages, parsers
from clustergen.verify import namespaces
packages.missing, namespaces.lacks = lambda needs: [], list
child_process.end_with_us()
parsers.set_up(list(parsers.SUITES), print)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_all_builds_and_leaves_no_root(directory: Path, number: signal.Signals) -> None:
    """`timeout` leads a process group of its own, which Ctrl-C does not reach."""
    mmdebstrap(directory, 'echo $$ >"$LOG.$$.new"; mv "$LOG.$$.new" "$LOG.$$"; exec sleep 300')
    with subprocess.Popen(
        [sys.executable, "-c", SET_UP], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        until = time.monotonic() + 300
        while len(places := list(directory.parent.glob("log.*[0-9]"))) < len(parsers.SUITES):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=300)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    programs = [Path(f"/proc/{place.read_text(encoding='ascii').strip()}/exe") for place in places]
    while any(program.exists() for program in programs):
        assert time.monotonic() < until + 60
        time.sleep(0.05)
    assert not [path for path in directory.iterdir() if path.is_dir()]
