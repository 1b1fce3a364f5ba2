"""Versions of held packages, of this machine's dpkg, before and after they change."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import held


class Module:
    """The one function that it calls of AnsibleModule."""

    def run_command(self, words: list[str]) -> tuple[int, str, str]:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(held, "PLACE", str(tmp_path / "held.json"))
    monkeypatch.setattr(held.journal, "DIRECTORY", str(tmp_path))
    return Module()


def test_a_package_that_changed_is_named_until_it_is_recorded(module: Any) -> None:
    patterns = ["dpkg", "base-[!p]*", "no-such-package*"]
    assert (held.recorded(), held.changes(module, patterns)) == (None, [])
    held.record(module, patterns)
    versions = held.recorded()
    assert versions is not None
    assert {"dpkg", "base-files"} <= versions.keys()
    assert "base-passwd" not in versions
    assert held.changes(module, patterns) == []
    held._write({**versions, "dpkg": "0.1", "gone": "1.0"})
    changes = [["dpkg", versions["dpkg"], "0.1"], ["gone", "", "1.0"]]
    assert held.changes(module, patterns) == changes
    assert held.changes(module, []) == []
    held.renew(module, {"dpkg"})
    assert held.changes(module, patterns) == changes[1:]


def test_nothing_is_renewed_where_nothing_is_recorded(module: Any) -> None:
    held.renew(module, {"dpkg"})
    assert held.recorded() is None
