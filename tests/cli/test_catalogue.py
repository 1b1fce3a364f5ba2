"""`clustergen catalogue`: lists that a manifest can be written from, and single rows with their sources."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from clustergen.catalogue.labels import sources
from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.topics import TOPICS
from clustergen.cli import group
from clustergen.diagnostics import ClustergenError


def catalogue(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["catalogue", *arguments])


def rows_of(topic: str) -> dict[str, str]:
    """The first word of each line of a list → the line."""
    done = catalogue(topic)
    assert done.exit_code == 0
    return {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}


def test_every_topic_is_listed_with_the_field_that_takes_its_names() -> None:
    lines = catalogue().stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(TOPICS)
    assert "node_types.NAME.system" in lines[0]


def test_systems_have_the_facts_to_choose_by() -> None:
    lines = rows_of("systems")
    for fact in ("8 × h100-sxm", "2 × 56", "2048 GiB", "8 × 400 Gb/s", "8 U", "10200 W"):
        assert fact in lines["dgx-h100"]
    assert "?" not in lines["dgx-h100"]
    assert "2 × 56 ?" in lines["hgx-b200-8"]
    assert "custom" not in lines  # a manifest describes it by itself


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS)
def test_every_row_is_listed_and_shown_with_its_sources(topic: str) -> None:
    listed = rows_of(topic)
    document = json.loads(catalogue(topic, "--format", "json").stdout)
    assert len(document["rows"]) == len(TOPICS[topic].ids())
    for name in TOPICS[topic].ids():
        assert name in listed
        shown = catalogue(topic, name)
        assert shown.exit_code == 0
        assert shown.stdout.startswith(f"{name}: ")
        row = json.loads(catalogue(topic, name, "--format", "json").stdout)
        for source in row["sources"]:
            assert sources()[source["code"]] == (source["kind"], source["what"])
            assert source["what"] in shown.stdout
        assert row["sources"]


def test_a_row_is_whole_in_json() -> None:
    row = json.loads(catalogue("os", "debian-13", "--format", "json").stdout)["row"]
    assert row["facts"] == operating_systems()["debian-13"].facts


def test_an_alias_is_the_row() -> None:
    assert catalogue("gpus", "NVIDIA H100 80GB HBM3").stdout == catalogue("gpus", "h100-sxm").stdout


def test_parts_of_a_fact_are_marked() -> None:
    assert "(NUMA nodes not confirmed)" in catalogue("systems", "dell-xe9680").stdout
    assert "2048 GiB  (not confirmed)" in catalogue("systems", "hgx-h100-8").stdout
    ports = catalogue("systems", "dgx-b200").stdout
    assert "mlx5_5 ?" in ports
    assert "? no source confirmed the value" in ports
    assert "?" not in catalogue("systems", "dgx-a100-80").stdout.partition("GPU placement")[2].partition("ports")[0]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["switchs"], "did you mean 'switches'?"),
        (["zz"], "run clustergen catalogue for the topics"),
        (["systems", "dgxh10"], "did you mean 'dgx-h100'?"),
        (["systems", "zzzzzz"], "run clustergen catalogue systems for all names"),
    ],
)
def test_an_unknown_name_is_guessed(arguments: list[str], hint: str) -> None:
    error = catalogue(*arguments).exception
    assert isinstance(error, ClustergenError)
    assert error.exit_code == 2
    assert error.hint == hint


def test_any_text_is_searched_for_in_all_topics() -> None:
    lines = catalogue("L40S").stdout.splitlines()
    assert ["gpus", "l40s"] in [line.split()[:2] for line in lines]
    document = json.loads(catalogue("xe9680", "--format", "json").stdout)
    assert [(match["topic"], match["name"]) for match in document["matches"]] == [("systems", "dell-xe9680")]
    assert document["matches"][0]["field"] == "node_types.NAME.system"


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("gpu",), "no topic 'gpu'", "did you mean 'gpus'?"),
        (("no-such-thing",), "nothing that matches 'no-such-thing'", "run clustergen catalogue for the topics"),
        (("l40s", "x"), "no topic 'l40s'", "run clustergen catalogue for the topics"),
        (("systems", "h200"), "no 'h200' among its systems", "use dgx-h200 or h200-nvl-8 or hgx-h200-8"),
        (("systems", "poweredge"), "no 'poweredge' among its systems", "use dell-xe8545 or dell-xe9680"),
    ],
)
def test_text_that_is_nowhere(arguments: tuple[str, ...], message: str, hint: str) -> None:
    done = catalogue(*arguments)
    assert isinstance(done.exception, ClustergenError)
    assert message in str(done.exception)
    assert done.exception.hint == hint
