"""A manifest as it stands on disk: its text and those of its layers, its data, and the place of every value in it.

Anything at all may be given as a manifest: what cannot be read, is no text or is no YAML ends in diagnostics.
"""

from __future__ import annotations

import errno
import json
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clustergen import regular_file
from clustergen.diagnostics import (
    Diagnostic,
    Finding,
    ManifestPath,
    Place,
    Problem,
    did_you_mean,
    in_file_order,
    printable,
    quote,
)
from clustergen.diagnostics.redaction import Redaction
from clustergen.diagnostics.secrets import find_secrets, secret_spans
from clustergen.manifest import MANIFEST
from clustergen.manifest.yaml_load import parse
from clustergen.manifest.yaml_nodes import Node, inside
from clustergen.regular_file import reason_of

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    from clustergen.diagnostics.validation import Hint, Refine
    from clustergen.manifest.layers import Override

MAX_BYTES = 8_000_000
_NAMES = re.compile("[a-z0-9-]+(?:, [a-z0-9-]+)+")
_LINE_END = r"\r\n|\n|\r"
_ESCAPES = ("\\", "''")  # one may hide the form of a secret
_UNPRINTABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"


class Source:
    """One manifest. `data` is None when the file holds no mapping that a model could be built from.

    `path` is where the files that it extends are looked for, by default `name`.
    """

    def __init__(
        self, name: str, raw: bytes, diagnostics: Iterable[Diagnostic] = (), path: str | Path | None = None
    ) -> None:
        self.name = name
        self.raw = raw
        self._path = Path(name if path is None else path)
        self._parts: tuple[tuple[int, str], ...] = ((0, name),)
        self.data: dict[str, Any] | None = None
        self.diagnostics = list(diagnostics)
        self._root: Node | None = None
        self._text = ""
        self._refused: frozenset[ManifestPath] = frozenset()
        self._bases: dict[str, str] = {}  # node type → the one whose values it takes over
        self.overrides: dict[str, Override] = {}
        """Node type of overridden fields → what the manifest has for it."""
        self._redaction = Redaction("")
        if not self.diagnostics:
            self._read()

    @property
    def text(self) -> str:
        """The manifest, followed by its layers: values that look like secrets are masked, character by character."""
        return self._redaction.text

    @property
    def texts(self) -> dict[str, str]:
        """The parts of `text`, by file, for excerpts."""
        text, starts = self.text, [start for start, _ in self._parts]
        ends = [*(start - 1 for start in starts[1:]), len(text)]
        return {name: text[start:end] for (start, name), end in zip(self._parts, ends, strict=True)}

    @cached_property
    def sha256(self) -> str:
        """Hash of the file's bytes and of its layers, in hexadecimal."""
        import hashlib

        layers = self._text[self._parts[1][0] :].encode() if len(self._parts) > 1 else b""
        return hashlib.sha256(self.raw + layers).hexdigest()

    @cached_property
    def meaning(self) -> str:
        """Hash of the data, in hexadecimal: comments, blanks and quotes do not alter it. Empty without data."""
        import hashlib

        if self.data is None:
            return ""
        return hashlib.sha256(json.dumps(self.data, ensure_ascii=True, default=repr).encode()).hexdigest()

    def place(self, path: ManifestPath, key: bool = False, at: tuple[int, int] | None = None) -> Place:
        """Where a path of the manifest stands: its value's span, its `key`'s, or the span `at` inside a scalar.

        A value of several lines gives its first. A path that is not there gives the nearest key that is.
        """
        return self._span(*self._find(path, key, at))

    def lines_of(self, path: ManifestPath) -> range:
        """Numbers of the lines with the value at a path, in its file; empty where there is none."""
        node = self._node(path)
        if node is None:
            return range(0)
        return range(self._span(node.start, node.start).line, self._span(node.end, node.end).line + 1)

    def text_of(self, path: ManifestPath) -> str | None:
        """A scalar as the file has it, quotes included: `24.10` where the data holds 24.1. None for anything else."""
        node = self._node(path)
        return self._text[node.start : node.end] if node and node.children is None and node.style != "*" else None

    def is_comment(self, file: str, line: int, column: int) -> bool:
        """True if a `#` at this place begins a comment, and is not part of a scalar."""
        offset = self._offset(file, line, column)
        return self._root is None or not self._root.has_scalar_at(offset)

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """A rule's finding, at its place."""
        place = self.place(finding.path, finding.key, finding.at)
        message, hint = finding.message, finding.hint
        for name, override in self.overrides.items():
            message = message.replace(f"node_types.{name}.", f"nodes {quote(override.entry)}.")
            hint = hint and _NAMES.sub(self._without_derived, hint.replace(f"node_types.{name}.", ""))
        if finding.first is not None and (first := self.place(finding.first))[:2] != place[:2]:
            message += f" (line {first.line})" if first.file == place.file else f" ({first.file}:{first.line})"
        return self._covered(finding.code, place, message, hint)

    def _without_derived(self, names: re.Match[str]) -> str:
        """A list of names without those of node types that follow another one of it, and that no file has."""
        listed = names[0].split(", ")
        bases = {name: override.base for name, override in self.overrides.items()}
        return ", ".join(name for name in listed if bases.get(name) not in listed)

    def diagnose(self, findings: Iterable[Finding]) -> list[Diagnostic]:
        """Findings at their places, in file order. Values that were refused on reading are not reported again."""
        new = [finding for finding in findings if finding.path not in self._refused]
        return in_file_order(map(self.diagnostic, self._without_inherited(new) if self._bases else new))

    def _without_inherited(self, findings: list[Finding]) -> Iterator[Finding]:
        """Findings without those on values that a node type takes over from another one, which has the same."""
        places = {(each.code, each.path): self.place(each.path, each.key, each.at) for each in findings}
        for each in findings:
            _, name, *rest = (*each.path, "", "")[: max(2, len(each.path))]
            base = self._bases.get(str(name)) if each.path[:1] == ("node_types",) else None
            place = places.get((each.code, ("node_types", base, *rest))) if base else None
            if place is None or (rest and place != places[each.code, each.path]):
                yield each

    def from_validation_error(
        self, err: ValidationError, model: type[BaseModel], hint: Hint | None = None, refine: Refine | None = None
    ) -> list[Diagnostic]:
        """Everything that pydantic has against the data, in file order. `hint`: what to write for an unknown key."""
        from clustergen.diagnostics.validation import findings_of

        findings = findings_of(err, model, self.data, self.text_of, hint, refine)
        return self.diagnose(item for item in findings if not self._may_be_merged(item))

    def _may_be_merged(self, finding: Finding) -> bool:
        """True if a key may be missing only because it was to come from a merge key, which was refused already."""
        node = self._node(finding.path[:-1]) if finding.code == "key-missing" else None
        return node is not None and node.is_incomplete

    def _read(self) -> None:
        problem = _refuse_bytes(self.raw)
        if problem:
            self.diagnostics.append(Diagnostic.of("file-not-utf8", Place(self.name), *problem))
            return
        try:
            self._set_text(self.raw.decode("utf-8-sig"))
        except UnicodeDecodeError as err:
            self.diagnostics.append(self._not_utf8(err))
            return
        self._root, problems = _parse(self._text)
        if isinstance(self._root, Node) and isinstance(self._root.value, dict):
            problems += self._merge_layers(self._root)
        root = self._root
        if root is not None and isinstance(root.value, dict) and root.value:
            self.data = root.value
            self._refuse_secrets()
        elif root is not None and root.value not in (None, {}):
            problems.append(_not_a_mapping(root))
        elif not problems:
            hint = "run `clustergen init` to create one"
            problems.append(Problem("manifest-empty", 0, 0, "the manifest is empty", hint))
        # What was left out of the data, or never became data, may hold a secret too.
        for each in problems:
            self._redaction.hide_line(each.start)
        if problems and "-----BEGIN" in self._text:  # a key of several lines
            self._redaction.hide(secret_spans(self._text))
        self.diagnostics = in_file_order([*self.diagnostics, *map(self._diagnostic, problems)])

    def _merge_layers(self, root: Node) -> list[Problem]:
        """Merge what the manifest extends below it, node types that are like others, and what nodes override."""
        problems: list[Problem] = []
        if "extends" not in root.value and not _has_likes(root.value) and not _has_overrides(root.value):
            return problems
        from clustergen.manifest.layers import read_layers, resolve_likes, resolve_overrides

        if "extends" in root.value:
            layers = read_layers(root, self._text, self._path, _layer_text, _parse)
            self._root = layers.root
            self._parts = tuple((start, self._name_of(path)) for start, path in layers.parts)
            self._set_text(layers.text)
            problems += layers.problems
        if problems:  # what the layer has would be reported as missing in the manifest
            self._root = None
            return problems
        assert self._root is not None
        for name, problem in resolve_likes(self._root, self._bases):
            self._refused |= {("node_types", name)}  # that it lacks hardware follows
            problems.append(problem)
        refused = {str(path[1]) for path in self._refused}
        problems += resolve_overrides(self._root, refused, self._bases, self.overrides)
        return problems

    def _name_of(self, path: Path) -> str:
        """The name of a layer in diagnostics: relative to that of the manifest, which may be `REV:path`."""
        if path == self._path:
            return self.name
        revision, colon, inside = self.name.rpartition(":")
        name = os.path.normpath(Path(inside).parent / os.path.relpath(path, self._path.parent))
        return f"{revision}{colon}{name}"

    def _refuse_secrets(self) -> None:
        spans = secret_spans(self._text)
        findings = list(find_secrets(self.data, shaped=bool(spans) or any(sign in self._text for sign in _ESCAPES)))
        nodes = [self._node(finding.path) for finding in findings]
        exact = {node.start: node.end for node in nodes if node}  # without the bracket that closes a mapping
        self._redaction.hide([*((start, end) for start, end in spans if start not in exact), *exact.items()])
        self.diagnostics += [self.diagnostic(finding) for finding in findings]
        self._refused |= {finding.path for finding in findings}

    def _set_text(self, text: str) -> None:
        self._text, self._redaction = text, Redaction(text)

    def _covered(self, code: str, place: Place, message: str, hint: str | None) -> Diagnostic:
        """A diagnostic without secrets; what stands at its place may be one under a misspelt or unknown name."""
        start = self._offset(place.file, place.line, place.column)
        self._redaction.hide_misspelt(start)
        self._redaction.hide_doubted(code, start, start + place.end_column - place.column, _is_product)
        return self._redaction.diagnostic(Diagnostic.of(code, place, message, hint))

    def _diagnostic(self, problem: Problem) -> Diagnostic:
        message, place = problem.message, self._span(problem.start, problem.start + problem.length)
        if problem.other:
            first = self._span(*problem.other)
            message += f"; the first is on line {first.line}, column {first.column}"
        return self._covered(problem.code, place, message, problem.hint)

    def _not_utf8(self, err: UnicodeDecodeError) -> Diagnostic:
        before = self.raw[: err.start].decode("utf-8-sig", "replace")
        line_start = max(before.rfind("\n"), before.rfind("\r")) + 1
        column = len(before) - line_start + 1
        place = Place(self.name, len(re.findall(_LINE_END, before)) + 1, column, column + 1)
        self._set_text(self.raw.decode("utf-8-sig", "replace"))
        self._redaction.hide_line(self._line_starts[place.line - 1])
        byte = self.raw[err.start]
        return Diagnostic.of(
            "file-not-utf8",
            place,
            f"byte 0x{byte:02X} is not UTF-8",
            f"convert the file: iconv -f ISO-8859-1 -t UTF-8 (in Latin-1 this byte is {quote(chr(byte))})",
        )

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(_LINE_END, self._text))]

    def _first_line(self, offset: int) -> int:
        """How many lines of the joined text are before the part that begins at an offset."""
        return bisect_right(self._line_starts, offset) - 1

    def _offset(self, file: str, line: int, column: int) -> int:
        before = next(self._first_line(start) for start, name in self._parts if name == file)
        return self._line_starts[before + line - 1] + column - 1

    def _span(self, start: int, end: int) -> Place:
        starts = self._line_starts
        part, name = next(each for each in reversed(self._parts) if each[0] <= start)
        line = bisect_right(starts, start)
        column = start - starts[line - 1] + 1
        line -= self._first_line(part)
        shown = self._text[start:end]
        if re.search(_LINE_END, shown):  # of several lines the first, without its comment
            shown = re.split(_LINE_END, shown, maxsplit=1)[0].split(" #")[0].rstrip()
        return Place(name, line, column, column + len(shown))

    def _node(self, path: ManifestPath) -> Node | None:
        return reduce(lambda node, part: node.child(part) if node else None, path, self._root)

    def _find(self, path: ManifestPath, key: bool, at: tuple[int, int] | None) -> tuple[int, int]:
        node, parent, depth = self._root, None, 0
        for part in path:
            child = node.child(part) if node else None
            if child is None:
                break
            node, parent, depth = child, node, depth + 1
        if node is None or parent is None:
            return (node.start, node.start) if node else (0, 0)
        last = path[depth - 1]
        missing, empty = depth < len(path), node.start == node.end
        if isinstance(last, str) and (key or missing or empty):
            start, end = parent.keys[last]
            if at is not None and end - start == len(last):
                return start + at[0], start + at[0] + at[1]
            return start, end
        if at is not None and not missing and isinstance(node.value, str):
            return inside(self._text, node, *at)
        return node.start, node.end


def _is_product(value: str) -> bool:
    from clustergen.catalogue.products import is_product

    return is_product(value)


def load(path: str | Path, name: str | None = None) -> Source:
    """Reads a manifest; `name` is what diagnostics call the file, the path as given by default. Never raises."""
    name = str(path) if name is None else name
    if not Path(path).name.isprintable():  # it is in the header of every rendered file
        message = f"the file name {quote(Path(path).name)} is not printable UTF-8 text"
        return Source(name, b"", [Diagnostic.of("file-unreadable", Place(printable(name)), message, "rename the file")])
    try:
        raw = regular_file.read(path, MAX_BYTES, follow_links=True)
    except (OSError, ValueError) as err:
        if isinstance(err, OSError) and err.errno == errno.EFBIG:
            message = f"larger than {MAX_BYTES // 1_000_000} MB"
            return Source(
                name, b"", [Diagnostic.of("file-too-large", Place(name), message, "check that this file is a manifest")]
            )
        reason = reason_of(err) if isinstance(err, OSError) else ""
        return Source(name, b"", [_unreadable(name, path, reason or str(err))])
    return Source(name, raw, path=path)


def _parse(text: str) -> tuple[Node | None, list[Problem]]:
    """The document of a text and what is wrong with it."""
    # Almost every manifest is printable; to compile the pattern takes as long as to read one.
    bad = None if text.replace("\n", "").isprintable() else re.search(_UNPRINTABLE, text)
    return (None, [_unprintable(bad)]) if bad else parse(text)


def _has_likes(data: dict[str, Any]) -> bool:
    types = data.get("node_types")
    return isinstance(types, dict) and any(isinstance(each, dict) and "like" in each for each in types.values())


def _has_overrides(data: dict[str, Any]) -> bool:
    from clustergen.manifest.nodes import Nodes

    nodes, fields = data.get("nodes"), Nodes.model_fields.keys()
    return isinstance(nodes, list) and any(isinstance(each, dict) and not fields >= each.keys() for each in nodes)


def _layer_text(path: Path) -> str:
    """The text of a file that a manifest extends. LayerError where it has none."""
    from clustergen.manifest.layers import LayerError

    try:
        raw = regular_file.read(path, MAX_BYTES, follow_links=True)
    except (OSError, ValueError) as err:
        hint, reason = None, reason_of(err) if isinstance(err, OSError) else str(err)
        with suppress(OSError, ValueError):
            hint = _advice(path)
        if hint is None and isinstance(err, FileNotFoundError):
            hint = "write the path relative to the directory of this manifest: extends: ../site.yaml"
        raise LayerError(f"cannot read {quote(path.name)}: {reason}", hint) from None
    if problem := _refuse_bytes(raw):
        raise LayerError(f"{quote(path.name)}: {problem[0]}", problem[1])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise LayerError(f"{quote(path.name)}: byte 0x{raw[err.start]:02X} is not UTF-8") from None


def _unreadable(name: str, path: str | Path, reason: str) -> Diagnostic:
    hint = None
    with suppress(OSError, ValueError):  # looking around must not fail where reading did
        hint = _advice(Path(path))
    return Diagnostic.of("file-unreadable", Place(name), f"cannot read this file: {reason}", hint)


def _advice(path: Path) -> str | None:
    if path.is_dir():
        inside = path / MANIFEST
        return f"did you mean '{inside}'?" if inside.is_file() else None
    if path.is_symlink() and not path.exists():
        return f"it is a link to {quote(path.readlink())}, which does not exist"
    if path.is_fifo():
        return "validate reads one as standard input: COMMAND | clustergen validate -"
    if not path.exists() and path.parent.is_dir():
        return did_you_mean(path.name, (e.name for e in path.parent.iterdir() if e.suffix in (".yaml", ".yml")))
    return None


def _refuse_bytes(raw: bytes) -> tuple[str, str | None] | None:
    """Message and hint for bytes that are no UTF-8 text at all."""
    head = raw[:4096]
    zeros = [byte == 0 for byte in head[:4]]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or zeros in ([False, True] * 2, [True, False] * 2):
        return "this file is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"
    if b"\0" in head:
        return "this file is binary, not text", None
    return None


def _unprintable(match: re.Match[str]) -> Problem:
    char = match.group()
    if char == "\ufeff":
        return Problem("yaml-syntax", match.start(), 1, "the text contains a byte order mark", "remove it")
    message = f"the control character U+{ord(char):04X} is not allowed in YAML"
    return Problem(
        "yaml-syntax", match.start(), 1, message, "remove it, or write it as an escape sequence in double quotes"
    )


def _not_a_mapping(root: Node) -> Problem:
    what = "a list" if isinstance(root.value, list) else f"the single value {quote(root.value)}"
    hint = "begin with keys, as in 'name: my-cluster'"
    glued = re.match(r"[\w-]+:(?=\S)", root.value) if isinstance(root.value, str) else None
    if glued:
        hint = f"add a space after the colon of {quote(glued.group()[:-1])}"
    return Problem("manifest-not-a-mapping", root.start, root.end - root.start, f"the manifest is {what}", hint)
