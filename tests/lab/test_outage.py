"""The table of a power cut: which alert is about which part, and its two forms."""

from __future__ import annotations

import re

import pytest

from clustergen.cli.lab_nodes import markdown, plain
from clustergen.lab.outage import PART_ALERTS, Part, Raised
from strategies.failures import alerts


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
