"""The order of the steps on one host of a batch."""

from __future__ import annotations

import pytest

from clustergen.diff.change import Change
from clustergen.diff.step import Work
from clustergen.diff.steps import AT_ONCE, TURNS, steps
from clustergen.render.effects import Effect


def change(effect: Effect, old: str | None, new: str | None) -> Change:
    return Change("/etc/x", "file", "", "", old, new, "c1", (effect,), False, "", "")


UNMOUNT = change(Effect("remount", "old.mount"), "x", None)
MOUNT = change(Effect("remount", "new.mount"), None, "x")
REMOUNT = change(Effect("remount", "both.mount"), "x", "y")
REBOOT = change(Effect("reboot"), "x", "y")


@pytest.mark.parametrize("changes", [(REBOOT, MOUNT, UNMOUNT, REMOUNT), (MOUNT, REMOUNT, REBOOT, UNMOUNT)])
@pytest.mark.parametrize(("compute", "play"), [(("c1",), TURNS), ((), AT_ONCE)])
def test_a_host_unmounts_first_and_reboots_last(
    changes: tuple[Change, ...], compute: tuple[str, ...], play: str
) -> None:
    work = Work(changes, (), (), (), (), compute, (), None)
    [turn] = [step for step in steps(work) if step.play == play]
    verbs = turn.text.removeprefix("node by node: drain, ").split(", ")
    assert verbs[0] in ("unmount old.mount", "unmount and mount both.mount")
    assert set(verbs[:2]) == {"unmount old.mount", "unmount and mount both.mount"}
    assert verbs[2:4] == ["mount new.mount", "reboot"]
    assert turn.hosts == "c1"


def test_interfaces_are_activated_last_and_by_their_own_playbook() -> None:
    form = Change(
        "/etc/clustergen-network/interfaces", "file", "", "", "x", "y", "c1", (Effect("none"),), False, "", ""
    )
    *_, last = steps(Work((form, REMOUNT), (), (), (), (), (), (), None))
    assert (last.text, last.hosts) == ("activate the interfaces with clustergen.cluster.network", "c1")
