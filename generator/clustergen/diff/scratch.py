"""Directories of running jobs that the new epilog no longer removes."""

from __future__ import annotations

import json

from clustergen.diff.snapshot import Snapshot

VALUES = "/etc/clustergen/tmpdir.json"


def abandoned(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """Values of `slurm.scripts.tmpdir` that the old tree has and the new one lacks."""
    after = _directories(new)
    return tuple(directory for directory in _directories(old) if directory not in after)


def _directories(side: Snapshot) -> list[str]:
    return [json.loads(file.text)["tmpdir"] for file in side.files.values() if file.target == VALUES]
