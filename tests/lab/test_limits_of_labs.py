"""A lab lists the limits of its machine that it cannot raise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strategies.inventories import ML_TRAINING

SCRIPT = """
import sys
from pathlib import Path
from clustergen import compile as compiler
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare
place = Path(sys.argv[1])
print(prepare(compiler.validate(place), place, None, Wish()).work.substitutions.read_text())
"""


@pytest.mark.slow
@pytest.mark.parametrize("files", [5000, None])
def test_limits_that_cannot_be_raised_are_listed(files: int | None, tmp_path: Path) -> None:
    may = ["--bounding-set", "-sys_resource"] if files else []
    words = ["setpriv", *may, "sh", "-c", f'{f"ulimit -n {files};" if files else ""} exec "$@"', "sh"]
    done = subprocess.run(
        [*words, sys.executable, "-c", SCRIPT, str(ML_TRAINING)],
        env={**os.environ, "CLUSTERGEN_LAB": str(tmp_path)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("nofile 5000" in done.stdout) is bool(files), done.stdout
