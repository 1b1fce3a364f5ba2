"""Findings of `validate` if all values of a cluster are wrong in the same way, as reviewed."""

from __future__ import annotations

import pytest

from strategies.mistakes import MANIFESTS, findings
from strategies.reviewed import expected


@pytest.mark.parametrize("name", MANIFESTS)
def test_findings_of_mistakes_are_the_reviewed_ones(name: str) -> None:
    previous = {title: text for title, text in expected("mistakes").items() if title.startswith(f"{name}: ")}
    assert findings(name) == previous, "python -m strategies.reviewed writes them"
