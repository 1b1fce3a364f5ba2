"""The verdict of `clustergen diff` on a change, and its steps as actions of `cluster`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from clustergen.catalogue.slurm_effects import label
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import KINDS, folded
from clustergen.diff.inventory import Inventory
from clustergen.diff.messages import verdict
from clustergen.diff.plan import Plan, plan
from clustergen.diff.snapshot import Snapshot
from clustergen.render.effects import NONE, RECONFIGURE
from clustergen.render.side import NodeFile
from clustergen.slurmconf.scalars import hosts_of
from effects.change import Change
from effects.cluster import NODES
from effects.configuration import Configuration

GROUPS = {
    "all": ("ctl", *NODES),
    "slurm_node": ("ctl", *NODES),
    "slurm_controller": ("ctl",),
    "slurm_accounting": ("ctl",),
    "slurm_compute": NODES,
}
_CONTROLLERS = GROUPS["slurm_controller"]
_ABOUT_NODES = ("drain", "slurmd", "resume")
Action = tuple[str, str]


@dataclass(frozen=True)
class Verdict:
    """The plan of a change and what carrying it out means here."""

    plan: Plan
    actions: tuple[Action, ...]

    @property
    def text(self) -> str:
        return verdict(self.plan)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(effect.kind for change in self.plan.changes for effect in change.effects)

    @property
    def steps(self) -> str:
        """`drain n[1-4], put, reconfigure, resume n[1-4]`."""
        hosts = (folded(about.split()) if action in _ABOUT_NODES else about for action, about in self.actions)
        return ", ".join(f"{action} {about}".strip() for (action, _), about in zip(self.actions, hosts, strict=True))

    @property
    def is_refusal(self) -> bool:
        """True if the verdict says that running jobs are lost; such a change is forced, to check that they are."""
        return bool(self.kinds & {"refuse", "cancel-jobs"})

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of slurm_effects.tsv behind it."""
        return tuple(sorted({change.row for change in self.plan.changes if change.row}))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that differ, as `slurm.conf NodeName Gres`."""
        blocks = {kind: block for block, kind in KINDS.items()}
        changes = [change for change in self.plan.changes if change.key and change.file.startswith("/etc/slurm/")]
        return tuple(
            sorted(
                {label(change.file.rpartition("/")[2], blocks.get(change.kind, ""), change.key) for change in changes}
            )
        )

    def lesser(self) -> tuple[Action, ...] | None:
        """Less than the verdict: without its drains, or `scontrol reconfigure` alone; None where nothing is less."""
        actions = [action for action in self.actions if action[0] not in ("drain", "resume")]
        if len(actions) < len(self.actions):
            return tuple(actions)
        restarts = {"slurmctld", "slurmd", "slurmdbd"} & {action for action, _ in self.actions}
        if not restarts or self.is_refusal or "slurmdbd" in restarts:
            return None
        return (*(action for action in actions if action[0] not in restarts), ("reconfigure", ""))


def judged(change: Change, release: str) -> tuple[Verdict, Configuration, Configuration]:
    """The verdict, and both configurations."""
    old = Configuration(release, database=change.database).edited(change.old)
    new = old.edited(change.new)
    return between(change, old, new), old, new


def between(change: Change, old: Configuration, new: Configuration) -> Verdict:
    """The verdict on what differs."""
    made = plan(_snapshot("old", old), _snapshot("new", new))
    actions = change.instead or tuple(_actions(made, change))
    if not any(action == "put" for action, _ in actions):
        actions = (("put", ""), *actions)
    return Verdict(made, actions)


def _snapshot(name: str, configuration: Configuration) -> Snapshot:
    files = {file: _file(file, text) for file, text in configuration.texts().items()}
    groups: Mapping[str, tuple[str, ...]] = GROUPS
    inventory = Inventory("dc", SlurmRelease(configuration.release), groups)
    return Snapshot(name, inventory, files, {}, {}, None)


def _file(name: str, text: str) -> NodeFile:
    data = text.encode()
    group = "slurm_accounting" if name == "slurmdbd.conf" else "slurm_node"
    effect = RECONFIGURE if name.endswith((".conf", ".yaml")) else NONE
    return NodeFile(f"/etc/slurm/{name}", group, "0644", "root:root", effect, sha256(data).hexdigest(), lambda: data)


_ACTIONS = {"files": "put", "stop-slurm": "stop", "move-state": "copy", "remove": "drain"}
"""Kind of a step → the action of `cluster`, where it is called otherwise."""
_ALIKE = ("drain", "resume", "reconfigure", "new-cluster-id")


def _actions(made: Plan, change: Change) -> Iterator[Action]:
    for step in made.steps:
        nodes = " ".join(host for host in (hosts_of(step.hosts) if step.hosts else NODES) if host not in _CONTROLLERS)
        action = _ACTIONS.get(step.kind, step.kind).removeprefix("restart-")
        if step.by == "manual":
            if step.text.startswith("add the new address"):  # the controller has both from its start
                continue
            if step.text.startswith("drain"):
                yield "drain", nodes
            if change.hand:
                yield change.hand
            elif step.kind == "commands":
                yield "hand", step.what or ""
        elif action in _ABOUT_NODES:
            yield action, nodes
        elif action in (*_ACTIONS.values(), *_ALIKE, "slurmctld", "slurmdbd"):
            yield action, " ".join((step.what or "").replace(" and ", " ").replace(" to ", " ").split())
