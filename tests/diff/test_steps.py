"""The order of the steps on one host of a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue.effects import step_kinds
from clustergen.diff.change import Change
from clustergen.diff.step import Step, Work
from clustergen.diff.steps import CONTROLLERS, DRAINED, EMPTY, NODES, PUT, REGISTERED, RESUME, TURNS, steps
from clustergen.records import replace
from clustergen.render.effects import Effect, read
from clustergen.render.side import ManualStep
from strategies.diffs import LONGER, diff, write


def change(effect: Effect, old: str | None, new: str | None) -> Change:
    return Change("/etc/x", "file", (effect,), "", old=old, new=new, nodes="c1")


UNMOUNT = change(Effect("remount", "old.mount"), "x", None)
MOUNT = change(Effect("start", "new.mount"), None, "x")
REMOUNT = change(Effect("remount", "both.mount"), "x", "y")
REBOOT = change(Effect("reboot"), "x", "y")


DEVICES = replace(change(Effect("drain"), "1", "7"), file="/etc/slurm/gres.conf", kind="gres")


@pytest.mark.parametrize("changes", [(REBOOT, MOUNT, UNMOUNT, REMOUNT), (MOUNT, REMOUNT, REBOOT, UNMOUNT)])
@pytest.mark.parametrize(
    ("compute", "more", "expected"),
    [
        (
            ("c1",),
            (),
            [
                (PUT, "mount new.mount"),
                (TURNS, "node by node: drain, unmount old.mount, unmount and mount both.mount, reboot, resume"),
            ],
        ),
        # drained and resumed once, and changed before Slurm reads the files
        (
            ("c1",),
            (DEVICES,),
            [
                (EMPTY, "drain, and wait for their jobs"),
                (PUT, "mount new.mount"),
                (DRAINED, "unmount old.mount"),
                (DRAINED, "unmount and mount both.mount"),
                (DRAINED, "reboot"),
                (RESUME, "resume"),
            ],
        ),
        (
            (),
            (),
            [
                (PUT, "unmount old.mount, with users logged in"),
                (PUT, "mount new.mount"),
                (PUT, "unmount and mount both.mount, with users logged in"),
                (TURNS, "host by host: reboot, with users logged in"),
            ],
        ),
    ],
)
def test_a_host_unmounts_before_it_reboots_and_what_is_new_is_mounted_without_a_turn(
    changes: tuple[Change, ...], compute: tuple[str, ...], more: tuple[Change, ...], expected: list[tuple[str, str]]
) -> None:
    work = Work(
        changes=(*changes, *more),
        added=(),
        removed=(),
        controllers=(),
        accounting=(),
        compute=compute,
        systems=(),
        release=None,
    )
    made = [step for step in steps(work) if step.kind != "files"]
    assert [(step.play, step.text) for step in made] == expected
    assert {step.hosts for step in made} == {"c1"}


def daemons(*effects: str, nodes: str | None = None, everywhere: bool = False) -> list[tuple[str, str | None]]:
    """The daemons' steps of a change of slurm.conf in a cluster of one controller and nodes c1 to c4."""
    kinds = tuple(map(read, effects))
    line = Change(
        file="/etc/slurm/slurm.conf",
        kind="key",
        key="Key",
        old="x",
        new="y",
        nodes=nodes,
        effects=kinds,
        everywhere=everywhere,
        reason="",
    )
    work = Work(
        changes=(line,),
        added=(),
        removed=(),
        controllers=("head",),
        accounting=("db",),
        compute=("c1", "c2", "c3", "c4"),
        systems=(),
        release=None,
    )
    plays = (CONTROLLERS, NODES, REGISTERED)
    return [(step.text.partition(";")[0], step.hosts) for step in steps(work) if step.play in plays]


RECONFIGURED, RESTARTED = ("scontrol reconfigure, once", "head"), ("restart slurmctld", "head")


@pytest.mark.parametrize(
    ("effects", "nodes", "everywhere", "expected"),
    [
        ("reconfigure", None, False, [RECONFIGURED]),
        ("restart-slurmctld reconfigure", None, False, [RESTARTED, RECONFIGURED]),
        ("restart-slurmd", "c[1-2]", False, [("restart slurmd", "c[1-2]")]),
        ("restart-slurm reconfigure", "c[1-2]", False, [RESTARTED, RECONFIGURED, ("restart slurmd", "c[1-2]")]),
        ("restart-slurm reconfigure", "c[1-2]", True, [RESTARTED, ("restart slurmd", "c[1-4]")]),
        (
            "restart-slurm restart-slurmctld:again",
            "c1",
            False,
            [RESTARTED, ("restart slurmd", "c1"), ("restart slurmctld again", "head")],
        ),
        ("restart:slurmd.service", "c1", False, [("restart slurmd", "c1")]),
        ("restart-slurmd", "login", False, []),
    ],
)
def test_each_daemon_restarts_once_and_rereads_its_files_where_it_does_not(
    effects: str, nodes: str | None, everywhere: bool, expected: list[tuple[str, str | None]]
) -> None:
    assert daemons(*effects.split(), nodes=nodes, everywhere=everywhere) == expected


def test_steps_of_features_are_last_and_on_the_nodes_whose_files_change() -> None:
    form = Change("/etc/clustergen-network/interfaces", "file", (Effect("none"),), "", old="x", new="y", nodes="c1")
    *others, last = steps(
        Work(
            changes=(form, REMOUNT),
            added=(),
            removed=(),
            controllers=(),
            accounting=(),
            compute=(),
            systems=(),
            release=None,
            manual=(ManualStep("read", "/etc/other/"), ManualStep("activate", "/etc/clustergen-network/")),
        )
    )
    assert (last.text, last.hosts) == ("activate", "c1")
    assert "read" not in [step.text for step in (last, *others)]


def test_each_step_has_its_checks_in_words() -> None:
    """Of a row that names a unit, the undo does as well."""
    for (play, kind), row in step_kinds().items():
        checks = Step("", None, play, kind, "home.mount").checks
        assert checks[-2:-1] == [f"after: {row.after}"]
        assert checks[:-2] == ([f"before: {row.before}"] if row.before else [])
        assert checks[-1].startswith("undo: ")
        assert (checks[-1] == "undo: none") is (not row.undo)
    undos = {
        (EMPTY, "drain"): "resume",
        (RESUME, "resume"): "drain, and wait for their jobs",
        (PUT, "unmount"): "mount home.mount",
        (PUT, "files"): "the same step with the previous tree",
    }
    assert {key: Step("", None, *key, "home.mount").undo for key in undos} == undos


def test_checks_are_shown_on_demand(tmp_path: Path) -> None:
    sides = [write(tmp_path / "old"), write(tmp_path / "new", LONGER)]
    line = "     before: every node has the new files; after: slurmctld and slurmd have the new values; undo: "
    assert line in diff(*sides, "--checks").stdout
    assert line not in diff(*sides).stdout
    assert f"- 2: {line.strip()}" in diff(*sides, "--format", "markdown").stdout
    refused = diff(*sides, "--checks", "--format", "json")
    assert (refused.exit_code, "--checks is for the format text" in refused.output) == (2, True)
