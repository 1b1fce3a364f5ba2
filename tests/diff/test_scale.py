"""Work grows with what changes and with the manifest, not with the square of it. Calls are counted, not seconds."""

from __future__ import annotations

import cProfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from strategies.diffs import MANIFEST, diff, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The first diff of a process, which also loads modules and tables, is not counted."""
    directory = tmp_path_factory.mktemp("first")
    diff(*(write(directory / str(weight), text=_of_types(2, weight)) for weight in (1, 2)))


def _calls(*sides: Path) -> int:
    """Calls of functions of one diff."""
    profile = cProfile.Profile()
    profile.enable()
    done = CliRunner().invoke(group, ["diff", *map(str, sides)])
    profile.disable()
    assert done.exit_code == 1
    return sum(entry.callcount for entry in profile.getstats())


def _of_types(number: int, first_weight: int) -> str:
    types = "".join(f"  t{n}: {{system: hgx-h100-8, weight: {first_weight + n}}}\n" for n in range(number))
    nodes = "".join(
        f"  - {{name: t{n}n1, type: t{n}, address: 10.0.{n // 200}.{n % 200 + 1}}}\n" for n in range(number)
    )
    before, _, after = MANIFEST.partition("  gpu: {system: hgx-h100-8, memory: 1TiB}\n")
    head, _, tail = after.partition('  - {name: "c[1-4]", type: gpu, address: "10.0.0.[1-4]"}\n')
    return before + types + head + nodes + tail.replace("c[1-2]", "t0n1")


def _of_nodes(number: int, weight: int) -> str:
    spread = f'10.0.[0-{number // 250 - 1}].[1-250]", weight: {weight}'
    return MANIFEST.replace('"c[1-4]"', f'"c[1-{number}]"').replace('"10.0.0.[1-4]"', f'"{spread}')


@pytest.mark.parametrize("changed", ["one", "all"])
def test_node_types(tmp_path: Path, changed: str) -> None:
    calls = []
    for number in (20, 40, 80):
        old, new = _of_types(number, 1), _of_types(number, 5)
        if changed == "one":
            new = old.replace("weight: 9}", "weight: 99}")
        sides = [write(tmp_path / f"{number}-{name}", text=text) for name, text in (("old", old), ("new", new))]
        calls.append(_calls(*sides))
    assert calls[2] - calls[1] < 2.3 * (calls[1] - calls[0])


def test_nodes(tmp_path: Path) -> None:
    calls = []
    for number in (500, 1000, 2000):
        sides = [write(tmp_path / f"{number}-{weight}", text=_of_nodes(number, weight)) for weight in (1, 7)]
        calls.append(_calls(*sides))
    assert calls[2] - calls[1] < 2.3 * (calls[1] - calls[0])


def test_one_node_of_ten_thousand(tmp_path: Path) -> None:
    big = MANIFEST.replace('"c[1-4]"', '"c[1-10000]"').replace('"10.0.0.[1-4]"', '"10.0.[0-39].[1-250]"')
    one = write(tmp_path / "a", text=big)
    split = '"c[1-4999,5001-10000]", type: gpu, address: "10.0.[0-18].[1-250],10.0.19.[1-249],10.0.[20-39].[1-250]"}\n'
    split += "  - {name: c5000, type: gpu, address: 10.0.19.250, weight: 7}"
    other = write(tmp_path / "b", ('"c[1-10000]", type: gpu, address: "10.0.[0-39].[1-250]"}', split), text=big)
    assert "node c5000 Weight: 1 → 7" in diff(one, other).stdout
