"""Records behave as frozen dataclasses do."""

from __future__ import annotations

from functools import cached_property

import pytest

from clustergen.records import fields, record, replace


@record
class Point:
    """Two numbers."""

    x: int
    y: int = 2

    @property
    def total(self) -> int:
        return self.x + self.y

    @cached_property
    def squared(self) -> int:
        return self.total**2


@record
class Named(Point):
    name: str = "origin"

    def __repr__(self) -> str:
        return self.name


def test_fields_by_place_name_and_default() -> None:
    assert (Point(1).y, Point(1, 3).y, Point(x=1, y=4).y, Point(1).total, Point(1).squared) == (2, 3, 4, 3, 9)
    assert fields(Named) == ("x", "y", "name")
    assert fields(Point(1)) == ("x", "y")


def test_equality_hash_and_repr() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert len({Point(1), Point(1, 2), Named(1)}) == 2
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert repr(Named(1)) == "origin", "a method of the class's own stays"


def test_frozen() -> None:
    with pytest.raises(AttributeError, match=r"Point\.x cannot be changed"):
        Point(1).x = 2
    with pytest.raises(AttributeError, match="cannot be changed"):
        del Point(1).x


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((), {}, "needs x"),
        ((1, 2, 3), {}, "has 2 fields"),
        ((1,), {"z": 1}, "no free field z"),
        ((1,), {"x": 1}, "no free field x"),
    ],
)
def test_wrong_arguments(args: tuple[int, ...], named: dict[str, int], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Point(*args, **named)


def test_replace_and_match() -> None:
    assert replace(Named(1), y=5) == Named(1, 5)
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)
