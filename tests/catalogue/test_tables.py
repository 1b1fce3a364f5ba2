"""The data files of the catalogue: their columns, and a source in each row."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import yaml

import clustergen.catalogue.tables
from clustergen.catalogue.tables import DATA, rows, table
from clustergen.records import record

TABLES = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*.tsv"))
SYSTEMS = sorted(path.stem for path in (DATA / "systems").glob("*.yaml"))
NO_SOURCE = {"sources.tsv"}


def codes() -> set[str]:
    return {row["code"] for row in rows("sources.tsv")}


def test_a_table_has_no_trailing_blanks_and_ends_in_a_newline() -> None:
    for name in TABLES:
        text = (DATA / name).read_text(encoding="utf-8")
        assert text.endswith("\n"), name
        assert not [line for line in text.split("\n") if line != line.rstrip()], name


def test_a_table_has_rows_and_no_row_twice() -> None:
    for name in TABLES:
        lines = [tuple(row.values()) for row in rows(name)]
        assert lines, name
        assert len(lines) == len(set(lines)), name


def test_every_row_names_known_sources() -> None:
    source_codes = codes()
    for name in sorted(set(TABLES) - NO_SOURCE):
        for row in rows(name):
            assert row["source"].split(), (name, row)
            assert set(row["source"].split()) <= source_codes, (name, row)


def test_unverified_names_columns_of_the_table() -> None:
    for name in TABLES:
        for row in rows(name):
            assert set(row.get("unverified", "").split()) <= set(row), (name, row)


@pytest.mark.parametrize("ident", SYSTEMS)
def test_every_system_names_known_sources(ident: str) -> None:
    raw = yaml.safe_load((DATA / "systems" / f"{ident}.yaml").read_text(encoding="utf-8"))
    assert raw["source"]
    assert set(raw["source"]) <= codes()


@pytest.mark.slow
def test_every_source_is_used() -> None:
    used: set[str] = set()
    for name in set(TABLES) - NO_SOURCE:
        for row in rows(name):
            used |= set(row["source"].split())
    for ident in SYSTEMS:
        used |= set(yaml.safe_load((DATA / "systems" / f"{ident}.yaml").read_text(encoding="utf-8"))["source"])
    assert codes() - used == set()


def test_a_row_of_the_wrong_width_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.tsv").write_text("# about\na\tb\n1\t2\n1\n")
    monkeypatch.setattr(clustergen.catalogue.tables, "DATA", tmp_path)
    with pytest.raises(ValueError):
        list(rows("x.tsv"))


@record
class Cable:
    """A row of a made-up table."""

    name: str
    gbit: int
    medium: Literal["copper", "fibre"]
    metres: float | None
    crossed: bool
    ends: tuple[str, ...] = ()
    note: str = "none"


HEADER = "name\tgbit\tmedium\tmetres\tcrossed\tends\tsource\n"


def cables(directory: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> list[Cable]:
    (directory / "cables.tsv").write_text(f"# about\n{HEADER}{row}\n")
    monkeypatch.setattr(clustergen.catalogue.tables, "DATA", directory)
    return list(table("cables.tsv", Cable))


def test_a_row_becomes_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "dac\t400\tcopper\t1.5\tno\tswitch nic\tMEM"
    assert cables(tmp_path, monkeypatch, row) == [Cable("dac", 400, "copper", 1.5, False, ("switch", "nic"))]
    (unknown,) = cables(tmp_path, monkeypatch, "aoc\t400\tfibre\t\tyes\t\tMEM")
    assert (unknown.metres, unknown.crossed, unknown.ends, unknown.note) == (None, True, (), "none")


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ("dac\tfast\tcopper\t1.5\tno\t\tMEM", "gbit"),
        ("dac\t\tcopper\t1.5\tno\t\tMEM", "gbit"),
        ("dac\t400\tcop\t1.5\tno\t\tMEM", "medium"),
        ("dac\t400\tcopper\tlong\tno\t\tMEM", "metres"),
        ("dac\t400\tcopper\t1.5\tYes\t\tMEM", "crossed"),
        ("dac\t400\tcopper\t1.5\t\t\tMEM", "crossed"),
    ],
)
def test_a_malformed_cell_is_an_error_with_its_place(
    row: str, column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=rf"^cables\.tsv: column {column} of the row of 'dac': "):
        cables(tmp_path, monkeypatch, row)


def test_a_row_that_leaves_a_field_open_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cables.tsv").write_text("name\ndac\n")
    monkeypatch.setattr(clustergen.catalogue.tables, "DATA", tmp_path)
    with pytest.raises(TypeError, match="Cable needs gbit"):
        list(table("cables.tsv", Cable))
