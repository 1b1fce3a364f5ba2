"""Puts a tree before every parser that reads one of its files; what no check claims is a failure of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clustergen import log
from clustergen.diagnostics.redaction import redacted
from clustergen.feature import extensions
from clustergen.records import replace
from clustergen.render.tree import LOCK
from clustergen.verify.checks import CHECKS, Check, Trial, place_of
from clustergen.verify.files import Entry, TreeDirectory, read_tree
from clustergen.verify.node_roots import node_roots
from clustergen.verify.programs import NotHere
from clustergen.verify.rows import Row, merged
from clustergen.verify.sandbox import SandboxError

_HEAD = 1024  # bytes that tell what a file is: its first line, or the options of a job script below a header


def verify(
    directory: Path, checks: Sequence[Check] = CHECKS, report: Callable[[list[Row]], None] = lambda _rows: None
) -> list[Row]:
    """All rows of a tree, in the order of the checks, which run side by side; `report` gets the rows of each check as
    soon as it and those before it are done.

    Raises ClustergenError where the directory is no tree.
    """
    tree = read_tree(directory)
    with tempfile.TemporaryDirectory(prefix="clustergen-verify-") as scratch, ThreadPoolExecutor(_threads()) as pool:
        trial = Trial(tree, node_roots(tree, Path(scratch) / "nodes"), Path(scratch))
        answers = [
            pool.submit(_ask, check, trial, entries)
            for check in checks
            if (entries := claims(check, tree.entries.values())) or check.reads(LOCK, "")
        ]
        rows = []
        for answer in answers:  # in the order of the checks, so that two runs print the same
            report(answer.result())
            rows += answer.result()
    if checks is CHECKS:
        left = unclaimed(tree)
        report(left)
        rows += left
    return rows


def claims(check: Check, entries: Iterable[Entry]) -> list[Entry]:
    """The files that a check is about."""
    return [entry for entry in entries if check.reads(place_of(entry), entry.content[:_HEAD].decode(errors="replace"))]


def _threads() -> int:
    return 2 * (os.cpu_count() or 1)


def _ask(check: Check, trial: Trial, entries: list[Entry]) -> list[Row]:
    log.info(__name__, "%s: %d files to %s", check.name, len(entries), check.parser)
    try:
        rows = list(check.ask(check, trial, entries))
    except (NotHere, SandboxError, OSError) as error:  # a machine without name spaces, a library that cannot be read
        rows = [check.row("not run", entries, [str(error)])]
    judged = {path for row in rows for path in row.files}
    left = [entry for entry in entries if entry.path not in judged]
    if left:  # fail closed: a file that a check claims and gives no row to was not read
        rows.append(check.row("failed", left, ["the check reported nothing for this file"]))
    return [replace(row, words=tuple(map(redacted, row.words))) for row in merged(rows)]


def unclaimed(tree: TreeDirectory) -> list[Row]:
    """Files that no check is about: a kind of ours without one is a failure, a site's own file is the site's."""
    claimed = {entry.path for check in CHECKS for entry in claims(check, tree.entries.values())}
    left = [entry for entry in tree.entries.values() if entry.path not in claimed]
    ours = tuple(entry.path for entry in left if not entry.source.startswith("site/"))
    theirs = tuple(entry.path for entry in left if entry.source.startswith("site/"))
    entries = []
    if theirs:
        words = ("site files without a check",)
        entries.append(Row("site", "site files", "unknown", "no parser", theirs, words=words))
    installed = {extension.name for extension in extensions()}
    missing = [f"{name} of {origin}" for name, origin in tree.extensions.items() if name not in installed]
    if missing:
        words = (f"to check its files, install what rendered a part of the tree: {', '.join(missing)}",)
        entries.append(Row("extensions", "files of missing extensions", "none", "not run", ours, words=words))
    elif ours:
        entries.append(Row("unclaimed", "files without a check", "none", "failed", ours, words=ours))
    return entries
