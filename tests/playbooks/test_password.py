"""The password of slurmdbd's database on real nodes: asked for, put, exchanged, and given up again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from strategies.lab_nodes import LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "password"
MANIFEST = """\
name: password
os: debian-13
networks:
  management: {cidr: 10.89.85.0/24, domain: password.local}
node_types:
  plain: {cpu: {sockets: 1, cores_per_socket: 4}, memory: 8GiB}
nodes:
  - {name: head1, type: service, address: 10.89.85.1, roles: [slurm-controller, slurm-accounting]}
  - {name: compute01, type: plain, address: 10.89.85.11}
slurm:
  version: "24.11"
  mpi_default: pmi2
  accounting: {password: true}
  partitions:
    batch: {nodes: compute01, default: true, max_time: 1-0, default_time: 1:00:00}
"""


class Lab(LabNodes):
    def apply(self, password: str | None) -> tuple[bool, int, str]:
        """Success of the run, the number of tasks that changed something, and the output."""
        items = []
        if password:
            secrets = self.directory / "secrets.json"
            secrets.write_text(json.dumps({"secrets_given": {"slurmdbd": password}}), encoding="utf-8")
            items = ["--", "-vvv", "-e", f"@{secrets}"]
        done = self.lab("apply", *items)
        output = done.stdout + done.stderr
        return done.returncode == 0, sum(map(int, re.findall(r"changed=(\d+)", output))), output

    def login(self, password: str) -> bool:
        """True if MariaDB lets slurmdbd's account in with a password, asked as another user of the node."""
        ask = f"runuser -u nobody -- mariadb --user=slurm --password={password} --execute='SELECT 1'"
        return self.run("head1", ask).returncode == 0

    def accounting_answers(self) -> None:
        """Once slurmctld is registered, which a new or restarted slurmdbd waits for."""
        self.waits("head1", "timeout 20 sacctmgr -nP show cluster format=cluster", rf"\A{NAME}\s*\Z")

    def slurmdbd(self) -> str:
        return self.run("head1", "systemctl show -p InvocationID --value slurmdbd.service").stdout.strip()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path, NAME, MANIFEST)
    try:
        made.verb("up", "--installed")
        yield made
    finally:
        made.verb("down")
    assert not made.work.directory.exists()


@pytest.mark.parametrize("is_given_up", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_password_is_asked_for_put_exchanged_and_given_up(lab: Lab, is_given_up: bool) -> None:
    well, _, output = lab.apply(None)
    assert not well
    assert "secrets_given.slurmdbd" in output

    well, _, output = lab.apply("first-Word.1")
    assert well, output
    assert "first-Word.1" not in output
    lab.accounting_answers()
    assert lab.login("first-Word.1")
    assert not lab.login("second-Word.2")
    first = lab.slurmdbd()

    # The same one: nothing to do; below, none where there is one.
    well, changed, output = lab.apply("first-Word.1")
    assert (well, changed) == (True, 0), output
    assert lab.slurmdbd() == first

    well, _, output = lab.apply("second-Word.2")
    assert well, output
    assert "second-Word.2" not in output
    assert lab.login("second-Word.2")
    assert not lab.login("first-Word.1")
    assert lab.slurmdbd() != first
    lab.accounting_answers()

    if not is_given_up:
        return
    # By the socket from now on: the password counts no more.
    lab.file.write_text(MANIFEST.replace("password: true", "password: false"), encoding="utf-8")
    well, _, output = lab.apply(None)
    assert well, output
    lab.accounting_answers()
    assert not lab.login("second-Word.2")

    # And back, on a slurmdbd that runs.
    lab.file.write_text(MANIFEST, encoding="utf-8")
    well, _, output = lab.apply("third-Word.3")
    assert well, output
    assert lab.login("third-Word.3")
    lab.accounting_answers()
    assert lab.apply(None)[:2] == (True, 0)
