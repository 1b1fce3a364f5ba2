"""How long something took the last time, for an estimate on a terminal; where nothing is recorded there is none."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clustergen import regular_file

_LIMIT = 1 << 16
_MOST = 100  # names that are remembered, the latest ones
_WORTH = 2.0  # seconds from which on an estimate helps


def _file() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "clustergen" / "durations.json"


def _recorded() -> dict[str, float]:
    try:
        data = json.loads(regular_file.read(_file(), _LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {name: value for name, value in data.items() if type(value) in (int, float)}


def estimate(name: str) -> str:
    """` (about 31 s, as the last time)`; empty where stderr is no terminal, or it takes no time worth telling."""
    seconds = _recorded().get(name, 0.0) if sys.stderr.isatty() else 0.0
    return f" (about {seconds:.0f} s, as the last time)" if _WORTH <= seconds < 1e6 else ""


def keep(name: str, seconds: float) -> None:
    """Records a duration; a cache that cannot be written is no reason to fail."""
    if seconds < _WORTH or not sys.stderr.isatty():
        return
    kept = {other: value for other, value in _recorded().items() if other != name}
    kept = dict([*kept.items(), (name, round(seconds, 1))][-_MOST:])
    with suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        fresh = _file().with_name(f"durations.{os.getpid()}")
        fresh.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        fresh.replace(_file())


@contextmanager
def timed(name: str) -> Iterator[str]:
    """Gives the estimate for what follows, and records how long it took where nothing was raised."""
    began = time.monotonic()
    yield estimate(name)
    keep(name, time.monotonic() - began)
