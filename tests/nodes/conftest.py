"""One lab for the tests here: the 64-GPU cluster, scaled to six nodes, applied once; another for those in pair/.

Files run in the order of their names. Each leaves the cluster as it found it: manifest restored and applied, nodes
idle, no jobs. `CLUSTERGEN_TEST_LAB=NAME` takes the lab of that name, made where it is not there, and lets it stand.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import testinfra
import yaml
from testinfra.host import Host

from clustergen import compile as compiler
from clustergen.lab import engine as engines
from clustergen.lab import nodes, run
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare
from clustergen.manifest import source
from strategies.lab_nodes import LabNodes

ROOT = Path(__file__).parents[2]
NAME = os.environ.get("CLUSTERGEN_TEST_LAB") or "test-nodes"
SUBNET = os.environ.get("CLUSTERGEN_TEST_SUBNET") or "10.89.103.0/24"

TWO_HEADS = """\
name: test-two-heads
os: debian-13
networks:
  management: {cidr: 10.89.104.0/28, domain: two.example.org}
node_types:
  small: {cpu: {sockets: 1, cores_per_socket: 4}, memory: 8GiB}
nodes:
  - {name: head1, type: service, address: 10.89.104.1, roles: [slurm-controller, slurm-accounting]}
  - {name: head2, type: service, address: 10.89.104.2, roles: [slurm-controller]}
  - {name: n1, type: small, address: 10.89.104.3}
slurm:
  version: "24.11"
  configless: true
  federation: campus
  state_location: /srv/state/slurm
  slurmctld_timeout: 15
storage:
  state: {type: nfs, mount: /srv/state, server: nfs.example.org, path: /state, clients: [slurm-controller]}
"""

Document = dict[str, Any]


def loaded(place: Path) -> Document:
    """A manifest as plain dicts and lists, its scalars as clustergen reads them: 4:00:00 is text, not 14400."""
    document: Document = json.loads(json.dumps(source.load(place).data))
    return document


def shortened(document: Document) -> None:
    """Limits and times of the manifest that 64 GPUs and an hour's patience would need, for 24 GPUs and a test."""
    slurm = document["slurm"]
    slurm["preemption"]["exempt_time"] = "00:00:00"
    slurm["qos"]["scavenger"]["grace_time"] = "00:00:05"
    slurm["qos"]["normal"]["max_tres_per_user"] = {"gres/gpu": 16}
    slurm["priority"] = {"calc_period": 1}
    document["health"] = {"interval": 30}
    document["backups"] = {"directory": "/srv/backups"}
    document["reports"] = {"period": "day"}
    document["monitoring"] |= {"scrape_interval": 5, "thresholds": {"node_down": 10}}
    document["monitoring"]["receivers"]["hook"] = {"webhook": "http://localhost:9999/alerts", "severities": ["warning"]}


class Applied(NamedTuple):
    """The result of a run of `lab apply`."""

    rc: int
    stdout: str
    recap: dict[str, dict[str, int]]  # host → ok, changed, unreachable, failed, …
    stderr: str
    seconds: float

    @property
    def changed(self) -> int:
        return sum(counts["changed"] for counts in self.recap.values())


class Lab(LabNodes):
    """The nodes of a manifest as containers, and the manifest."""

    def __init__(self, directory: Path, name: str, document: Document) -> None:
        self._original = yaml.safe_dump(document, sort_keys=False)
        super().__init__(directory, name, self._original)
        self.first: Applied | None = None

    def up(self, *options: str) -> None:
        """Starts the nodes of the manifest that are not there."""
        self.verb("up", *options)

    def apply(self, *arguments: str, timeout: float = 900) -> Applied:
        """Renders the manifest and runs the playbook; `arguments` go to ansible-playbook."""
        began = time.monotonic()
        done = self.lab("apply", "--", *arguments, timeout=timeout)
        return Applied(done.returncode, done.stdout, recap(done.stdout), done.stderr, time.monotonic() - began)

    def settle(self) -> None:
        """Applies what is there and waits until all nodes take jobs."""
        done = self.apply()
        assert done.rc == 0, done.stdout + done.stderr
        self.idle()

    def document(self) -> Document:
        return loaded(self.file)

    def edit(self, function: Callable[[Document], object]) -> None:
        """Changes the manifest through its document and renders the lab's tree; nothing is applied yet."""
        document = self.document()
        function(document)
        self.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        self.render()

    def restore(self) -> None:
        """The manifest as it was first, rendered."""
        self.file.write_text(self._original, encoding="utf-8")
        self.render()

    def render(self) -> None:
        compiled = compiler.validate(self.file)
        assert compiled.ok, [d.message for d in compiled.diagnostics]
        prepare(compiled, self.file, self.work.name, Wish.read(self.work.wish))

    @property
    def tree(self) -> Path:
        return self.work.tree

    def addresses(self) -> dict[str, str]:
        """Host → address in the management network."""
        text = (self.tree / "inventory/hosts.ini").read_text(encoding="utf-8")
        return dict(re.findall(r"^(\S+) .*?ansible_host=(\S+)", text, re.MULTILINE))

    def users(self) -> None:
        """The people of the manifest's accounts, with one number on all nodes, as a directory would give them.

        Before Slurm starts: slurmctld looks only now and then for people whom it did not find.
        """
        people = sorted(
            {user for one in self.document()["slurm"]["accounts"].values() for user in one.get("users", ())}
        )
        script = "; ".join(
            f"id {name} >/dev/null 2>&1 || useradd -u {number} -m {name}" for number, name in enumerate(people, 2001)
        )
        for host in self.addresses():
            self.out(host, script)

    def submit(self, user: str, script: str, *options: str, host: str = "login1") -> str:
        """The number of a new job of this user; its output goes to /tmp/job-NUMBER of its first node."""
        words = f"sbatch --parsable -D /tmp -o /tmp/job-%j {' '.join(options)} --wrap {shlex.quote(script)}"
        return self.out(host, f"runuser -u {user} -- {words}")

    def clear(self) -> None:
        """No jobs, all nodes idle."""
        self.out("slurm-head", "squeue -h -o %A | xargs -r scancel")
        self.idle()

    def idle(self) -> None:
        """Until every node takes jobs and has none."""
        self.waits("slurm-head", "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")

    def host(self, name: str) -> Host:
        """A node as testinfra sees it."""
        return testinfra.get_host(f"ssh://{name}", ssh_config=str(self.ssh_config))

    def engine(self, *words: str) -> str:
        """A command of podman or docker; `{host}` is a node's container."""
        engine = engines.find(None, run.store())
        filled = [re.sub(r"\{([\w-]+)\}", lambda match: nodes.container(self.work, match[1]), word) for word in words]
        return engine.run(*filled).stdout


def recap(stdout: str) -> dict[str, dict[str, int]]:
    """Host → counts, of Ansible's PLAY RECAP."""
    rows = re.findall(r"^(\S+) +: (ok=.*)$", stdout.partition("PLAY RECAP")[2], re.MULTILINE)
    return {host: {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in rows}


@pytest.fixture(scope="session")
def lab_class() -> type[Lab]:
    """For labs of one file alone."""
    return Lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The cluster, applied. `lab.first` is that first run."""
    document = loaded(ROOT / "inventories/ml-training/manifest.yaml")
    shortened(document)
    made = Lab(tmp_path_factory.mktemp("nodes"), NAME, document)
    try:
        if not made.work.wish.exists():  # two nodes are bare, and get their packages; all kinds in test_bare.py
            made.up("--scale", "1", "--scale", "login=0", "--scale", "monitoring=0", "--subnet", SUBNET)
        made.up("--scale", "3", "--installed")
        made.users()
        made.first = made.apply()
        assert made.first.rc == 0, made.first.stdout[-6000:] + made.first.stderr[-2000:]
        made.idle()
        yield made
    finally:
        if "CLUSTERGEN_TEST_LAB" not in os.environ:
            made.verb("down")


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two controllers with one state directory and a node without GPUs, applied."""
    document = yaml.safe_load(TWO_HEADS)
    made = Lab(tmp_path_factory.mktemp("two-heads"), document["name"], document)
    try:
        made.up("--installed")
        made.first = made.apply()
        assert made.first.rc == 0, made.first.stdout + made.first.stderr
        yield made
    finally:
        made.verb("down")
