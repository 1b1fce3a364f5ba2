"""Files of packages that a tree replaces: they are kept, and come back when the tree lacks them again."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils import overlay

OWNER = f"{os.getuid()}:{os.getgid()}"


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A node whose package manager knows the files named sshd."""
    monkeypatch.setattr(overlay, "ORIGINALS", str(tmp_path / "originals"))
    monkeypatch.setattr(overlay.shutil, "which", lambda _name: "/usr/bin/dpkg-query")
    monkeypatch.setattr(overlay, "owner_ids", lambda _owner: (os.getuid(), os.getgid()))

    def run_command(command: list[str]) -> tuple[int, str, str]:
        assert command[:2] == ["dpkg-query", "-S"]
        return 1, "".join(f"openssh-server: {path}\n" for path in command[2:] if path.endswith("/sshd")), ""

    return SimpleNamespace(run_command=run_command, selinux_enabled=lambda: False)


def put(node: Any, path: Path, text: str) -> None:
    overlay.keep_originals(node, [str(path)])
    overlay.put(node, {"target": str(path), "owner": OWNER, "mode": "0644"}, text.encode())


def test_a_file_of_a_package_comes_back_with_its_mode(node: Any, tmp_path: Path) -> None:
    file = tmp_path / "etc/pam.d/sshd"
    file.parent.mkdir(parents=True)
    file.write_text("of the distribution\n")
    file.chmod(0o640)
    put(node, file, "of the tree\n")
    put(node, file, "of a later tree\n")
    assert file.read_text() == "of a later tree\n"
    assert overlay.remove(str(file)) is True
    assert file.read_text() == "of the distribution\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert overlay.remove(str(file)) is True  # nothing is kept any more
    assert not file.exists()


def test_a_file_of_nobody_does_not_come_back(node: Any, tmp_path: Path) -> None:
    file = tmp_path / "slurm.conf"
    file.write_text("by hand\n")
    put(node, file, "of the tree\n")
    assert overlay.remove(str(file)) is True
    assert not file.exists()
