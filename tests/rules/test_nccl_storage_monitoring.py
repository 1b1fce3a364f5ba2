"""NCCL, storage and monitoring: valid manifests have no finding; a mistake is reported once, at its place."""

from __future__ import annotations

import pytest

from strategies.findings import findings, reviewed_findings
from strategies.service_manifests import RIGHT, WRONG


@pytest.mark.parametrize("name", RIGHT)
def test_correct_settings_have_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert reviewed_findings("services", name, text) == expected
