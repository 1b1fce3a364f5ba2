"""The table of a power cut: which alert is about which part, and its two forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest

from clustergen.cli.lab_nodes import markdown, plain
from clustergen.lab.outage import PART_ALERTS, Outage, Part, Raised
from strategies.failures import alerts
from strategies.trees import COMPUTE, HEAD, cluster_of, manifest


@pytest.mark.parametrize(
    ("raised", "part"),
    [
        (Raised("NodeServiceStopped", "pending", "n1", "slurmd.service"), "slurmd.service"),
        (Raised("NodeServiceStopped", "pending", "n2", "slurmd.service"), None),
        (Raised("SlurmNodeDown", "firing", "n1", ""), "node in Slurm"),
        (Raised("SlurmctldUnreachable", "firing", "", ""), "slurmctld.service"),
        (Raised("NodeUnitFailed", "firing", "n1", "clustergen-tuning.service"), None),
        (Raised("StorageHangs", "firing", "n1", ""), None),
    ],
)
def test_an_alert_is_about_one_part(raised: Raised, part: str | None) -> None:
    parts = ("slurmd.service", "slurmctld.service", "node in Slurm", "queued job")
    assert [name for name in parts if raised.is_about(name, ["n1"])] == ([part] if part else [])


@pytest.mark.slow
def test_alerts_of_parts_exist() -> None:
    patterns = {pattern for text in PART_ALERTS.values() for pattern in text.split("|")}
    assert [one for one in patterns if not any(re.fullmatch(one, name) for name in alerts())] == []


def test_a_part_that_is_back_and_one_that_is_not() -> None:
    parts = [
        Part("slurmd.service", "n[1-2]", 3.2, 156.4, ("NodeServiceStopped (pending)",)),
        Part("queued job", "-", 150, None, ()),
    ]
    assert markdown(parts).splitlines()[2:] == [
        "| slurmd.service | n[1-2] | 3 s | 156 s | yes | NodeServiceStopped (pending) |",
        "| queued job | - | 150 s | - | no | - |",
    ]
    assert [re.split(" {2,}", line) for line in plain(parts).splitlines()] == [
        ["part", "nodes", "off", "back after", "by itself", "alert"],
        ["slurmd.service", "n[1-2]", "3 s", "156 s", "yes", "NodeServiceStopped (pending)"],
        ["queued job", "-", "150 s", "-", "no", "-"],
    ]


def test_nodes_and_units_that_returned_at_different_times_are_rows_of_their_own(tmp_path: Path) -> None:
    outage = Outage(cast(Any, None), cast(Any, None), cluster_of(manifest(nodes=[HEAD, COMPUTE]), tmp_path), (), 1)
    outage.hosts = ["c1", "c2", "c3", "c4", "head"]
    outage.started = {"c1": 3, "c2": 3, "head": 150}
    outage.expected = {"c1": ("munge.service",), "c2": ("munge.service",), "head": ("munge.service", "mariadb.service")}
    outage.back = {("munge.service", host): moment for host, moment in (("c1", 5), ("c2", 7), ("head", 154))}
    outage.back |= {("node in Slurm", host): 160 for host in ("c1", "c2")}
    outage.released = {("mariadb.service", "head"): 170}
    outage.back["mariadb.service", "head"] = 175
    outage.raised = [Raised("NodeServiceStopped", "pending", "head", "munge.service")]
    rows = {(part.name, part.hosts): part for part in outage.parts()}
    assert rows["munge.service", "c[1-2]"] == Part("munge.service", "c[1-2]", 3, 4, ())
    alert = ("NodeServiceStopped (pending)",)
    assert rows["munge.service", "head"] == Part("munge.service", "head", 150, 4, alert)
    assert rows["mariadb.service", "head"] == Part("mariadb.service", "head", 170, 5, ())
    assert rows["node in Slurm", "c[1-2]"] == Part("node in Slurm", "c[1-2]", 150, 10, ())
    assert rows["node in Slurm", "c[3-4]"].back_s is None
    assert rows["queued job", "-"] == Part("queued job", "-", 170, None, ())
