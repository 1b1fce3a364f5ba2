"""Directories of running jobs that the new epilog no longer removes."""

from __future__ import annotations

import re
import shlex

from clustergen.diff.snapshot import Snapshot

EPILOG = "/etc/slurm/epilog.d/50-tmpdir"
_REMOVES = re.compile(r'^rm -rf --one-file-system -- (.+)/"\$SLURM_JOB_ID"$', re.MULTILINE)


def abandoned(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """Values of `slurm.scripts.tmpdir` that the old tree has and the new one lacks."""
    after = _directories(new)
    return tuple(directory for directory in _directories(old) if directory not in after)


def _directories(side: Snapshot) -> list[str]:
    texts = [file.text for file in side.files.values() if file.target == EPILOG]
    return [shlex.split(quoted)[0] for text in texts for quoted in _REMOVES.findall(text)]
