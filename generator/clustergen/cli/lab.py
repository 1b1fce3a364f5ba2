"""`clustergen lab`: the nodes of a manifest as containers."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from clustergen.cli.arguments import default_manifest, manifest_argument, manifest_path, required_manifest_argument
from clustergen.cli.common import refuse
from clustergen.cli.complete import rows
from clustergen.cli.output import remark
from clustergen.diagnostics import ClustergenError
from clustergen.records import replace


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What shapes a lab: the same for `up` and `apply`, so that both speak of the same one."""
    for option in reversed(
        [
            click.option("--name", metavar="NAME", help="Name of the lab; default: the cluster's."),
            click.option(
                "--scale", multiple=True, metavar="[GROUP=]N",
                help="At most N nodes of a node type, role or entry of `nodes`; N alone: of each entry that computes.",
            ),
            click.option("--subnet", metavar="CIDR", help="Another management network; this machine may use that one."),
            click.option(
                "--os", "system", metavar="OS", shell_complete=rows("os"),
                help="Another operating system for all nodes, as debian-13.",
            ),
            click.option("--image", multiple=True, metavar="[OS=]IMAGE", help="Your own image: systemd, ssh, Python."),
            click.option(
                "--slurm", metavar="RELEASE", shell_complete=rows("slurm"),
                help="Another release of Slurm, of the distribution, as 24.11.",
            ),
            click.option(
                "--set", "variables", multiple=True, metavar="NAME=TEXT",
                help="A variable for Ansible, as repositories_slurm_url=https://…",
            ),
            click.option("--engine", type=click.Choice(("podman", "docker")), help="Default: podman, else docker."),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


@click.group("lab")
def command() -> None:
    """Run the nodes of a manifest as containers with a real Slurm.

    Each container has its node's name, address and systemd; `apply` runs the same playbook as on real nodes. `up` and
    `status` list what differs from real nodes.
    """


@command.command("up")
@manifest_argument
@_options
def up(manifest: Path, name: str | None, **options: Any) -> None:
    """Start the nodes as containers; interrupting removes them again."""
    from clustergen.lab import engine as engines
    from clustergen.lab import run
    from clustergen.lab.work import Work

    began = time.monotonic()

    def echo(words: str) -> None:
        remark(f"  {time.monotonic() - began:4.0f} s  {words}")

    wish = _wish(**options)
    work = Work(name or _cluster_name(manifest))
    fresh, done = not work.folder.exists(), False
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a cancelled job is an interruption too
    try:
        engine = engines.find(wish.over(run.Wish.read(work.wish)).engine, run.store())
        lab, wish = _lab(manifest, name, replace(wish, engine=engine.name))
        run.possible(lab, wish)
        _list(lab)
        run.up(engine, lab, wish, echo)
        done = True
    except KeyboardInterrupt:
        left = "nothing is left" if fresh else "the nodes that were up still are; up again makes the others"
        raise ClustergenError(f"interrupted; {left}") from None
    finally:
        if fresh and not done:
            shutil.rmtree(work.folder, ignore_errors=True)
    count = sum(len(group.hosts) for group in lab.cluster.groups)
    click.echo(f"{count} nodes are up. Next: clustergen lab apply {manifest}")


@command.command("apply", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[MANIFEST] [-- OPTIONS]", type=click.UNPROCESSED)
@_options
def apply(words: tuple[str, ...], name: str | None, **options: Any) -> None:
    """Render for the lab and run `ansible-playbook site.yml`.

    What follows -- goes to ansible-playbook.
    """
    from clustergen.lab import run
    from clustergen.lab.work import Work

    if words and not words[0].startswith("-"):
        manifest, arguments = manifest_path(Path(words[0])), words[1:]
    else:
        manifest, arguments = default_manifest(), words
    work = Work(name or _cluster_name(manifest))
    if not work.folder.exists():
        raise ClustergenError(f"no lab {work.name} is up", f"clustergen lab up {manifest}")
    lab, _ = _lab(manifest, name, _wish(**options))
    sys.exit(run.apply(lab, arguments))


@command.command("status")
@manifest_argument
@click.option("--name", metavar="NAME", help="Name of the lab; default: the cluster's.")
def status(manifest: Path, name: str | None) -> None:
    """Show the containers, how to enter them, and sinfo."""
    from clustergen.lab import nodes, run
    from clustergen.lab.work import Work

    work = Work(name or _cluster_name(manifest))
    engine = run.engine_of(work)
    rows = nodes.running(engine, work)
    if not rows:
        click.echo(f"no lab {work.name} is up")
        sys.exit(1)
    lab, _ = _lab(manifest, name, _wish())
    _list(lab)
    addresses = {h: a for g in lab.cluster.groups for h, a in zip(g.hosts, g.addresses, strict=True)}
    roles = {h: ", ".join(g.roles) for g in lab.cluster.groups for h in g.hosts}
    for row in rows:
        host = row["node"]
        click.echo(f"{host:16} {addresses.get(host, ''):16} {row['state']:10} {roles.get(host, '')}")
    click.echo(f"\nenter one: ssh -i {work.key} -o UserKnownHostsFile={work.known_hosts} root@ADDRESS")
    for controller in lab.cluster.controllers[:1]:
        answer = engine.run("exec", nodes.container(work, controller), "sinfo", "-N", "-l", check=False)
        if answer.returncode == 0:
            click.echo(f"\n{answer.stdout.rstrip()}")


@command.command("shell")
@required_manifest_argument
@click.argument("node")
@click.option("--name", metavar="NAME", help="Name of the lab; default: the cluster's.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def shell(manifest: Path, node: str, name: str | None, words: tuple[str, ...]) -> None:
    """Open a shell on NODE, or run one command there."""
    import subprocess

    from clustergen.lab import nodes, run
    from clustergen.lab.work import Work

    work = Work(name or _cluster_name(manifest))
    engine = run.engine_of(work)
    if node not in {row["node"] for row in nodes.running(engine, work)}:
        raise ClustergenError(f"no node {node} is up in the lab {work.name}")
    terminal = ["-it"] if sys.stdin.isatty() and not words else ["-i"]
    command = engine.command("exec", *terminal, nodes.container(work, node), *(words or ("bash", "-l")))
    sys.exit(subprocess.run(command, check=False).returncode)


@command.command("down")
@manifest_argument
@click.option("--name", metavar="NAME", help="Name of the lab; default: the cluster's.")
def down(manifest: Path, name: str | None) -> None:
    """Remove containers, network, directory and keys; images stay."""
    from clustergen.lab import run
    from clustergen.lab.work import Work

    count = run.down(Work(name or _cluster_name(manifest)))
    click.echo(f"{count} containers removed")


def _cluster_name(manifest: Path) -> str:
    """The name alone: a manifest that has become invalid must not keep anybody from `down`."""
    from clustergen.manifest.source import load

    source = load(manifest)
    name = source.data.get("name") if isinstance(source.data, dict) else None
    if not isinstance(name, str):
        message = source.diagnostics[0].message if source.diagnostics else "it has no name"
        raise ClustergenError(f"{manifest}: {message}", "--name says which lab is meant", exit_code=2)
    return name


def _compiled(manifest: Path) -> Any:
    from clustergen.compile import validate

    compiled = validate(manifest)
    if not compiled.ok:
        refuse(compiled, compiled.diagnostics)
    return compiled


def _wish(
    scale: tuple[str, ...] = (), subnet: str | None = None, system: str | None = None, image: tuple[str, ...] = (),
    slurm: str | None = None, variables: tuple[str, ...] = (), engine: str | None = None,
) -> Any:  # fmt: skip
    from clustergen.lab.run import Wish

    images = {text.rpartition("=")[0]: text.rpartition("=")[2] for text in image}
    for text in variables:
        if not text.partition("=")[0].isidentifier() or "=" not in text:
            raise ClustergenError(f"--set {text}: NAME=TEXT", "for example --set repositories_slurm_url=https://…", 2)
    assignments = {text.partition("=")[0]: text.partition("=")[2] for text in variables}
    return Wish(list(scale), subnet, system, images, engine, slurm, assignments)


def _lab(manifest: Path, name: str | None, wish: Any) -> Any:
    """The lab on paper, and what it is to be like: what was asked for earlier holds where nothing else is asked for."""
    from clustergen.lab import run
    from clustergen.lab.work import Work

    compiled = _compiled(manifest)
    wish = wish.over(run.Wish.read(Work(name or compiled.cluster.name).wish))
    lab = run.prepare(compiled, manifest, name, wish)
    wish.write(lab.work.wish)
    return lab, wish


def _list(lab: Any) -> None:
    remark("Not real in this lab:")
    for item in lab.substitutions:
        remark(f"  {item.what}\n    ({item.why})")
