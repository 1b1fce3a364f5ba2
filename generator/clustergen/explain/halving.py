"""Which few of many have a say: they are asked all at once, and by halves where the whole tells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def telling(crowd: Sequence[T], tells: Callable[[Sequence[T]], bool], *, together: bool = False) -> list[T]:
    """Those of a crowd that tell by themselves, in order; `together`: and all of a part that only tells as a whole.

    A crowd that does not tell is asked once. One whose say is undone by others of its crowd is missed.
    """
    if not crowd or not tells(crowd):
        return []
    if len(crowd) == 1:
        return list(crowd)
    half = len(crowd) // 2
    found = telling(crowd[:half], tells, together=together) + telling(crowd[half:], tells, together=together)
    return found or (list(crowd) if together else [])


def in_rounds(
    choices: Mapping[K, Sequence[T]],
    apart: Callable[[T], Hashable],
    tells: Callable[[Sequence[tuple[K, T]]], bool],
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
