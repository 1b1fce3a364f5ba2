"""Measures applying: first, with nothing to do, with one line changed; beside an empty play and a role of others.
With `hosts` also discover and drift, whose commands all run on this machine; those of a cluster run on its nodes.

    benchmarks/apply.py nodes 4 8 16 [--role DIRECTORY]   containers, as of `clustergen lab`; needs root and podman
    benchmarks/apply.py hosts 200 1000                 hosts that are all this machine, without ssh, in check mode
    benchmarks/apply.py control 1000                   hosts that only pretend: the work of the control host
    benchmarks/apply.py load 1000 10000                inventory and playbook are read, no host is contacted

A role of others is any that installs and configures Slurm; it is given the same nodes.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
LIMIT_S = 1800
NODES = """name: bench
os: debian-13
networks: {{management: {{cidr: 10.99.60.0/24, domain: bench.test}}}}
node_types: {{c: {{cpu: {{sockets: 2, cores_per_socket: 8}}, memory: 64GiB}}}}
nodes:
  - {{name: head, type: service, address: 10.99.60.1, roles: [slurm-controller, slurm-accounting]}}
  - {{name: "c[01-{last:02d}]", type: c, address: "10.99.60.[11-{end}]"}}
slurm:
  version: "24.11"
  partitions: {{batch: {{nodes: all, default: true, max_time: {limit}}}}}
monitoring: {{alertmanager: false}}
"""
HOSTS = """name: bench
os: debian-13
networks: {{management: {{cidr: 10.0.0.0/8, domain: bench.test}}}}
node_types: {{h100: {{system: dgx-h100}}}}
nodes:
  - {{name: head, type: service, address: 10.0.0.1, roles: [slurm-controller, slurm-accounting]}}
  - {{name: "c[0001-{count:04d}]", type: h100, address: "10.1.[0-{blocks}].[0-{rest}]"}}
slurm: {{version: "24.11", partitions: {{batch: {{nodes: all, default: true}}}}}}
"""
EMPTY = """- name: Empty
  hosts: all
  gather_facts: false
  tasks:
    - name: Ping
      ansible.builtin.ping:
"""


@dataclass(frozen=True)
class Timing:
    """Seconds of each run, CPU seconds of all its processes, and tasks that a host took part in (the most of any)."""

    seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]
    tasks: int

    def __str__(self) -> str:
        spread = f" ({min(self.seconds):.1f} to {max(self.seconds):.1f})" if len(self.seconds) > 1 else ""
        cpu = f"{statistics.median(self.cpu_seconds):.1f} s of CPU"
        return f"{statistics.median(self.seconds):.1f} s{spread}, {cpu}, {self.tasks} tasks a host"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run(command: list[str], cwd: Path, environment: dict[str, str] | None = None, expect: int = 0) -> tuple[float, str]:
    began = time.perf_counter()
    limited = ["timeout", "-k", "5", str(LIMIT_S), *command]
    done = subprocess.run(limited, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != expect:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return time.perf_counter() - began, done.stdout


def played(command: list[str], cwd: Path, environment: dict[str, str], runs: int = 1) -> Timing:
    seconds, cpu_seconds, most = [], [], 0
    for _ in range(runs):
        before = os.times()
        took, out = run(command, cwd, environment)
        after = os.times()
        cpu_seconds.append(sum(after[2:4]) - sum(before[2:4]))
        seconds.append(took)
        for line in out.partition("PLAY RECAP")[2].splitlines():
            ok = re.search(r"\bok=(\d+)", line)
            most = max(most, int(ok.group(1)) if ok else 0)
    return Timing(tuple(seconds), tuple(cpu_seconds), most)


def nodes(counts: list[int], role: Path | None, runs: int) -> None:
    for count in counts:
        with tempfile.TemporaryDirectory() as place:
            manifest = Path(place) / "manifest.yaml"

            def set_time_limit(limit: str, path: Path = manifest, count: int = count) -> None:
                path.write_text(NODES.format(last=count - 1, end=9 + count, limit=limit), encoding="utf-8")

            set_time_limit("1-0")
            lab = [str(BIN / "clustergen"), "lab"]
            try:
                took, _ = run([*lab, "up", str(manifest)], Path(place))
                say(f"{count} nodes: up {took:.1f} s")
                say(f"  first apply     {played([*lab, 'apply', str(manifest)], Path(place), dict(os.environ))}")
                work = Path(os.environ.get("CLUSTERGEN_LAB", Path.home() / ".cache/clustergen/lab")) / "labs/bench"
                settings = {**os.environ, "ANSIBLE_CONFIG": str(work / "ansible.cfg")}
                play = Path(place) / "empty.yml"
                play.write_text(EMPTY, encoding="utf-8")
                playbook = str(BIN / "ansible-playbook")
                empty = played([playbook, str(play)], work, settings, runs)
                same = played([playbook, str(work / "rendered/site.yml")], work, settings, runs)
                ratio = statistics.median(same.seconds) / statistics.median(empty.seconds)
                say(f"  empty play      {empty}")
                say(f"  nothing to do   {same}: {ratio:.2f} times the empty play")
                set_time_limit("2-0")
                say(f"  one line        {played([*lab, 'apply', str(manifest)], Path(place), dict(os.environ))}")
                if role:
                    peer(role, Path(place), work, settings, runs)
            finally:
                run([*lab, "down", str(manifest)], Path(place))


def peer(role: Path, place: Path, work: Path, settings: dict[str, str], runs: int) -> None:
    """The role on the same nodes, where everything is installed: what it takes to find that out."""
    play = place / "peer.yml"
    play.write_text(
        "- {name: Peer, hosts: all, roles: [{role: '" + str(role) + "'}], vars: {slurm_roles: [exec], "
        "slurm_controller_name: head, slurm_upgrade: false}}\n",
        encoding="utf-8",
    )
    command = [str(BIN / "ansible-playbook"), str(play)]
    first = played(command, work, settings)
    say(f"  {role.name}, first    {first}")
    say(f"  {role.name}, again    {played(command, work, settings, runs)}")


def hosts(counts: list[int], runs: int) -> None:
    for count in counts:
        with tempfile.TemporaryDirectory() as place:
            manifest = Path(place) / "manifest.yaml"
            text = HOSTS.format(count=count, blocks=count // 100 - 1, rest=99)
            manifest.write_text(text, encoding="utf-8")
            run([str(BIN / "clustergen"), "render", str(manifest)], Path(place))
            tree = Path(place) / "rendered"
            local = ["-e", "ansible_connection=local", "-e", f"ansible_python_interpreter={sys.executable}"]
            free = ["-e", "cluster_os_check=false", "-e", "cluster_name_check=false", "-e", "cluster_same_ok=true"]
            (tree / "empty.yml").write_text(EMPTY, encoding="utf-8")
            # Nodes have systemd; this machine may have none.
            with_systemd = (
                'mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/system && exec "$@"'
            )
            playbook = ["unshare", "-m", "sh", "-c", with_systemd, "sh", str(BIN / "ansible-playbook")]
            environment = dict(os.environ)
            empty = played([*playbook, "empty.yml", "--check", *local], tree, environment, runs)
            ours = played([*playbook, "site.yml", "--check", *local, *free], tree, environment, runs)
            ratio = statistics.median(ours.seconds) / statistics.median(empty.seconds)
            say(f"{count} hosts, check mode: empty play {empty}; site.yml {ours}: {ratio:.2f} times the empty play")
            ping = played([*playbook, "empty.yml", *local], tree, environment, runs)
            say(f"{count} hosts: empty play {ping}")
            for name in ("discover", "drift"):
                book = [f"clustergen.cluster.{name}", *local, *free, "-e", f"facts={place}/{name}"]
                recorded = played([*playbook, *book], tree, environment, runs)
                times = statistics.median(recorded.seconds) / statistics.median(ping.seconds)
                say(f"  {name} {recorded}: {times:.2f} times the empty play")


def control(count: int, runs: int, place: Path) -> tuple[Timing, Timing]:
    """An empty play and site.yml with so many hosts that answer at once."""
    manifest = place / "manifest.yaml"
    manifest.write_text(HOSTS.format(count=count, blocks=count // 100 - 1, rest=99), encoding="utf-8")
    run([str(BIN / "clustergen"), "render", str(manifest)], place)
    tree = place / "rendered"
    (tree / "empty.yml").write_text(EMPTY, encoding="utf-8")
    playbook = [str(BIN / "ansible-playbook"), "-e", "ansible_connection=stub"]
    environment = {**os.environ, "ANSIBLE_CONNECTION_PLUGINS": str(Path(__file__).parent / "stub")}
    empty, ours = (played([*playbook, name], tree, environment, runs) for name in ("empty.yml", "site.yml"))
    return empty, ours


def compare_control(counts: list[int], runs: int) -> None:
    for count in counts:
        with tempfile.TemporaryDirectory() as place:
            empty, ours = control(count, runs, Path(place))
            ratio = statistics.median(ours.seconds) / statistics.median(empty.seconds)
            cpu_ratio = statistics.median(ours.cpu_seconds) / statistics.median(empty.cpu_seconds)
            times = f"{ratio:.2f} times the empty play, {cpu_ratio:.2f} times its CPU time"
            say(f"{count} hosts, control side: empty play {empty}; site.yml {ours}: {times}")


def load(counts: list[int], runs: int) -> None:
    for count in counts:
        with tempfile.TemporaryDirectory() as place:
            manifest = Path(place) / "manifest.yaml"
            manifest.write_text(HOSTS.format(count=count, blocks=count // 100 - 1, rest=99), encoding="utf-8")
            rendering, _ = run([str(BIN / "clustergen"), "render", str(manifest)], Path(place))
            tree = Path(place) / "rendered"
            (tree / "empty.yml").write_text(EMPTY, encoding="utf-8")
            playbook, environment = [str(BIN / "ansible-playbook"), "--list-tasks"], dict(os.environ)
            empty = played([*playbook, "empty.yml"], tree, environment, runs)
            ours = played([*playbook, "site.yml"], tree, environment, runs)
            read = [f"{statistics.median(timing.seconds):.1f} s" for timing in (empty, ours)]
            say(f"{count} hosts: render {rendering:.1f} s; empty play read in {read[0]}, site.yml in {read[1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("nodes", "hosts", "control", "load"))
    parser.add_argument("counts", type=int, nargs="+")
    parser.add_argument("--role", type=Path, help="directory of a role to be measured on the same nodes")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.what == "nodes":
        nodes(arguments.counts, arguments.role, arguments.runs)
    elif arguments.what == "control":
        compare_control(arguments.counts, arguments.runs)
    elif arguments.what == "load":
        load(arguments.counts, arguments.runs)
    else:
        hosts(arguments.counts, arguments.runs)


if __name__ == "__main__":
    main()
