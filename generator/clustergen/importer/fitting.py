"""Moves or removes values of the draft that the manifest's checks refuse, or that render to another meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clustergen import compile as compiler
from clustergen.cluster.resolve import resolve
from clustergen.diagnostics import Diagnostic, Finding, ManifestPath, Severity
from clustergen.diagnostics.codes import CODES
from clustergen.diff.change import Change
from clustergen.importer.comparing import Comparison, changes_of, explained, is_about, rendered
from clustergen.importer.controllers import as_written
from clustergen.importer.draft import Draft, Item
from clustergen.importer.fabric import as_file
from clustergen.importer.lean import needless, report_needless
from clustergen.importer.lines import import_lines
from clustergen.importer.moving import Names, handle_error
from clustergen.importer.originals import Originals
from clustergen.importer.refusals import Refusal, refusals
from clustergen.importer.settings import option_value
from clustergen.importer.writing import manifest_text
from clustergen.manifest.bounds import too_many_names
from clustergen.manifest.model import Manifest
from clustergen.records import record
from clustergen.rules import check

_ROUNDS = 40
_MOST_CHANGES = 100
"""Most changes that one round looks at; each is held against all values of the draft."""


@record
class Fitted:
    """The manifest's text, and what came of it."""

    text: str
    errors: tuple[Diagnostic, ...]
    """Errors that the manifest still has; nothing could be compared then."""
    compared: tuple[Comparison, ...]
    refused: tuple[Refusal, ...] = ()


def fit(draft: Draft, originals: Originals) -> Fitted:
    """Repeats until the rendered files match, or nothing is left to try."""
    tried: set[tuple[str, str, str]] = set()
    for _ in range(_ROUNDS):
        _until_valid(draft, originals)
        text = manifest_text(draft)
        errors, tree = rendered(draft, text)
        if tree is None:
            return Fitted(text, errors, ())
        compared = explained(changes_of(draft, originals, tree), draft)
        unexplained = [item.change for item in compared if not item.why]
        improved = [change for change in unexplained[:_MOST_CHANGES] if _improve(draft, originals, change, tried)]
        if not improved:
            break
    assert tree is not None
    return _without_needless(draft, originals, Fitted(text, (), compared, refusals(originals, tree)))


def _without_needless(draft: Draft, originals: Originals, fitted: Fitted) -> Fitted:
    """Leaves out values that Slurm has by default, as far as the rendered files keep their meaning."""
    before = [item.change for item in fitted.compared]
    items = dict(draft.items)
    candidates = needless(draft, originals)
    while candidates:
        for item in candidates:
            draft.remove(item)
        text = manifest_text(draft)
        _, tree = rendered(draft, text)
        changes = changes_of(draft, originals, tree) if tree is not None else ()
        added = [change for change in changes if change not in before]
        if tree is not None and not added:
            report_needless(draft, candidates)
            return Fitted(text, (), explained(changes, draft), fitted.refused)
        harmless = [item for item in candidates if not any(_matches(item, change) for change in added)]
        candidates = harmless if tree is not None and len(harmless) < len(candidates) else []
        draft.items = dict(items)
    return fitted


def _until_valid(draft: Draft, originals: Originals) -> None:
    for _ in range(_ROUNDS):
        errors = sorted(_errors(draft.data()), key=_last_first)
        names = Names(draft)
        handled = [error for error in errors if handle_error(draft, originals, error, names)]
        if not handled:
            return


def _last_first(error: Finding) -> int:
    """Members of lists go from the last to the first, so that the places of the others stay."""
    last = error.path[-1] if error.path else ""
    return -last if isinstance(last, int) else 0


def _errors(data: dict[str, Any]) -> list[Finding]:
    """The errors of the manifest's own checks."""
    from pydantic import ValidationError

    try:
        manifest = Manifest.model_validate(compiler.frozen(data))
    except ValidationError as err:
        return [Finding("type-wrong", _within(data, item["loc"]), _message(item)) for item in err.errors()]
    if excess := too_many_names(manifest):
        return [excess]
    findings: list[Finding] = []
    findings += check(resolve(manifest, findings.append), manifest)
    return [item for item in findings if CODES[item.code].severity is Severity.ERROR]


def _message(item: Mapping[str, Any]) -> str:
    """Pydantic's message, except where it is about Python."""
    if item["type"] == "string_too_long":
        return f"longer than {item['ctx']['max_length']:,} characters, the maximum of this field"
    return "it contains bytes that are not UTF-8" if item["type"] == "string_unicode" else str(item["msg"])


def _within(data: Any, loc: Iterable[str | int]) -> ManifestPath:
    """The part of pydantic's path that leads through the data; pydantic names the members of unions too."""
    path: list[str | int] = []
    for part in loc:
        if isinstance(part, int) and isinstance(data, list):
            inside = part < len(data)
        else:
            inside = isinstance(data, dict) and part in data
        if inside:
            data = data[part]
            path.append(part)
    return tuple(path)


def _improve(draft: Draft, originals: Originals, change: Change, tried: set[tuple[str, str, str]]) -> bool:
    """Takes a setting as it was written, where its field renders to something else; False where nothing is left."""
    base = change.file.rpartition("/")[2]
    is_gres = base == "gres.conf" and base in originals.configs
    mark = (base, "", "") if is_gres else (change.file, change.kind + change.key, change.name)
    if mark in tried:
        return False
    tried.add(mark)
    if is_gres:
        import_lines(draft, originals, base)
        return True
    if base in ("topology.conf", "topology.yaml") and as_file(draft, originals, f"{_subject(change)} would change"):
        return True
    if change.key in ("SlurmctldHost", "ControlMachine"):
        return as_written(draft, originals)
    moved = [
        item
        for item in list(draft.items.values())
        if item.passthrough and _matches(item, change) and draft.demote(item)
    ]
    return bool(moved) or _as_option(draft, originals, change)


def _as_option(draft: Draft, originals: Originals, change: Change) -> bool:
    """Takes a key of slurm.conf as an option, where it was expected to follow from other fields."""
    if change.kind != "key" or change.file.rpartition("/")[2] != "slurm.conf":
        return False
    setting, path = originals.conf.value(change.key), ("slurm", "options", change.key)
    if setting is None or path in draft.items:
        return False
    draft.set(path, option_value(setting.text), [originals.origin(setting)])
    return True


def _subject(change: Change) -> str:
    return " of ".join(word for word in (change.key, change.name) if word) or "it"


def _matches(item: Item, change: Change) -> bool:
    return any(is_about(origin, change) for origin in item.origins)
