"""The lowest versions of the run-time dependencies that pyproject.toml allows render the same trees."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clustergen.render.tree import LOCK
from strategies.inventories import MANIFESTS

CHECKOUT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
RENDER = """
import json, sys
from click.testing import CliRunner
from clustergen.cli import group
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, done.output
"""


def run(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def lowest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with those versions and clustergen; ansible-core, which render does without, is not in it."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = [re.sub(r">=", "==", one) for one in project["dependencies"] if not one.startswith("ansible-core")]
    assert all(re.fullmatch(r"[a-z0-9]+==[0-9.]+", pin) for pin in pins), pins
    environment = tmp_path_factory.mktemp("lowest") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    pip = [sys.executable, "-m", "pip", "--python", environment, "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, *pins)
    run(*pip, "hatchling", "editables")
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", CHECKOUT)
    return environment / "bin"


def test_committed_trees_are_up_to_date_and_pages_are_shown_by_the_lowest_versions(
    lowest: Path, tmp_path: Path
) -> None:
    calls = [["render", str(manifest), "-o", str(tmp_path / name)] for name, manifest in MANIFESTS.items()]
    run(lowest / "python", "-c", RENDER, json.dumps(calls))
    for name, manifest in MANIFESTS.items():
        assert (tmp_path / name / LOCK).read_bytes() == (manifest.parent / "rendered" / LOCK).read_bytes(), name
    assert "qos-unknown" in run(lowest / "clustergen", "explain", "qos-unknown")
