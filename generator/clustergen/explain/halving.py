"""Finds the few of many candidates that have an effect: all are tried at once, and by halves where they have one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def effective(
    batch: Sequence[T], has_effect: Callable[[Sequence[T]], bool | None], *, together: bool = False
) -> list[T]:
    """The candidates of a batch that have an effect alone, in order.

    `together`: also all of a part that has an effect only as a whole. `has_effect` is None for a batch that cannot be
    tried. A batch without effect is tried once, so a candidate whose effect others of its batch undo is missed.
    """
    return _within(batch, has_effect(batch), has_effect, together) if batch else []


def _within(
    batch: Sequence[T], whole: bool | None, has_effect: Callable[[Sequence[T]], bool | None], together: bool
) -> list[T]:
    """The same of a batch that was tried: `whole` is the result."""
    if whole is False or len(batch) == 1:
        return list(batch) if whole else []
    first, second = batch[: len(batch) // 2], batch[len(batch) // 2 :]
    of_first = has_effect(first)
    matches = _within(first, of_first, has_effect, together)
    of_second: bool | None = None
    if len(second) == 1 or together:
        of_second = has_effect(second)
    elif of_first is False and whole:  # the effect of the whole is not that of its first half
        of_second = True
    elif len(matches) * 2 <= len(first):  # where most of the first half have one, some of the second will
        of_second = has_effect(second)
    matches += _within(second, of_second, has_effect, together)
    return matches or (list(batch) if together else [])


def in_rounds(
    choices: Mapping[K, Sequence[T]],
    batch_of: Callable[[T], Hashable],
    has_effect: Callable[[Sequence[tuple[K, T]]], bool | None],
) -> dict[K, T]:
    """The keys of which one choice has an effect, with that choice.

    The first round tries the first choice of all keys, the next the second choice of those that are left. Choices with
    a different `batch_of` are tried in different batches.
    """
    chosen: dict[K, T] = {}
    for number in range(max(map(len, choices.values()), default=0)):
        batches: dict[Hashable, list[tuple[K, T]]] = {}
        for key, some in choices.items():
            if key not in chosen and number < len(some):
                batches.setdefault(batch_of(some[number]), []).append((key, some[number]))
        for batch in batches.values():
            chosen.update(effective(batch, has_effect))
    return {key: chosen[key] for key in choices if key in chosen}
