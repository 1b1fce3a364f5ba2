"""The manifest while it is made: value by value, each with where it came from and where else it could go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from clustergen.diagnostics import ClustergenError, ManifestPath
from clustergen.records import record

Scalar = str | int | float | bool
Value = (
    Scalar
    | tuple[str, ...]
    | tuple[int, ...]
    | tuple[tuple[int, ...], ...]
    | dict[str, float]
    | dict[str, int]
    | dict[str, float | str]
    | dict[int, str]
)
_MOST_VALUES = 30_000  # more take longer to validate, render and compare than anybody waits
Kind = Literal["left-out", "secret", "choice", "meant", "todo"]


@record
class Origin:
    """The setting of a hand-written file that a value comes from."""

    file: str
    line: int
    block: str
    """The key that opens its line (NodeName …), empty for a line of its own."""
    name: str
    """The value of that key."""
    key: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


@record
class Note:
    """Something that the user should know. `kind`: `left-out` and `secret` are not in the manifest; `choice` is ours to
    be looked at; `meant` is said in other words than in the file; `todo` is not in the files.
    """

    kind: Kind
    text: str
    place: str = ""
    key: str = ""
    """The key of the setting that it is about, and behind a blank its node or partition."""


@dataclass(slots=True)
class Item:
    """One value of the manifest."""

    path: ManifestPath
    value: Value
    origins: tuple[Origin, ...] = ()
    passthrough: tuple[tuple[ManifestPath, Value], ...] = ()
    """Where the settings go as they are, if the field does not take them or means something else by them."""
    comments: list[str] = field(default_factory=list)
    needed: bool = False
    """A manifest without it is none."""


class Draft:
    """All values by path. A path that is given twice has the later value."""

    def __init__(self) -> None:
        self.items: dict[ManifestPath, Item] = {}
        self.notes: dict[Note, None] = {}
        self.head: list[str] = []
        self.tail: list[str] = []
        self.files: dict[str, bytes] = {}
        """Files of the site, by their path beside the manifest."""
        self.gpu_types: set[str] = set()
        """Node types whose GPUs the catalogue has."""
        self.programs: set[str] = set()
        """Passed-over files that are programs."""
        self.whole: set[str] = set()
        """Files that go to the site as they are, although the manifest has fields for such."""
        self._waiting: dict[tuple[str, int], tuple[str, ...]] = {}

    def expect(self, file: str, comments: dict[int, tuple[str, ...]]) -> None:
        """Comments of a file by line; the first value that comes from a line gets what is said there."""
        self._waiting.update({(file, line): words for line, words in comments.items()})

    def has_comment(self, origin: Origin) -> bool:
        """True if a comment of that line waits for a value."""
        return (origin.file, origin.line) in self._waiting

    def set(
        self,
        path: ManifestPath,
        value: Value,
        origins: Iterable[Origin] = (),
        *,
        passthrough: Iterable[tuple[ManifestPath, Value]] = (),
        comments: Iterable[str] = (),
        needed: bool = False,
        claim: bool = True,
    ) -> Item:
        """`claim`: whether the value gets the comments of the lines that it comes from."""
        came = tuple(origins)
        all_comments = list(comments)
        for origin in came if claim else ():
            all_comments += self._waiting.pop((origin.file, origin.line), ())
        item = Item(
            path=path, value=value, origins=came, passthrough=tuple(passthrough), comments=all_comments, needed=needed
        )
        if path in self.items:
            item.comments = [*self.items.pop(path).comments, *all_comments]
        self.items[path] = item
        if len(self.items) > _MOST_VALUES:
            hint = "write one line for identical nodes, partitions or switches, or omit --accounts"
            raise ClustergenError(f"the manifest would have more than {_MOST_VALUES:,} values", hint)
        return item

    def note(self, kind: Kind, text: str, place: str = "", key: str = "") -> None:
        self.notes.setdefault(Note(kind, text, place, key))

    def below(self, path: ManifestPath) -> Iterator[Item]:
        """The items at a path and below it."""
        return (item for item in list(self.items.values()) if item.path[: len(path)] == path)

    def nearest(self, path: ManifestPath) -> Item | None:
        """The item at a path, or that whose value the path leads into."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.items:
                return self.items[path[:end]]
        return None

    def remove(self, item: Item) -> None:
        self.items.pop(item.path, None)

    def demote(self, item: Item) -> bool:
        """Moves a value to where its settings stand as they are; False where there is no such place."""
        if not item.passthrough:
            return False
        self.remove(item)
        for index, (path, value) in enumerate(item.passthrough):
            self.set(path, value, item.origins, comments=item.comments if index == 0 else ())
        return True

    def unclaimed(self) -> list[str]:
        """Comments of lines that no value came from."""
        return [words for comments in self._waiting.values() for words in comments]

    def data(self) -> dict[str, Any]:
        """The manifest as plain data; tuples are lists."""
        root: dict[Any, Any] = _Section()
        for item in self.items.values():
            parent = root
            for name in item.path[:-1]:
                parent = parent.setdefault(name, _Section())
            parent[item.path[-1]] = item.value
        document: dict[str, Any] = _listed(root)
        return document


class _Section(dict[Any, Any]):
    """The part of the manifest below a path that is not a value."""


def _listed(data: Any) -> Any:
    """Tuples, and sections by number, as lists."""
    if isinstance(data, tuple):
        return list(map(_listed, data))
    if not isinstance(data, dict):
        return data
    if isinstance(data, _Section) and data and all(type(key) is int for key in data):
        return [_listed(data[key]) for key in sorted(data)]
    return {key: _listed(value) for key, value in data.items()}
