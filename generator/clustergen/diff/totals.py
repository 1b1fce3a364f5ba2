"""The totals of a plan: `2 nodes to add, 5 files to change, 4 nodes to drain`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clustergen.diff.change import Change
from clustergen.diff.plan import Plan
from clustergen.diff.room import KINDS, RoomChanges
from clustergen.records import fields, record
from clustergen.slurmconf.scalars import hosts_of

EMPTIES = ("drain", "vacate", "remount", "reboot", "window")


@record
class Totals:
    """Counts of one plan. Files count once, however many nodes have them; added nodes are not counted as files."""

    nodes_to_add: int
    nodes_to_remove: int
    nodes_to_rename: int
    nodes_to_reinstall: int
    files_to_add: int
    files_to_change: int
    files_to_remove: int
    nodes_to_drain: int
    nodes_to_reboot: int
    services_to_restart: int
    manual_steps: int
    switches_to_add: int
    switches_to_remove: int
    devices_to_move: int
    devices_to_replace: int
    cables_to_add: int
    cables_to_move: int
    cables_to_replace: int
    cables_to_remove: int
    transceivers_to_add: int
    transceivers_to_remove: int
    nodes_to_recable: int

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in fields(self)}

    def __str__(self) -> str:
        """`3 nodes to add, 1 to remove, 5 files to change`: the noun stands once for neighbours that share it."""
        parts: list[str] = []
        last = ""
        for name, number in self.as_dict().items():
            if not number:
                continue
            noun, _, verb = name.replace("_", " ").partition(" to ")
            counted = f"{number:,} {noun if number > 1 else re.sub('(?<=ch)es$|s$', '', noun)}"
            if not verb:
                parts.append(counted)
            elif noun == last:
                parts.append(f"{number:,} to {verb}")
            else:
                parts.append(f"{counted} to {verb}")
            last = noun
        return ", ".join(parts) or "no changes"


def totals(plan: Plan) -> Totals:
    by_file: dict[str, list[Change]] = {}
    for change in plan.changes:
        if change.file:
            by_file.setdefault(change.file, []).append(change)
    whole = {file: [change for change in changes if change.kind == "file"] for file, changes in by_file.items()}
    added = [
        file
        for file, changes in whole.items()
        if len(changes) == len(by_file[file]) and all(change.old is None and change.new for change in changes)
    ]
    removed = [
        file
        for file, changes in whole.items()
        if len(changes) == len(by_file[file]) and all(change.new is None and change.old for change in changes)
    ]
    reinstalled = [change for change in plan.changes if change.kind == "system"]
    emptied = [
        change
        for change in plan.changes
        if change not in reinstalled and any(effect.kind in EMPTIES for effect in change.effects)
    ]
    reboots = [change for change in emptied if any(effect.kind == "reboot" for effect in change.effects)]
    return Totals(
        nodes_to_add=len(plan.added) - len(plan.renamed),
        nodes_to_remove=len(plan.removed) - len(plan.renamed),
        nodes_to_rename=len(plan.renamed),
        nodes_to_reinstall=len(hosts_with(reinstalled, plan)),
        files_to_add=len(added),
        files_to_change=len(by_file) - len(added) - len(removed),
        files_to_remove=len(removed),
        nodes_to_drain=sum(host not in plan.others for host in hosts_with(emptied, plan)),
        nodes_to_reboot=len(hosts_with(reboots, plan)),
        services_to_restart=len(_restarted(plan)),
        manual_steps=sum(not step.play for step in plan.steps),
        **_of_room(plan.room),
    )


def _of_room(room: RoomChanges | None) -> dict[str, int]:
    """Counts of the machine room, and how many nodes in service it takes."""
    room = room or RoomChanges()
    added, removed = room.transceivers
    return {
        "switches_to_add": room.count_devices("add", only_switches=True),
        "switches_to_remove": room.count_devices("remove", only_switches=True),
        "devices_to_move": room.count_devices("move"),
        "devices_to_replace": room.count_devices("replace"),
        **{f"cables_to_{kind}": room.count_cables(kind) for kind in KINDS},
        "transceivers_to_add": added,
        "transceivers_to_remove": removed,
        "nodes_to_recable": len(room.recabled),
    }


def hosts_with(changes: Iterable[Change], plan: Plan) -> list[str]:
    """The hosts that the changes are about, each once; all compute nodes for a change that names none."""
    names: dict[str, None] = {}
    for change in changes:
        names.update(dict.fromkeys(plan.compute if change.nodes is None else hosts_of(change.nodes)))
    return list(names)


def daemons_restarted(plan: Plan) -> list[str]:
    """Slurm's daemons that its changed files restart, in the order in which that is done. A host that runs none of them
    has the files as well.
    """
    present = {effect.kind for change in plan.changes for effect in change.effects}
    both = "restart-slurm" in present
    steps = {tuple(step.text.replace(";", "").split()[:2]) for step in plan.steps}
    return [
        daemon
        for daemon, is_restarted in (
            ("slurmdbd", "restart-slurmdbd" in present),
            ("slurmctld", both or "restart-slurmctld" in present),
            ("slurmd", both or "restart-slurmd" in present),
        )
        if is_restarted and (plan.old_release != plan.release or steps & {("restart", daemon), ("start", daemon)})
    ]


def _restarted(plan: Plan) -> set[str]:
    effects = [effect for change in plan.changes for effect in change.effects]
    units = {
        effect.unit.removesuffix(".service")
        for effect in effects
        if effect.kind in ("restart", "drain") and effect.unit
    }
    return units | set(daemons_restarted(plan))
