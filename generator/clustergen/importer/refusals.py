"""Refusals by Slurm of the original files, and still of the rendered ones, each with its line of the original ones."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from clustergen.catalogue import slurm
from clustergen.cluster.slurm.accounting import PASSWORD_FILE
from clustergen.diagnostics import Diagnostic, Severity
from clustergen.importer.comparing import overlaps
from clustergen.importer.originals import Originals
from clustergen.lint.run import Report, lint
from clustergen.records import record
from clustergen.render.tree import Tree
from clustergen.slurmconf.directory import ConfigDirectory
from clustergen.slurmrules.fields import current_names

_ETC = "/etc/slurm/"
_READ = (".conf", ".yaml")
_MOST = 100
"""Errors that are looked up in the original files; each takes a pass over all of their lines."""
_WITH_SECRET = re.compile(rb"(?im)^include\s+" + re.escape(PASSWORD_FILE.encode()))  # which is only on the node


@record
class Refusal:
    """An error of `clustergen lint`, which keeps a daemon or command of Slurm from starting."""

    place: str
    """The setting's line in the original files; the rendered file's name where no line of theirs has it."""
    code: str
    message: str
    hint: str | None


def refusals(originals: Originals, tree: Tree) -> tuple[Refusal, ...]:
    """Reasons that keep Slurm's daemons from starting with the rendered files, so that validate, import and
    lint agree.
    """
    with tempfile.TemporaryDirectory(prefix="clustergen-import-") as name:
        directory = Path(name)
        for file in tree:
            target = file.target or ""
            if target.startswith(_ETC) and "/" not in (base := target.removeprefix(_ETC)) and base.endswith(_READ):
                (directory / base).write_bytes(_WITH_SECRET.sub(b"", file.content))
        if not (directory / "slurm.conf").is_file():
            return ()
        report = lint(directory, originals.release)
        errors = [one for one in report.diagnostics if one.severity is Severity.ERROR]
        shown = dict.fromkeys(_refusal(originals, report.directory, error) for error in errors[:_MOST])
        if more := len(errors) - _MOST:
            shown |= dict.fromkeys([Refusal("rendered files", "", f"{more:,} more errors", None)] if more > 0 else ())
        return tuple(shown)


def rejected(originals: Originals, report: Report) -> tuple[Refusal, ...]:
    """Reasons that keep Slurm's daemons from starting with the original files; `report` is lint's of them."""
    return _of_lint(originals, (one for one in report.diagnostics if one.severity is Severity.ERROR))


def unregistered(originals: Originals, report: Report) -> tuple[Refusal, ...]:
    """Reasons that keep nodes of the original files from registering; `report` is that of lint with registration."""
    return _of_lint(originals, (one for one in report.diagnostics if one.code == "node-registration"))


def _of_lint(originals: Originals, diagnostics: Iterable[Diagnostic]) -> tuple[Refusal, ...]:
    return tuple(Refusal(_line(originals.directory, one), one.code, one.message, one.hint) for one in diagnostics)


def _line(directory: ConfigDirectory, error: Diagnostic) -> str:
    """`slurm.conf:16`, as all places in the report."""
    if error.place is None:
        return directory.main
    path = Path(error.place.file)
    name = path.relative_to(directory.path) if path.is_relative_to(directory.path) else path
    return f"{name}:{error.place.line}" if error.place.line else str(name)


def _refusal(originals: Originals, rendered: ConfigDirectory, error: Diagnostic) -> Refusal:
    base = Path(error.place.file).name if error.place else "slurm.conf"
    places = _places(originals, rendered, base, error)
    return Refusal(next(places, f"rendered {base}"), error.code, error.message, error.hint)


def _places(originals: Originals, rendered: ConfigDirectory, base: str, error: Diagnostic) -> Iterator[str]:
    """Lines of the original files with the setting at the place of an error in a rendered one."""
    config, place = rendered.config(base), error.place
    if config is None or place is None:
        return
    for line in config.lines:
        for index, pair in enumerate(line.pairs):
            if (
                pair.key_at.line != place.line
                or not pair.key_at.column <= (place.column or 1) <= pair.value_at.end_column
            ):
                continue
            block = line.pairs[0].key if index else ""
            yield from _lines_of(originals, base, block, line.pairs[0].value if index else pair.value, pair.key)


def _lines_of(originals: Originals, base: str, block: str, name: str, key: str) -> Iterator[str]:
    config = originals.configs.get(base)
    keys = set(current_names(base, block, key))
    blocks = {one.lower() for one in slurm.files().get(base, ())}
    for line in config.lines if config else ():
        opening = line.pairs[0] if line.pairs else None
        for index, pair in enumerate(line.pairs):
            inside = opening.key if opening and index and opening.key.lower() in blocks else ""
            if inside.lower() != block.lower() or keys.isdisjoint(current_names(base, inside, pair.key)):
                continue
            whole = not block and pair.key.lower() in blocks  # NodeName=… itself
            if (block or whole) and opening and not _same(opening.value, name):
                continue
            yield f"{line.file}:{pair.key_at.line}"


def _same(names: str, others: str) -> bool:
    return names == others or names.upper() == "DEFAULT" or overlaps(f"x {names}", others)
