"""--select and --ignore: codes, and what they begin with."""

from __future__ import annotations

import pytest

from clustergen.diagnostics.selection import Selection, codes_in


@pytest.mark.parametrize(
    ("select", "ignore", "reported"),
    [
        ((), (), True),
        (("slurm-key-unknown",), (), True),
        (("slurm-key",), (), True),
        (("slurm",), (), True),
        (("gres",), (), False),
        ((), ("slurm-key-unknown",), False),
        ((), ("slurm",), False),
        (("slurm",), ("slurm-key",), False),
        (("slurm-key-unknown",), ("slurm",), True),
        (("slurm",), ("slurm",), False),
    ],
)
def test_the_longer_match_decides(select: tuple[str, ...], ignore: tuple[str, ...], reported: bool) -> None:
    assert Selection(select, ignore).reports("slurm-key-unknown") is reported


def test_codes_are_separated_by_commas_and_given_several_times() -> None:
    assert codes_in(["gres-mismatch, slurm-key-", "topology"]) == ("gres-mismatch", "slurm-key", "topology")


@pytest.mark.parametrize("word", ["gres-mismtach", "gre", "slurm-k", "x"])
def test_a_code_that_no_diagnostic_has(word: str) -> None:
    with pytest.raises(ValueError, match=f"no diagnostic code is or begins with '{word}': "):
        codes_in(["slurm", word])
