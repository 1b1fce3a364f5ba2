"""Reads the catalogue's tables: UTF-8, tab separated, `#` comment lines, one header row, no quoting."""

from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).with_name("data")
NOTHING: frozenset[str] = frozenset()


def rows(name: str) -> Iterator[dict[str, str]]:
    """Yields each row of `data/<name>` as column → text; ValueError where a row has another number of columns."""
    header: list[str] | None = None
    for line in (DATA / name).read_text(encoding="utf-8").split("\n"):
        if not line or line[0] == "#":
            continue
        cells = line.split("\t")
        if header is None:
            header = cells
        else:
            yield dict(zip(header, cells, strict=True))


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
