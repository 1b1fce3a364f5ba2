"""Lets `explain` see from what each part of a cluster is made, and keep the parts that a trial leaves as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Part = Any
"""The name of an attribute of the cluster, the type of a record, or a function that is asked once and its arguments."""


class Listener(Protocol):
    """Sees the parts of a cluster as they are made and used."""

    def value(self, part: Part, make: Callable[[], Any], sources: tuple[Part, ...]) -> Any:
        """The value of a part; `make` works it out from `sources`, which it does not ask the cluster for."""

    def used(self, part: Part) -> None:
        """A view, a rule or another part asked for it."""


_listener: Listener | None = None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    global _listener
    previous, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = previous


def made(part: Part, make: Callable[[], T], *sources: Part) -> T:
    """The value of a part, which a listener may know."""
    if _listener is None:
        return make()
    value: T = _listener.value(part, make, sources)
    return value


def used(part: Part) -> None:
    if _listener is not None:
        _listener.used(part)
