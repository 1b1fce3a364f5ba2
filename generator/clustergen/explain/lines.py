"""Every line of one rendered file, with what it depends on."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from clustergen import compile as compiler
from clustergen.diagnostics import ClustergenError, Place, did_you_mean
from clustergen.explain.fields import Field, Fields
from clustergen.explain.reads import Override, reading
from clustergen.explain.rows import Row, other_facts, row_of
from clustergen.explain.trials import Kitchen, Made, built, changed, lines_of
from clustergen.records import record
from clustergen.render.engine import template_root
from clustergen.render.registry import File, files
from clustergen.render.tree import LOCK, RenderedFile, Tree

_TRIALS = 3  # that make a valid manifest, by field
_MOST = 8
_COMMENT = re.compile(r"\s*(#+|//|;)\s?(.*)")


@record
class Cause:
    """A field of the manifest that a line depends on, and a trial that showed it.

    `place` is None for a field that the manifest leaves out. `tried` is what was put in its place; `becomes` is then
    the line, None where it is gone or no one line stands in its place. `valid`: the manifest of that trial is valid.
    """

    path: str
    kind: str
    place: Place | None
    written: str | None
    default: Any
    help: str
    tried: str
    becomes: str | None
    valid: bool


@record
class Line:
    """A line and what made it. `why` is what the file itself says of it; `template` is where its text is found."""

    number: int
    text: str
    manifest: tuple[Cause, ...]
    defaults: tuple[Cause, ...]
    catalogue: tuple[Row, ...]
    why: str
    template: str | None


@record
class Explained:
    """A file. `needs` are the fields without which, or with another value of which, there is no such file."""

    path: str
    target: str | None
    source: str
    rule: str | None  # the function that works out what the file says
    needs: tuple[Cause, ...]
    lines: tuple[Line, ...]


def find(tree: Tree, wanted: str, folder: Path) -> RenderedFile:
    """The file of a tree that is meant by its path on disk, in the tree or on the node, or by the end of one of these.

    ClustergenError, exit code 2, where none or several are.
    """
    named = {file.path: file for file in tree}
    for text in (wanted, wanted.removeprefix("./"), _relative(wanted, folder)):
        if text in named:
            return named[text]
    if Path(wanted).name == LOCK:
        raise ClustergenError(f"{LOCK} lists the other files, with a hash of each: nothing else is in it", exit_code=2)
    ends = [file for file in tree if f"/{file.path}".endswith("/" + wanted.lstrip("/"))]
    exact = [file for file in ends if file.target == wanted] or ends
    if len(exact) == 1:
        return exact[0]
    if exact:
        several = ", ".join(file.path for file in exact[:6]) + (" …" if len(exact) > 6 else "")
        raise ClustergenError(f"several files are called {wanted}", hint=f"say which: {several}", exit_code=2)
    names = {file.path.rpartition("/")[2] for file in tree} | set(named)
    hint = did_you_mean(wanted, names) or "rendered/README.md lists all files of the tree"
    raise ClustergenError(f"the manifest makes no file {wanted}", hint=hint, exit_code=2)


def _relative(wanted: str, folder: Path) -> str:
    try:
        return Path(wanted).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return ""


def explain(compiled: compiler.Compiled, file: RenderedFile, name: str, numbers: Iterable[int] = ()) -> Explained:
    """What the lines of a file depend on: those of these numbers, or all. The manifest must be valid; `name` is its
    file's, without a folder.
    """
    lines = lines_of(file.content)
    wanted = sorted(set(numbers)) or list(range(1, len(lines) + 1))
    if wanted[0] < 1 or wanted[-1] > len(lines):
        raise ClustergenError(f"{file.path} has {len(lines)} lines, and no line {wanted[-1]}", exit_code=2)
    row = None if file.source.startswith("site/") else row_behind(compiled.cluster, file, name)
    if row is None:
        made = tuple(Line(n, lines[n - 1], (), (), (), comment_of(lines, n - 1), None) for n in wanted)
        return Explained(file.path, file.target, file.source, None, (), made)
    study = Study(compiled, file, row, name, [number - 1 for number in wanted])
    made = tuple(study.line(number - 1, lines) for number in wanted)
    rule = rule_of(row.view)
    return Explained(file.path, file.target, file.source, rule, tuple(study.needs), made)


def rule_of(view: Callable[..., Any]) -> str:
    """The name of a view, of the one inside where a helper only wraps it."""
    inner = [cell.cell_contents for cell in view.__closure__ or ()]
    view = next((part for part in inner if inspect.isfunction(part)), view)
    return f"{view.__module__}.{view.__name__}"


def row_behind(cluster: Any, file: RenderedFile, name: str) -> File | None:
    """The row of the registry that makes a file; None for a site's own."""
    for row in files():
        if row.per == "tree":
            if f"{row.scope}/{file.path}" == row.template:
                return row
        elif (file.group is None) == (row.scope == "tree") and file.path in built(cluster, name, row):
            return row
    return None


class Study:
    """All trials of one file."""

    def __init__(
        self, compiled: compiler.Compiled, file: RenderedFile, row: File, name: str, asked: Sequence[int]
    ) -> None:
        self.asked = asked
        self.source = compiled.source
        self.template = template_root() / f"{row.source or row.template}.j2"
        self.old = lines_of(file.content)
        self.kitchen = Kitchen(name, row, file.path, file.target, self.old)
        self.needs: list[Cause] = []
        self.causes: dict[int, list[Cause]] = {}
        self.rows: dict[int, dict[int, set[str]]] = {}  # line → row → fields
        self.reach: dict[tuple[str, str], int] = {}  # field → how many lines it changes; the closest causes come first
        self._fields()
        self._catalogue()

    def _fields(self) -> None:
        from clustergen.cluster import resolve
        from clustergen.manifest.model import Manifest

        manifest = Manifest.model_validate(compiler.frozen(self.source.data))
        with reading() as reads:  # of this very manifest, so that its models are known by their ids
            built(resolve(manifest, lambda _: None), self.kitchen.manifest_name, self.kitchen.row)
        fields = Fields(manifest, self.source.data, Manifest.model_json_schema())
        for field in fields.read(reads.sections):
            if field.kind == "default" and self.kitchen.row.per == "tree":
                continue  # each trial is a whole tree
            self._try(field, fields)
        self.reads = reads

    def _try(self, field: Field, fields: Fields) -> None:
        found: dict[int, Cause] = {}
        need: Cause | None = None
        trials = 0
        for number, (tried, document) in enumerate(fields.documents(field)):
            new = self.kitchen.make(document)
            if new is None:
                continue
            trials += new.valid or new.lines == self.old
            if new.lines is None:
                need = need or self._cause(field, tried, None, new)
            else:
                for index, becomes in changed(self.old, new.lines):
                    before = found.get(index)
                    if before is None or _better(new, becomes, before):
                        found[index] = self._cause(field, tried, becomes, new)
            if trials >= _TRIALS or number >= _MOST or self._enough(found):
                break
        self.reach[field.name, field.kind] = len(found)
        for index, cause in found.items():
            self.causes.setdefault(index, []).append(cause)
        if need is not None and field.kind != "default" and field.name not in {cause.path for cause in self.needs}:
            self.needs.append(need)

    def _enough(self, found: dict[int, Cause]) -> bool:
        """Whether the lines asked for have their cause, with what they become in a valid manifest."""
        causes = [found.get(index) for index in self.asked]
        return all(cause is not None and cause.valid and cause.becomes is not None for cause in causes)

    def _cause(self, field: Field, tried: str, becomes: str | None, new: Made) -> Cause:
        place = written = None
        if field.kind != "default":
            place = self.source.place(field.path, key=field.kind == "key")
            written = self.source.written(field.path) if field.kind == "value" else None
        return Cause(field.name, field.kind, place, written, field.default, field.help, tried, becomes, new.valid)

    def _catalogue(self) -> None:
        if self.kitchen.row.per == "tree":
            return
        facts = {
            ident: {
                field: others
                for field in sorted(fields)
                if (others := other_facts(self._row(ident), field, self.reads))
            }
            for ident, fields in self.reads.fields.items()
        }
        for ident in self._telling([ident for ident in facts if facts[ident]], facts):
            for field, values in facts[ident].items():
                for value in values:
                    hit = self._hit({(ident, field): value}) or ()
                    for index in hit:
                        self.rows.setdefault(index, {}).setdefault(ident, set()).add(field)
                    if hit:
                        break

    def _row(self, ident: int) -> Any:
        return self.reads.rows[ident]

    def _telling(self, idents: list[int], facts: dict[int, dict[str, list[Any]]]) -> list[int]:
        """The rows whose facts change a line that was asked for; many are tried at once, and halved where they do."""
        if not idents:
            return []
        hit = self._hit({(ident, field): values[0] for ident in idents for field, values in facts[ident].items()})
        if hit is not None and not hit:
            return []
        if len(idents) == 1:
            return idents if hit else []
        half = len(idents) // 2
        return self._telling(idents[:half], facts) + self._telling(idents[half:], facts)

    def _hit(self, override: Override) -> list[int] | None:
        """The lines asked for that other facts change; None where no file can be made of them."""
        with reading(override):
            made = self.kitchen.make(self.source.data)
        if made is None or made.lines is None:
            return None
        asked = set(self.asked)
        return [index for index, _ in changed(self.old, made.lines) if index in asked]

    def line(self, index: int, lines: Sequence[str]) -> Line:
        causes = sorted(_told(self.causes.get(index, [])), key=lambda cause: self.reach[cause.path, cause.kind])
        catalogue = [row_of(self._row(ident), fields) for ident, fields in self.rows.get(index, {}).items()]
        return Line(
            index + 1,
            lines[index],
            tuple(cause for cause in causes if cause.kind != "default"),
            tuple(cause for cause in causes if cause.kind == "default"),
            tuple(catalogue),
            comment_of(lines, index),
            self._template_line(lines[index]),
        )

    def _template_line(self, text: str) -> str | None:
        """Where the template has the line as it stands, or begins like it; its name alone where it does not."""
        name = self.template.relative_to(template_root()).as_posix()
        if not text.strip() or not self.template.is_file():
            return None
        for number, part in enumerate(self.template.read_text(encoding="utf-8").splitlines(), 1):
            if part.strip() == text.strip():
                return f"templates/{name}:{number}"
        return None


def _better(new: Made, becomes: str | None, before: Cause) -> bool:
    """Whether a trial says more than the one before: of a valid manifest, and of what the line turns into."""
    return (new.valid, becomes is not None) > (before.valid, before.becomes is not None)


def _told(causes: list[Cause]) -> list[Cause]:
    """Without whole entries of which a part is told."""
    paths = [cause.path for cause in causes if cause.kind in ("value", "key")]
    return [
        cause
        for cause in causes
        if cause.kind != "entry" or not any(path.startswith((f"{cause.path}.", f"{cause.path}[")) for path in paths)
    ]


def comment_of(lines: Sequence[str], index: int) -> str:
    """What the file says of a line: the comment behind it, or those right above it."""
    behind = re.search(r"\s{2,}#\s?(.*)$", lines[index])
    if behind and lines[index][: behind.start()].strip():
        return behind[1]
    above: list[str] = []
    place = index - 1
    while place >= 0 and (found := _COMMENT.fullmatch(lines[place])) and lines[index].strip():
        above.insert(0, found[2])
        place -= 1
    return " ".join(above).strip()
