"""The power of all nodes is cut: compute nodes return first, controllers and the database last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

# slurmd without a configuration asks the controllers for minutes, each for 19 seconds; a test has less patience.
IMPATIENT = r"""
mkdir -p /etc/systemd/system/slurmd.service.d
printf '[Service]\nTimeoutStartSec=30\n' >/etc/systemd/system/slurmd.service.d/97-lab.conf
systemctl daemon-reload
"""
PARTS = {"slurmctld.service", "slurmd.service", "slurmdbd.service", "munge.service", "node in Slurm", "queued job"}


def test_only_what_runs_can_stay_away(pair: Lab) -> None:
    for name, message in (("head3", "no node of the lab"), ("head1:named.service", "it does not run there")):
        done = pair.lab("outage", "--away", name)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_dead_node_keeps_no_other_from_a_change_and_gets_it_later(pair: Lab) -> None:
    more = {
        "type": "nfs", "mount": "/srv/more", "server": "nfs.example.org", "path": "/more", "required": False,
        "clients": ["slurm-controller", "slurm-compute"],
    }  # fmt: skip

    def mounted() -> list[str]:
        return [pair.out(host, "findmnt -rno TARGET /srv/more || echo none") for host in ("head2", "n1")]

    def change(document: dict[str, Any]) -> None:
        document["storage"]["more"] = more
        document["slurm"]["slurmctld_timeout"] = 16

    pair.edit(change)
    pair.fault("kill", "n1")
    try:
        done = pair.apply()
        assert done.rc == 4, done.stdout
        assert "off: n1" in done.stderr
        assert (done.recap["n1"]["unreachable"], done.recap["head2"]["unreachable"]) == (1, 0)
        assert done.recap["head2"]["changed"] > 0, done.stdout
    finally:
        pair.fault("revive", "n1")
    done = pair.apply()
    assert (done.rc, mounted()) == (0, ["/srv/more", "/srv/more"]), done.stdout
    pair.restore()
    done = pair.apply()
    assert (done.rc, mounted()) == (0, ["none", "none"]), done.stdout
    pair.waits("head1", "sinfo -h -N -o %T", r"\Aidle\s*\Z")


def test_a_cluster_without_power_recovers_by_itself(pair: Lab) -> None:
    pair.out("n1", IMPATIENT)
    try:
        done = pair.lab("outage", "--pause", "35", "--limit", "240", timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = dict(re.findall(r"(?m)^(\S+(?: \S+)*) {2,}\S+ +\d+ s +\d+ s +(yes) +-$", done.stdout))
        assert set(rows) >= PARTS | {"record of the job"}, done.stdout
        assert "start operation timed out" in pair.out("n1", "journalctl -b --no-pager -u slurmd")
    finally:
        pair.out("n1", "rm /etc/systemd/system/slurmd.service.d/97-lab.conf; systemctl daemon-reload")


@pytest.mark.long
@pytest.mark.parametrize("away", [("head1",), ("head1:mariadb.service", "head1:slurmdbd.service")], ids=" ".join)
def test_jobs_run_without_a_controller_and_without_the_database(pair: Lab, away: tuple[str, ...]) -> None:
    options = [word for name in away for word in ("--away", name)]
    done = pair.lab("outage", *options, "--pause", "5", "--limit", "240", timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f" recovered without {', '.join(away)}" in done.stdout + done.stderr
    assert re.search(r"(?m)^record of the job .* yes +-$", done.stdout), done.stdout
