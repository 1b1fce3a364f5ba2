"""`tools/lint` reports what CONTRIBUTING.md refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
RULE = "generator/clustergen/features/logs/rules.py"
PAGE = "docs/codes/monitoring.md"
# File, text in it, what stands there instead, and what the line of output says then.
WRONG = {
    "a name": (RULE, "for name, size, least in", "for given, size, least in", "given does not say what the value is"),
    "a message": (RULE, "add the role log-collector to a node", "see docs/logs.md", "a wheel has no docs/logs.md"),
    "a frozen dataclass": (RULE, "_DAY = 86400", "@dataclass(frozen=True)\nclass Day: pass\n_DAY = 86400", "@record"),
    "a docstring": (RULE, "_DAY = 86400", '_DAY = 86400\n"""Those of a day."""', "begin the docstring with"),
    "a record": (RULE, "_DAY = 86400", "_DAY = Row(1, 2, 3, 4, 5, 6, 7, 8, 9)", "name the fields"),
    "a rule's name": (RULE, "def log_collector_missing(", "def collector(", "name it log_collector_missing"),
    "a rule's type": (RULE, "missing(cluster: Cluster,", "missing(cluster: Any,", "rules.py:17: not run"),
    "a code": (RULE, '"log-collector-missing"', '"collector-missing"', "nothing reports log-collector-missing"),
    "a code without a section": (PAGE, "## log-", "## ", "log-collector-missing has no section"),
    "a section without a code": (PAGE, "## log-", "## syslog-", "syslog-collector-missing has no row"),
    "a section twice": (
        PAGE,
        "\n## ",
        "\n## log-collector-missing\n\n## ",
        "has a section already, docs/codes",
    ),
    "a layer": ("docs/architecture.md", "facility\ncluster", "cluster\nfacility", "the layers are not those"),
    "a length": ("CONTRIBUTING.md", "at most 600 lines", "at most 40 lines", "more than 40 lines"),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the few files that the checks read."""
    directory = tmp_path_factory.mktemp("checkout")
    for name in ("tools/lint", "tools/usage.py", "pyproject.toml", "CONTRIBUTING.md", "docs/architecture.md", RULE):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, directory / name)
    codes = directory / "generator/clustergen/diagnostics/codes/services.py"
    codes.parent.mkdir(parents=True)
    codes.write_text('CODES = (Code("log-collector-missing", 1, ""),)\n')
    (directory / PAGE).parent.mkdir()
    (directory / PAGE).write_text("# Monitoring\n\n## log-collector-missing\n")
    subprocess.run(["git", "init", "-q"], cwd=directory, check=True, timeout=300)
    return directory


def lint(directory: Path) -> str:
    command = [sys.executable, directory / "tools/lint"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout


@pytest.mark.slow
def test_correct_source_is_not_reported(checkout: Path) -> None:
    assert lint(checkout) == ""


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
def test_wrong_source_is_reported_with_its_line(case: str, checkout: Path) -> None:
    name, right, wrong, message = WRONG[case]
    path = checkout / name
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    try:
        assert message in lint(checkout)
    finally:
        path.write_text(text, encoding="utf-8")
