"""Install the programs that verify and lab run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.complete import suites as complete_suites
from clustergen.cli.exit_codes import USAGE, exit_codes
from clustergen.diagnostics import ClustergenError


@click.group("setup")
def command() -> None:
    """Install the programs that verify and lab run.

    Without root, each command names what is missing on this machine and the one command that an administrator has to
    run.
    """


def _reporter() -> Callable[[str, str], None]:
    """Prints a line per step, from any thread; nothing with -q."""
    is_quiet = output.is_quiet()

    def report(name: str, text: str) -> None:
        if not is_quiet:
            click.echo(f"{name:10} {text}", err=True)

    return report


@exit_codes("everything is ready", "", "no such SUITE", "something could not be installed")
@command.command("parsers")
@click.argument("suites", metavar="[SUITE...]", nargs=-1, shell_complete=complete_suites)
def parsers(suites: tuple[str, ...]) -> None:
    """Unpack the programs that verify runs into this user's cache.

    SUITE is trixie (Slurm 24.11, Prometheus, systemd, sshd and most others), bookworm (Slurm 22.05) or forky (Slurm
    26.05); without one, all three, the names of NCCL (clustergen setup nccl) and ReFrame (clustergen setup reframe).
    They are Debian packages in a directory per release, below ~/.cache/clustergen/parsers or CLUSTERGEN_PARSERS. No
    service starts on this machine.
    The first run takes some minutes and 2 GB; a root that is up to date is left untouched. CLUSTERGEN_MIRROR names
    another Debian mirror.
    """
    from clustergen.diagnostics import did_you_mean
    from clustergen.setup import nccl, reframe
    from clustergen.setup import parsers as roots

    for suite in suites:
        if suite not in roots.SUITES:
            hint = did_you_mean(suite, roots.SUITES) or f"choose one of {', '.join(roots.SUITES)}"
            raise ClustergenError(f"there is no suite '{suite}'", hint=hint, exit_code=2)
    report = _reporter()
    others = [] if suites else [lambda: nccl.set_up(report), lambda: reframe.set_up(report)]
    roots.set_up(suites or tuple(roots.SUITES), report, others)


@exit_codes("everything is ready", "", USAGE, "something could not be installed")
@command.command("nccl")
def nccl_names() -> None:
    """Extract the names that NCCL reads from its wheels on PyPI.

    The check of nccl.conf needs them. Downloads some hundred MB per release and keeps a list of a few KB.
    """
    from clustergen.setup import nccl

    nccl.set_up(_reporter())


@exit_codes("everything is ready", "", USAGE, "something could not be installed")
@command.command("reframe")
@click.option(
    "--wheels", type=click.Path(file_okay=False, path_type=Path), help="Only write its wheels to a directory."
)
@click.option("--python", default="3.13", show_default=True, help="Release of Python on the controller, for --wheels.")
def reframe_packages(wheels: Path | None, python: str) -> None:
    """Unpack ReFrame from PyPI.

    The check of acceptance/ runs it. Downloads some 60 MB into a directory beside the parsers; no environment changes.
    With --wheels, it writes the wheels to a directory for accept_wheels, for controllers without access to PyPI.
    """
    from clustergen.setup import reframe

    if wheels is None:
        reframe.set_up(_reporter())
        return
    wheels.mkdir(parents=True, exist_ok=True)
    reframe.download(wheels, python)
    _reporter()("reframe", f"{len(list(wheels.glob('*.whl')))} wheels in {wheels}")


@exit_codes("everything is ready", "", USAGE, "something could not be installed")
@command.command("lab")
@click.option("--docker", is_flag=True, help="Install docker beside podman; its daemon is neither started nor enabled.")
def lab(docker: bool) -> None:
    """Install podman and the other packages of `clustergen lab`.

    That is podman with its network parts, ssh and mmdebstrap, on Debian and Ubuntu, as root. Where the distribution's
    podman is older than 4, docker is installed. No setting of podman is changed.
    """
    from clustergen.setup import lab as packages

    names = packages.set_up(docker=docker)
    _reporter()("lab", f"installed {' '.join(names)}" if names else "ready")
