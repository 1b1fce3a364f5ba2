"""The result of an import, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import printable, shortened
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.words import counted, listed
from clustergen.importer.comments import readable
from clustergen.importer.comparing import Comparison
from clustergen.importer.directory import ImportResult
from clustergen.importer.refusals import Refusal

_TITLES = {
    "left-out": "Not in the manifest",
    "secret": "Secrets, which are never in a manifest",
    "meant": "Written differently, with the same meaning",
    "choice": "Assumptions and choices to check",
    "todo": "To do, as Slurm's files do not contain it",
}
_MOST_PLACES = 5
_LONGEST = 160  # characters of a value, for people
_LONGEST_DATA = 10_000  # for programs


def as_text(result: ImportResult) -> str:
    """Notes by kind, then whether the meaning is the same."""
    lines: list[str] = []
    for kind, title in _TITLES.items():
        notes = list(dict.fromkeys((note.place, note.text) for note in result.notes if note.kind == kind))
        if notes:
            lines.append(f"{title}:")
            lines += [f"  {place + ': ' if place else ''}{text}" for place, text in notes]
    slurm = f"Slurm {result.release}"
    for title, refusals in (
        (f"{slurm} does not start with these settings, in the rendered files either:", result.refused),
        (
            f"{slurm} refuses nodes of these lines:",
            result.unregistered,
        ),
    ):
        lines += [title] if refusals else []
        for one in refusals:
            lines.append(f"  {one.place}: {one.message} [{one.code}]")
            lines += [f"    hint: {one.hint}"] if one.hint else []
    lines += _verdict(result)
    return "".join(f"{shortened(printable(readable(result.redactions.message(line))))}\n" for line in lines)


def _verdict(result: ImportResult) -> Iterator[str]:
    if result.errors:
        yield "The manifest is not valid yet, so clustergen could not render and compare it:"
        for error in result.errors:
            where = f"line {error.place.line}: " if error.place and error.place.line else ""
            yield f"  {where}{error.message} [{error.code}]"
        yield f"  hint: `clustergen lint {result.source}` shows mistakes of the original files at their lines"
        return
    if result.rejected:
        places = list(dict.fromkeys(one.place for one in result.rejected))
        yield (
            f"Slurm {result.release} rejects the original files ({listed(places, _MOST_PLACES)});"
            " clustergen compares what Slurm can read."
        )
        yield f"  hint: `clustergen lint {result.source}` shows the reasons"
    open_ones = [item for item in result.compared if not item.meant]
    if not open_ones:
        yield f"Rendered and compared, as Slurm {result.release} reads them: the same meaning."
        return
    count = len(open_ones)
    yield f"Rendered and compared, as Slurm {result.release} reads them: {counted(count, 'difference')}."
    for item in open_ones:
        yield f"  {_what(item)}"
        yield f"    {item.why or 'the reason is unknown: please report this'}"


def _what(item: Comparison) -> str:
    change = item.change
    words = [change.file.rpartition("/")[2], *([] if change.kind in ("key", "file") else [change.kind])]
    words += [_cut(word) for word in (change.name, change.key) if word]
    return f"{' '.join(words)}: {_cut(change.old)} → {_cut(change.new)}"


def _cut(text: str | None) -> str:
    if text is None:
        return "nothing"
    return shortened(text, _LONGEST)


def as_json(result: ImportResult, manifest: str | None) -> str:
    """The same as an object. `manifest`: where it was written; None: its text is in `text`."""

    def message(text: str | None, longest: int = 600) -> str | None:
        return shortened(result.redactions.message(text), longest) if text else text

    def data(text: str | None) -> str | None:
        return message(text, _LONGEST_DATA)

    def refusal(one: Refusal) -> dict[str, str | None]:
        return {"place": one.place, "code": one.code, "message": message(one.message), "hint": message(one.hint)}

    fields = {
        "manifest": manifest,
        **({} if manifest else {"text": result.text}),
        "slurm_version": str(result.release),
        "slurm_version_guessed": result.guessed,
        "same": result.same,
        "rejected": [refusal(one) for one in result.rejected],
        "site_files": sorted(result.files),
        "errors": [
            {"code": error.code, "line": error.place.line if error.place else None, "message": message(error.message)}
            for error in result.errors
        ],
        "refused": [refusal(one) for one in result.refused],
        "unregistered": [refusal(one) for one in result.unregistered],
        "differences": [
            {
                "file": item.change.file,
                "kind": item.change.kind,
                "name": data(item.change.name),
                "key": data(item.change.key),
                "old": data(item.change.old),
                "new": data(item.change.new),
                "same_meaning": item.meant,
                "why": message(item.why),
            }
            for item in result.compared
        ],
        "notes": [{"kind": note.kind, "place": note.place, "text": message(note.text)} for note in result.notes],
    }
    return json_document(fields)
