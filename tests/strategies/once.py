"""Expensive results are made once in a session and shared by its workers."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def shared_directory(factory: pytest.TempPathFactory, name: str) -> Path:
    """A directory that all workers of the session see; the first call creates it."""
    base = factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    directory.mkdir(exist_ok=True)
    return directory


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[], T]) -> T:
    """The result of `make` in the worker that calls this first; the others wait for it and get a copy."""
    directory = shared_directory(factory, name)
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "made").exists():
            value = make()
            (directory / "pickle").write_bytes(pickle.dumps(value))
            (directory / "made").touch()
            return value
    value: T = pickle.loads((directory / "pickle").read_bytes())
    return value
