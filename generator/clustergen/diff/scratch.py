"""Directories of running jobs that the new epilog no longer removes."""

from __future__ import annotations

import re

from clustergen.diff.snapshot import Snapshot

EPILOG = "/etc/slurm/epilog.d/50-tmpdir"
_BASE = re.compile(r'^BASE = "(.+)"$', re.MULTILINE)


def abandoned(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """Values of `slurm.scripts.tmpdir` that the old tree has and the new one lacks."""
    after = _directories(new)
    return tuple(directory for directory in _directories(old) if directory not in after)


def _directories(side: Snapshot) -> list[str]:
    texts = [file.text for file in side.files.values() if file.target == EPILOG]
    return [directory for text in texts for directory in _BASE.findall(text)]
