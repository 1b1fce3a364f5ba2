"""up, apply, status, down."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clustergen import child_process
from clustergen.cluster.model import NodeGroup
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import compress
from clustergen.lab import engine as engines
from clustergen.lab import namespace, node_images
from clustergen.lab import nodes as containers
from clustergen.lab.engine import Engine
from clustergen.lab.model import Lab, Wish
from clustergen.lab.work import Work, home

_DRY = ("-C", "--check", "--list", "--syntax")
"""Options of ansible-playbook with which it changes nothing."""
_PARTIAL = ("-l", "--limit", "-t", "--tags", "--skip-tags")
"""Options with which it does not change all nodes."""
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
            else:
                containers.require_same_network(engine, work, lab.cluster)
            chosen = node_images.ensure(engine, lab, wish, report)
            if is_fresh:
                containers.make_network(engine, work, lab.cluster, lab.document)
            containers.wake(engine, [row for row in current.values() if row["state"] != "running"], report)
            view = namespace.cgroup_view(engine.store) if engine.hybrid else None
            nodes = list(containers.nodes(work, lab.cluster, chosen, wish.mounts))
            fresh = [node for node in nodes if node.host not in current]
            containers.start(engine, work, fresh, view, report, devices=["/dev/fuse"] if wish.mounts else [])
            containers.adapt(engine, work, [node for node in nodes if node.host in current], report)
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


def apply(lab: Lab, arguments: Sequence[str], report: Report) -> int:
    """Gives the containers what the manifest adds, and runs the tree's playbook; its exit status.

    Nodes that are off or cut off are as unreachable as real ones. Raises ClustergenError where no node is on, or where
    containers cannot follow the manifest without `up` or `down`.
    """
    work, engine = lab.work, engine_of(lab.work)
    states = {row["node"]: row["state"] for row in containers.running(engine, work)}
    prepared = containers.prepared(work)
    address_of = {host: address for group in lab.cluster.groups for host, address in addresses(group)}
    stopped = [host for host in address_of if states.get(host, "running") != "running"]
    absent = [host for host, address in address_of.items() if host not in states or address not in prepared]
    if absent or len(stopped) == len(address_of):
        down = (("stopped", stopped), ("missing", absent))
        parts = [f"{state}: {compress(names)}" for state, names in down if names]
        raise ClustergenError(
            f"nodes of the lab {work.name} are {'; '.join(parts)}", f"run clustergen lab up {lab.origin} to start them"
        )
    containers.require_same_network(engine, work, lab.cluster)
    if stopped:
        report(f"off: {compress(stopped)}; start them with clustergen lab fault revive")
    wish = Wish.read(work.wish)
    nodes = [node for node in containers.nodes(work, lab.cluster, {}, wish.mounts) if node.host not in stopped]
    is_dry, is_partial = (any(word.startswith(options) for word in arguments) for options in (_DRY, _PARTIAL))
    stale = [] if is_dry else containers.adapt(engine, work, nodes, report)
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [str(program) if program.exists() else "ansible-playbook", str(work.tree / "site.yml"), *arguments]
    status = child_process.run_playbook(command, work.directory, work.environment())
    if stale and status == 0 and not is_partial:
        containers.adapt(engine, work, stale, report, unmount=True)
    return status


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
