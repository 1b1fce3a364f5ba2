"""Reads the catalogue's tables: UTF-8, tab separated, `#` comment lines, one header row, no quoting."""

from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).with_name("data")
NOTHING: frozenset[str] = frozenset()


def cells(name: str) -> tuple[list[str], list[list[str]]]:
    """The header of `data/<name>`, and each row; ValueError where a row has another number of columns.

    Large tables are kept in this form, and a row is made into an object when somebody asks for it.
    """
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    header, *found = [line.split("\t") for line in lines if line and line[0] != "#"]
    width = len(header)
    for row in found:
        if len(row) != width:
            raise ValueError(f"{name}: {len(row)} columns, not {width}, in the row of {row[0]!r}")
    return header, found


def rows(name: str) -> Iterator[dict[str, str]]:
    """Yields each row of `data/<name>` as column → text; ValueError where a row has another number of columns."""
    header, found = cells(name)
    for row in found:
        yield dict(zip(header, row, strict=True))


def number(text: str) -> int | None:
    """A whole number, or None for an empty cell."""
    return int(text) if text else None


def words(text: str) -> tuple[str, ...]:
    """The blank-separated words of a cell."""
    return tuple(text.split())


def marks(text: str) -> frozenset[str]:
    """The column names of an `unverified` cell."""
    return frozenset(text.split()) if text else NOTHING


def normal(name: str) -> str:
    """The form in which names of hardware are compared: lower case, with `-` for blanks and `_`."""
    return name.strip().lower().replace(" ", "-").replace("_", "-")
