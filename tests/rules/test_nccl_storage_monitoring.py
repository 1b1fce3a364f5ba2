"""NCCL, storage and monitoring: what is right has no finding; a slip is told once, where it stands."""

from __future__ import annotations

import pytest

from strategies.findings import findings
from strategies.service_manifests import RIGHT, WRONG


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_has_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_slip_is_told_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert findings(text) == expected
