"""A power cut in a lab: all nodes off at once, back in the order that is worst, and what recovers by itself."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from urllib.parse import quote

import yaml

from clustergen.cluster.exports import serves
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.monitoring import Monitoring, Prometheus
from clustergen.cluster.slurm.associations import Associations
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import compress
from clustergen.lab import nodes
from clustergen.lab.engine import Engine
from clustergen.lab.substitutions import people
from clustergen.lab.work import Work
from clustergen.records import record
from clustergen.render.inventory_file import VARIABLES

Report = Callable[[str], None]
_SAVED_S = 10  # slurmctld writes its state a few seconds after a job was submitted
_ASSOCIATIONS_S = 330  # and associations every five minutes; without them it waits for slurmdbd
_POLL_S = 2
_UP = {"idle", "mixed", "allocated"}
PART_ALERTS = {  # besides those that have the name of the unit
    "prometheus-node-exporter.service": "NodeDown|RackDown",
    "slurmctld.service": "SlurmctldUnreachable|SlurmControllerDown|SlurmMetricsMissing",
    "slurmdbd.service": "SlurmdbdBacklog",
    "node in Slurm": "SlurmNode.*|SlurmManyNodesDown",
}
_ASK = """python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read().decode())' """
_JOB = "sbatch --parsable --job-name outage --begin now+60 --chdir /tmp --output /dev/null --wrap hostname"


@record
class Part:
    """Something that ran before the power cut. Seconds; None: it did not come back."""

    name: str
    hosts: str
    off_s: float
    """From the power cut until its node was switched on, or it could start if it was away itself; for what is no unit,
    until the last of them before it was back.
    """
    back_s: float | None
    """From then until it ran."""
    alerts: tuple[str, ...]
    """Alerts that were raised meanwhile."""


@record
class Raised:
    """An alert that Prometheus had. `unit` and `host` are empty where it names none."""

    name: str
    state: str  # firing or pending
    host: str
    unit: str

    def is_about(self, part: str, hosts: Sequence[str]) -> bool:
        named = self.unit == part if self.unit else bool(re.fullmatch(PART_ALERTS.get(part, ""), self.name))
        return named and (not self.host or self.host in hosts)


class Outage:
    """One power cut. `away`: nodes, or NODE:UNIT, that return only when all else has recovered."""

    def __init__(self, engine: Engine, work: Work, cluster: Cluster, away: Sequence[str], limit_s: float) -> None:
        self.engine, self.work, self.cluster, self.limit_s = engine, work, cluster, limit_s
        self.away_nodes = {name for name in away if ":" not in name}
        self.away_units = [tuple(name.split(":", 1)) for name in away if ":" in name]
        hosts = {host for group in cluster.groups for host in group.hosts}
        for name in away:
            if name.partition(":")[0] not in hosts:
                raise ClustergenError(f"--away {name}: no node of the lab", f"nodes: {compress(sorted(hosts))}", 2)
        self.cut = 0.0
        self.hosts: list[str] = []
        """Nodes that are on when it begins; others stay off."""
        self.started: dict[str, float] = {}  # host → since when it is on
        self.released: dict[tuple[str, str], float] = {}  # (unit, host) that was away → since when it may start
        self.back: dict[tuple[str, str], float] = {}  # (part, host) → when it ran again
        self.expected: dict[str, tuple[str, ...]] = {}  # host → its units that ran
        self.raised: list[Raised] = []

    def run(self, pause_s: float, report: Report) -> list[Part]:
        """Every part, as it came back: compute nodes start first, servers next, controllers last."""
        rows = {row["node"]: row for row in nodes.running(self.engine, self.work) if row["state"] == "running"}
        self.hosts = [host for group in self.cluster.groups for host in group.hosts if host in rows]
        for host in sorted({name.partition(":")[0] for name in self._away()}.difference(self.hosts)):
            raise ClustergenError(f"--away {host}: it is off", f"run clustergen lab fault revive {host}", 2)
        self.expected = {host: self._running(host) for host in self.hosts}
        for host, unit in self.away_units:
            if unit not in self.expected[host]:
                units = ", ".join(self.expected[host])
                raise ClustergenError(f"--away {host}:{unit}: it does not run there", f"units: {units}", 2)
        job = self._submit()
        for host, unit in self.away_units:
            self._shell(host, f"systemctl mask {unit}")
        if saves_first(self.cluster, {name.partition(":")[0] for name in self._away()}):
            report("waiting until slurmctld has saved its associations")
            saved = f"test -s {self.cluster.slurm.state_location}/assoc_usage && echo saved"
            self._watch(_ASSOCIATIONS_S, lambda: bool(self._ask(saved)))
        time.sleep(_SAVED_S)
        earlier = self._alerts("ALERTS")
        self.cut = time.monotonic()
        self.engine.run("kill", *(row["name"] for row in rows.values()))
        report(f"power off: {compress(sorted(rows))}")
        first = [host for host in self.hosts if host not in self.away_nodes]
        steps = [[host for host in step if host in first] for step in _steps(self.cluster)]
        for step in filter(None, steps):
            if self.started:
                self._observe(pause_s, job)
            self._start(step, rows, report)
        done = self._watch(self.limit_s, lambda: self._is_back(job))
        if away := sorted(self._away()):
            report(f"{'recovered' if done else 'not recovered'} without {', '.join(away)}")
            self._return(rows, report)
            done = self._watch(self.limit_s, lambda: self._is_back(job))
        if done and self.cluster.slurm.accounting_hosts:
            self._watch(self.limit_s, lambda: self._is_recorded(job))
        before = {(alert.name, alert.host, alert.unit) for alert in earlier}
        since = self._alerts(f"last_over_time(ALERTS[{int(time.monotonic() - self.cut)}s])")
        self.raised = [alert for alert in since if (alert.name, alert.host, alert.unit) not in before]
        return list(self.parts())

    def _return(self, rows: Mapping[str, Mapping[str, str]], report: Report) -> None:
        self._start(sorted(self.away_nodes), rows, report)
        for host, unit in self.away_units:
            self._shell(host, f"systemctl unmask {unit}; systemctl start --no-block {unit}")
            self.released[unit, host] = time.monotonic()
        self.away_nodes, self.away_units = set(), []

    def _away(self) -> list[str]:
        return [*self.away_nodes, *(":".join(pair) for pair in self.away_units)]

    def _start(self, hosts: Sequence[str], rows: Mapping[str, Mapping[str, str]], report: Report) -> None:
        stopped = [{**rows[host], "state": "exited"} for host in hosts]
        moment = time.monotonic()
        nodes.wake(self.engine, stopped, lambda _: None)
        self.started |= dict.fromkeys(hosts, moment)
        if hosts:
            report(f"power on: {compress(sorted(hosts))}")

    def _watch(self, seconds: float, is_done: Callable[[], bool]) -> bool:
        end = time.monotonic() + seconds
        while not (done := is_done()) and time.monotonic() < end:
            time.sleep(_POLL_S)
        return done

    def _observe(self, seconds: float, job: str) -> None:
        """Records what is back meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._is_back(job)
            time.sleep(_POLL_S)

    def _shell(self, host: str, script: str) -> str:
        words = ("exec", nodes.container(self.work, host), "timeout", "30", "sh", "-c", script)
        return self.engine.run(*words, check=False, timeout=40).stdout

    def _ask(self, script: str) -> str:
        """Asks a controller that is on; what the script prints there."""
        hosts = [host for host in self.cluster.slurm.controllers if host in (self.started if self.cut else self.hosts)]
        return self._shell(hosts[0], script) if hosts else ""

    def _running(self, host: str) -> tuple[str, ...]:
        """The units of the tree that run on a node."""
        variables = yaml.safe_load((self.work.tree / VARIABLES).read_text(encoding="utf-8"))
        names = {name for units in variables["cluster_units"].values() for name in units}
        rows = self._shell(host, "systemctl list-units --plain --no-legend --state=active").splitlines()
        return tuple(sorted(names & {row.split()[0] for row in rows if row.strip()}))

    def _submit(self) -> str:
        user = next(iter(people(self.cluster)), "root")
        policy = self.cluster.of(Associations) if self.cluster.has(Associations) else None
        one = f" --clusters {self.cluster.slurm.cluster_name}" if policy and policy.federation else ""
        job = self._ask(f"runuser -u {user} -- {_JOB}{one}").strip().partition(";")[0]
        if not job.isdigit():
            raise ClustergenError("the lab's cluster accepts no job", "run clustergen lab apply, then lab status")
        return job

    def _is_back(self, job: str) -> bool:
        moment, away = time.monotonic(), self._away()
        for host in self.started:
            units = self.expected[host]
            states = self._shell(host, f"systemctl is-active {' '.join(units)}").split()
            for unit, state in itertools.zip_longest(units, states[: len(units)], fillvalue=""):
                self._note((unit, host), state == "active", moment)
        for line in self._ask("sinfo -h -N -o '%N %T'").splitlines():
            host, _, state = line.partition(" ")
            self._note(("node in Slurm", host), state.strip() in _UP and host in self.started, moment)
        if "JobState=COMPLETED" in self._ask(f"scontrol show job {job}"):  # which slurmctld forgets in the end
            self.back.setdefault(("queued job", ""), moment)
        return all(key in self.back for key in self._keys() if key[1] not in away and ":".join(key[::-1]) not in away)

    def _note(self, key: tuple[str, str], runs: bool, moment: float) -> None:
        """Records a part that runs, and forgets one that failed again."""
        if runs:
            self.back.setdefault(key, moment)
        else:
            self.back.pop(key, None)

    def _is_recorded(self, job: str) -> bool:
        if "COMPLETED" in self._ask(f"sacct -X -n -j {job} -o State"):
            self.back["record of the job", ""] = time.monotonic()
        return ("record of the job", "") in self.back

    def _alerts(self, query: str) -> list[Raised]:
        """Answers of Prometheus on the monitoring nodes."""
        if not self.cluster.has(Prometheus):
            return []
        url = f"http://localhost:{self.cluster.of(Prometheus).port}/api/v1/query?query={quote(query)}"
        rows: list[Mapping[str, Mapping[str, str]]] = []
        for host in self.cluster.of(Monitoring).hosts:
            answer = self._shell(host, _ASK + shlex.quote(url))
            rows += json.loads(answer)["data"]["result"] if answer else []
        labels = [row["metric"] for row in rows]
        return [
            Raised(row["alertname"], row["alertstate"], row.get("instance", ""), row.get("name", "")) for row in labels
        ]

    def _about(self, part: str, hosts: Sequence[str]) -> Iterator[str]:
        about = [alert for alert in self.raised if alert.is_about(part, hosts)]
        for name in sorted({alert.name for alert in about}):
            fires = any(alert.state == "firing" for alert in about if alert.name == name)
            yield name if fires else f"{name} (pending)"

    def _keys(self) -> Iterator[tuple[str, str]]:
        for host, units in self.expected.items():
            yield from ((unit, host) for unit in units)
        for group in self.cluster.compute:
            yield from (("node in Slurm", host) for host in group.hosts if host in self.hosts)
        yield "queued job", ""

    def parts(self) -> Iterator[Part]:
        """Everything that ran before, by the time at which its nodes were switched on."""
        keys = [*self._keys(), *(("record of the job", "") for _ in self.cluster.slurm.accounting_hosts[:1])]
        for name in dict.fromkeys(name for name, _ in keys):
            rows: dict[tuple[bool, float], list[str]] = {}
            for host in (host for part, host in keys if part == name):
                back = self.back.get((name, host))
                rows.setdefault((back is not None, self._on(name, host, back)), []).append(host)
            for (came, on), hosts in rows.items():
                back_s = max(self.back[name, host] for host in hosts) - on if came else None
                listed = compress(sorted(filter(None, hosts))) or "-"
                yield Part(name, listed, on - self.cut, back_s, tuple(self._about(name, hosts)))

    def _on(self, name: str, host: str, back: float | None) -> float:
        """When a unit could start, with its node or later; for what is no unit, the last of them before it was back."""
        if "." in name and host in self.started:
            return self.released.get((name, host), self.started[host])
        moments = (*self.started.values(), *self.released.values())
        return max(moment for moment in moments if back is None or moment <= back)


def saves_first(cluster: Cluster, away: Set[str]) -> bool:
    """True if slurmctld comes back only with associations that it has saved: without the hosts `away`, or always."""
    accounting = cluster.slurm.accounting_hosts
    return not away.isdisjoint(accounting) or (
        bool(accounting) and cluster.slurm.release.has("usage-of-associations-required")
    )


def _steps(cluster: Cluster) -> list[list[str]]:
    """Hosts in the order that is worst: those that need others first."""

    def rank(group: NodeGroup) -> int:
        if group.has("slurm-controller") or group.has("slurm-accounting"):
            return 2
        return 1 if any(serves(cluster, group, entry) for entry in cluster.storage.values()) else 0

    steps: list[list[str]] = [[], [], []]
    for group in cluster.groups:
        steps[rank(group)] += group.hosts
    return steps
