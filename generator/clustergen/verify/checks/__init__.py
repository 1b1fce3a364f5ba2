"""Who reads which kind of file: a module per field, a `Check` per parser."""

from __future__ import annotations

from collections.abc import Iterable

from clustergen.diagnostics import did_you_mean
from clustergen.diagnostics.selection import words_of
from clustergen.verify.checks import (
    acceptance,
    access,
    cloud_init,
    cloud_init_seed,
    containers,
    data,
    fabric,
    fabric_plan,
    facility,
    grafana,
    host,
    network,
    pictures,
    prometheus,
    shell,
    slurm,
    slurm_hardware,
    storage,
    systemd,
    tree,
    unread,
    warewulf,
)
from clustergen.verify.checks.base import Check, Trial, place_of

_MACHINE_ROOM = (facility, pictures, fabric_plan)
_HOST = (host, network, cloud_init, cloud_init_seed, warewulf)
_SLURM = (slurm, slurm_hardware)
_ON_NODES = (tree, *_SLURM, shell, prometheus, grafana, systemd, *_HOST, access, storage, containers, fabric)
_MODULES = (*_ON_NODES, *_MACHINE_ROOM, acceptance, data, unread)
CHECKS: tuple[Check, ...] = tuple(check for module in _MODULES for check in module.CHECKS)

COMPONENTS: dict[str, tuple[Check, ...]] = {
    "ansible": tuple(check for check in tree.CHECKS if check.name.startswith("ansible-")),
    "containers": containers.CHECKS,
    "fabric": fabric.CHECKS,
    "facility": tuple(check for module in _MACHINE_ROOM for check in module.CHECKS),
    "host": tuple(check for module in _HOST for check in module.CHECKS),
    "login": access.CHECKS,
    "monitoring": (*prometheus.CHECKS, *grafana.CHECKS),
    "scripts": shell.CHECKS,
    "slurm": tuple(check for module in _SLURM for check in module.CHECKS),
    "storage": storage.CHECKS,
    "systemd": systemd.CHECKS,
}
"""Checks that belong together, by a name that no other check has."""


def chosen(names: Iterable[str]) -> tuple[Check, ...]:
    """The checks of these names, with `-` or blanks in them, of these components, and of these programs, as the rows of
    the output call them; commas separate several in one text. ValueError for any other name.
    """
    by_name = {word: (check,) for check in CHECKS for word in (check.name, check.name.replace(" ", "-"))}
    by_program: dict[str, tuple[Check, ...]] = {}
    for check in CHECKS:
        for program in {check.parser, check.parser.split(" -")[0]}:  # `nft --check`
            by_program[program] = (*by_program.get(program, ()), check)
    selected: set[str] = set()
    for name in words_of(names) or [""]:  # nothing but commas is no choice either
        checks = COMPONENTS.get(name) or by_name.get(name) or by_program.get(name)
        if checks is None:
            hint = (
                did_you_mean(name, [*COMPONENTS, *by_name, *by_program]) or "clustergen verify --list shows all checks"
            )
            raise ValueError(f"there is no check '{name}': {hint}")
        selected |= {check.name for check in checks}
    return tuple(check for check in CHECKS if check.name in selected)


__all__ = ["CHECKS", "COMPONENTS", "Check", "Trial", "chosen", "place_of"]
