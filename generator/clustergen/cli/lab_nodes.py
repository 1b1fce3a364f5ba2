"""The verbs of `clustergen lab` for a lab that is up: from `list` and `status` to `fault`, `outage` and `down`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clustergen.cli.exit_codes import USAGE, exit_codes
from clustergen.cli.output import remark
from clustergen.diagnostics import ClustergenError, did_you_mean
from clustergen.manifest import MANIFEST

if TYPE_CHECKING:
    from clustergen.lab.outage import Part
    from clustergen.lab.work import Work

_name = click.option("--name", metavar="LAB", help="Name or manifest of the lab; default: the current one.")


def _lab(function: Callable[..., None]) -> Callable[..., None]:
    """The lab as an argument, or as --name like in all other verbs."""
    return click.argument("lab", metavar="[LAB]", required=False)(_name(function))


def current(lab: str | None, *, is_up: bool = True) -> Work:
    """The lab of this name or of this manifest; without one the lab of ./manifest.yaml, or the only lab there is.

    Raises ClustergenError if there is none; a lab that is named has to be up if `is_up`.
    """
    from clustergen.lab.work import Work, labs

    if lab is not None:
        name = cluster_name(Path(lab)) if "/" in lab or lab.endswith((".yaml", ".yml")) else lab
        if is_up and not Work(name).directory.exists():
            hint = did_you_mean(name, (work.name for work in labs())) or "clustergen lab list"
            raise ClustergenError(f"lab {name} is not up", hint)
        return Work(name)
    running = labs()
    manifest = Path(MANIFEST).absolute()
    running = [work for work in running if work.origin() == manifest] or running
    if len(running) == 1:
        return running[0]
    if not running:
        raise ClustergenError("no lab is up", "clustergen lab up MANIFEST")
    raise ClustergenError(
        f"{len(running)} labs are up: {', '.join(work.name for work in running)}", f"--name {running[0].name}", 2
    )


def started_from_here() -> Work:
    """The lab as `current` finds it, except that the only lab of a manifest elsewhere is not removed: it may be
    in use.
    """
    work = current(None, is_up=False)
    if not work.origin().is_relative_to(Path.cwd()):
        raise ClustergenError(
            f"lab {work.name} is that of {work.origin()}, not of this directory", f"clustergen lab down {work.name}", 2
        )
    return work


def cluster_name(manifest: Path) -> str:
    """The name alone: a manifest that has become invalid must not keep anybody from `down`."""
    from clustergen.manifest.source import load

    source = load(manifest)
    name = source.data.get("name") if isinstance(source.data, dict) else None
    if not isinstance(name, str):
        message = source.diagnostics[0].message if source.diagnostics else "it has no name"
        hint = (
            "name the lab with --name" if manifest.exists() else "run clustergen lab list for the labs on this machine"
        )
        raise ClustergenError(f"{manifest}: {message}", hint, exit_code=2)
    return name


@exit_codes("listed", "", USAGE, "podman or docker failed")
@click.command("list")
def list_() -> None:
    """List the labs, their nodes and manifests."""
    from clustergen.lab import nodes, run
    from clustergen.lab.work import labs

    for work in labs():
        rows = nodes.running(run.engine_of(work), work)
        up = sum(row["state"] == "running" for row in rows)
        click.echo(f"{work.name:24} {up} of {len(rows)} nodes running   {work.origin()}")


@exit_codes("shown", "", USAGE, "no such lab runs")
@click.command("status")
@_lab
@click.option("--substitutions", is_flag=True, help="List also what the lab substitutes.")
def status(lab: str | None, name: str | None, substitutions: bool) -> None:
    """Show the nodes of a lab and their state in Slurm."""
    from clustergen.compile import validate
    from clustergen.lab import faults, nodes, run

    work = current(lab if name is None else name)
    engine = run.engine_of(work)
    cluster = validate(work.manifest).cluster
    if cluster is None:
        raise ClustergenError(f"{work.manifest} is not valid", f"clustergen lab apply --name {work.name}")
    addresses = {host: ip for group in cluster.groups for host, ip in run.addresses(group)}
    roles = {host: ", ".join(group.roles) for group in cluster.groups for host in group.hosts}
    order = {host: index for index, host in enumerate(addresses)}
    reachable: set[str] = set()
    for row in sorted(nodes.running(engine, work), key=lambda row: order.get(row["node"], len(order))):
        host = row["node"]  # that of a lab which has shrunk since is in the manifest no more
        role = roles.get(host, "not in the manifest")
        state = "cut off" if row["state"] == "running" and faults.is_cut(engine, row) else row["state"]
        click.echo(f"{host:16} {addresses.get(host, '-'):16} {state:10} {role}")
        reachable |= {host} if state == "running" else set()
    remark(f"\nlog in: ssh -F {work.ssh_config} NODE, or clustergen lab shell NODE")
    for controller in [host for host in cluster.slurm.controllers if host in reachable][:1]:
        answer = engine.run("exec", nodes.container(work, controller), "sinfo", "-N", "-l", check=False)
        if answer.returncode == 0:
            click.echo(f"\n{answer.stdout.rstrip()}")
    if substitutions:
        click.echo(f"\nSubstituted in this lab:\n{work.substitutions.read_text(encoding='utf-8').rstrip()}")


@exit_codes("the command exited with 0; its other codes are passed on", "", USAGE, "no such lab or node runs")
@click.command("shell", context_settings={"ignore_unknown_options": True})
@_name
@click.argument("node")
@click.argument("arguments", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
def shell(name: str | None, node: str, arguments: tuple[str, ...]) -> None:
    """Open a shell on NODE, or run one command there."""
    _exec(current(name), node, arguments or ("bash", "-l"), interactive=not arguments)


@exit_codes("journalctl exited with 0; its other codes are passed on", "", USAGE, "no such lab or node runs")
@click.command("logs", context_settings={"ignore_unknown_options": True})
@_name
@click.argument("node")
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1, type=click.UNPROCESSED)
def logs(name: str | None, node: str, arguments: tuple[str, ...]) -> None:
    """Show the journal of NODE.

    Arguments are passed to journalctl, e.g. -u slurmd -f; without any, the last 100 lines are shown.
    """
    _exec(current(name), node, ("journalctl", "--no-pager", *(arguments or ("-n", "100"))), interactive=False)


def _exec(work: Work, node: str, arguments: tuple[str, ...], *, interactive: bool) -> None:
    from clustergen.lab import nodes, run

    engine = run.engine_of(work)
    names = sorted(row["node"] for row in nodes.running(engine, work) if row["state"] == "running")
    if node not in names:
        hint = f"running: {', '.join(names) or 'none'}"
        raise ClustergenError(f"node {node} is not running in lab {work.name}", hint)
    terminal = ["-it"] if interactive and sys.stdin.isatty() else ["-i"]
    process = engine.command("exec", *terminal, nodes.container(work, node), *arguments)
    sys.exit(subprocess.run(process, check=False).returncode)


@exit_codes("stopped", "", USAGE, "no such lab, or podman or docker failed")
@click.command("stop")
@_lab
def stop(lab: str | None, name: str | None) -> None:
    """Stop the containers of a lab; `start` resumes them."""
    from clustergen.lab import nodes, run

    work = current(lab if name is None else name)
    remark(f"{nodes.halt(run.engine_of(work), work)} nodes of {work.name} stopped")


@exit_codes("started", "", USAGE, "no such lab, or podman or docker failed")
@click.command("start")
@_lab
def start(lab: str | None, name: str | None) -> None:
    """Start the containers of a lab that were stopped."""
    from clustergen.lab import run

    work = current(lab if name is None else name)
    remark(f"{run.start(work, lambda node: remark(f'  {node}'))} nodes of {work.name} started")


@exit_codes("done", "", USAGE, "no such lab or node, or podman or docker failed")
@click.command("fault")
@_name
@click.argument("action", type=click.Choice(("kill", "cut", "revive")))
@click.argument("hosts", metavar="NODE...", nargs=-1)
def fault(name: str | None, action: str, hosts: tuple[str, ...]) -> None:
    """Kill nodes of a lab, cut them off from the network, or revive them.

    kill ends all processes of a node at once, as without power; cut pulls its network cables; revive undoes both, for
    all nodes if none is named. NODE is a host list, e.g. gpu[1-2].
    """
    from clustergen.hostlist import compress, expand
    from clustergen.lab import faults, namespace, nodes, run

    work = current(name)
    if not hosts and action != "revive":
        raise click.UsageError(f"name a node: clustergen lab fault {action} NODE")
    engine = run.engine_of(work)
    rows = {row["node"]: row for row in nodes.running(engine, work)}
    chosen = list(dict.fromkeys(host for words in hosts for host in expand(words))) or sorted(rows)
    if unknown := [host for host in chosen if host not in rows]:
        hint = f"nodes: {compress(sorted(rows))}"
        raise ClustergenError(f"node {compress(unknown)} is not in lab {work.name}", hint, 2)
    with namespace.in_use(engine.store):
        getattr(faults, action)(engine, [rows[host] for host in chosen], lambda line: remark(f"  {line}"))


@exit_codes("removed", "", USAGE, "podman or docker failed")
@click.command("down")
@_lab
@click.option("--all", "every", is_flag=True, help="Remove all labs.")
def down(lab: str | None, name: str | None, every: bool) -> None:
    """Remove a lab: containers, network and directory.

    Without LAB, that of ./manifest.yaml, or the only one if its manifest is below this directory. Images are kept for
    the next lab.
    """
    from clustergen.lab import run
    from clustergen.lab.work import directories

    name = lab if name is None else name
    for work in directories() if every else [started_from_here() if name is None else current(name, is_up=False)]:
        remark(f"{work.name}: {run.down(work)} containers removed")


@exit_codes("everything came back by itself", "something did not", USAGE, "no such lab, or podman or docker failed")
@click.command("outage")
@_lab
@click.option(
    "--away",
    multiple=True,
    metavar="NODE[:UNIT]",
    help="A node, or a unit of it, that stays away until all else has recovered.",
)
@click.option("--pause", default=150.0, show_default=True, help="Seconds between nodes that start and those they need.")
@click.option("--limit", default=600.0, show_default=True, help="Seconds to wait for the rest at the end.")
@click.option("--format", "form", type=click.Choice(["text", "markdown"]), default="text", help="Form of the table.")
def outage(lab: str | None, name: str | None, away: tuple[str, ...], pause: float, limit: float, form: str) -> None:
    """Cut the power of a lab and watch it recover.

    All containers are killed at once. Compute nodes start first, then servers of file systems, and controllers last.
    The table lists what ran before, how long it was off, how long after the start of its node it ran again, and the
    alerts that Prometheus raised meanwhile: pending ones would have fired later.
    """
    from clustergen.compile import validate
    from clustergen.lab import namespace, run
    from clustergen.lab.outage import Outage

    work = current(lab if name is None else name)
    engine = run.engine_of(work)
    cluster = validate(work.manifest).cluster
    if cluster is None or not cluster.slurm.controllers:
        raise ClustergenError(f"{work.manifest} has no Slurm", f"clustergen lab apply --name {work.name}")
    with namespace.in_use(engine.store):
        parts = Outage(engine, work, cluster, away, limit).run(pause, lambda line: remark(f"  {line}"))
    click.echo(markdown(parts) if form == "markdown" else plain(parts))
    sys.exit(any(part.back_s is None for part in parts))


_COLUMNS = ("part", "nodes", "off", "back after", "by itself", "alert")


def _cells(part: Part) -> tuple[str, ...]:
    back, itself = ("-", "no") if part.back_s is None else (f"{part.back_s:.0f} s", "yes")
    return part.name, part.hosts, f"{part.off_s:.0f} s", back, itself, ", ".join(part.alerts) or "-"


def plain(parts: Iterable[Part]) -> str:
    rows = [_COLUMNS, *map(_cells, parts)]
    return "\n".join(
        f"{name:32} {hosts:24} {off:>6} {back:>11}  {itself:9}  {alerts}"
        for name, hosts, off, back, itself, alerts in rows
    )


def markdown(parts: Iterable[Part]) -> str:
    rows = [_COLUMNS, ("---", "---", "---:", "---:", "---", "---"), *map(_cells, parts)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
