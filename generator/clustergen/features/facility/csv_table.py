"""Tables that spreadsheets and NetBox import: a header row and quoting as in RFC 4180, no comments."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from clustergen.records import record
from clustergen.render.formats import RenderError, Safe, one_line

_FORMULA = frozenset("=+-@")


@record
class CsvTable:
    """The whole text."""

    text: Safe


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> CsvTable:
    """None is an empty cell; a text that a spreadsheet would take for a formula is quoted by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    count = 1
    for row in rows:
        writer.writerow([f"'{cell}" if type(cell) is str and cell[:1] in _FORMULA else cell for cell in row])
        count += 1
    text = out.getvalue()
    if text.count("\n") != count:
        raise RenderError("a line break in a cell of a table")
    one_line(text.replace("\n", " "))
    return CsvTable(Safe(text))
