"""Who reads which kind of file: a module per field, a `Check` per parser; and the checks of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clustergen.diagnostics import did_you_mean
from clustergen.diagnostics.selection import words_of
from clustergen.feature import Attributed, check_fields, extension_of, modules, name_of
from clustergen.verify.check import Check, Trial, no_parser, place_of
from clustergen.verify.checks import (
    access,
    data,
    host,
    network,
    shell,
    slurm,
    slurm_hardware,
    storage,
    systemd,
    tree,
    unread,
)

_GROUND: Mapping[str, tuple[tuple[Check, ...], ...]] = {
    "ansible": (tree.CHECKS,),
    "slurm": (slurm.CHECKS, slurm_hardware.CHECKS),
    "scripts": (shell.CHECKS,),
    "monitoring": (),  # of features alone, as facility, but here in the order of rows
    "systemd": (systemd.CHECKS,),
    "host": (host.CHECKS, network.CHECKS),
    "login": (access.CHECKS,),
    "storage": (storage.CHECKS,),
    "facility": (),
}


def _components() -> dict[str, tuple[Check, ...]]:
    components = {name: [check for checks in parts for check in checks] for name, parts in _GROUND.items()}
    for module in modules("checks"):
        with Attributed(module.__name__):
            if not all(isinstance(check, Check) for check in module.CHECKS):
                raise TypeError(f"CHECKS is {module.CHECKS!r}, not a tuple of Check")
            if extension_of(module.__name__):
                check_fields(module.CHECKS)
        components.setdefault(getattr(module, "COMPONENT", name_of(module).partition(".")[0]), []).extend(module.CHECKS)
    return {name: _ordered(checks) for name, checks in components.items()}


def _ordered(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Files that no program can read come last."""
    return tuple(sorted(checks, key=lambda check: check.ask is no_parser))


COMPONENTS = _components()
"""Checks that belong together, by a name that no other check has: those of a feature by the name of the feature or of
its family, unless its module has another `COMPONENT`.
"""
_OTHERS = (*data.CHECKS, *unread.CHECKS)
CHECKS = _ordered((tree.AS_RENDERED, *(check for checks in COMPONENTS.values() for check in checks), *_OTHERS))


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
