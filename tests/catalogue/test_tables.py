"""Every data file: its shape, and that each row says where it comes from."""

from pathlib import Path

import pytest
import yaml

import clustergen.catalogue.tables
from clustergen.catalogue.tables import DATA, rows

TABLES = sorted(path.name for path in DATA.glob("*.tsv"))
SYSTEMS = sorted(path.stem for path in (DATA / "systems").glob("*.yaml"))
NO_SOURCE = {"sources.tsv", "systems.tsv"}


def codes() -> set[str]:
    return {row["code"] for row in rows("sources.tsv")}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_no_trailing_blanks_and_ends_in_a_newline(name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert not [line for line in text.split("\n") if line != line.rstrip()]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_rows_and_no_row_twice(name: str) -> None:
    found = [tuple(row.values()) for row in rows(name)]
    assert found
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", sorted(set(TABLES) - NO_SOURCE))
def test_every_row_names_known_sources(name: str) -> None:
    known = codes()
    for row in rows(name):
        assert row["source"].split(), row
        assert set(row["source"].split()) <= known, row


@pytest.mark.parametrize("name", TABLES)
def test_unverified_names_columns_of_the_table(name: str) -> None:
    for row in rows(name):
        assert set(row.get("unverified", "").split()) <= set(row), row


@pytest.mark.parametrize("ident", SYSTEMS)
def test_every_system_names_known_sources(ident: str) -> None:
    raw = yaml.safe_load((DATA / "systems" / f"{ident}.yaml").read_text(encoding="utf-8"))
    assert raw["source"]
    assert set(raw["source"]) <= codes()


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
