"""The life of a cluster on real nodes: they are drained, come, go, are replaced, and Slurm moves to another release."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from strategies.lab_nodes import LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "life"
NET = "10.89.86"
FAILS = (1, 2, 4)  # Ansible: an error, failed hosts, unreachable ones

MANIFEST = """\
name: {name}
os: debian-13
networks:
  management: {{cidr: {net}.0/24, domain: {name}.local}}
node_types:
  h100:
    gpus: {{model: h100-sxm5-80gb, count: 8}}
    cpu: {{sockets: 2, cores_per_socket: 64, threads_per_core: 2}}
    memory: 1.5TiB
nodes:
  - {{name: head1, type: service, address: {net}.1, roles: [slurm-controller, slurm-accounting]}}
  - {{name: login1, type: service, address: {net}.2, roles: [login]}}
  - {{name: "compute[01-{last:02}]", type: h100, address: "{net}.[11-{high}]"}}
slurm:
  version: "24.11"
  mpi_default: pmi2
  partitions:
    gpu: {{nodes: "compute[01-{last:02}]", default: true, max_time: 1-0, default_time: 1:00:00}}
  accounts:
    research: {{description: Research, users: [root]}}
"""


def manifest(last: int = 2) -> str:
    return MANIFEST.format(name=NAME, net=NET, last=last, high=10 + last)


class Lab(LabNodes):
    """One lab of two or three compute nodes, made from a manifest that the test writes anew as it goes."""

    def manifest(self, last: int = 2) -> None:
        self.file.write_text(manifest(last), encoding="utf-8")

    def release(self, version: str) -> None:
        """Renders the lab's own manifest for another release of Slurm; its nodes stay as they are."""
        text = self.work.manifest.read_text(encoding="utf-8")
        text, count = re.subn(r"^(  version: ).*$", rf"\1'{version}'", text, flags=re.MULTILINE)
        assert count == 1
        self.work.manifest.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "clustergen", "render", str(self.work.manifest), "-o", str(self.work.tree)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr

    def state(self, node: str) -> str:
        return self.out("head1", f"sinfo -h -N -n {node} -o %T").split()[0]

    def boots(self) -> dict[str, str]:
        """When slurmd was started, by node."""
        ask = "systemctl show -p InvocationID --value slurmd.service"
        return {node: self.out(node, ask).strip() for node in ("compute01", "compute02")}

    def submit(self, script: str, *options: str) -> str:
        words = " ".join(options)
        return self.out("head1", f"cd /tmp && sbatch --parsable {words} --wrap '{script}'").strip()


@pytest.fixture(scope="module")
def nodes_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The nodes of the lab, which nothing has been applied to."""
    made = Lab(tmp_path_factory.mktemp("life"), NAME, manifest())
    try:
        made.verb("up", "--installed")
        yield made
    finally:
        made.verb("down")


@pytest.fixture
def lab(nodes_up: Lab) -> Lab:
    """The cluster with two compute nodes, applied, without jobs."""
    nodes_up.manifest()
    nodes_up.verb("apply")
    nodes_up.out("head1", "scancel --user=root")
    nodes_up.waits("head1", "sinfo -h -N -o '%N %T' | sort -u", r"\Acompute01 idle\s+compute02 idle\s*\Z")
    return nodes_up


def test_nodes_are_drained_come_go_and_are_replaced(lab: Lab) -> None:
    # Drained, with a reason; resumed only if a playbook has drained it.
    lab.play("drain", "nodes=compute[01-02]", "reason='new fans'")
    assert lab.state("compute01") == lab.state("compute02") == "drained"
    assert "clustergen playbook: new fans" in lab.out("head1", "scontrol show node compute01")
    lab.out("head1", "scontrol update nodename=compute02 state=resume")
    lab.out("head1", "scontrol update nodename=compute02 state=drain reason=mine")
    output = lab.play("resume", "nodes=compute[01-02]")
    assert "compute02, mine" in output
    assert (lab.state("compute01"), lab.state("compute02")) == ("idle", "drained")
    lab.play("resume", "nodes=compute02", "any_reason=true")
    assert lab.state("compute02") == "idle"
    assert "did you mean compute0" in lab.play("drain", "nodes=compute09", status=FAILS)

    # A release that Slurm cannot go to is refused before anything is touched.
    lab.release("23.11")
    assert "the tree is for 23.11" in lab.play("upgrade", status=FAILS)
    assert lab.out("head1", "test -e /var/backups/clustergen || sinfo -V").strip().endswith("24.11.5")

    # A node more: the new one and the controller are touched, a running job lives on.
    job = lab.submit("sleep 600", "--gpus=3", "-w", "compute01")
    before = lab.boots()
    lab.manifest(last=3)
    lab.verb("up")
    output = lab.play("add", "nodes=compute03")
    assert "2 other nodes" not in output.partition("RECAP")[2]
    assert "3 other nodes" in output
    assert not re.search(r"^(compute01|compute02|login1) +:", output, re.MULTILINE)
    assert lab.state("compute03") == "idle"
    assert lab.boots() == before
    assert "RUNNING" in lab.out("head1", f"scontrol show job {job}")
    assert lab.out("head1", "cd /tmp && srun -N2 -w compute[02-03] --gpus-per-node=8 hostname").split()

    # Another machine in its place: bare, with another host key. The old one was silent for so long that it is down.
    from clustergen.lab import engine, nodes, run

    # A job that is completing would end when slurmctld sets the node down.
    lab.waits("head1", "squeue -h -w compute03 && echo none", r"\Anone\s*\Z")
    result = engine.find(None, run.store())
    old = lab.work.known_hosts.read_text()
    result.run("rm", "-f", "-t", "0", nodes.container(lab.work, "compute03"))
    lab.verb("up")
    new = lab.work.known_hosts.read_text()
    lab.work.known_hosts.write_text(old)
    output = lab.play("replace", "nodes=compute03", status=FAILS)
    assert "A new machine has another host key" in output
    assert f"ssh-keygen -R {NET}.13" in output
    assert "drain" in lab.out("head1", "scontrol show node compute03").lower()
    lab.work.known_hosts.write_text(new)
    reason = "clustergen playbook: new machine : Not responding"  # as slurmctld writes it
    lab.out("head1", f"scontrol update nodename=compute03 state=down reason='{reason}'")
    lab.play("replace", "nodes=compute03")
    assert lab.state("compute03") == "idle"
    assert lab.out("head1", "cd /tmp && srun -w compute03 --gpus-per-node=8 hostname").strip() == "compute03"

    # It leaves: its job ends first; twice is as good as once, and a dead node may leave as well.
    last = lab.submit("sleep 15", "-w", "compute03")
    lab.waits("head1", f"squeue -h -j {last} -o %T", "RUNNING")
    output = lab.play("remove", "nodes=compute03")
    assert "COMPLETED" in lab.waits("head1", f"sacct -X -n -P -o state -j {last}", "COMPLETED")
    assert lab.out("compute03", "systemctl is-active slurmd; systemctl is-enabled slurmd; true").split() == [
        "inactive", "disabled",
    ]  # fmt: skip
    assert lab.out("compute03", "systemctl is-active ssh").strip() == "active"
    assert "slurm.partitions.gpu.nodes" in output
    assert "changed=1" not in lab.play("remove", "nodes=compute03").partition("RECAP")[2]
    result.run("rm", "-f", "-t", "0", nodes.container(lab.work, "compute03"))
    assert "Not reached: compute03" in lab.play("remove", "nodes=compute03")
    assert "RUNNING" in lab.out("head1", f"scontrol show job {job}")


@pytest.mark.long
def test_slurm_moves_from_24_11_to_26_05_with_its_jobs_and_its_accounting(lab: Lab) -> None:
    done = lab.submit("true")
    lab.waits("head1", f"sacct -X -n -P -o state -j {done}", "COMPLETED")
    runs = "while [ ! -e /tmp/go ]; do sleep 1; done; srun hostname"
    running = lab.submit(runs, "--gpus=3", "-w", "compute01", "-o", "/tmp/out")
    lab.waits("head1", f"squeue -h -j {running} -o %T", "RUNNING")
    waiting = lab.submit("srun hostname", "-N2", "--exclusive", "--gpus-per-node=8")
    started = lab.out("head1", f"squeue -h -j {running} -o %S")
    assert "PENDING" in lab.out("head1", f"squeue -h -j {waiting} -o %T")

    lab.release("26.05")
    output = lab.play("upgrade", "cluster_slurm_suite=forky")
    assert output.index("Accounting: ") < output.index("Controllers: ") < output.index("Nodes in batches: ")
    for node in ("head1", "login1", "compute01", "compute02"):
        assert "26.05" in lab.out(node, "sinfo -V")
    kept = lab.out("head1", "stat -c '%a %n' /var/backups/clustergen/*").split("\n")
    assert [line.split()[0] for line in kept if line] == ["600", "600"]
    assert "INSERT INTO" in lab.out("head1", "zcat /var/backups/clustergen/slurm_acct_db-24.11.5-*.sql.gz")
    assert lab.out("head1", f"squeue -h -j {running} -o %S") == started

    # The running job goes on to its end, the waiting one starts, and accounting has all three.
    lab.out("compute01", "touch /tmp/go")
    lab.waits("head1", f"sacct -X -n -P -o state -j {running}", "COMPLETED")
    assert lab.out("compute01", "cat /tmp/out").split() == ["compute01"]
    lab.waits("head1", f"sacct -X -n -P -o state -j {waiting}", "COMPLETED")
    rows = lab.out("head1", f"sacct -X -n -P -o jobid,state,alloctres -j {done},{running},{waiting}").split()
    assert [row.split("|")[:2] for row in rows] == [[job, "COMPLETED"] for job in (done, running, waiting)]
    assert "gres/gpu=3" in rows[1]
    assert "gres/gpu=16" in rows[2]
    assert "Slurm is 26.05 everywhere" in lab.play("upgrade", "cluster_slurm_suite=forky")
