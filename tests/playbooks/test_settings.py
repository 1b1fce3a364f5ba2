"""Mistakes in the variables of a site are reported before any change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.plugin_utils.settings import KINDS, slips, wrong_with

ROOT = Path(__file__).parents[2]
# What a tree's inventory says, and no site.
_OF_TREES = {
    f"cluster_{name}"
    for name in (
        *(
            "disks",
            "domain",
            "exports",
            "file_systems",
            "firmware",
            "held_packages",
            "name",
            "packages",
            "paths",
            "secrets",
            "tree",
        ),
        "units",
    )
}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("cluster_drain_timeout", ["60", 0], ["abc", "1h", -1, ""]),
        ("cluster_drain_batch", [1, "10%", [1, "25%"]], ["lots", 0, "0%", [], [0]]),
        ("cluster_reboots", ["no", True], ["nope", ""]),
        ("cluster_without_units", [["nvidia-*"]], ["nvidia-*", [1]]),
        ("cluster_clock_tolerance", ["1.5", -1], ["x"]),
    ],
)
def test_a_value_of_another_type_is_reported(name: str, good: list[Any], bad: list[Any]) -> None:
    assert [text for value in good for text in wrong_with({name: value})] == []
    assert all(next(wrong_with({name: value})).startswith(f"{name} is ") for value in bad)


def test_a_misspelt_name_is_reported_and_a_sites_variable_is_not() -> None:
    items = list(slips(["cluster_drian_timeout", "cluster_drain_timeout", "cluster_backup_server", "drain_timeout"]))
    assert items == ["cluster_drian_timeout is not a variable of these playbooks: did you mean cluster_drain_timeout?"]


def test_every_variable_that_the_playbooks_read_is_known() -> None:
    texts = [place.read_text(encoding="utf-8") for place in (ROOT / "playbooks").rglob("*.yml")]
    read = {name for text in texts for name in re.findall(r"(?<![\w.])cluster_[a-z_]+\b(?!\.)", text)}
    assert read - _OF_TREES == read & KINDS.keys()
