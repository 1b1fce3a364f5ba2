"""A step of a plan, and what all steps are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clustergen.catalogue.effects import StepKind, step_kinds
from clustergen.diff.arrival import Arrival
from clustergen.diff.change import Change, folded
from clustergen.diff.room import RoomChanges
from clustergen.records import record
from clustergen.render.side import ManualStep
from clustergen.slurmconf.scalars import hosts_of

REMOVE, UPGRADE = "clustergen.cluster.remove", "clustergen.cluster.upgrade"
"""Playbooks of their own; UPGRADE runs before site.yml."""


@record
class Step:
    """One thing to do, in its turn."""

    text: str
    hosts: str | None
    """Folded; None where it is done in one place for all."""
    play: str
    """The play of site.yml that does it, or REMOVE, UPGRADE; empty for what stays with people."""
    kind: str = "manual"
    """A step of steps.tsv, or `manual`, `remove`, `retire`, `upgrade`; a trial makes manual `commands` and
    `new-user`.
    """
    what: str | None = None
    """The unit, the packages, the directories or the commands that it is about."""
    parts: tuple[Step, ...] = ()
    """Steps of each host of a batch while it is drained."""

    @property
    def row(self) -> StepKind | None:
        """The conditions of a step of site.yml."""
        return step_kinds().get((self.play, self.kind))

    @property
    def undo(self) -> str:
        """The step that takes it back, in words; empty where none does."""
        row = self.row
        if row is None or not row.undo:
            return ""
        if row.undo == self.kind:
            return "the same step with the previous tree"
        text = next(each.text for (_, kind), each in step_kinds().items() if kind == row.undo)
        return text.format(what=self.what)

    @property
    def checks(self) -> list[str]:
        """`before: …`, `after: …` and `undo: …` of a step of site.yml."""
        row = self.row
        before = [f"before: {row.before}"] if row and row.before else []
        after = [f"after: {row.after}"] if row else []
        return [*before, *after, f"undo: {self.undo or 'none'}"]

    @property
    def by(self) -> str:
        """Who does it, where it is not site.yml: a playbook, or `manual`."""
        if self.play == REMOVE:
            return f"ansible-playbook {REMOVE} -e nodes={self.hosts}"
        if self.play == UPGRADE:
            return f"ansible-playbook {UPGRADE}"
        return "" if self.play else "manual"


@record
class Work:
    """All that the steps are made from."""

    changes: Sequence[Change]
    added: Sequence[str]
    removed: Sequence[str]
    controllers: Sequence[str]
    accounting: Sequence[str]
    compute: Sequence[str]
    systems: Sequence[Change]
    """Hosts that get another operating system; not among `changes` either."""
    release: Change | None
    """The new release of Slurm, which is not among `changes`."""
    routers: Sequence[str] = ()
    """Of LNet."""
    left_accounting: Sequence[str] = ()
    """Hosts of slurmdbd whose database none of `accounting` has."""
    kept: Sequence[str] = ()
    """Commands of sacctmgr: they take away what the manifest no longer names and the database keeps."""
    renumbered: Sequence[str] = ()
    """`slurm from 64030 to 64040`: accounts of the machines that exist under another number."""
    abandoned: Sequence[str] = ()
    """Directories with those of running jobs, which no epilog removes from then on."""
    reformatted: Mapping[str, str] = {}
    """Path of a mount unit → what has to be done to its disk."""
    moved: Sequence[str] = ()
    """Hosts that both inventories have, under different addresses."""
    readdressed: Sequence[str] = ()
    """Hosts with other addresses on networks beside that of management."""
    manual: Sequence[ManualStep] = ()
    """The manual steps of features."""
    room: RoomChanges | None = None
    """Changes in the machine room."""
    renamed: Mapping[str, str] = {}
    """Previous → new name of machines that keep their address."""
    retired: Sequence[str] = ()
    """Removed machines, without renamed ones and nodes of a cloud."""
    gained: Mapping[str, str] = {}
    """Node → hardware that it gets, as `memory: 1024 → 2048 GiB`."""
    lost: Mapping[str, str] = {}
    """Node → hardware that is taken out of it."""
    arrival: Arrival | None = None
    """None where no Slurm comes."""

    def with_kind(self, *kinds: str) -> list[Change]:
        return [change for change in self.changes if any(effect.kind in kinds for effect in change.effects)]

    def hosts(self, changes: Iterable[Change], among: Sequence[str] | None = None) -> str | None:
        """The nodes that the changes are about; None for all of `among`."""
        names: dict[str, None] = {}
        for change in changes:
            if change.nodes is None:
                return folded(among) if among is not None else None
            names.update(dict.fromkeys(hosts_of(change.nodes)))
        if among is not None:
            nodes = set(among)
            return folded(name for name in names if name in nodes)
        return folded(names)
