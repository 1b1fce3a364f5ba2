"""Every line of one rendered file, with what it depends on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from clustergen import compile as compiler
from clustergen.diagnostics import ClustergenError
from clustergen.explain.causes import Cause
from clustergen.explain.locate import row_behind, rule_of, template_of
from clustergen.explain.producers import is_own
from clustergen.explain.rows import Row
from clustergen.explain.study import Study, renderer_for
from clustergen.explain.trials import lines_of
from clustergen.records import record
from clustergen.render.tree import HEADER, RenderedFile, Tree

_COMMENT = re.compile(r"\s*(#+|//|;)\s?(.*)")


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

    @property
    def constant(self) -> bool:
        """True if nothing that was tried, one at a time, changes it."""
        return not (self.manifest or self.defaults or self.catalogue)


@record
class Explained:
    """A file. `needs` are the fields without which, or with another value of which, there is no such file."""

    path: str
    target: str | None
    source: str  # its template, or the site's own file; empty where the rule prints the whole text
    rule: str | None  # the function that works out what the file says; None for a site's own
    rule_says: str
    needs: tuple[Cause, ...]
    lines: tuple[Line, ...]


def explain(
    compiled: compiler.Compiled, tree: Tree, file: RenderedFile, directory: Path, numbers: Iterable[int] = ()
) -> Explained:
    """The dependencies of the lines of a file: those of these numbers, or all. `tree` is that of the manifest, which is
    valid and lies in `directory`.
    """
    lines = lines_of(file.content)
    chosen = sorted(set(numbers)) or list(range(1, len(lines) + 1))
    if chosen and (chosen[0] < 1 or chosen[-1] > len(lines)):
        last = f"{file.path}:{len(lines)}"
        hint = f"explain its last line, {last}, or all lines, {file.path}" if lines else "the file is empty"
        raise ClustergenError(f"{file.path} has {len(lines)} lines, and no line {chosen[-1]}", hint, exit_code=2)
    assert compiled.cluster is not None
    row = None if is_own(file) else row_behind(compiled.cluster, file, tree.manifest_name)
    asked = [number - 1 for number in chosen]
    renderer = renderer_for(compiled.cluster, tree, file, row, directory, asked)
    stated = row is not None and row.per == "tree" and not numbers
    study = Study(compiled, renderer, lines, asked, stated=stated)
    template, printed = template_of(file, row, directory)
    made = []
    for index in asked:
        stated_values, defaults = study.causes_of(index)
        number = printed.get(lines[index].strip())
        line = Line(
            number=index + 1,
            text=lines[index],
            manifest=stated_values,
            defaults=defaults,
            catalogue=study.rows_of(index),
            why=comment_of(lines, index),
            template=None if number is None else f"{template}:{number}",
        )
        made.append(line)
    rule, rule_says = rule_of(row.view) if row else (None, "")
    return Explained(
        path=file.path,
        target=file.target,
        source=template,
        rule=rule,
        rule_says=rule_says,
        needs=tuple(study.needs),
        lines=tuple(made),
    )


def comment_of(lines: Sequence[str], index: int) -> str:
    """The file's comment on a line: the one behind it, or those right above it that are no heading."""
    behind = re.search(r"\s{2,}#\s?(.*)$", lines[index])
    if behind and lines[index][: behind.start()].strip():
        return behind[1]
    above: list[str] = []
    place = index - 1
    while place >= 0 and lines[index].strip() and (comment := _COMMENT.fullmatch(lines[place])) and comment[1] != "##":
        if comment[2].startswith(HEADER):  # of every file, says nothing of a line
            break
        if not comment[2].startswith("shellcheck "):  # an instruction for that program
            above.insert(0, comment[2])
        place -= 1
    return " ".join(above).strip()
