"""The summary that `plan --against nodes` prints after a check of the nodes."""

from __future__ import annotations

from clustergen.apply.playbook import Check
from clustergen.apply.summary import summary


def test_nodes_with_one_cause_are_folded_and_the_cause_of_the_most_nodes_comes_first() -> None:
    timed_out = "unreachable: ssh: connect to host 10.0.0.{} port 22: Connection timed out"
    silent = "unreachable: Connection timed out during banner exchange Connection to 10.0.0.{} port 22 timed out"
    causes = {
        "n1": "failed: no space left",
        "n2": timed_out.format(12),
        "n3": timed_out.format(13),
        **{f"n{number}": silent.format(number) for number in (5, 6, 7)},
    }
    text = summary(Check(8, ("n4",), (), tuple(causes), causes, ""))
    assert text.splitlines()[1:4] == [
        "  n[5-7]: unreachable: Connection timed out during banner exchange",
        "  n[2-3]: unreachable: ssh: connect to port 22: Connection timed out",
        "  n1: failed: no space left",
    ]
