"""Lets `explain` see which record of a feature was read, and what was read while it was resolved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Listener(Protocol):
    """`record` is the type of a feature's record."""

    def resolving(self, record: type) -> None:
        """From here on, reads belong to this record."""

    def resolved(self, record: type) -> None:
        """Its reads end here."""

    def used(self, record: type) -> None:
        """A view, a rule or another record asked for it."""


_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def resolving(record: type) -> Iterator[None]:
    for listener in _listeners:
        listener.resolving(record)
    try:
        yield
    finally:
        for listener in _listeners:
            listener.resolved(record)


def used(record: type) -> None:
    for listener in _listeners:
        listener.used(record)
