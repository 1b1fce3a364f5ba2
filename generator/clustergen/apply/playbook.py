"""Runs `site.yml` of a tree with the ansible-core of clustergen's own Python environment."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from clustergen import child_process
from clustergen.diagnostics import ClustergenError
from clustergen.records import record

_CALLBACK = "clustergen.cluster.lines"
_BANNER = re.compile(r"PLAY RECAP \*+")
_RECAP = re.compile(r"(\S+) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+) +skipped=\d+")
_STEP = re.compile(r" *\d+ s  .*")  # a play, with the seconds since the run began
_TITLE = re.compile(r"(\S.*)  \[\d+ s\]")  # a task, with the same
_FAILURE = re.compile(r"  (\S+) +(unreachable|failed): (.*)")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")

NOTHING_RAN = (1, 5)
"""Exit statuses of ansible-playbook that got no hosts, or options it does not know."""


@record
class Check:
    """The result of a run in check mode on the nodes."""

    status: int
    """The exit status of ansible-playbook."""
    unchanged: tuple[str, ...]
    changed: tuple[str, ...]
    """Hosts that an apply would change."""
    failed: tuple[str, ...]
    """Hosts that did not answer, or not as they should: they were not compared."""
    causes: Mapping[str, str]
    """Why each of these failed, as ansible-playbook reports it: `unreachable: …` or `failed: …`."""
    fingerprint: str
    """SHA-256 of what each node answered, in whatever order they did."""

    @property
    def hosts(self) -> int:
        return len(self.unchanged) + len(self.changed) + len(self.failed)


def run(tree: Path, arguments: Sequence[str]) -> int:
    """Runs the playbook on this terminal; its exit status."""
    return child_process.run_playbook(_command(arguments), tree, dict(os.environ))


def check(tree: Path, arguments: Sequence[str], echo: Callable[[str], None], *, colour: bool = False) -> Check:
    """Runs the playbook in check mode, which changes nothing; `echo` gets each line of its output."""
    environment = {**os.environ, **child_process.PLAYBOOK, "ANSIBLE_STDOUT_CALLBACK": _CALLBACK}
    if colour:
        environment["ANSIBLE_FORCE_COLOR"] = "true"
    lines: list[str] = []
    with child_process.start(
        _command(["--check", "--diff", *arguments]),
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            echo(line.rstrip("\n"))
            lines.append(_COLOUR.sub("", line.rstrip("\n")))
    return result(process.returncode, lines)


def result(status: int, lines: Sequence[str]) -> Check:
    """Read the output of a check. Raises ClustergenError if the run ended before any host was asked."""
    # What a node says may look like the recap: the real one is after the last banner.
    banner = max((number for number, line in enumerate(lines) if _BANNER.fullmatch(line)), default=len(lines))
    recap = {
        match[1]: tuple(map(int, match.groups()[1:])) for line in lines[banner:] if (match := _RECAP.fullmatch(line))
    }
    if not recap:
        reason = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
        raise ClustergenError(f"ansible-playbook ended with status {status}: {reason.strip()}")
    failed = tuple(host for host, (_, unreachable, failures) in recap.items() if unreachable or failures)
    changed = tuple(host for host, (changes, _, _) in recap.items() if changes and host not in failed)
    unchanged = tuple(host for host in recap if host not in (*failed, *changed))
    reports = [match.groups() for line in lines[:banner] if (match := _FAILURE.fullmatch(line))]
    causes = {host: f"{outcome}: {text}" for host, outcome, text in reports if host in failed}
    answers = json.dumps([sorted(recap.items()), _answers(lines[:banner])])
    return Check(
        status=status,
        unchanged=unchanged,
        changed=changed,
        failed=failed,
        causes=causes,
        fingerprint=sha256(answers.encode()).hexdigest(),
    )


def _answers(lines: Sequence[str]) -> list[list[list[str]]]:
    """Task by task the blocks of its output: an outcome with its hosts, or a diff below the name of its hosts.

    Blocks are in the order of their hosts, who answer in any; the diffs of a host stay in theirs, and every line in
    its block.
    """
    tasks: list[list[list[str]]] = [[]]
    fresh = True  # an empty line is above: the first line of a block follows
    outcomes = False
    for line in lines:
        if not line or _STEP.fullmatch(line):
            fresh = fresh or not line
            continue
        title = _TITLE.fullmatch(line) if fresh else None
        if title:
            tasks.append([[title[1]]])
        elif fresh or outcomes or not tasks[-1] or line.startswith("["):  # a warning of Ansible's needs no empty line
            tasks[-1].append([line])
        else:
            tasks[-1][-1].append(line)
        outcomes = title is not None or (outcomes and not fresh)
        fresh = False
    return [sorted(blocks, key=lambda block: block[0]) for blocks in tasks]


def _command(arguments: Sequence[str]) -> list[str]:
    if importlib.util.find_spec("ansible") is None:
        raise ClustergenError(
            f"ansible-core is not installed in the Python environment of clustergen, {sys.prefix}",
            f"{sys.executable} -m pip install ansible-core",
        )
    return [sys.executable, "-P", "-m", "ansible", "playbook", "site.yml", *arguments]
