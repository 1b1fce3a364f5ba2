"""The exit codes of every verb, which end its help.

In all of them, 0 is fine, 1 differences or findings, 2 an invalid manifest or a wrong use, and 3 a failure of the
environment.
"""

from __future__ import annotations

import textwrap

import click

_WIDTH = 76  # as click folds a help text, which leaves this part of it alone
_USAGE = "the options or arguments are wrong"
_INVALID = "MANIFEST is invalid, or the usage is wrong"
_UNREADABLE = "MANIFEST cannot be read"
_FILTERED = "; with --exit-zero, any findings"
EXIT_CODES: dict[str, tuple[str, str, str, str]] = {
    "init": ("the manifest is written", "", _USAGE, "a file exists or cannot be written"),
    "validate": (
        f"MANIFEST is valid, with or without warnings{_FILTERED}", "", "errors, or the usage is wrong", _UNREADABLE
    ),
    "render": (
        "rendered; with --check, the tree is up to date", "with --check, the tree differs", _INVALID,
        "MANIFEST cannot be read, or the tree cannot be written",
    ),
    "diff": ("no changes", "changes", _INVALID, "a manifest, a tree or git cannot be read"),
    "plan": ("no changes", "changes", _INVALID, "a file cannot be read, or a node failed"),
    "apply": (
        "applied, or nothing to do", "not confirmed, or the plan is out of date; with --check, changes", _INVALID,
        "a file cannot be read, or a node failed",
    ),
    "verify": (
        "every check that has a parser passed", "a check failed", _USAGE,
        "no check failed, but a parser could not run, or TREE cannot be read",
    ),
    "lint": (f"no errors or warnings{_FILTERED}", "errors or warnings", _USAGE, "PATH cannot be read"),
    "import": (
        "the same meaning", "differences, or Slurm rejects the original or the rendered files",
        "the manifest is not valid yet, or the usage is wrong", "PATH cannot be read, or -o cannot be written",
    ),
    "lab apply": (
        "applied; other codes are those of ansible-playbook", "", "MANIFEST is invalid, or a node failed",
        "no such lab runs",
    ),
    "lab down": ("removed", "", _USAGE, "podman or docker failed"),
    "lab list": ("listed", "", _USAGE, "podman or docker failed"),
    "lab logs": ("journalctl exited with 0; its other codes are passed on", "", _USAGE, "no such lab or node runs"),
    "lab shell": ("the command exited with 0; its other codes are passed on", "", _USAGE, "no such lab or node runs"),
    "lab start": ("started", "", _USAGE, "no such lab, or podman or docker failed"),
    "lab status": ("shown", "", _USAGE, "no such lab runs"),
    "lab stop": ("stopped", "", _USAGE, "no such lab, or podman or docker failed"),
    "lab up": ("all nodes are up", "", _INVALID, "a container cannot be started"),
    "setup lab": ("everything is ready", "", _USAGE, "something could not be installed"),
    "setup nccl": ("everything is ready", "", _USAGE, "something could not be installed"),
    "setup parsers": ("everything is ready", "", "no such SUITE", "something could not be installed"),
    "setup reframe": ("everything is ready", "", _USAGE, "something could not be installed"),
    "explain": ("explained", "", "no such code, field, key or line; MANIFEST is invalid", "a file cannot be read"),
    "discover": ("printed", "", _USAGE, "the facts cannot be read"),
    "drift": ("no drift", "drift; also nodes that could not be reached or read", _INVALID, "DIR cannot be read"),
    "catalogue": ("listed", "", "the catalogue has no such topic or name", ""),
    "schema": ("printed", "", _USAGE, ""),
    "fabric check": ("the fabric is as planned", "findings", _INVALID, "FILE cannot be read"),
    "facility compare": ("compared", "", "a manifest is invalid, or the usage is wrong", "a file cannot be read"),
    "completion": ("printed", "", _USAGE, ""),
}  # fmt: skip
"""Verb → what 0, 1, 2 and 3 mean; empty where it does not end with that."""


def add_exit_codes(command: click.Command, verb: str) -> None:
    """Ends the help of a verb, and of the verbs below it, with its exit codes."""
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            add_exit_codes(below, f"{verb} {name}")
    elif meanings := EXIT_CODES.get(verb):
        lines = [_line(code, meaning) for code, meaning in enumerate(meanings) if meaning]
        command.epilog = "\n".join(["\b", "Exit codes:", *lines])


def _line(code: int, meaning: str) -> str:
    return textwrap.fill(meaning, _WIDTH, initial_indent=f"  {code}  ", subsequent_indent=" " * 5)
