"""Which few of many have a say: they are asked all at once, and by halves where the whole tells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def telling(crowd: Sequence[T], tells: Callable[[Sequence[T]], bool | None], *, together: bool = False) -> list[T]:
    """Those of a crowd that tell by themselves, in order; `together`: and all of a part that only tells as a whole.

    `tells` is None where a crowd cannot be asked. A crowd that does not tell is asked once. One whose say is undone by
    others of its crowd is missed.
    """
    return _within(crowd, tells(crowd), tells, together) if crowd else []


def _within(
    crowd: Sequence[T], whole: bool | None, tells: Callable[[Sequence[T]], bool | None], together: bool
) -> list[T]:
    """The same of a crowd that has answered already."""
    if whole is False or len(crowd) == 1:
        return list(crowd) if whole else []
    first, second = crowd[: len(crowd) // 2], crowd[len(crowd) // 2 :]
    said = tells(first)
    found = _within(first, said, tells, together)
    guess: bool | None = None
    if len(second) == 1 or together:
        guess = tells(second)
    elif said is False and whole:  # what the whole tells and its first half does not, the second half does
        guess = True
    elif len(found) * 2 <= len(first):  # where most of the first half tell, some of the second will
        guess = tells(second)
    found += _within(second, guess, tells, together)
    return found or (list(crowd) if together else [])


def in_rounds(
    choices: Mapping[K, Sequence[T]],
    apart: Callable[[T], Hashable],
    tells: Callable[[Sequence[tuple[K, T]]], bool | None],
) -> dict[K, T]:
    """Those that tell by one of their choices, with it: all are asked at first, then what is left with its second …

    Choices that are `apart` are of different crowds.
    """
    found: dict[K, T] = {}
    for number in range(max(map(len, choices.values()), default=0)):
        crowds: dict[Hashable, list[tuple[K, T]]] = {}
        for key, some in choices.items():
            if key not in found and number < len(some):
                crowds.setdefault(apart(some[number]), []).append((key, some[number]))
        for crowd in crowds.values():
            found.update(telling(crowd, tells))
    return {key: found[key] for key in choices if key in found}
