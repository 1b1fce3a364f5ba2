"""A lab of a test: its verbs, playbooks, and commands on its nodes, over one ssh connection for each node."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from clustergen.lab.work import Work

PATIENCE = 240  # seconds for what a machine at rest does in a few; a wait ends as soon as it may

_SSH = """\
Include {lab}
Host *
  IdentitiesOnly yes
  BatchMode yes
  GlobalKnownHostsFile /dev/null
  ConnectTimeout 10
  LogLevel ERROR
  ControlMaster auto
  ControlPath {sockets}/%C
  ControlPersist 20
  ServerAliveInterval 5
  ServerAliveCountMax 2
"""


@cache
def _sockets() -> Path:
    """Where connections are kept: a socket's path has 108 characters at most."""
    return Path(tempfile.mkdtemp(prefix="lab-"))


class LabNodes:
    """The nodes of a manifest as containers."""

    def __init__(self, directory: Path, name: str, manifest: str) -> None:
        self.directory = directory
        self.file = directory / "manifest.yaml"
        self.file.write_text(manifest, encoding="utf-8")
        self.work = Work(name)

    def lab(self, verb: str, *arguments: str, timeout: float = 1200) -> subprocess.CompletedProcess[str]:
        """`clustergen lab VERB MANIFEST …`."""
        command = [sys.executable, "-m", "clustergen", "lab", verb, str(self.file), "--name", self.work.name]
        return subprocess.run(
            [*command, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    def verb(self, verb: str, *arguments: str, timeout: float = 1200) -> str:
        """The same, which has to succeed; what it printed. The first one may have to build an image."""
        done = self.lab(verb, *arguments, timeout=timeout)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fault(self, action: str, *hosts: str) -> None:
        """`clustergen lab fault`: kills, cuts off or revives nodes."""
        command = [sys.executable, "-m", "clustergen", "lab", "fault", "--name", self.work.name, action, *hosts]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr

    @property
    def ssh_config(self) -> Path:
        place = self.directory / "ssh_config"
        if not place.exists():
            place.write_text(_SSH.format(lab=self.work.ssh_config, sockets=_sockets()), encoding="utf-8")
        return place

    def run(self, host: str, script: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """A script of the shell as root on a node; no longer than `timeout` seconds there and here."""
        words = ["ssh", "-F", str(self.ssh_config), host, f"timeout -k 2 {timeout} bash -c {shlex.quote(script)}"]
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout + 15, check=False
        )

    def out(self, host: str, script: str, timeout: float = 60) -> str:
        """Output of a script, which must succeed."""
        done = self.run(host, script, timeout)
        assert done.returncode == 0, f"{host}: {script}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def waits(self, host: str, script: str, pattern: str, seconds: float = PATIENCE) -> str:
        """Until what a script prints matches; what it printed then."""
        until = time.monotonic() + seconds
        while True:
            done = self.run(host, script)
            if re.search(pattern, done.stdout, re.MULTILINE):
                return done.stdout.strip()
            assert time.monotonic() < until, f"{host}: {script} printed no {pattern!r}:\n{done.stdout}{done.stderr}"
            time.sleep(0.5)

    def playing(self, book: str | Path, *arguments: str) -> subprocess.Popen[str]:
        """A playbook of the collection, or of a file, that runs on the nodes."""
        program = Path(sys.executable).with_name("ansible-playbook")
        name = book if isinstance(book, Path) else f"clustergen.cluster.{book}"
        return subprocess.Popen(
            [str(program), str(name), *arguments], env=self.work.environment(), cwd=self.work.directory,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def play(self, book: str | Path, *variables: str, status: Sequence[int] = (0,)) -> str:
        """Output of a playbook with these variables, which must end with one of these statuses."""
        with self.playing(book, *(word for variable in variables for word in ("-e", variable))) as process:
            try:
                answer, _ = process.communicate(timeout=900)
            finally:
                process.kill()
        assert process.returncode in status, answer
        return answer
