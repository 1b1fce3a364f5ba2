"""Programs and plugins of Slurm's daemons in directories where users can replace them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.system_paths import nearest, plain
from clustergen.slurmrules.remarks import Outcome, Remark

_BY_FORM = {
    "program": re.compile(r".+"),
    "configuration": re.compile(r".+"),
    "directories": re.compile(r"[^:]+"),
    "words": re.compile(r"(?<==)[^,]+"),
}
_HINT = "use a directory that only root can write to, such as /etc/slurm or /usr/local/sbin"


def remarks(
    file: str,
    block: str,
    key: str,
    text: str,
    *,
    text_of: Callable[[str], str],
    writable: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Remark]:
    """Problems of the paths in the value of a key.

    `text_of`: another key of the file → its value, with Slurm's default. `writable`: an absolute path → why users can
    write there, beside what the catalogue says of the directories that every node has.
    """
    slurm_key = slurm.key(file, key, block)
    row = slurm_key.program if slurm_key else None
    if row is None or not _applies(row, text_of):
        return
    for match in _BY_FORM[row.form].finditer(text):
        path = match[0]
        reason = (writable(path) or _listed(path)) if path.startswith("/") else None
        if reason is None or _is_own(row, path, text_of("SlurmUser")):
            continue
        at = (match.start(), len(path))
        yield Remark("program-writable", f"{_runs(row, path)}, {reason}", _HINT, Outcome.SILENT, at)


def _applies(row: slurm.SlurmProgram, text_of: Callable[[str], str]) -> bool:
    key, _, value = row.condition.partition("=")
    return not key or text_of(key).lower().rpartition("/")[2] == value.rpartition("/")[2]


def _listed(path: str) -> str | None:
    row = nearest(path)
    return f"and users can write to {row.path}" if row.users else None


def _is_own(row: slurm.SlurmProgram, path: str, user: str) -> bool:
    """True if the user that runs the program owns the home directory that it is in."""
    return row.user == "SlurmUser" and bool(user) and plain(path).startswith(f"/home/{user}/")


def _runs(row: slurm.SlurmProgram, path: str) -> str:
    whom = {"root": "root", "SlurmUser": "SlurmUser", "user": "the user of each job"}[row.user]
    if row.form in ("directories", "configuration"):
        return f"Slurm loads plugins from {path} as {whom}"
    return f"Slurm runs {path} as {whom}"
