"""up, apply, status, down."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clustergen.cluster.model import NodeGroup
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import compress
from clustergen.lab import engine as engines
from clustergen.lab import file_systems, namespace, node_images
from clustergen.lab import nodes as containers
from clustergen.lab.engine import Engine
from clustergen.lab.model import Lab, Wish
from clustergen.lab.work import Work, home

Report = Callable[[str], None]


def store() -> Path:
    return home() / "podman"


def engine_of(work: Work) -> Engine:
    """The container engine of the lab's nodes."""
    return engines.find(Wish.read(work.wish).engine, store())


def up(engine: Engine, lab: Lab, wish: Wish, report: Report) -> None:
    """Images, network, containers. What was made is removed again where it is interrupted or fails."""
    work = lab.work
    rows = containers.running(engine, work)
    prepared = containers.prepared(work)
    address_of = {host: address for group in lab.cluster.groups for host, address in addresses(group)}
    # What an earlier run left half made is made again; what was stopped since is started.
    half = [row for row in rows if address_of.get(row["node"]) not in {None, *prepared}]
    current = {row["node"]: row for row in rows if row not in half}
    strangers = sorted(set(current) - set(address_of))
    if strangers:
        raise ClustergenError(
            f"lab {work.name} runs with other nodes: {compress(strangers)}", "clustergen lab down first"
        )
    try:
        with namespace.in_use(engine.store):
            containers.discard(engine, [row["name"] for row in half])
            is_fresh = containers.network(work) not in engines.networks(engine)
            if is_fresh:  # before an image is built, which takes a minute
                containers.require_free_network(lab.cluster)
            chosen = node_images.ensure(engine, lab, wish, report)
            if is_fresh:
                containers.make_network(engine, work, lab.cluster, lab.document)
            containers.wake(engine, [row for row in current.values() if row["state"] != "running"], report)
            view = namespace.cgroup_view(engine.store) if engine.hybrid else None
            directories = file_systems.shared_directories(lab.cluster, wish.mounts)
            nodes = [node for node in containers.nodes(lab.cluster, chosen, directories) if node.host not in current]
            containers.start(engine, work, nodes, view, report, devices=["/dev/fuse"] if wish.mounts else [])
    except BaseException:
        if not current:
            report("cleaning up")
            discard(engine, work)
        raise


def discard(engine: Engine, work: Work) -> None:
    """Removes a lab that did not come up; another Ctrl-C has to wait."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _clean(engine, work)
        shutil.rmtree(work.directory, ignore_errors=True)
    finally:
        signal.signal(signal.SIGINT, heard)


def addresses(group: NodeGroup) -> Iterator[tuple[str, str]]:
    """Each host of a group with its address in the management network."""
    return zip(group.hosts, group.addresses, strict=True)


def apply(lab: Lab, arguments: Sequence[str]) -> int:
    """Runs the tree's playbook on the containers; its exit status. Raises ClustergenError where they are not up."""
    rows = containers.running(engine_of(lab.work), lab.work)
    states = {row["node"]: row["state"] for row in rows}
    hosts = [host for group in lab.cluster.groups for host in group.hosts]
    stopped = [host for host in hosts if states.get(host, "running") != "running"]
    absent = [host for host in hosts if host not in states]
    if stopped or absent:
        down = (("stopped", stopped), ("missing", absent))
        parts = [f"{state}: {compress(names)}" for state, names in down if names]
        raise ClustergenError(
            f"nodes of the lab {lab.work.name} are {'; '.join(parts)}",
            f"run clustergen lab up {lab.origin} to start them",
        )
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [str(program) if program.exists() else "ansible-playbook", str(lab.work.tree / "site.yml"), *arguments]
    return subprocess.run(command, env=lab.work.environment(), cwd=lab.work.directory, check=False).returncode


def start(work: Work, report: Report) -> int:
    """Starts the containers that were stopped; how many."""
    engine = engine_of(work)
    with namespace.in_use(engine.store):
        stopped = [row for row in containers.running(engine, work) if row["state"] != "running"]
        containers.wake(engine, stopped, report)
    return len(stopped)


def down(work: Work) -> int:
    """Removes all that `up` made but images; how many containers there were."""
    engine = engine_of(work)
    count = _clean(engine, work)
    shutil.rmtree(work.directory, ignore_errors=True)
    return count


def _clean(engine: Engine, work: Work) -> int:
    count = containers.remove(engine, work)
    if engine.name == "podman" and engine.hybrid:
        namespace.release(engine.store, lambda: not containers.running(engine))
    return count
