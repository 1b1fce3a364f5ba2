"""A machine on which nothing is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue import system_paths
from clustergen.verify import programs


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any of the programs, but for Ansible's beside Python; where its parsers would be."""
    parsers = tmp_path / "parsers"
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(parsers))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CLUSTERGEN_LIBNCCL", raising=False)
    monkeypatch.setattr(programs, "SEARCH", str(tmp_path))
    monkeypatch.setattr(system_paths, "PATH", str(tmp_path))
    return parsers
