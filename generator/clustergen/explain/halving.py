"""Which few of many have a say: they are asked all at once, and by halves where the whole tells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def telling(batch: Sequence[T], tells: Callable[[Sequence[T]], bool | None], *, together: bool = False) -> list[T]:
    """Those of a crowd that tell by themselves, in order; `together`: and all of a part that only tells as a whole.

    `tells` is None where a crowd cannot be asked. A crowd that does not tell is asked once. One whose say is undone by
    others of its crowd is missed.
    """
    return _within(batch, tells(batch), tells, together) if batch else []


def _within(
    batch: Sequence[T], whole: bool | None, tells: Callable[[Sequence[T]], bool | None], together: bool
) -> list[T]:
    """The same of a crowd that has answered already."""
    if whole is False or len(batch) == 1:
        return list(batch) if whole else []
    first, second = batch[: len(batch) // 2], batch[len(batch) // 2 :]
    answer = tells(first)
    matches = _within(first, answer, tells, together)
    guess: bool | None = None
    if len(second) == 1 or together:
        guess = tells(second)
    elif answer is False and whole:  # what the whole tells and its first half does not, the second half does
        guess = True
    elif len(matches) * 2 <= len(first):  # where most of the first half tell, some of the second will
        guess = tells(second)
    matches += _within(second, guess, tells, together)
    return matches or (list(batch) if together else [])


def in_rounds(
    choices: Mapping[K, Sequence[T]],
    apart: Callable[[T], Hashable],
    tells: Callable[[Sequence[tuple[K, T]]], bool | None],
) -> dict[K, T]:
    """Those that tell by one of their choices, with it: all are asked at first, then what is left with its second …

    Choices that are `apart` are of different crowds.
    """
    chosen: dict[K, T] = {}
    for number in range(max(map(len, choices.values()), default=0)):
        batches: dict[Hashable, list[tuple[K, T]]] = {}
        for key, some in choices.items():
            if key not in chosen and number < len(some):
                batches.setdefault(apart(some[number]), []).append((key, some[number]))
        for batch in batches.values():
            chosen.update(telling(batch, tells))
    return {key: chosen[key] for key in choices if key in chosen}
