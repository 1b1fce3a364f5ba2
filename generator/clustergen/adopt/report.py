"""What came of an import, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from clustergen.adopt.adopt import Adopted
from clustergen.adopt.comments import readable
from clustergen.adopt.comparing import Comparison

_TITLES = {
    "left-out": "Not in the manifest",
    "secret": "Secrets, which are never in a manifest",
    "meant": "Said in other words",
    "choice": "To look at",
}
_SEEN = {number: 0x2400 + number for number in range(32) if chr(number) != "\n"} | {0x7F: 0x2421}
"""Control characters as their pictures: none of a file's reaches the terminal."""
_LONGEST = 160  # characters of a value


def as_text(adopted: Adopted) -> str:
    """Notes by kind, then whether the meaning is the same."""
    lines: list[str] = []
    for kind, title in _TITLES.items():
        notes = list(dict.fromkeys((note.place, note.text) for note in adopted.notes if note.kind == kind))
        if notes:
            lines.append(f"{title}:")
            lines += [f"  {place + ': ' if place else ''}{text}" for place, text in notes]
    lines += _verdict(adopted)
    return "".join(f"{readable(line).translate(_SEEN)}\n" for line in lines)


def _verdict(adopted: Adopted) -> Iterator[str]:
    if adopted.errors:
        yield "The manifest is not valid yet, so nothing could be rendered and compared:"
        for found in adopted.errors:
            where = f"line {found.place.line}: " if found.place and found.place.line else ""
            yield f"  {where}{found.message} [{found.code}]"
        return
    if adopted.unread:
        yield f"Slurm refuses the files as they are ({', '.join(adopted.unread[:5])}); compared is what it could read."
    open_ones = [item for item in adopted.compared if not item.meant]
    if not open_ones:
        yield f"Rendered and compared, as Slurm {adopted.release} reads them: the same meaning."
        return
    count = len(open_ones)
    yield f"Rendered and compared, as Slurm {adopted.release} reads them: {count} difference{'s' if count > 1 else ''}."
    for item in open_ones:
        yield f"  {_what(item)}"
        yield f"    {item.why or 'no reason is known: please tell us'}"


def _what(item: Comparison) -> str:
    change = item.change
    words = [change.file.rpartition("/")[2], *([] if change.kind in ("key", "file") else [change.kind])]
    words += [word for word in (change.name, change.key) if word]
    return f"{' '.join(words)}: {_cut(change.old)} → {_cut(change.new)}"


def _cut(text: str | None) -> str:
    if text is None:
        return "nothing"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def as_json(adopted: Adopted, manifest: str | None) -> str:
    """The same as an object. `manifest`: where it was written; None: its text is in `text`."""
    document = {
        "manifest": manifest,
        **({} if manifest else {"text": adopted.text}),
        "slurm_version": str(adopted.release),
        "slurm_version_guessed": adopted.guessed,
        "same": adopted.same,
        "unread": list(adopted.unread),
        "site_files": sorted(adopted.files),
        "errors": [
            {"code": found.code, "line": found.place.line if found.place else None, "message": found.message}
            for found in adopted.errors
        ],
        "differences": [
            {
                "file": item.change.file,
                "kind": item.change.kind,
                "name": item.change.name,
                "key": item.change.key,
                "old": item.change.old,
                "new": item.change.new,
                "same_meaning": item.meant,
                "why": item.why,
            }
            for item in adopted.compared
        ],
        "notes": [{"kind": note.kind, "place": note.place, "text": note.text} for note in adopted.notes],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
