"""docs/guides.md has a row for each thing that the guides name, and what a row names exists."""

from __future__ import annotations

import re
import sys

import pytest

from strategies.pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from site_pages import guides

ROWS = guides.rows()


def test_every_thing_has_one_row_with_a_state() -> None:
    assert len(ROWS) == 188
    assert len({(row.place, row.thing) for row in ROWS}) == len(ROWS)
    assert [row for row in ROWS if row.state not in guides.STATES] == []
    assert [row for row in ROWS if not re.fullmatch(r"\d+(-\d+)?(, \d+(-\d+)?)*", row.lines)] == []


def test_a_row_has_what_its_state_requires() -> None:
    """A row that works has a proof, any other a reason, a refused one a replacement."""
    wrong = []
    for row in ROWS:
        proven, reasoned = bool(row.where and row.proof), bool(row.note)
        expected = {"yes": proven and not reasoned, "part": bool(row.where) and reasoned}
        expected |= {"no": reasoned and not row.proof, "refused": reasoned and bool(row.instead)}
        if not expected[row.state] or (row.instead and row.state != "refused"):
            wrong.append(f"{row.place} {row.thing}")
    assert wrong == []


@pytest.mark.slow
def test_names_of_a_row_exist() -> None:
    assert [name for row in ROWS for name in guides.missing(row)] == []


@pytest.mark.parametrize(
    "reference",
    [
        "field:slurm.partition",
        "verb:facility guess",
        "page:facility.md#no-such-heading",
        "code:no-such-code",
        "file:programs/none.py",
        "test:tests/none.py",
        "alert:GpuVery",
        "catalogue:rtx-309",
        "gate:nccl",
        "job:pytorch",
        "verify:slurm",
        "nothing:slurm",
    ],
)
@pytest.mark.slow
def test_a_wrong_name_is_reported(reference: str) -> None:
    kind, _, name = reference.partition(":")
    row = guides.Row(0, "1", "thing", "yes", (guides.Reference(kind, name),), (), "", "")
    assert list(guides.missing(row)) == [f"0:1 {reference}"]


def test_the_page_has_todays_rows() -> None:
    text = (ROOT / "docs" / "guides.md").read_text(encoding="utf-8")
    assert guides.filled(text) == text, "tools/update-docs docs/guides.md writes it"
