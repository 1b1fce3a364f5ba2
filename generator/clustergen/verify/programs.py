"""Finds the programs that are to read files, and asks them in a sandbox where the node's files lie in their places."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from clustergen.catalogue import system_paths
from clustergen.records import record
from clustergen.verify import sandbox
from clustergen.verify.node_roots import NodeRoot
from clustergen.verify.slurm_roots import parsers_directory, roots, system_of

TIMEOUT = 180.0  # seconds for one row; most take less than one, and on a busy machine a minute is not enough for all
SEARCH = f"{system_paths.PATH}:/usr/lib/systemd"

_PLACES = ("usr/sbin", "usr/bin", "usr/lib/systemd", "usr/local/sbin", "usr/local/bin")
_VERSION = re.compile(r"\d+(?:\.\d+)*[\w.+~-]*")


class NotHere(Exception):  # noqa: N818 - a state of the machine, no mistake
    """A program cannot be asked on this machine; the text says why."""


@record
class Program:
    """A program inside of a root; the root "/" is this machine."""

    name: str
    path: str
    root: Path


@record
class Answer:
    """The answer of a program. `code` is None where it ran out of time; `notes` are files that the script left
    behind.
    """

    version: str
    code: int | None
    out: str
    err: str
    notes: dict[str, str]

    @property
    def lines(self) -> list[str]:
        """Both streams, without empty lines: complaints first, as most programs write those to stderr."""
        return [line.rstrip() for line in (*self.err.splitlines(), *self.out.splitlines()) if line.strip()]


def find(name: str, system: str = "") -> Program:
    """The program of that name from a root of the node's own operating system, else of the newest, else this machine's.

    Raises NotHere.
    """
    for root in sorted(roots(), key=lambda root: (system_of(root)[0] == system, system_of(root)[1]), reverse=True):
        for place in _PLACES:
            if (root / place / name).is_file() or (root / place / name).is_symlink():
                return Program(name, f"/{place}/{name}", root)
    if path := shutil.which(name, path=SEARCH):
        return Program(name, path, Path("/"))
    raise NotHere(f"{name} is neither installed nor in {parsers_directory()}: run clustergen setup parsers")


def ask(
    program: Program,
    script: str,
    *,
    version: str,
    node: NodeRoot | None = None,
    arguments: Sequence[str] = (),
    stand_ins: Iterable[tuple[Path, str]] = (),
    timeout: float = TIMEOUT,
    is_one_user: bool = True,
) -> Answer:
    """Runs a bash script beside the files of a node; `$program` is the program's path, `$@` are the arguments.

    `version` is the command that prints the program's version. `stand_ins` are more directories to lay over the root,
    before the node's own files. `is_one_user`: the script changes to no other user. It may leave files in
    /run/clustergen. Raises NotHere where no sandbox can be made.
    """
    files = (*stand_ins, *([(node.directory, "/")] if node else ()))
    box = sandbox.Sandbox(
        program.root,
        files=files,
        hosts=node.hosts_text if node else "",
        hostname=node.hosts[0] if node and node.hosts else "localhost",
        is_one_user=is_one_user,
    )
    whole = f"program={program.path}\n{{ {version}; }} </dev/null >/run/clustergen/version 2>&1\n{script}"
    try:
        done = sandbox.run(box, ["/bin/bash", "-c", whole, "bash", *arguments], timeout=timeout)
    except sandbox.SandboxError as error:
        raise NotHere(str(error)) from error
    notes = dict(done.files)
    match = _VERSION.search(notes.pop("version", ""))
    return Answer(match.group() if match else "", done.code, done.stdout, done.stderr, notes)
