"""Trees of clusters with unusual options, help, listings, and what is printed about small files are as reviewed."""

from __future__ import annotations

import pytest

from strategies.reviewed_commands import SLOW
from strategies.reviewed_outputs import CASES, expected, hashes


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SLOW)) for case in CASES])
def test_outputs_are_the_reviewed_ones(case: str) -> None:
    previous, current = expected()[case], hashes(case)
    changed = [name for name in {**previous, **current} if previous.get(name) != current.get(name)]
    assert not changed, "compare them with those of the last commit; python -m strategies.reviewed writes their hashes"
