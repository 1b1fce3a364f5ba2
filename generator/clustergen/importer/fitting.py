"""Makes the draft fit: a value that the manifest's checks refuse, or that renders to another meaning, moves or goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, cast

from clustergen import compile as compiler
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.catalogue.slurm_values import has_tokens, unknown_token_is_fatal
from clustergen.cluster import resolve
from clustergen.diagnostics import Diagnostic, Finding, ManifestPath, Severity
from clustergen.diagnostics.codes import CODES
from clustergen.diff.change import Change
from clustergen.hostlist import HostlistError, compress, expand
from clustergen.importer.associations import REMOVED_BY_SCRIPT
from clustergen.importer.comparing import Comparison, changes_of, explained, is_about, rendered
from clustergen.importer.controllers import as_written
from clustergen.importer.draft import Draft, Item, Kind, Value
from clustergen.importer.fabric import as_file, is_about_topology, without_plugin
from clustergen.importer.lean import needless, report_needless
from clustergen.importer.lines import import_lines
from clustergen.importer.originals import Originals
from clustergen.importer.refusals import Refusal, refusals
from clustergen.importer.settings import option_value
from clustergen.importer.writing import manifest_text
from clustergen.manifest.model import Manifest
from clustergen.records import record
from clustergen.rules import check

_ROUNDS = 40
_MOST_CHANGES = 100
"""That one round looks at; each is held against all values of the draft."""
_STRANGERS = ("node-unknown", "node-not-compute")
_NO_TOPOLOGY = ("topology-without-switches", "topology-blocks-missing")
_OF_TOPOLOGY = ("node-without-switch", "node-without-block", "topology-without-switches", "topology-too-new")
_ACCOUNTING = (("slurm", "qos"), ("slurm", "accounts"), ("slurm", "users"))
_BUILD = ("slurm-plugin-lacking", "slurm-without-cgroup-v2", "slurm-not-in-distribution")


@record
class Fitted:
    """The manifest's text, and what came of it."""

    text: str
    errors: tuple[Diagnostic, ...]
    """What still is wrong with the manifest; nothing could be compared then."""
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
        made = tree
        changes = changes_of(draft, originals, tree)
        compared = explained(changes, draft)
        open_ones = [item.change for item in compared if not item.why]
        bettered = [change for change in open_ones[:_MOST_CHANGES] if _better(draft, originals, change, tried)]
        if not bettered:
            break
    return _leaner(draft, originals, Fitted(text, (), compared, refusals(originals, made)))


def _leaner(draft: Draft, originals: Originals, fitted: Fitted) -> Fitted:
    """Without what Slurm has anyway, as far as that means the same."""
    before = [item.change for item in fitted.compared]
    items = dict(draft.items)
    left = needless(draft, originals)
    while left:
        for item in left:
            draft.remove(item)
        text = manifest_text(draft)
        _, tree = rendered(draft, text)
        changes = changes_of(draft, originals, tree) if tree is not None else ()
        news = [change for change in changes if change not in before]
        if tree is not None and not news:
            report_needless(draft, left)
            return Fitted(text, (), explained(changes, draft), fitted.refused)
        kept = [item for item in left if not any(_matches(item, change) for change in news)]
        left = kept if tree is not None and len(kept) < len(left) else []
        draft.items = dict(items)
    return fitted


def _until_valid(draft: Draft, originals: Originals) -> None:
    for _ in range(_ROUNDS):
        errors = sorted(_errors(draft.data()), key=_from_behind)
        names = _Names(draft)
        handled = [error for error in errors if _handle(draft, originals, error, names)]
        if not handled:
            return


def _from_behind(error: Finding) -> int:
    """Members of lists go from the last to the first, so that the places of the others stay."""
    last = error.path[-1] if error.path else ""
    return -last if isinstance(last, int) else 0


def _errors(data: dict[str, Any]) -> list[Finding]:
    """What the manifest's own checks would refuse."""
    from pydantic import ValidationError

    try:
        manifest = Manifest.model_validate(compiler.frozen(data))
    except ValidationError as err:
        return [Finding("type-wrong", _within(data, item["loc"]), _message(item)) for item in err.errors()]
    findings: list[Finding] = []
    findings += check(resolve(manifest, findings.append))
    return [item for item in findings if CODES[item.code].severity is Severity.ERROR]


def _message(item: Mapping[str, Any]) -> str:
    """Pydantic's words, but where they are about Python."""
    return "bytes that are not UTF-8, as a manifest is" if item["type"] == "string_unicode" else str(item["msg"])


def _within(data: Any, loc: Iterable[str | int]) -> ManifestPath:
    """As much of pydantic's path as leads through the data; it names the members of unions too."""
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


class _Names:
    """What a partition's nodes may name, as long as one round takes."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    @cached_property
    def hosts(self) -> frozenset[str]:
        data = self._draft.data()
        entries = (entry for entry in data["nodes"] if entry["type"] != "service")
        return frozenset(
            (*data["slurm"].get("node_sets", {}), *(host for one in entries for host in expand(one["name"])))
        )


def _handle(draft: Draft, originals: Originals, error: Finding, names: _Names) -> bool:
    """Moves or removes what an error is about; False where that cannot be done."""
    if error.code == "address-missing":
        return _set(draft, ("host", "hosts_file"), False)
    about = is_about_topology(error.path) or error.code in _OF_TOPOLOGY
    if about and as_file(draft, originals, error.message):
        return True
    if error.code in _NO_TOPOLOGY:
        return without_plugin(draft, originals)
    if error.code in _BUILD and _set(draft, ("slurm", "build"), "schedmd"):
        return True
    item = draft.nearest(error.path)
    if item is None:
        below = [one for one in draft.below(error.path) if not one.needed] if len(error.path) > 2 else []
        moved = [one for one in below if _move(draft, originals, one, error, names)]
        return bool(moved)
    return _move(draft, originals, item, error, names)


def _set(draft: Draft, path: ManifestPath, value: bool | str) -> bool:
    if path in draft.items and draft.items[path].value == value:
        return False
    draft.set(path, value, needed=True)
    return True


def _move(draft: Draft, originals: Originals, item: Item, error: Finding, names: _Names) -> bool:
    if item.path not in draft.items:
        return True  # another error has moved it
    if item.needed:
        return error.code in _STRANGERS and _without_strangers(draft, item, names.hosts)
    if item.path[-1] == "address":
        _set(draft, ("host", "hosts_file"), False)
    if draft.demote(item) or _without_member(draft, item, error):
        return True
    text = str(item.value)
    kind: Kind = "meant" if _passed_over(error, item) else "left-out"
    origin = item.origins[0] if item.origins else None
    place, key = (origin.place, _about(item)) if origin else ("", ".".join(map(str, item.path)))
    if error.at is not None and "," in text and isinstance(item.value, str):
        start = error.at[0]
        word = next((part for part, begin in _parts(text) if begin <= start < begin + len(part) + 1), "")
        rest = ",".join(part for part, _ in _parts(text) if part != word)
        if word.strip() and rest:
            draft.note(kind, f"{word.strip()} of {item.path[-1]}: {_error_text(error, item)}", place, key)
            item.value = rest
            return True
    draft.remove(item)
    if item.path[0] == "nodes" and item.path[-1] == "address":
        draft.note("choice", f"{error.message}: it is not in the manifest as the address of a machine", place)
        as_written(draft, originals)
    else:
        draft.note(kind, f"{item.path[-1]}={text}: {_error_text(error, item)}", place, key)
    if item.comments:
        draft.tail += item.comments
    return True


def _without_member(draft: Draft, item: Item, error: Finding) -> bool:
    """A list without the one name that an error is about; False where it is about the whole, or nothing is left."""
    index = error.path[-1]
    if not isinstance(item.value, tuple) or len(error.path) != len(item.path) + 1 or not isinstance(index, int):
        return False
    left = tuple(member for place, member in enumerate(item.value) if place != index)
    if not left or not item.origins:
        return False
    draft.note("left-out", f"{item.value[index]} of {item.path[-1]}: {_error_text(error, item)}", item.origins[0].place)
    draft.items[item.path].value = cast("Value", left)
    return True


def _error_text(error: Finding, item: Item) -> str:
    words = f"{error.message}; {error.hint}" if error.hint else error.message
    return f"{words}; {REMOVED_BY_SCRIPT}" if item.path[:2] in _ACCOUNTING else words


def _passed_over(error: Finding, item: Item) -> bool:
    """Whether Slurm takes no notice of what is wrong: a word that it does not know."""
    key = str(item.path[-1])
    return error.code == "slurm-word-unknown" and has_tokens(key) and not unknown_token_is_fatal(key)


def _parts(text: str) -> list[tuple[str, int]]:
    parts, start = [], 0
    for part in text.split(","):
        parts.append((part, start))
        start += len(part) + 1
    return parts


def _about(item: Item) -> str:
    """Key and name of the setting, as `Note.key` has them."""
    if not item.origins:
        return ""
    origin = next(
        (one for one in item.origins if one.key.lower() not in ("nodename", "partitionname")), item.origins[0]
    )
    block = {"nodename": "NodeName", "partitionname": "PartitionName"}.get(origin.block, "")
    (key, *_) = spelled(origin.file.rpartition("/")[2] or "slurm.conf", block, origin.key)
    return f"{key} {origin.name}" if origin.block else key


def _without_strangers(draft: Draft, item: Item, node_sets: frozenset[str]) -> bool:
    """A partition or node set without the names that are no compute nodes."""
    if item.path[-1] != "nodes" and item.path[:2] != ("slurm", "node_sets"):
        return False
    try:
        names = expand(str(item.value))
    except HostlistError:
        return False
    strange = [name for name in names if name not in node_sets]
    origin = item.origins[0]
    words = f"{compress(strange)} of {origin.name}: no NodeName line has it"
    draft.note("left-out", words, origin.place, f"Nodes {origin.name}")
    item.value = compress(name for name in names if name in node_sets) or "none"
    return bool(strange)


def _better(draft: Draft, originals: Originals, change: Change, tried: set[tuple[str, str, str]]) -> bool:
    """Says a setting as it was written, where the field for it has come to mean something else."""
    mark = (change.file, change.kind + change.key, change.name)
    if mark in tried:
        return False
    tried.add(mark)
    base = change.file.rpartition("/")[2]
    if base == "gres.conf" and base in originals.configs:
        if ("gres.conf", "", "") in tried:
            return False
        tried.add(("gres.conf", "", ""))
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
    """Says a key of slurm.conf that was thought to follow from the rest."""
    if change.kind != "key" or change.name or change.file.rpartition("/")[2] != "slurm.conf":
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
