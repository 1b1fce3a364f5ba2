#!/usr/bin/python3
"""Copies the database of JupyterHub while the hub runs: sessions, tokens as hashes, and the jobs of its notebooks.

A copy has its final name only when it is complete and on disk. Those older than the limit are removed, but for the last
three. Runs as the user of the hub.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

VALUES: dict[str, Any] = json.loads(Path("/etc/clustergen/notebooks.json").read_text(encoding="utf-8"))
DATABASE = Path(VALUES["state"]) / "jupyterhub.sqlite"
DIRECTORY = Path(VALUES["backup"])
KEPT = 3
DAY = 86400  # seconds


def copy(work: Path) -> None:
    """Raises sqlite3.Error for a database that cannot be read as a whole."""
    with contextlib.ExitStack() as stack:
        original = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True, timeout=60)
        source = stack.enter_context(contextlib.closing(original))
        target = stack.enter_context(contextlib.closing(sqlite3.connect(str(work))))
        source.backup(target)
        (verdict,) = target.execute("pragma integrity_check").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)
    with work.open("rb") as file:
        os.fsync(file.fileno())


def main() -> int:
    os.umask(0o077)
    work = DIRECTORY / ".jupyterhub.new"
    moment = datetime.datetime.now().strftime("%Y%m%dT%H%M%S")
    try:
        work.unlink(missing_ok=True)
        copy(work)
        work.replace(DIRECTORY / f"jupyterhub-{moment}.sqlite")
        for old in sorted(DIRECTORY.glob("jupyterhub-*.sqlite"))[:-KEPT]:
            if time.time() - old.stat().st_mtime > VALUES["backup_days"] * DAY:
                old.unlink()
    except (OSError, sqlite3.Error) as error:
        print(f"no backup of {DATABASE}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
