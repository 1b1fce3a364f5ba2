"""All trials of one file: which fields of the manifest and rows of the catalogue change the lines asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clustergen.cluster import Cluster, resolve
from clustergen.explain.causes import Cause
from clustergen.explain.edits import Edit, edited
from clustergen.explain.fields import Field, Fields
from clustergen.explain.halving import in_rounds, telling
from clustergen.explain.reads import Override, Reads, overriding, reading
from clustergen.explain.recipes import outline_recipe, parts_of, recipe_of, site_recipe
from clustergen.explain.rows import Row, other_facts, row_of
from clustergen.explain.trials import Kitchen, Made, changed, manifest_of
from clustergen.manifest.source import Source
from clustergen.render.registry import File
from clustergen.render.tree import RenderedFile, Tree

_TRIALS = 3  # of one field that tell something
_TRIALS_OF_SEVERAL = 8  # where several lines are asked for, and one that tells of one tells nothing of the others


def kitchen_of(
    cluster: Cluster, tree: Tree, file: RenderedFile, row: File | None, folder: Path, asked: Sequence[int]
) -> Kitchen:
    """What renders the file again; `row` is the registry's, None for a site's own file."""
    if row is None:
        return Kitchen(site_recipe(folder / "site", set(tree.groups)), file)
    if row.per != "tree":
        return Kitchen(recipe_of(row, tree.manifest_name), file)
    # Of all the files that such a one tells of, few matter to a line: those without which it is another one.
    parts = parts_of(cluster, tree.manifest_name)
    matter: set[int] = set()
    old: tuple[str, ...] = ()

    def without(some: Iterable[int]) -> tuple[str, ...]:
        fixed = [part for number, part in enumerate(parts) if number not in set(some)]
        return Kitchen(outline_recipe(row, tree, fixed), file).start(cluster)

    def tells(some: Sequence[int]) -> bool:
        return bool(_hit(old, without(some), asked))

    old = without(())
    while found := telling([n for n in range(len(parts)) if n not in matter], tells, together=True):
        matter.update(found)
    fixed = [part for number, part in enumerate(parts) if number not in matter]
    return Kitchen(outline_recipe(row, tree, fixed, [parts[n] for n in sorted(matter)]), file)


def _hit(old: Sequence[str], new: Sequence[str], asked: Sequence[int]) -> list[int]:
    """The lines asked for that are others."""
    found = {index for index, _ in changed(old, new)}
    return [index for index in asked if index in found]


class Study:
    """What has a say in the lines `asked` for, counted from 0, of a file that is now `old`.

    Of a file about all others, where each trial of all lines is a whole tree, only the values that the manifest states
    are tried (`stated`).
    """

    def __init__(
        self, source: Source, kitchen: Kitchen, old: tuple[str, ...], asked: Sequence[int], *, stated: bool
    ) -> None:
        from clustergen.manifest.model import Manifest

        self.source = source
        self.kitchen = kitchen
        self.old = old
        self.asked = asked
        self.whole = len(asked) == len(old)
        self.most = _TRIALS if self.whole or len(asked) == 1 else _TRIALS_OF_SEVERAL
        self.needs: list[Cause] = []
        self.reads = Reads()
        self._causes: dict[int, list[Cause]] = {}
        self._rows: dict[int, dict[int, set[str]]] = {}  # line → row → fields
        self._reach: dict[tuple[str, str], int] = {}  # field → how many lines it changes
        self.manifest = manifest_of(source.data)
        with reading() as self.reads:
            kitchen.start(resolve(self.manifest, lambda _: None))
        self.fields = Fields(self.manifest, source.data, Manifest.model_json_schema())
        self._unset = {field.path for field in self.fields.found if field.kind == "default"}
        read = self.fields.read(self.reads.sections)
        for field, edits in self._telling([field for field in read if not (stated and field.kind == "default")]):
            self._try(field, edits)
        self.needs = _told(self.needs)
        if not stated:
            self._catalogue()

    def causes_of(self, index: int) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
        """Values that the manifest states, and defaults that it leaves.

        What a valid manifest can change comes first, and of that what changes the fewest lines.
        """
        causes = _told(self._causes.get(index, []))
        causes.sort(key=lambda cause: (not cause.valid, self._reach[cause.path, cause.kind]))
        stated = tuple(cause for cause in causes if cause.kind != "default")
        return stated, tuple(cause for cause in causes if cause.kind == "default")

    def rows_of(self, index: int) -> tuple[Row, ...]:
        return tuple(row_of(self.reads.rows[ident], fields) for ident, fields in self._rows.get(index, {}).items())

    def _telling(self, fields: list[Field]) -> Iterator[tuple[Field, list[Edit]]]:
        """The fields that change a line asked for, or without which there is no file; all of them for a whole file.

        With what to try in their place, the edit that told first.
        """
        choices = {field.ident: self.fields.edits(field) for field in fields}
        if self.whole:
            yield from ((field, choices[field.ident]) for field in fields)
            return
        found = in_rounds(choices, self._apart, self._tells)
        for field in fields:
            if first := found.get(field.ident):
                yield field, [first, *(edit for edit in choices[field.ident] if edit is not first)]

    def _apart(self, edit: Edit) -> tuple[object, ...]:
        """Entries of one list, as a node's roles, easily undo each other."""
        return edit.does, edit.path in self._unset, edit.path[-1] if isinstance(edit.path[-1], int) else None

    def _tells(self, crowd: Sequence[tuple[object, Edit]]) -> bool:
        made = self._make(edit for _, edit in crowd)
        if made is None:  # they do not go together, which says nothing of each
            return len(crowd) > 1
        return made.lines is None or bool(_hit(self.old, made.lines, self.asked))

    def _make(self, edits: Iterable[Edit]) -> Made | None:
        return self.kitchen.make(edited(self.source.data, edits))

    def _try(self, field: Field, edits: list[Edit]) -> None:
        """Finds for each line that a field changes the trial that shows it best."""
        made: list[tuple[Edit, Made]] = []
        told = 0
        for edit in edits:
            new = self._make([edit])
            if new is None:
                continue
            made.append((edit, new))
            told += new.lines == self.old or new.valid
            if told == self.most or self._enough(new):
                break
        shown: dict[int, list[tuple[Edit, Made, str | None]]] = {}
        for edit, new in made:
            if new.lines is not None:
                for index, becomes in changed(self.old, new.lines):
                    shown.setdefault(index, []).append((edit, new, becomes))
        self._reach[field.ident] = len(shown)
        for index, trials in shown.items():
            best = max(trials, key=lambda trial: (trial[1].valid, trial[2] is not None))
            showing = [new for _, new, _ in trials]
            if field.kind == "value" and not best[1].valid and any(new.valid for _, new in made if new not in showing):
                continue  # what breaks the manifest makes it another line, what does not leaves it as it is
            self._causes.setdefault(index, []).append(self._cause(field, *best))
        gone = [trial for trial in made if trial[1].lines is None]
        if gone and field.kind != "default" and field.name not in {cause.path for cause in self.needs}:
            self.needs.append(self._cause(field, *gone[0], None))

    def _enough(self, new: Made) -> bool:
        """Whether a trial shows what all lines that were asked for become in a valid manifest."""
        if new.lines is None:
            return False
        becomes = dict(changed(self.old, new.lines))
        return all(becomes.get(index) is not None for index in self.asked) and new.valid

    def _cause(self, field: Field, edit: Edit, new: Made, becomes: str | None) -> Cause:
        place = written = None
        if field.kind != "default":
            place = self.source.place(field.path, key=field.kind == "key")
            written = self.source.written(field.path) if field.kind == "value" else None
        help_, default = field.origin.help, field.default
        return Cause(field.name, field.kind, place, written, default, help_, edit.tried, becomes, new.valid)

    def _catalogue(self) -> None:
        facts = sorted(((ident, name) for ident, names in self.reads.fields.items() for name in names), key=self._title)
        choices = {
            (ident, name): [{(ident, name): value} for value in other_facts(self.reads.rows[ident], name, self.reads)]
            for ident, name in facts
        }

        def tells(crowd: Sequence[tuple[object, Override]]) -> bool:
            hit = self._hit({fact: value for _, override in crowd for fact, value in override.items()})
            return len(crowd) > 1 if hit is None else bool(hit)

        found = choices if self.whole else {fact: [told] for fact, told in in_rounds(choices, _alike, tells).items()}
        for (ident, name), overrides in found.items():
            for index in next(filter(None, map(self._hit, overrides)), ()):
                self._rows.setdefault(index, {}).setdefault(ident, set()).add(name)

    def _title(self, fact: tuple[int, str]) -> tuple[str, str]:
        """Facts of a kind are neighbours, as they break the same things."""
        ident, name = fact
        return type(self.reads.rows[ident]).__name__, name

    def _hit(self, override: Override) -> list[int] | None:
        """The lines asked for that other facts change; None where no file can be made of them."""
        with overriding(override):
            made = self.kitchen.of(self.manifest)
        return None if made is None or made.lines is None else _hit(self.old, made.lines, self.asked)


def _alike(_: object) -> None:
    return None


def _told(causes: list[Cause]) -> list[Cause]:
    """Without whole entries of which a part is told."""
    paths = [cause.path for cause in causes if cause.kind in ("value", "key")]
    return [
        cause
        for cause in causes
        if cause.kind != "entry" or not any(path.startswith((f"{cause.path}.", f"{cause.path}[")) for path in paths)
    ]
