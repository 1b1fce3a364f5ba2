"""One controller and four nodes with real daemons and jobs, on which rounds of steps are carried out.

    PYTHONPATH=tests python3 -m effects.cluster SPEC.json        inside the namespaces, started by `measure`

A spec has `work`, `layers`, `database`, `files` (name below /etc/slurm → text), `jobs`, `before` (a command that runs
before the daemons start), `nodes` (those that run slurmd from the start), `finish` (seconds) and `rounds`: each with
`files`, `steps` (pairs of an action and what it is about), `checks` and `settle`. With `keep` it only makes a database
for others and leaves it in that directory. With `ask` there are no rounds: triples of a user, a command, and a pattern
that its output has in the end; the result is their outputs. `install` has files for that, by their path.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from effects.machine import Machine, stop

NETWORK = "10.99.7"
CONTROLLER, OTHER = f"{NETWORK}.10", f"{NETWORK}.20"
NODES = ("n1", "n2", "n3", "n4")
ACCOUNTS = (
    "add cluster dc",
    "add account phys,chem",
    "add qos gold,silver",
    "add user alice account=phys qos=normal,gold,silver defaultqos=normal",
    "add user alice account=chem",
)
JOBS = {
    "batch": "-w n1 -n1 -t 60",
    "pair": "-w n3,n4 -N2 -n2 -t 60",
    "srun": "-w n2 -n1 -t 60",
    "pending": "-w n1 --exclusive -t 5",
    "pending-srun": "-w n2 --exclusive -t 5",
}
"""Running are a batch job, one on two nodes, and an srun; two jobs wait for their nodes."""
RUNNING = ("batch", "pair", "srun")
_WAIT = 'until [ -e /tmp/go.all -o -e "/tmp/go.$SLURM_JOB_NAME" ]; do sleep .3; done'
_FINAL = re.compile(r"JobId=\d+ .*?JobName=(\S+).*?JobState=(\S+) Reason=(\S+).*?Restarts=(\d+).*?ExitCode=(\S+)")
_COMPLAINT = re.compile(r"error|fatal|Killing|Abort|Orphan|invalid|Unable", re.IGNORECASE)
_MOMENTARY = re.compile(r"Configuration data|BOOT_TIME|NEXT_JOB_ID|HASH_VAL|Slurmctld\(|\s*$")
_OF_NODES = r"(?:Weight|ActiveFeatures|AvailableFeatures|TmpDisk|TresWeights|Comment|Extra|MCS_label)=\S*"
_USUAL = re.compile(
    r"MailProg|hwloc|as_mysql|mysql|gpu/nvidia|No memory enforc|Terminate signal|debug levels|buffer pool"
)


class Cluster:
    """The daemons, their configuration and the jobs."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.work = Path(spec["work"])
        layers = [Path(layer) for layer in spec["layers"]]
        self.machine = Machine(self.work, layers, cgroups=spec.get("cgroups", False))
        self.run = self.machine.run
        self.etc = self.machine.root / "etc/slurm"
        self.waiting: dict[str, subprocess.Popen[bytes]] = {}
        """Sruns, by the name of their job."""
        self.begun = time.monotonic()
        nodes = {node: (f"{NETWORK}.1{node[1:]}", f"{NETWORK}.11{node[1:]}") for node in NODES}
        names = {"ctl": CONTROLLER, "ctl2": OTHER, **{node: addresses[0] for node, addresses in nodes.items()}}
        self.machine.network("ctl", CONTROLLER, nodes, names)
        subprocess.run(["ip", "addr", "add", f"{OTHER}/24", "dev", "bridge0"], check=True)
        self.run(
            "rm -rf /etc/slurm; mkdir -p /etc/slurm /run/munge /run/slurm /var/lib/slurm /var/log/slurm /etc/munge;"
            "for other in slurm-llnl slurm-wlm; do rm -rf /etc/$other; ln -s slurm /etc/$other; done;"
            "head -c 32 /dev/urandom >/etc/slurm/slurm.key; chmod 400 /etc/slurm/slurm.key;"
            "head -c 64 /dev/urandom >/etc/munge/munge.key; chmod 400 /etc/munge/munge.key;"
            "chown -R slurm: /etc/slurm /var/lib/slurm /var/log/slurm /run/slurm;"
            "chown -R munge: /etc/munge /run/munge;"
            "setpriv --reuid munge --regid munge --clear-groups munged"
        )

    def say(self, *words: object) -> None:
        sys.stdout.write(f"[{time.monotonic() - self.begun:5.1f}] {' '.join(map(str, words))}\n")
        sys.stdout.flush()

    def put(self, files: dict[str, str]) -> None:
        """Exactly these files; slurm.key and what `before` made as *.key stay."""
        for path in self.etc.rglob("*"):
            if path.is_file() and path.suffix != ".key" and str(path.relative_to(self.etc)) not in files:
                path.unlink()
        for name, text in files.items():
            path = self.etc / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if name.endswith(".sh") else 0o600 if name == "slurmdbd.conf" else 0o644)
        if "slurmdbd.conf" in files:
            self.run("chown slurm: /etc/slurm/slurmdbd.conf")

    # -- daemons ----------------------------------------------------------------------------------------------------

    def start_mariadb(self) -> None:
        self.run("mkdir -p /run/mysqld; chown mysql: /run/mysqld")
        options = "--user=mysql --datadir=/var/lib/database --skip-networking --skip-log-bin"
        self.machine.start(f"exec mariadbd {options} --innodb-buffer-pool-size=64M", self.work / "mariadb.log")
        self.until(lambda: "ready" in self.run("mariadb -e \"select 'ready'\" 2>/dev/null"), 30, "mariadb")

    def start_slurmdbd(self) -> None:
        log = self.work / "slurmdbd.log"
        self.machine.start("exec slurmdbd -D", log)
        self.until(lambda: " started" in log.read_text(errors="replace"), 30, "slurmdbd")

    def start_slurmctld(self) -> None:
        self.run("mkdir -p /var/lib/slurm/slurmctld; chown slurm: /var/lib/slurm/slurmctld")
        self.tell("slurmctld", self.run("ulimit -n 4096; slurmctld", timeout=30))
        self.until(self.answers, 30, "slurmctld")

    def start_slurmd(self, node: str) -> None:
        self.tell(f"slurmd of {node}", self.run("ulimit -n 4096; slurmd", node=node, timeout=30))

    def tell(self, who: str, output: str) -> None:
        if output.strip():
            self.say(f"{who}:", output.strip()[-400:])

    def answers(self) -> bool:
        return " is UP" in self.run("scontrol ping", timeout=5)

    def until(self, condition: Any, seconds: float, what: str) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.2)
        self.say(f"{what}: not there after {seconds} s")
        return False

    def idle(self, count: int) -> bool:
        states = self.run("sinfo -h -N -o '%N %T'").splitlines()
        ready = {line for line in states if re.search(r" (idle|down|drained|allocated|mixed)$", line)}
        return len({line.split()[0] for line in ready}) >= count

    def bring_up(self) -> None:
        self.put(self.spec["files"])
        if self.spec["before"]:
            self.tell("before", self.run(self.spec["before"]))
        if self.spec["database"]:
            self.start_mariadb()
            self.start_slurmdbd()
            if self.spec["after_database"]:
                self.tell("database", self.run(self.spec["after_database"]))
        self.start_slurmctld()
        for node in self.spec["nodes"]:
            self.start_slurmd(node)
        if not self.answers():
            raise SystemExit("slurmctld does not start with the old files")
        self.until(lambda: self.idle(len(self.spec["nodes"])), 30, "nodes")
        self.say("up:", *self.run("sinfo -h -N -o '%N=%T'").split())

    def end(self) -> None:
        for daemon in ("slurmctld", "slurmd", "slurmdbd", "mariadbd", "munged"):
            stop(self.machine.processes(daemon), 5)

    # -- jobs -------------------------------------------------------------------------------------------------------

    def submit(self) -> None:
        jobs: dict[str, str] = self.spec["jobs"]
        if command := self.spec["submit"].get("root"):
            self.say("root", self.run(command).strip()[-200:])
        for name in ("batch", "pair"):
            if name in jobs:
                tasks = 2 if name == "pair" else 1
                step = f"srun -n{tasks} sh -c '{_WAIT}; echo first'; echo rc=$?; srun -n{tasks} hostname; echo rc=$?"
                self.sbatch(name, jobs[name], step)
        if "srun" in jobs:
            self.srun("srun", f"{jobs['srun']} sh -c '{_WAIT}'")
        running = {name for name in RUNNING if name in jobs}
        self.until(lambda: running <= set(self.run("squeue -h -a -t running -o %j").split()), 15, "jobs")
        if "pending" in jobs:
            self.sbatch("pending", jobs["pending"], "srun -n1 hostname; echo rc=$?")
        if "pending-srun" in jobs:
            self.srun("pending-srun", f"{jobs['pending-srun']} hostname")
        for user in ("alice", "bob"):
            if command := self.spec["submit"].get(user):
                self.say(user, self.run(f"cd /tmp; {command}", user=user).strip()[-200:])
        pending = {name for name in ("pending", "pending-srun") if name in jobs}
        self.until(lambda: pending <= set(self.run("squeue -h -a -t pending -o %j").split()), 8, "pending jobs")
        time.sleep(0.5)

    def sbatch(self, name: str, options: str, script: str) -> None:
        path = self.machine.root / f"tmp/{name}.sh"
        path.write_text(f"#!/bin/bash\n{script}\n", encoding="ascii")
        output = self.run(f"cd /tmp; sbatch -J {name} -o /tmp/{name}.out {options} /tmp/{name}.sh", user="alice")
        if "Submitted" not in output:
            self.say(name, output.strip())

    def srun(self, name: str, words: str) -> None:
        log = self.work / f"{name}.out"
        self.waiting[name] = self.machine.start(f"cd /tmp; srun -J {name} {words}; echo rc=$?", log, user="alice")

    def go(self, *names: str) -> None:
        for name in names:
            (self.machine.root / f"tmp/go.{name}").touch()

    def queue(self) -> str:
        return self.run("squeue -h -a -o '%i %j %T %r' -S i")

    # -- steps ------------------------------------------------------------------------------------------------------

    def step(self, action: str, about: str, files: dict[str, str]) -> None:
        self.say("step", action, about)
        hosts = about.split() if action != "hand" else []
        if action == "stop":
            for daemon in about.split():
                stop(self.machine.processes(daemon), 30)
        elif action == "copy":
            old, new = about.split()
            self.tell("copy", self.run(f"setpriv --reuid slurm --regid slurm --init-groups cp -aT {old} {new}"))
        elif action == "put":
            self.put(files)
        elif action == "reconfigure":
            self.tell("reconfigure", self.run("scontrol reconfigure", timeout=60))
            time.sleep(1)
            self.until(self.answers, 20, "slurmctld")
        elif action == "slurmctld":
            stop(self.machine.processes("slurmctld"), 30)
            self.start_slurmctld()
            # Nodes register with their previous values before site.yml comes to them.
            if self.machine.processes("slurmd"):
                self.until(lambda: "SlurmdStartTime=None" not in self.run("scontrol show node"), 10, "registered nodes")
        elif action == "new-cluster-id":
            stop(self.machine.processes("slurmctld"), 30)
            self.run("rm -f /var/lib/slurm/slurmctld/clustername")
        elif action == "slurmd":
            for node in hosts:
                stop(self.machine.processes("slurmd", node), 20)
            for node in hosts:
                self.start_slurmd(node)
            time.sleep(0.5)
        elif action == "slurmdbd":
            stop(self.machine.processes("slurmdbd"), 20)
            self.start_slurmdbd()
        elif action == "drain":
            self.drain(hosts)
        elif action == "resume":
            self.tell("resume", self.run(f"scontrol update nodename={','.join(hosts)} state=resume"))
        elif action == "hand":
            self.tell("by hand", self.run(about, timeout=60))
        elif action == "host":
            self.by_hand_outside(about)
        else:
            raise SystemExit(f"no action is called {action!r}")

    def drain(self, hosts: list[str]) -> None:
        """Drains, lets the jobs on these nodes end, and waits for them."""
        nodes = ",".join(hosts)
        self.run(f"scontrol update nodename={nodes} state=drain reason=change")
        self.go(*self.run(f"squeue -h -t running -w {nodes} -o %j").split())
        self.until(lambda: not self.run(f"squeue -h -t running,completing -w {nodes} -o %i").strip(), 40, "drained")

    def by_hand_outside(self, what: str) -> None:
        """Machines get other addresses: `nodes`, or `controller`."""
        hosts = self.machine.root / "etc/hosts"
        text = hosts.read_text()
        if what == "controller":
            text = text.replace(f"{CONTROLLER} ", f"{OTHER} ")
            commands = [f"ip addr del {CONTROLLER}/24 dev bridge0"]
            # The first address of a subnet carries the others.
            commands.append(f"ip addr replace {OTHER}/24 dev bridge0")
        else:
            commands = []
            for index, node in enumerate(NODES, 1):
                old, new = f"{NETWORK}.1{index}", f"{NETWORK}.11{index}"
                text = text.replace(f"{old} ", f"{new} ")
                inside = f"ip addr del {old}/24 dev eth{index}; ip addr replace {new}/24 dev eth{index}"
                commands.append(f"nsenter -t {self.machine.spaces[node]} -n sh -c '{inside}'")
        hosts.write_text(text)
        for command in commands:
            subprocess.run(["bash", "-c", command], timeout=10, check=False)

    # -- looking ----------------------------------------------------------------------------------------------------

    def look(self, kind: str, command: str) -> str:
        if kind == "maps":
            program, library = command.split()
            return self.machine.loads(program, library)
        if kind == "here":
            return Path(command).read_text(errors="replace")
        return self.run(f"cd /tmp; {command}", user=kind if kind in ("alice", "bob") else "", timeout=25)

    def round(self, each: dict[str, Any]) -> dict[str, Any]:
        for action, about in each["steps"]:
            self.step(action, about, each["files"])
        time.sleep(each["settle"])
        checks = []
        for kind, command, pattern in each["checks"]:
            output = self.look(kind, command)
            shown = bool(re.search(pattern, output, re.MULTILINE))
            if not shown:  # what the next message of a daemon may bring
                time.sleep(3)
                output = self.look(kind, command)
                shown = bool(re.search(pattern, output, re.MULTILINE))
            checks.append({"command": command, "pattern": pattern, "shown": shown, "output": output.strip()[-300:]})
        self.say(f"{each['name']}:", *(f"{check['command']!r} {check['shown']}" for check in checks))
        return {
            "name": each["name"],
            "checks": checks,
            "queue": self.queue(),
            "slurmctld": len(self.machine.processes("slurmctld")),
            "slurmds": {node: len(self.machine.processes("slurmd", node)) for node in NODES},
        }

    def logs(self) -> dict[str, str]:
        places = [*(self.machine.root / "var/log/slurm").glob("*.log"), self.work / "slurmdbd.log"]
        return {path.name: path.read_text(errors="replace") for path in places if path.is_file()}

    def finish(self) -> None:
        """Lets all jobs end; ends early where what is left has been pending for a while."""
        self.go("all")
        end = time.monotonic() + self.spec["finish"]
        last_activity = time.monotonic()
        while time.monotonic() < end:
            states = self.run("squeue -h -a -o %T", timeout=10).split()
            if not states and all(each.poll() is not None for each in self.waiting.values()):
                return
            if any(state != "PENDING" for state in states):
                last_activity = time.monotonic()
            elif time.monotonic() - last_activity > 12:
                return
            time.sleep(0.5)

    def shown(self) -> set[str]:
        """Values in effect on slurmctld, without those that differ from moment to moment."""
        lines = self.run("scontrol show config; scontrol -o show partition").splitlines()
        nodes = re.findall(_OF_NODES, self.run("scontrol -o show node"))
        return {" ".join(line.split()) for line in lines if not _MOMENTARY.match(line)} | set(nodes)

    def stale(self) -> list[str]:
        """Differences after all daemons started anew: values that were not in effect, with `+` those that are."""
        before = self.shown()
        for daemon in ("slurmctld", "slurmd"):
            stop(self.machine.processes(daemon), 20)
        self.start_slurmctld()
        for node in self.spec["nodes"]:
            self.start_slurmd(node)
        self.until(lambda: self.idle(len(self.spec["nodes"])), 20, "nodes")
        after = self.shown()
        return [*(f"-{line}" for line in sorted(before - after)), *(f"+{line}" for line in sorted(after - before))]

    def measured(self) -> dict[str, Any]:
        self.bring_up()
        self.submit()
        before = self.queue()
        self.say("before", before.replace("\n", "; "))
        marks = {name: len(text) for name, text in self.logs().items()}
        rounds = [self.round(each) for each in self.spec["rounds"]]
        new_job = None
        if self.spec["new_job"]:
            command = f"cd /tmp; timeout 20 srun -J new {self.spec['new_job']} hostname; echo rc=$?"
            new_job = self.run(command, user="alice", timeout=25)
        self.finish()
        final = {}
        for line in self.run("scontrol -a -o show job").splitlines():
            if matched := _FINAL.search(line):
                name, *rest = matched.groups()
                final[name] = dict(zip(("state", "reason", "restarts", "exit"), rest, strict=True))
        outputs = {}
        for name in self.spec["jobs"]:
            for path in (self.machine.root / f"tmp/{name}.out", self.work / f"{name}.out"):
                if path.exists():
                    outputs[name] = path.read_text(errors="replace").strip()[-400:]
        complaints: dict[str, list[str]] = {}
        for name, text in self.logs().items():
            lines = [re.sub(r"^\[[^\]]*\] ", "", line) for line in text[marks.get(name, 0) :].splitlines()]
            lines = [line[:240] for line in lines if _COMPLAINT.search(line) and not _USUAL.search(line)]
            if lines:
                complaints[name] = list(dict.fromkeys(lines))[:15]
        stale = self.stale() if self.spec.get("fresh") else []
        return {
            "before": before,
            "rounds": rounds,
            "stale": stale,
            "new_job": new_job,
            "final": final,
            "outputs": outputs,
            "sruns": {name: each.poll() for name, each in self.waiting.items()},
            "nodes": self.run("sinfo -h -N -o '%N %T %E'"),
            "log": complaints,
        }

    def answers_to(self, questions: list[tuple[str, str, str]]) -> list[str]:
        """Output of each command as its user; it is repeated until the pattern is in it, or 20 seconds are over."""
        for path, text in self.spec["install"].items():
            place = self.machine.root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            place.chmod(0o755)
        self.bring_up()
        outputs = []
        for user, command, pattern in questions:
            output = ""

            def matches(user: str = user, command: str = command, pattern: str = pattern) -> bool:
                nonlocal output
                output = self.run(f"cd /tmp; {command}", user="" if user == "root" else user, timeout=60)
                return bool(re.search(pattern, output, re.MULTILINE))

            self.until(matches, 20, command)
            self.say(user, command, output.strip())
            outputs.append(output)
        return outputs


def prepare(spec: dict[str, Any]) -> None:
    """A database with the accounts of all changes."""
    cluster = Cluster(spec)
    cluster.run("mkdir -p /var/lib/database; chown mysql: /var/lib/database")
    options = "--user=mysql --datadir=/var/lib/database --skip-test-db"
    cluster.tell("database", cluster.run(f"mariadb-install-db {options} 2>&1 | tail -1", timeout=120))
    cluster.start_mariadb()
    cluster.run(
        'mariadb -e \'create database slurm_acct_db; create user slurm@localhost identified by "x";'
        "grant all on slurm_acct_db.* to slurm@localhost; flush privileges'"
    )
    cluster.put(spec["files"])
    cluster.start_slurmdbd()
    cluster.tell("accounts", "\n".join(cluster.run(f"sacctmgr -i {words}") for words in ACCOUNTS))
    stop(cluster.machine.processes("slurmdbd"), 20)
    stop(cluster.machine.processes("mariadbd"), 30)
    cluster.end()
    keep = Path(spec["keep"])
    shutil.rmtree(keep, ignore_errors=True)
    (keep / "var/lib").mkdir(parents=True)
    subprocess.run(["cp", "-a", cluster.machine.root / "var/lib/database", keep / "var/lib/database"], check=True)
    (keep / "etc").mkdir()


def main(path: str) -> None:
    spec = json.loads(Path(path).read_text(encoding="utf-8"))
    if spec.get("keep"):
        prepare(spec)
        return
    cluster = Cluster(spec)
    try:
        result = cluster.answers_to(spec["ask"]) if "ask" in spec else cluster.measured()
    finally:
        cluster.end()
    Path(spec["result"]).write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
