"""All trials of one file: which fields of the manifest and rows of the catalogue change the lines asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from clustergen.cluster.model import Cluster
from clustergen.compile import Compiled
from clustergen.explain.causes import Cause, as_written, has_part, without_wholes
from clustergen.explain.edits import Edit
from clustergen.explain.facts import Facts
from clustergen.explain.fields import Field, Fields
from clustergen.explain.halving import effective, in_rounds
from clustergen.explain.manifests import Original
from clustergen.explain.producers import outline_producer, parts_of, producer_of, site_producer
from clustergen.explain.rows import Row, row_of
from clustergen.explain.trials import Renderer, Trial, Trials, changed, changed_of
from clustergen.render.file import File
from clustergen.render.tree import RenderedFile, Tree

_TRIALS = 3  # of one field that show something
_LIKELY = 4  # edits of one field; the others rarely have an effect where these have none, so they are tried together
_Batch = Sequence[tuple[object, Edit]]
_Shown = tuple[Edit, Trial, str | None]  # a line that a trial changes, and what it becomes
_APART = 4  # entries of a list that are tried together
_REFUSALS = 5  # of one field for the same reason: what else there is to try would be refused as well
_TRIALS_OF_SEVERAL = 8  # where several lines are asked for: a trial that changes one may leave the others


def renderer_for(
    cluster: Cluster, tree: Tree, file: RenderedFile, row: File | None, directory: Path, asked: Sequence[int]
) -> Renderer:
    """The renderer of the file; `row` is the registry's, None for a site's own file."""
    if row is None:
        return Renderer(site_producer(directory / "site", set(tree.groups)), file)
    if row.per != "tree":
        return Renderer(producer_of(row, tree.manifest_name), file)
    # Of all files that it describes, a line depends on few: those without which it differs.
    parts = parts_of(cluster, tree.manifest_name)
    needed: set[int] = set()
    old: tuple[str, ...] = ()

    def without(some: Iterable[int]) -> tuple[str, ...]:
        fixed = [part for number, part in enumerate(parts) if number not in set(some)]
        return Renderer(outline_producer(row, tree, fixed), file).start(cluster)

    def has_effect(some: Sequence[int]) -> bool:
        return bool(changed_of(old, without(some), asked))

    old = without(())
    while more := effective([n for n in range(len(parts)) if n not in needed], has_effect, together=True):
        needed.update(more)
    fixed = [part for number, part in enumerate(parts) if number not in needed]
    return Renderer(outline_producer(row, tree, fixed, [parts[n] for n in sorted(needed)]), file)


class Study:
    """The dependencies of the lines `asked` for, counted from 0; `old` are all lines of the file.

    `stated`: only values that the manifest states are tried, not defaults. It is for files about all others, of which
    every trial renders the whole tree.
    """

    def __init__(
        self,
        compiled: Compiled,
        renderer: Renderer,
        old: tuple[str, ...],
        asked: Sequence[int],
        *,
        stated: bool,
    ) -> None:
        assert compiled.cluster is not None
        source = compiled.source
        self.source = source
        self.old = old
        self.asked = asked
        self.whole = len(asked) == len(old)
        self.most = _TRIALS if self.whole or len(asked) == 1 else _TRIALS_OF_SEVERAL
        self.needs: list[Cause] = []
        self._causes: dict[int, list[Cause]] = {}
        self._reach: dict[tuple[str, str], int] = {}  # field → how many lines it changes
        self._alone: dict[int, Trial | None] = {}  # trials of a single edit, by the id() of the edit
        self.original = Original(source.data)
        self.trials = Trials(renderer, self.original.manifest, compiled.cluster)
        self._rows = {} if stated else Facts(self.trials).behind(old, asked)
        self.fields = Fields(self.original)
        self._order: dict[tuple[str, str], int] = {field.ident: number for number, field in enumerate(self.fields.all)}
        self._unset = {field.path for field in self.fields.all if field.kind == "default"}
        read = self.fields.read(self.trials.read)
        self._try_all([field for field in read if not (stated and field.kind == "default")])
        self.needs = as_written(without_wholes(sorted(self.needs, key=self._place)), source)

    def causes_of(self, index: int) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
        """Values that the manifest states, and defaults that it leaves.

        What a valid manifest can change comes first, and of that what changes the fewest lines.
        """
        causes = without_wholes(self._causes.get(index, []))
        causes.sort(key=lambda cause: (not cause.valid, self._reach[cause.path, cause.kind], self._place(cause)))
        causes = as_written(causes, self.source)
        stated = tuple(cause for cause in causes if cause.kind != "default")
        return stated, tuple(cause for cause in causes if cause.kind == "default")

    def rows_of(self, index: int) -> tuple[Row, ...]:
        rows, owners = self.trials.reads.rows, self.trials.reads.owners
        return tuple(
            row_of(rows[ident], fields, owners.get(ident)) for ident, fields in self._rows.get(index, {}).items()
        )

    def _place(self, cause: Cause) -> int:
        """Where the manifest has it, or might have it."""
        return self._order[cause.path, cause.kind]

    def _try_all(self, fields: list[Field]) -> None:
        """Tries those that change a line asked for, or without which there is no file."""
        self._try_effective([field for field in fields if field.kind != "entry"], self._changes_lines)
        # Of a whole entry with a part in each line, only the existence of the file is explained.
        entries = [field for field in fields if field.kind == "entry"]
        parted = {field.ident for field in entries if not self.whole and self._is_part_of_all(field)}
        self._try_effective([field for field in entries if field.ident not in parted], self._changes_lines)
        self._try_effective([field for field in entries if field.ident in parted], self._removes_file, 1)

    def _is_part_of_all(self, entry: Field) -> bool:
        paths_of_lines = ([cause.path for cause in self._causes.get(index, ()) if cause.place] for index in self.asked)
        return all(has_part(entry.name, paths) for paths in paths_of_lines)

    def _try_effective(
        self, fields: list[Field], has_effect: Callable[[_Batch], bool | None], most: int | None = None
    ) -> None:
        """Tries the fields of which one edit, or one of the first `most`, has an effect: that edit first."""
        choices = {field.ident: self.fields.edits(field)[:most] for field in _scattered(fields)}
        effective_edits = in_rounds(
            {ident: edits[:_LIKELY] for ident, edits in choices.items()}, self._batch_of, has_effect
        )
        seldom = {ident: edits[_LIKELY:] for ident, edits in choices.items() if ident not in effective_edits}
        effective_edits |= in_rounds(seldom, lambda _: None, has_effect)
        for field in fields:
            if first := effective_edits.get(field.ident):
                self._try(field, [first, *(edit for edit in choices[field.ident] if edit is not first)])

    def _batch_of(self, edit: Edit) -> tuple[object, ...]:
        """Neighbours in a list, as a node's roles, easily undo each other; what is switched off hides its settings."""
        place = edit.path[-1] % _APART if isinstance(edit.path[-1], int) else None
        return edit.does, edit.path in self._unset, place, edit.value is False

    def _changes_lines(self, batch: _Batch) -> bool | None:
        made = self._made_together(batch)
        # Edits that do not go together say nothing of each.
        return None if made is None else made.lines is None or bool(changed_of(self.old, made.lines, self.asked))

    def _removes_file(self, batch: _Batch) -> bool | None:
        """True if there is no such file then."""
        made = self._made_together(batch)
        return None if made is None else made.lines is None

    def _made_together(self, batch: _Batch) -> Trial | None:
        edits = [edit for _, edit in batch]
        made = self._make(edits)
        if len(edits) == 1:
            self._alone[id(edits[0])] = made
        return made

    def _make(self, edits: Iterable[Edit]) -> Trial | None:
        try:
            return self.trials.make(self.original.edited(edits))
        except ValidationError:
            return None

    def _made_alone(self, edit: Edit) -> Trial | None:
        return self._alone[id(edit)] if id(edit) in self._alone else self._make([edit])

    def _try(self, field: Field, edits: list[Edit]) -> None:
        """Finds for each line that a field changes the trial that shows it best."""
        made: list[tuple[Edit, Trial]] = []
        outcomes: Counter[str] = Counter()
        shown: dict[int, list[_Shown]] = {}
        clear: dict[int, _Shown] = {}  # in a valid manifest, with the line in its place
        for edit in edits:
            new = self._made_alone(edit)
            if new is None:
                continue
            made.append((edit, new))
            lines = {} if new.lines is None else dict(changed(self.old, new.lines))
            for index, becomes in lines.items():
                shown.setdefault(index, []).append((edit, new, becomes))
            # Rules are asked, which takes as long as a trial, only about what shows something more.
            if lines and lines.keys() <= clear.keys():
                reason = "known"
            else:
                reason = "" if new.lines == self.old else new.refused or ""
            if not reason:
                clear = {n: (edit, new, becomes) for n, becomes in lines.items() if becomes is not None} | clear
            outcomes[reason] += 1
            most = _REFUSALS if reason else self.most
            if outcomes[reason] == most or clear.keys() >= set(self.asked):
                break
        self._reach[field.ident] = len(shown)
        for index, trials in shown.items():
            best = clear.get(index) or max(trials, key=lambda trial: (trial[1].valid, trial[2] is not None))
            showing = [new for _, new, _ in trials]
            if best[1].valid or not _only_breaks(field, [new for _, new in made if new not in showing]):
                self._causes.setdefault(index, []).append(self._cause(field, *best))
        without_file = [trial for trial in made if trial[1].lines is None]
        if not without_file or field.kind == "default" or field.name in {cause.path for cause in self.needs}:
            return
        same = [new for _, new in made if new.lines == self.old]
        if any(new.valid for _, new in without_file) or not _only_breaks(field, same):
            self.needs.append(self._cause(field, *without_file[0], None))

    def _cause(self, field: Field, edit: Edit, new: Trial, becomes: str | None) -> Cause:
        place = text = None
        if field.kind != "default":
            place = self.source.place(field.path, key=field.kind == "key")
            text = self.source.text_of(field.path) if field.kind == "value" else None
        help_, default = field.origin.help, field.default
        return Cause(
            path=field.name,
            kind=field.kind,
            place=place,
            text=text,
            default=default,
            help=help_,
            tried=edit.tried,
            becomes=becomes,
            valid=new.valid,
        )


def _only_breaks(field: Field, others: Sequence[Trial]) -> bool:
    """True if a value that shows itself in no valid manifest has nothing to say, as `others` are without a change."""
    return field.kind == "value" and any(new.valid for new in others)


def _scattered(fields: list[Field]) -> list[Field]:
    """Fields of one name, as the devices of two node types, far apart: the same edit of both may undo each of them."""
    seen: Counter[tuple[object, object]] = Counter()
    order = []
    for field in fields:
        name = (field.path[0], field.path[-1]) if field.path else (None, None)
        order.append(seen[name])
        seen[name] += 1
    return [field for _, field in sorted(zip(order, fields, strict=True), key=lambda pair: pair[0])]
