"""`clustergen lab up` and `apply`: start the nodes of a manifest as containers, and turn them into the cluster."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustergen.cli.arguments import GuessedChoice, manifest_path, one_manifest
from clustergen.cli.common import valid
from clustergen.cli.complete import rows
from clustergen.cli.durations import estimate, keep
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.cli.init import SMALL, STARTERS, write_starter
from clustergen.cli.lab_nodes import cluster_name, current
from clustergen.cli.output import remark
from clustergen.diagnostics import ClustergenError
from clustergen.manifest import MANIFEST
from clustergen.records import replace

if TYPE_CHECKING:
    from clustergen.lab.model import Lab

_PATH = click.Path(path_type=Path, readable=False)


def _manifest(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """The manifest to start; None with --example, which writes it."""
    if not ctx.params.get("example"):
        return one_manifest(ctx, parameter, value)
    if value is not None:
        raise click.UsageError("name a manifest or --example, not both")
    if Path(MANIFEST).exists():
        raise click.UsageError(f"{MANIFEST} exists already: start it with `clustergen lab up`, without --example")
    return None


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that shape a lab, for `up` and `apply`."""
    for option in reversed(
        [
            click.option("--name", metavar="NAME", help="Name of the lab; default: the name of the cluster."),
            click.option(
                "--scale", multiple=True, metavar="[GROUP=]N",
                help="Keep at most N nodes of a node type, role or entry of `nodes`; N alone: of each compute entry.",
            ),
            click.option("--subnet", metavar="CIDR", help="Management subnet, if this machine uses the manifest's."),
            click.option(
                "--os", metavar="OS", shell_complete=rows("os"),
                help="Operating system of all nodes, e.g. debian-13.",
            ),
            click.option("--image", multiple=True, metavar="[OS=]IMAGE", help="Your own image: systemd, ssh, Python."),
            click.option(
                "--slurm", metavar="RELEASE", shell_complete=rows("slurm"),
                help="Slurm release of the distribution, e.g. 24.11.",
            ),
            click.option(
                "--set", "variables", multiple=True, metavar="NAME=TEXT",
                help="Set an Ansible variable, e.g. repositories_slurm_url=https://…",
            ),
            click.option(
                "--mount", "mounts", multiple=True, metavar="FILE_SYSTEM",
                help="Mount this CephFS with ceph-fuse instead of sharing a directory; its cluster must be reachable.",
            ),
            click.option("--engine", type=click.Choice(("podman", "docker")), help="Default: podman, else docker."),
            click.option(
                "--installed", is_flag=True,
                help="Start from an image in which the packages of all roles are installed; the first apply is faster.",
            ),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


@exit_codes("all nodes are up", "", INVALID, "a container cannot be started")
@click.command("up")
@click.option(
    "--example",
    type=GuessedChoice(list(STARTERS)),
    is_eager=True,
    help="Write this starter of `clustergen init` to ./manifest.yaml first.",
)
@click.argument("manifest", type=_PATH, metavar="[MANIFEST]", required=False, callback=_manifest)
@_options
def up(manifest: Path | None, example: str | None, name: str | None, **options: Any) -> None:
    """Start the nodes of MANIFEST as containers.

    Requires root: run `sudo env "PATH=$PATH" clustergen lab up`. `clustergen setup lab` installs podman.

    Interrupting the first `up` removes everything again.
    """
    from clustergen.lab import engine as engines
    from clustergen.lab import node_images, run
    from clustergen.lab.work import Work, labs

    if manifest is None:
        manifest = Path(MANIFEST)
        write_starter(manifest, example or SMALL)
        remark(f"{manifest} written: starter {example or SMALL}")
    began = time.monotonic()

    step, step_began = "", began

    def echo(words: str) -> None:
        nonlocal step, step_began
        reading = time.monotonic()
        if step:
            keep(f"lab {step}", reading - step_began)
        step, step_began = words, reading
        remark(f"  {reading - began:4.0f} s  {words}{estimate(f'lab {words}')}")

    wish = _wish(**options)
    work = Work(cluster_name(manifest) if name is None else name)
    fresh, done = not work.directory.exists(), False
    try:
        lab, wish = _lab(manifest, name, wish)
        node_images.possible(lab, wish)
        engine = engines.find(wish.engine, run.store())
        replace(wish, engine=engine.name).write(lab.work.wish)
        _list(lab)
        run.up(engine, lab, wish, echo)
        keep(f"lab {step}", time.monotonic() - step_began)
        done = True
    except KeyboardInterrupt:
        left = "everything was removed" if fresh else "nodes that were up still are; run up again to start the others"
        raise ClustergenError(f"interrupted; {left}") from None
    finally:
        if fresh and not done:
            shutil.rmtree(work.directory, ignore_errors=True)
    count = sum(len(group.hosts) for group in lab.cluster.groups)
    lab.work.write_ssh_config({host: ip for group in lab.cluster.groups for host, ip in run.addresses(group)})
    which = f" --name {lab.work.name}" if len(labs()) > 1 else ""
    remark(f"{count} nodes are up. Next: clustergen lab apply{which}")


@exit_codes(
    "applied; other codes are those of ansible-playbook",
    "",
    "MANIFEST is invalid, or a node failed",
    "no such lab runs",
)
@click.command("apply", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[MANIFEST] [-- OPTIONS]", type=click.UNPROCESSED)
@_options
def apply(words: tuple[str, ...], name: str | None, **options: Any) -> None:
    """Render the lab's manifest and apply it with Ansible.

    MANIFEST defaults to the manifest of the current lab. Options after -- are passed to
    ansible-playbook.
    """
    from clustergen.lab import run
    from clustergen.lab.work import Work

    if words and not words[0].startswith("-"):
        manifest, arguments = manifest_path(Path(words[0])), words[1:]
        work = Work(cluster_name(manifest) if name is None else name)
    else:
        work, arguments = current(name), words
        manifest, name = work.origin(), work.name
    if not work.directory.exists():
        raise ClustergenError(f"lab {work.name} is not up", f"clustergen lab up {manifest}")
    lab, _ = _lab(manifest, name, _wish(**options))
    sys.exit(run.apply(lab, arguments, lambda line: remark(f"  {line}")))


def _wish(image: tuple[str, ...], variables: tuple[str, ...], **options: Any) -> Any:
    """The wish of the options; all others have the names that they have in it."""
    from clustergen.lab.model import Wish

    for text in variables:
        if not text.partition("=")[0].isidentifier() or "=" not in text:
            raise ClustergenError(f"--set {text}: NAME=TEXT", "for example --set repositories_slurm_url=https://…", 2)
    images = dict(text.rpartition("=")[::2] for text in image)
    values = dict(text.partition("=")[::2] for text in variables)
    lists = {name: list(value) for name, value in options.items() if isinstance(value, tuple)}
    return Wish(images=images, variables=values, **{**options, **lists})


def _lab(manifest: Path, name: str | None, wish: Any) -> Any:
    """The lab on paper, and what it is to be like: what was asked for earlier holds where nothing else is asked for."""
    from clustergen.lab.model import Wish
    from clustergen.lab.prepare import prepare
    from clustergen.lab.work import Work

    compiled = valid(manifest)
    assert compiled.cluster is not None
    wish = wish.over(Wish.read(Work(name or compiled.cluster.name).wish))
    lab = prepare(compiled, manifest, name, wish)
    wish.write(lab.work.wish)
    return lab, wish


def _list(lab: Lab) -> None:
    remark("Substituted in this lab:")
    remark(lab.work.substitutions.read_text(encoding="utf-8").rstrip())
