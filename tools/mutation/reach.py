"""Records which lines of the package each test reaches.

tools/mutate copies this module into an instrumented copy of the package, as `clustergen/_reach.py`, where each
statement sets a byte of REACHED. Processes share these bytes, so what a test reaches through a started `clustergen`
counts as well. The lines that made a value of a cache or a fixture count for every test that uses it.
"""

from __future__ import annotations

import functools
import mmap
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

BYTES = Path(__file__).with_suffix(".bytes")
ROOT = str(Path(__file__).parents[2])


def _open() -> Any:
    if not BYTES.exists():  # in a sandbox that shows this module only
        return bytearray(1 << 20)
    with BYTES.open("r+b") as file:
        return mmap.mmap(file.fileno(), BYTES.stat().st_size)


REACHED = _open()
ZERO = bytes(len(REACHED))
_replayed: set[Any] = set()


def add(lines: Iterable[int]) -> None:
    for line in lines:
        REACHED[line] = 1


class Part:
    """The lines that a block reaches, in `lines`; they count for what is around it as well."""

    lines: tuple[int, ...] = ()

    def __enter__(self) -> Part:
        self.before, self.replayed = bytes(REACHED[:]), set(_replayed)
        REACHED[:] = ZERO
        _replayed.clear()
        return self

    def __exit__(self, *_: object) -> None:
        self.lines = tuple(match.start() for match in re.finditer(b"\1", REACHED[:]))
        REACHED[:] = self.before
        add(self.lines)
        _replayed.clear()
        _replayed.update(self.replayed)


def replay(parts: dict[Any, tuple[int, ...]], key: Any, owner: object, compute: Callable[[], Any], kept: bool) -> Any:
    """A value with the lines that computed it, once per test; `kept` means that they were reached before."""
    if (owner, key) in _replayed:
        return compute()
    if kept and key in parts:
        add(parts[key])
        value = compute()
    else:
        with Part() as part:
            value = compute()
        parts[key] = part.lines
    _replayed.add((owner, key))
    return value


def replaying(decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        cached, parts = decorator(function), {}
        if not getattr(function, "__code__", None) or not function.__code__.co_filename.startswith(ROOT):
            return cached

        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            key = (args, tuple(keywords.items()))
            return replay(parts, key, function, lambda: cached(*args, **keywords), kept=True)

        call.cache_clear, call.cache_info = cached.cache_clear, cached.cache_info
        return call

    return decorate


class ReplayingProperty(functools.cached_property):
    """Stands before the instance's dictionary, unlike its base, so that each use is seen."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        parts = self.__dict__.setdefault("parts", {})
        values = instance.__dict__

        def compute() -> Any:
            if self.attrname not in values:
                values[self.attrname] = self.func(instance)
            return values[self.attrname]

        return replay(parts, id(instance), self, compute, kept=self.attrname in values)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.attrname] = value


def patch_caches() -> None:
    """Caches of modules that are imported from now on replay."""
    lru_cache = functools.lru_cache
    functools.cache = replaying(lru_cache(None))
    functools.lru_cache = lambda maxsize=128, typed=False: (
        replaying(lru_cache(128))(maxsize) if callable(maxsize) else replaying(lru_cache(maxsize, typed))
    )
    functools.cached_property = ReplayingProperty


def start() -> None:
    REACHED[:] = ZERO
    _replayed.clear()
