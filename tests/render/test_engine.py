"""Texts are as their templates; compiled ones are cached only where no other user can place code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clustergen.render.engine import _bytecode_cache, environment
from clustergen.render.formats import JSON


@pytest.fixture
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def directory(cache_home: Path) -> Path:
    (path,) = (cache_home / "clustergen").iterdir()
    return path


def test_the_cache_is_private_to_its_user(cache_home: Path) -> None:
    assert _bytecode_cache() is not None
    assert directory(cache_home).stat().st_mode & 0o777 == 0o700
    assert _bytecode_cache() is not None


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_cache_that_others_may_write_to_is_not_used(cache_home: Path, mode: int) -> None:
    _bytecode_cache()
    directory(cache_home).chmod(mode)
    assert _bytecode_cache() is None


def test_a_cache_of_another_user_is_not_used(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _bytecode_cache()
    monkeypatch.setattr(os, "geteuid", lambda: cache_home.stat().st_uid + 1)
    assert _bytecode_cache() is None


def test_nothing_is_created_in_the_home_of_another_user(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner could put another directory in the place of what is created there."""
    cache_home.mkdir()
    if os.geteuid() == 0:
        os.chown(cache_home, 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert _bytecode_cache() is None
    assert list(cache_home.iterdir()) == []


def test_blocks_leave_no_trace_and_the_last_line_ends() -> None:
    text = environment(JSON).from_string("{% if true %}\n  a\n  {% endif %}\nb\n").render()
    assert text == "  a\nb\n"
