"""The pull request that docs/review.md shows: its change in a clone of `inventories/`, and the commands' output.

The page's ```diff block is the change. `<!-- pull request: annotations -->` is what the check prints where nobody
rendered, `<!-- pull request: comment -->` the comment where somebody did; both end at `<!-- end -->`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from strategies.inventories import GOLDEN, MANIFESTS

_CHANGE = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMIT = "3f9c2ab"
_PLACE = re.compile(r"(<!-- pull request: (annotations|comment) -->\n).*?(<!-- end -->)", re.DOTALL)


def shown(text: str, directory: Path) -> str:
    """A page's text with the pull request as the commands show it today; `directory` is an empty one."""
    change = _CHANGE.search(text)
    if change is None or not _PLACE.search(text):
        return text
    for name in GOLDEN:
        shutil.copytree(MANIFESTS[name].parent, directory / "inventories" / name)
    _run(
        directory,
        "git init -q -b main; git add .; git commit -q -m clusters; git update-ref refs/remotes/origin/main main",
    )
    _run(directory, "git apply --unidiff-zero -", change[1])
    annotations = _run(
        directory, "clustergen render inventories/*/manifest.yaml --check --format github || [ $? -eq 1 ]"
    )
    _run(directory, "clustergen render inventories/*/manifest.yaml; git add .; git commit -q -m change")
    comment = _run(directory, "clustergen diff origin/main:inventories inventories --format markdown || [ $? -eq 1 ]")
    commit = _run(directory, "git rev-parse --short origin/main").strip()
    comment = comment.replace(commit, COMMIT)  # else each change of a tree would be one of the page
    quoted = "".join(f"> {line}".rstrip() + "\n" for line in comment.splitlines())
    parts = {"annotations": f"\n```text\n{annotations}```\n\n", "comment": f"\n{quoted}\n"}
    return _PLACE.sub(lambda match: match[1] + parts[match[2]] + match[3], text)


def _run(directory: Path, script: str, text: str = "") -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT")},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=directory, env=environment, input=text, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout
