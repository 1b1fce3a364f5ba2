"""Install the programs that verify and lab run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import click

from clustergen.cli import output
from clustergen.cli.complete import suites as complete_suites
from clustergen.cli.exit_codes import USAGE, exit_codes
from clustergen.diagnostics import ClustergenError
from clustergen.feature import modules, name_of


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
    26.05); without one, all three, and what the other commands of setup but lab install.
    They are Debian packages in a directory per release, below ~/.cache/clustergen/parsers or CLUSTERGEN_PARSERS. No
    service starts on this machine.
    The first run takes some minutes and 2 GB; a root that is up to date is left untouched. CLUSTERGEN_MIRROR names
    another Debian mirror.
    """
    from clustergen.diagnostics import did_you_mean
    from clustergen.setup import parsers as roots
    from clustergen.setup import reframe

    for suite in suites:
        if suite not in roots.SUITES:
            hint = did_you_mean(suite, roots.SUITES) or f"choose one of {', '.join(roots.SUITES)}"
            raise ClustergenError(f"there is no suite '{suite}'", hint=hint, exit_code=2)
    report = _reporter()
    others = [] if suites else [partial(module.set_up, report) for module in (*modules("setup"), reframe)]
    roots.set_up(suites or tuple(roots.SUITES), report, others)


def _of_feature(module: ModuleType) -> click.Command:
    """The command for what the checks of a feature need."""
    made = click.Command(name_of(module), callback=lambda: module.set_up(_reporter()), help=module.set_up.__doc__)
    return exit_codes("everything is ready", "", USAGE, "something could not be installed")(made)


for _module in modules("setup"):
    command.add_command(_of_feature(_module))


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
