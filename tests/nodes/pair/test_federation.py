"""A second cluster joins the federation with the first one's slurmdbd: jobs of one cluster run on the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import yaml

from clustergen.lab import nodes

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

IN_PAIR = "10.89.104.5"  # the second cluster's address in the network of the first
EAST = """\
name: test-east
os: debian-13
networks:
  management: {cidr: 10.89.105.0/29, domain: east.example.org}
node_types:
  small: {cpu: {sockets: 1, cores_per_socket: 4}, memory: 8GiB}
nodes:
  - {name: east, type: small, address: 10.89.105.1, roles: [slurm-controller, slurm-compute]}
slurm:
  version: "24.11"
  federation: campus
  accounting: {slurmdbd: 10.89.104.1}
"""


@pytest.fixture(scope="module")
def east(pair: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One node, applied with the MUNGE key of the first cluster as docs/slurm.md says."""
    document = yaml.safe_load(EAST)
    made = type(pair)(tmp_path_factory.mktemp("east"), document["name"], document)
    try:
        made.up("--installed")
        made.engine("network", "connect", "--ip", IN_PAIR, nodes.network(pair.work), "{east}")
        key = pair.out("head1", "base64 -w0 /etc/munge/munge.key")
        path = "/etc/munge/munge.key"
        made.out("east", f"umask 077; echo {key} | base64 -d >{path}; chown munge: {path}")
        done = made.apply()
        assert done.rc == 0, done.said + done.stderr
        pair.waits("head1", "scontrol show federation", r"Sibling: +test-east:.*Synced:Yes")
        made.waits("east", "sinfo -h -o %T", r"\Aidle\s*\Z")
        yield made
    finally:
        pair.run("head1", "scancel -u root; sacctmgr -i modify federation campus set clusters-=test-east")
        made.verb("down")


def submit(lab: Lab, options: str, script: str) -> str:
    words = f"sbatch --parsable -D /tmp -o /tmp/job-%j {options} --wrap '{script}'"
    return lab.out("head1", words).partition(";")[0]


def ended(lab: Lab, job: str) -> str:
    """Cluster, node and state of a job in the accounting database of the federation, once it has ended."""
    return lab.waits("head1", f"sacct --federation -X -n -P -j {job} -o Cluster,NodeList,State", "COMPLETED|FAILED")


def test_a_job_for_the_other_cluster_runs_there(pair: Lab, east: Lab) -> None:
    job = submit(pair, "-M test-east", "hostname")
    assert ended(pair, job) == "test-east|east|COMPLETED"
    assert east.out("east", f"cat /tmp/job-{job}") == "east"


def test_a_job_whose_cluster_is_full_runs_on_the_other(pair: Lab, east: Lab) -> None:
    pair.waits("head1", "sinfo -h -o %T", r"\Aidle\s*\Z")
    full = submit(pair, "--exclusive -w n1", "sleep 600")
    pair.waits("head1", f"squeue -h -j {full} -o %T", "RUNNING")
    job = submit(pair, "", "hostname")
    assert ended(pair, job) == "test-east|east|COMPLETED"
    assert int(job) >> 26 == int(full) >> 26  # number of the cluster that accepted the job
    assert east.out("east", f"cat /tmp/job-{job}") == "east"
    rows = pair.out("head1", "sacct --federation -X -n -P -o JobID,Cluster,State").splitlines()
    assert f"{full}|test-two-heads|RUNNING" in rows
    assert f"{job}|test-east|COMPLETED" in rows
