"""Extensions of `examples/`, as an installation lays them out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def installed(directory: Path, example: str, name: str, package: str) -> Path:
    """The directory, with the package of an example and the metadata of its wheel."""
    metadata = directory / f"{package}-0.1.0.dist-info"
    metadata.mkdir()
    wheel = package.replace("_", "-")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {wheel}\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(f"[clustergen.features]\n{name} = {package}\n")
    (directory / package).symlink_to(EXAMPLES / example / package)
    return directory


def run(
    place: Path, *words: str, path: Path | None = None, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """A command in a directory; `path` is on the search path."""
    environment = {**os.environ, "NO_COLOR": "1"} | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(
        [python, "-m", "clustergen", *words],
        cwd=place, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
