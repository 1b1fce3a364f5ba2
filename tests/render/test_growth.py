"""The work of `validate` and `render` grows in proportion to the manifest: no function looks at all pairs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.render.engine import carried
from strategies.inventories import ROOT

_OURS = (str(Path(compiler.__file__).parent), str(carried("templates")))
_STEP = 8  # added entries of the smallest manifest; the others have two and three times as many


def node_types(data: dict[str, Any], number: int) -> None:
    kind = f"extra{number}"
    data["node_types"][kind] = {**deepcopy(data["node_types"]["h100"]), "weight": number + 5}
    entries(data, number, kind)


def entries(data: dict[str, Any], number: int, kind: str = "h100") -> None:
    entry = {"name": f"extra{number}", "type": kind, "address": f"10.0.0.{100 + number}", "in_no_partition": True}
    data["nodes"].append(entry)


def partitions(data: dict[str, Any], number: int) -> None:
    data["slurm"]["partitions"][f"extra{number}"] = {"nodes": "all", "default_time": 60, "max_time": 60 + number}


def qos(data: dict[str, Any], number: int) -> None:
    data["slurm"]["qos"][f"extra{number}"] = {"priority": number}


def accounts(data: dict[str, Any], number: int) -> None:
    data["slurm"]["accounts"][f"extra{number}"] = {"fairshare": number + 1, "users": [f"user{number}"]}


def file_systems(data: dict[str, Any], number: int) -> None:
    place = {"server": "192.0.2.20", "path": f"/extra/{number}", "mount": f"/extra/{number}"}
    data["storage"][f"extra{number}"] = {"type": "nfs", **place}


def lines_of(work: Callable[[], object]) -> Counter[tuple[str, int, str]]:
    """How many lines each function of clustergen and each template ran."""
    counts: Counter[tuple[str, int, str]] = Counter()

    def of_frame(frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            return None
        key = code.co_filename, code.co_firstlineno, code.co_name

        def count(frame: FrameType, event: str, argument: object) -> Any:
            if event == "line":
                counts[key] += 1
            return count

        return count

    previous = sys.gettrace()
    sys.settrace(of_frame)
    try:
        work()
    finally:
        sys.settrace(previous)
    return counts


def manifest(directory: Path, add: Callable[[dict[str, Any], int], None], count: int) -> Path:
    inventory = ROOT / "inventories/ml-training/manifest.yaml"
    data = deepcopy(compiler.validate(inventory).source.data)
    assert data is not None
    data["networks"]["fabric"].pop("switches", None)
    data["slurm"]["topology"] = {"plugin": "flat"}
    data.pop("racks", None)
    data["networks"]["bmc"].pop("plan", None)
    for number in range(count):
        add(data, number)
    path = directory / str(count) / "manifest.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def render(path: Path) -> None:
    compiled = compiler.validate(path)
    assert compiled.ok, compiled.diagnostics
    assert compiler.render(compiled, path)[0] is not None


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("add", [node_types, entries, partitions, qos, accounts, file_systems])
def test_render_looks_at_no_pairs(tmp_path: Path, add: Callable[[dict[str, Any], int], None]) -> None:
    paths = [manifest(tmp_path, add, count * _STEP) for count in (1, 2, 3)]
    render(paths[0])  # what is read once
    assert superlinear([lambda path=path: render(path) for path in paths]) == {}  # type: ignore[misc]


def superlinear(works: list[Callable[[], object]]) -> dict[tuple[str, int, str], tuple[int, ...]]:
    """The functions with lines that run for each pair: of n² the second difference is 2 n², of n it is 0."""
    small, medium, large = map(lines_of, works)
    return {
        function: (small[function], medium[function], count)
        for function, count in large.items()
        if count - 2 * medium[function] + small[function] >= _STEP**2 / 2
    }
