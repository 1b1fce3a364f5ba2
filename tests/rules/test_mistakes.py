"""Findings of `validate` if all values of a cluster are wrong in the same way, as reviewed."""

from __future__ import annotations

import pytest

from strategies.mistakes import MANIFESTS, findings, odd_findings
from strategies.reviewed import expected


@pytest.mark.parametrize("name", MANIFESTS)
def test_findings_of_mistakes_are_the_reviewed_ones(name: str) -> None:
    assert findings(name) == _previous(name), "python -m strategies.reviewed writes them"


def test_findings_of_odd_clusters_are_the_reviewed_ones() -> None:
    assert odd_findings() == _previous("odd"), "python -m strategies.reviewed writes them"


def _previous(name: str) -> dict[str, str]:
    return {title: text for title, text in expected("mistakes").items() if title.startswith(f"{name}: ")}
