"""Tables of the tree's README.md, and its list of files by group."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.effects import effect_kinds
from clustergen.records import record
from clustergen.render.effects import Effect
from clustergen.render.tree import Outline, RenderedFile

_CODE = frozenset({"Nodes", "Addresses", "BMC", "Partition", "QOS", "Server", "Mounted at", "Clients", "File", "From"})
UNCONFIRMED = "Figures with ? are not confirmed by any source, or only in part."


def marked(figure: str, is_unconfirmed: bool) -> str:
    """A figure with a mark where no source confirms it."""
    return f"{figure} ?" if is_unconfirmed else figure


@record
class Table:
    """A table of plain text; cells of the `code` columns are printed as code. Empty columns are left out."""

    title: str
    intro: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    code: frozenset[str] = _CODE


def table_of(title: str, intro: str, rows: Iterator[dict[str, str]]) -> Table:
    """The table of rows by column name; columns that are empty in every row are left out."""
    lines = list(rows)
    columns = [name for name in (lines[0] if lines else ()) if any(row[name] for row in lines)]
    return Table(title, intro, tuple(columns), tuple(tuple(row[name] for name in columns) for row in lines))


def phrase(effect: Effect) -> str:
    """The action that a change of a file requires."""
    return effect_kinds()[effect.kind].action.format(unit=(effect.unit or "").removesuffix(".service"))


def files_by_group(outline: Outline) -> Iterator[Table]:
    files: dict[str, list[RenderedFile]] = {group: [] for group in outline.groups}
    for file in outline.files.values():
        if file.group:
            files.setdefault(file.group, []).append(file)
    for group, made in files.items():
        rows = (
            {
                "File": file.target or "",
                "Mode": f"{file.mode:04o}",
                "Owner": f"{file.owner}:{file.owner_group}",
                "Action on change": phrase(file.effect),
                "From": file.source if file.source.startswith("site/") else "",
            }
            for file in made
        )
        table = table_of(group, "", rows)
        if table.rows:
            yield table
