"""Where `clustergen setup reframe` keeps ReFrame, and how it starts: by this Python, in none of its environments."""

from __future__ import annotations

import sys
from pathlib import Path

from clustergen.verify.slurm_roots import parsers_directory

VERSION = "4.10.4"
"""The release that the role `accept` installs."""
START = "from reframe.frontend.cli import main; main()"


def reframe_directory(python: str | None = sys.implementation.cache_tag) -> Path:
    """Its packages, some of which are compiled for one release of Python: `cpython-311`."""
    return parsers_directory() / f"reframe-{VERSION}-{python}"
