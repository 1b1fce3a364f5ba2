"""Every system of the catalogue registers with real Slurm: sockets, cores, GPUs and MIG of simulated hardware."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue import hardware, mig, systems
from clustergen.render.write import write
from clustergen.verify.checks import CHECKS
from clustergen.verify.rows import Row
from clustergen.verify.run import verify
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.trees import HEAD, manifest, tree_of

pytestmark = pytest.mark.real

_GRES = re.compile(r"gres/gpu=(\d+)")
ALL = tuple(name for name in systems.system_ids() if name != "custom")


def _family(name: str) -> str:
    system = systems.system(name)
    assert system is not None
    return hardware.gpus()[system.gpu or ""].mig_family


SPLIT = tuple(name for name in ALL if _family(name))


def registered(directory: Path, release: str, whole: tuple[str, ...], split: tuple[str, ...]) -> dict[str, Row]:
    """Node type → the row of `verify` for it; types of `split` have MIG instances on all GPUs."""
    plans: dict[str, Any] = {}
    types: dict[str, Any] = {name: {"system": name} for name in whole}
    for name in split:
        family = _family(name)
        plans[family] = {"profiles": mig.mig_example(family)}
        types[f"mig-{name}"] = {"system": name, "gpus": {"mig": family, "autodetect": "nvml"}}
    nodes = [
        {"name": f"n{number}", "type": kind, "address": f"10.0.1.{number}"} for number, kind in enumerate(types, 1)
    ]
    data = manifest(
        os="ubuntu-24.04",
        node_types=types,
        nodes=[HEAD, *nodes],
        slurm={"version": release, "build": "schedmd", "accounts": {}},
        **({"gpu": {"mig_plans": plans}} if plans else {}),
    )
    data["networks"]["management"]["cidr"] = "10.0.0.0/16"
    place = directory / "rendered"
    write(tree_of(data, directory), place)
    (check,) = (one for one in CHECKS if one.name == "slurm")
    rows = {row.what: row for row in verify(place, [check]) if row.what.startswith("slurmd registers: ")}
    by_group = {kind.replace("-", "_"): kind for kind in types}
    return {by_group[what.split()[2]]: row for what, row in rows.items()}


def check(rows: dict[str, Row], whole: tuple[str, ...], split: tuple[str, ...]) -> None:
    expected = {name: _count(name) for name in whole}
    expected |= {f"mig-{name}": _count(name) * sum(mig.mig_example(_family(name)).values()) for name in split}
    assert sorted(rows) == sorted(expected)
    failed = {kind: row.words for kind, row in rows.items() if row.status != "passed"}
    assert not failed
    counts = {kind: int(match[1]) for kind, row in rows.items() if (match := _GRES.search(row.words[0]))}
    assert counts == expected


def _count(name: str) -> int:
    system = systems.system(name)
    assert system is not None
    return system.gpu_count


def test_a_system_of_each_architecture_registers_whole_and_split(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    names = ("dgx-b200", "dgx-gb200")
    check(registered(tmp_path, current_slurm.release, names, names), names, names)


@pytest.mark.long
def test_every_system_registers(slurm: SlurmInstall, tmp_path: Path) -> None:
    check(registered(tmp_path, slurm.release, ALL, SPLIT), ALL, SPLIT)
