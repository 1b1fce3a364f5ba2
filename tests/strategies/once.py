"""What takes long to make is made once in a session, though each of its workers requires it."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder that all workers of the session see; the first call creates it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[], T]) -> T:
    """What `make` returns in the worker that calls this first; the others wait for it and get a copy."""
    folder = shared_folder(factory, name)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            value = make()
            (folder / "pickle").write_bytes(pickle.dumps(value))
            (folder / "made").touch()
            return value
    value: T = pickle.loads((folder / "pickle").read_bytes())
    return value
