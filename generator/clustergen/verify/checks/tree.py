"""The tree itself: as it was rendered, and what Ansible makes of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clustergen import __version__
from clustergen.records import replace
from clustergen.render.inventory_file import HOSTS
from clustergen.render.tree import LOCK
from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.programs import NotHere
from clustergen.verify.rows import Row

_TIMEOUT = 300  # Ansible reads the inventory of ten thousand nodes for longer than a minute


def _as_rendered(check: Check, trial: Trial, _entries: Sequence[Entry]) -> Iterator[Row]:
    words = trial.tree.differences
    row = check.judged((), words, [f"{len(trial.tree.entries)} files have the hashes of the lock file"], __version__)
    yield replace(row, files=(LOCK,))


def _ansible(trial: Trial, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs one of Ansible's programs in a copy of the files that were read. Raises NotHere."""
    beside = Path(sys.executable).parent / program
    path = str(beside) if beside.is_file() else shutil.which(program)
    if path is None:
        raise NotHere(f"{program} is not installed: install ansible-core")
    directory = trial.scratch / program
    copy = directory / "tree"
    for entry in trial.tree.entries.values():
        if entry.group is None:
            entry.write(copy / entry.path)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        "ANSIBLE_CONFIG": str(copy / "ansible.cfg"),
        "ANSIBLE_HOME": str(directory),
        "ANSIBLE_LOCAL_TEMP": str(directory / "tmp"),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    try:
        return subprocess.run(
            [path, *arguments],
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotHere(f"{program} did not answer within {_TIMEOUT} s") from None


def _complaints(done: subprocess.CompletedProcess[str], output: str) -> list[str]:
    """The lines of the output, or the exit status of a program that fails without one."""
    lines = [line for line in output.splitlines() if line.strip()]
    if done.returncode and not lines:
        return [f"{Path(done.args[0]).name}: exit status {done.returncode}"]
    return lines


def _ansible_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ansible-core")
    except PackageNotFoundError:
        return ""


def _inventory(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    done = _ansible(trial, "ansible-inventory", "-i", HOSTS, "--list")
    complaints = _complaints(done, done.stderr) or list(_otherwise(trial, json.loads(done.stdout)))
    hosts, groups = len(trial.tree.inventory.hosts), len(trial.tree.inventory.groups)
    yield check.judged(entries, complaints, [f"{hosts} hosts, {groups} groups"], _ansible_version())


def _otherwise(trial: Trial, listing: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    """Where Ansible's groups are not what this program took them for."""
    for group, hosts in trial.tree.inventory.groups.items():
        if group == "all":
            continue
        theirs = set(_members(listing, group, ()))
        if theirs != set(hosts):
            yield f"group {group}: Ansible has {sorted(theirs)}, clustergen has {sorted(hosts)}"


def _members(listing: dict[str, dict[str, list[str]]], group: str, above: tuple[str, ...]) -> Iterable[str]:
    yield from listing.get(group, {}).get("hosts", ())
    for child in listing.get(group, {}).get("children", ()):
        if child not in above:
            yield from _members(listing, child, (*above, group))


def _playbook(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    playbooks = [entry.path for entry in entries if "/" not in entry.path]
    done = _ansible(trial, "ansible-playbook", "--syntax-check", *playbooks)
    yield check.judged(entries, _complaints(done, done.stderr), (), _ansible_version())


def _settings(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    done = _ansible(trial, "ansible-config", "validate", "-t", "all")
    complaints = _complaints(done, done.stderr + done.stdout) if done.returncode else ()
    yield check.judged(entries, complaints, (), _ansible_version())


AS_RENDERED = Check(
    name="tree",
    what="the tree as it was rendered",
    parser="clustergen",
    proves="Every file exists with the hash of the lock file, and there are no other files. This is the only "
    "check that clustergen performs itself.",
    reads=paths(LOCK),
    ask=_as_rendered,
)

CHECKS = (
    Check(
        name="ansible-inventory",
        what="Ansible: inventory and variables",
        parser="ansible-inventory",
        proves="Ansible reads hosts, groups and variables without a warning, and has the same hosts in each group as "
        "clustergen.",
        reads=paths("inventory/*"),
        ask=_inventory,
    ),
    Check(
        name="ansible-playbook",
        what="Ansible: playbook",
        parser="ansible-playbook --syntax-check",
        proves="Ansible can parse the playbook and has its modules and keywords. No task runs.",
        reads=paths("site.yml", "pull.yml", "playbooks/*", "roles/*"),
        ask=_playbook,
    ),
    Check(
        name="ansible-config",
        what="Ansible: settings",
        parser="ansible-config validate",
        proves="Ansible accepts every section and key.",
        reads=paths("ansible.cfg"),
        ask=_settings,
    ),
)
