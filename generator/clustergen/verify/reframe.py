"""Where `clustergen setup reframe` keeps ReFrame, and how it starts: by this Python, in none of its environments."""

from __future__ import annotations

from pathlib import Path

from clustergen.verify.wheels import packages_directory

VERSION = "4.10.4"
"""The release that the role `accept` installs."""
START = "from reframe.frontend.cli import main; main()"


def reframe_directory() -> Path:
    return packages_directory("reframe", VERSION)
