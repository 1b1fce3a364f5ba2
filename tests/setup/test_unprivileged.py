"""Abilities of an ordinary user, with a real one: made in a private copy of /etc, which goes with its namespace."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import clustergen

pytestmark = pytest.mark.container  # needs root, to become somebody else

AS_ALICE = """
import json, os, pwd, sys
from pathlib import Path
from clustergen.setup import packages, parsers
from clustergen.verify import namespaces, sandbox

alice = pwd.getpwnam("alice")
os.setgroups([])
os.setgid(alice.pw_gid)
os.setuid(alice.pw_uid)
box = sandbox.Sandbox(Path("/"), is_one_user=True)
lacks = namespaces.lacks()
json.dump({
    "lacks": [lack.what for lack in lacks],
    "command": packages.administrator_command(lacks),
    "alone": sandbox.run(box, ["/bin/sh", "-c", "id -u; touch /etc/left; echo changed"], timeout=60).stdout,
    "daemons": sandbox.unavailable(Path("/")),
}, sys.stdout)
"""
SCENE = """
set -eu
mount -t tmpfs scene "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
useradd --no-create-home --shell /bin/sh alice
sed -i '/^alice:/d' /etc/subuid /etc/subgid
shift
"$@"
echo
usermod --add-subuids 300000-365535 --add-subgids 300000-365535 alice
"$@"
"""


@pytest.fixture
def package() -> Iterator[Path]:
    """The package where everybody may read it."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        ignored = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(Path(clustergen.__file__).parent, Path(place, "clustergen"), ignore=ignored)
        subprocess.run(["chmod", "-R", "a+rX", place], check=True)
        yield Path(place)


def test_missing_rights_are_named_and_one_user_is_enough_for_most_programs(package: Path, tmp_path: Path) -> None:
    (tmp_path / "scene").mkdir()
    code = f"import sys; sys.path.insert(0, {str(package)!r})\n{AS_ALICE}"
    python = [sys.executable, "-P", "-c", code]
    command = ["unshare", "--mount", "bash", "-c", SCENE, "bash", str(tmp_path / "scene"), *python]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    before, after = map(json.loads, done.stdout.splitlines())
    mapper = [] if shutil.which("newuidmap") else ["newuidmap is not installed"]
    assert before["lacks"] == [*mapper, "alice has no range of ids in /etc/subuid and /etc/subgid"]
    assert "sudo usermod --add-subuids " in before["command"]
    assert before["command"].endswith(" alice")
    assert after["lacks"] == mapper
    for state in (before, after):
        assert state["alone"] == "0\nchanged\n"
        assert state["daemons"] is not None
    assert "/etc/subuid and /etc/subgid: run clustergen setup parsers" in before["daemons"]
    assert not Path("/etc/left").exists()
