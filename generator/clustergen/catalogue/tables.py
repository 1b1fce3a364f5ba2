"""Reads the catalogue's tables: UTF-8, tab separated, `#` comment lines, one header row, no quoting.

`table` makes a record of each row: a column fills the field of its name, and the field's annotation says how its text
is read: a type of the record's module, such as SlurmRelease, is called with the text. Columns without a field are for
people.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from clustergen.diagnostics.words import did_you_mean
from clustergen.feature import Attributed, ExtensionError, Feature, extensions
from clustergen.records import fields

K = TypeVar("K")
T = TypeVar("T")
DATA = Path(__file__).with_name("data")
NOTHING: frozenset[str] = frozenset()


def cells(name: str) -> tuple[list[str], list[list[str]]]:
    """The header of `data/<name>`, and each row, those of extensions last; ValueError where a row has another number of
    columns.

    Large tables are kept in this form, and a row is made into an object when somebody asks for it.
    """
    header, body = _read(DATA / name, name)
    for extension in extensions():
        if (path := extension.directory / "data" / name).is_file():
            body = [*body, *_rows_of(extension, path, name, header, [row[0] for row in body])]
    return header, body


def _read(path: Path, name: str) -> tuple[list[str], list[list[str]]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    header, *body = [line.split("\t") for line in lines if line and line[0] != "#"]
    width = len(header)
    for row in body:
        if len(row) != width:
            raise ValueError(f"{name}: {len(row)} columns, not {width}, in the row of {row[0]!r}")
    return header, body


def _rows_of(extension: Feature, path: Path, name: str, header: list[str], ours: list[str]) -> list[list[str]]:
    """Rows that an extension adds to a table of ours, of which the first cells are given; ExtensionError for one that
    the table has.
    """
    try:
        columns, body = _read(path, name)
    except ValueError as err:
        raise ExtensionError(f"the extension {extension} cannot be loaded: {err}") from err
    if columns != header:
        raise ExtensionError(f"the extension {extension}: the columns of {name} are {', '.join(header)}")
    names = [row[0] for row in body]
    if ident := next((ident for ident in names if ident in ours), None):
        raise ExtensionError(f"the extension {extension} and the catalogue both have the row {ident!r} in {name}")
    if len(set(ours)) == len(ours) and (ident := next((ident for ident in names if names.count(ident) > 1), None)):
        raise ExtensionError(f"the extension {extension} has the row {ident!r} twice in {name}", "remove one of them")
    return [_Row(extension, row) for row in body]


class _Row(list[str]):
    """A row of an extension's, which errors name."""

    def __init__(self, extension: Feature, texts: list[str]) -> None:
        super().__init__(texts)
        self.package = extension.package


def check_tables() -> None:
    """ExtensionError for a table of an extension that the catalogue does not have."""
    for extension in extensions():
        directory = extension.directory / "data"
        for path in sorted(directory.rglob("*")):
            if path.is_file() and not (DATA / (name := path.relative_to(directory))).is_file():
                names = sorted(str(each.relative_to(DATA)) for each in DATA.rglob(f"*{path.suffix}"))
                hint = did_you_mean(str(name), names) or "its files have the names of those of the catalogue"
                raise ExtensionError(f"the extension {extension}: the catalogue has no table {name}", hint)


def names_of(extension: Feature, name: str) -> frozenset[str]:
    """The rows that an extension adds to a table, by their first cell."""
    path = extension.directory / "data" / name
    return frozenset(row[0] for row in _read(path, name)[1]) if path.is_file() else frozenset()


def rows(name: str) -> Iterator[dict[str, str]]:
    """Yields each row of `data/<name>` as column → text; ValueError where a row has another number of columns."""
    header, lines = cells(name)
    for row in lines:
        yield dict(zip(header, row, strict=True))


def table(name: str, kind: type[T], **readers: Callable[[str], Any]) -> Iterator[T]:
    """Yields each row of `data/<name>` as a record; ValueError, with table, column and row, for a text it cannot hold.

    `readers`: field → what reads its text, for fields whose annotation does not say it.
    """
    header, body = cells(name)
    read = row_reader(name, header, kind, **readers)
    return (read(row) for row in body)


def keyed(name: str, kind: type[T], key: Callable[[T], K], **readers: Callable[[str], Any]) -> Callable[[], dict[K, T]]:
    """A function that returns the rows of a table by a key, in their order; it reads the table once."""
    return cache(lambda: {key(row): row for row in table(name, kind, **readers)})


def listed(name: str, kind: type[T], **readers: Callable[[str], Any]) -> Callable[[], tuple[T, ...]]:
    """A function that returns the rows of a table, in their order; it reads the table once."""
    return cache(lambda: tuple(table(name, kind, **readers)))


def row_reader(name: str, header: Sequence[str], kind: type[T], **readers: Callable[[str], Any]) -> Callable[..., T]:
    """A function that makes a record of one row, and of values for fields that no column fills."""
    annotations: dict[str, str] = kind.__annotations__
    columns = []
    for index, field in enumerate(header):
        if field in fields(kind):
            annotation = annotations[field].removesuffix(" | None")
            read = readers.get(field) or _READERS.get(annotation) or _named(annotation, kind)
            columns.append((index, field, read, annotation != annotations[field]))

    def record_of(row: Sequence[str], **others: Any) -> T:
        values = others
        for index, field, read, optional in columns:
            text = row[index]
            try:
                values[field] = None if optional and not text else read(text)
            except ValueError as err:
                with Attributed(getattr(row, "package", "")):
                    raise ValueError(f"{name}: column {field} of the row of {row[0]!r}: {err}") from None
        return kind(**values)

    return record_of


class Indexed(Generic[K, T]):
    """A large table: places, such as files, with names in them. A row becomes a record when somebody asks for it."""

    def __init__(
        self, name: str, kind: type[T], keys_of: Callable[[list[str]], Iterable[tuple[K, str]]], **readers: Any
    ) -> None:
        self._name = name
        self._keys_of = keys_of
        self._kind = kind
        self._readers = readers
        self._records: dict[tuple[K, str], T] = {}

    @cached_property
    def _content(self) -> tuple[Callable[..., T], dict[K, dict[str, list[str]]]]:
        header, lines = cells(self._name)
        index: dict[K, dict[str, list[str]]] = {}
        for row in lines:
            for place, name in self._keys_of(row):
                index.setdefault(place, {})[name] = row
        return row_reader(self._name, header, self._kind, **self._readers), index

    @property
    def cells(self) -> Mapping[K, Mapping[str, Sequence[str]]]:
        """The texts of each row, by place and name."""
        return self._content[1]

    def row(self, place: K, name: str) -> T | None:
        read, index = self._content
        if (place, name) not in self._records and (row := index.get(place, {}).get(name)) is not None:
            self._records[place, name] = read(row)
        return self._records.get((place, name))

    def rows(self, place: K) -> tuple[T, ...]:
        """All rows of a place, in the order of the table."""
        return tuple(row for name in self.cells.get(place, ()) if (row := self.row(place, name)) is not None)


def words(text: str) -> tuple[str, ...]:
    """The blank-separated words of a cell."""
    return tuple(text.split())


def marks(text: str) -> frozenset[str]:
    """The column names of an `unverified` cell."""
    return frozenset(text.split()) if text else NOTHING


def _yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text == "yes"


def _named(annotation: str, kind: type[Any]) -> Callable[[str], Any]:
    """Reads a type of the record's module, or one of the words of a `Literal[...]`, which may have a name there."""
    named = vars(sys.modules[kind.__module__]).get(annotation)
    if isinstance(named, type):
        return named
    return _word(annotation if named is None else repr(named).removeprefix("typing."))


def _word(annotation: str) -> Callable[[str], str]:
    """Reads one of the words of a `Literal[...]`; TypeError for an annotation that no table can fill."""
    if not annotation.startswith("Literal["):
        raise TypeError(f"no reader for cells of {annotation}")

    def read(text: str) -> str:
        if repr(text) not in annotation:
            raise ValueError(f"{text!r} is not in {annotation}")
        return text

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": _yes,
    "tuple[str, ...]": words,
    "tuple[int, ...]": lambda text: tuple(map(int, text.split())),
    "frozenset[str]": marks,
}


def normal(name: str) -> str:
    """The form in which names of hardware are compared: lower case, with `-` for blanks and `_`."""
    return name.strip().lower().replace(" ", "-").replace("_", "-")
