"""Labs of the tests run at once: each has networks of its own."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]


def _lab(file: Path) -> str:
    """Tests of one lab run one after the other: those of a file, or all below tests/nodes."""
    relative = file.relative_to(TESTS)
    return "nodes" if relative.parts[0] == "nodes" else str(relative)


def test_no_two_labs_share_a_network() -> None:
    labs: dict[str, set[str]] = {}
    for file in TESTS.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "mark.container" in text or (file.name == "conftest.py" and _lab(file) == "nodes"):
            for network in re.findall(r"\b10\.89\.\d+\b", text):
                labs.setdefault(network, set()).add(_lab(file))
    assert len(labs) > 10
    assert {network: users for network, users in labs.items() if len(users) > 1} == {}
