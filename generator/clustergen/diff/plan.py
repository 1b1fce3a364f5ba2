"""A plan: what changes between two snapshots of a cluster, why, what it takes, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.accounts import left_over, renumbered
from clustergen.diff.causes import causes
from clustergen.diff.change import Change
from clustergen.diff.compare import Comparison, TextChange
from clustergen.diff.disks import reformatted
from clustergen.diff.manifest_changes import ManifestChange, compare_manifests
from clustergen.diff.membership import of_membership
from clustergen.diff.provisioning import step as step_on_the_server
from clustergen.diff.release import release_change
from clustergen.diff.room import RoomChanges, room_changes
from clustergen.diff.scratch import abandoned
from clustergen.diff.snapshot import Snapshot
from clustergen.diff.step import Step, Work
from clustergen.diff.steps import steps
from clustergen.records import record, replace


@record
class Group:
    """A group of the inventory whose hosts are not those that they were."""

    name: str
    joined: tuple[str, ...]
    left: tuple[str, ...]


@record
class Plan:
    """All of it for one cluster."""

    cluster: str
    old: str
    """As the user called it."""
    new: str
    old_release: SlurmRelease
    release: SlurmRelease
    changes: tuple[Change, ...]
    """The worst first."""
    causes: dict[Change, tuple[ManifestChange, ...]]
    manifest_changes: tuple[ManifestChange, ...]
    """Changed values of the manifest; empty where one of the two is not known."""
    membership: tuple[ManifestChange, ...]
    """Those that only say which nodes there are and where."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    groups: tuple[Group, ...]
    compute: tuple[str, ...]
    """All nodes that run slurmd, in the new snapshot."""
    others: frozenset[str]
    """Hosts of the new snapshot that run no slurmd: there is nothing to drain."""
    steps: tuple[Step, ...]
    texts: tuple[TextChange, ...]
    """The files that a reviewer reads line by line."""
    room: RoomChanges | None = None
    """What changes in the machine room; None where nothing does."""
    old_commit: str = ""
    """The commit that the old side was read from; empty for files of the work tree."""
    new_commit: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing changes on any node or in the machine room, whatever the manifests say."""
        return not (self.changes or self.added or self.removed or self.groups or self.room)

    @property
    def waiting(self) -> tuple[AffectedJobs, ...]:
        """Pending jobs that wait or fail because of the changes, each kind once."""
        return self._jobs(jobs for change in self.changes for jobs in change.waiting)

    @property
    def running(self) -> tuple[AffectedJobs, ...]:
        """Running jobs that the changes may end, or treat otherwise from then on, each kind once."""
        return self._jobs(jobs for change in self.changes for jobs in change.running)

    def _jobs(self, affected: Iterable[AffectedJobs]) -> tuple[AffectedJobs, ...]:
        """None where the change is refused while there are any jobs."""
        refused = any(effect.kind == "refuse" for change in self.changes for effect in change.effects)
        return () if refused else tuple(dict.fromkeys(affected))

    @property
    def silent(self) -> tuple[ManifestChange, ...]:
        """Changed values of the manifest that no change is known to follow from, those of `membership` left out."""
        reported = {value for values in self.causes.values() for value in values}.union(self.membership)
        return tuple(value for value in self.manifest_changes if value not in reported)

    def only_behind(self, changes: Collection[Change]) -> tuple[ManifestChange, ...]:
        """The values behind these changes that no other change follows from, those of `membership` left out: they are
        named nowhere else.
        """
        selected = set(changes)
        elsewhere = {value for change, values in self.causes.items() if change not in selected for value in values}
        values_behind = dict.fromkeys(value for change in changes for value in self.causes.get(change, ()))
        return tuple(value for value in values_behind if value not in elsewhere and value not in self.membership)


def plan(old: Snapshot, new: Snapshot) -> Plan:
    comparison = Comparison(old, new)
    changes = comparison.changes()
    accounting = new.groups.get("slurm_accounting", ())
    release = release_change(old.release, new.release)
    if release is not None and not accounting:
        kept = tuple(effect for effect in release.effects if effect.kind != "restart-slurmdbd")
        release = replace(release, effects=kept)
    edits = compare_manifests(old.source, new.source) if old.source and new.source else ()
    membership = of_membership(old, new, edits, (*comparison.added, *comparison.removed))
    values_behind = causes(old, new, changes, edits, membership)
    if release is not None:
        values_behind[release] = tuple(value for value in edits if value.path == ("slurm", "version"))
    room = room_changes(old.tables, new.tables)
    work = Work(
        changes=[change for change in changes if change.kind != "system"],
        systems=[change for change in changes if change.kind == "system"],
        added=comparison.added,
        removed=comparison.removed,
        controllers=new.groups.get("slurm_controller", ()),
        accounting=accounting,
        compute=new.groups.get("slurm_compute", ()),
        release=release,
        kept=left_over(old, new),
        renumbered=renumbered(old, new),
        abandoned=abandoned(old, new),
        reformatted=reformatted(old, new),
        moved=[host for host, address in new.addresses.items() if old.addresses.get(host, address) != address],
        provisioning=step_on_the_server(old, new),
        room=room,
    )
    groups = tuple(Group(*group) for group in comparison.groups())
    return Plan(
        cluster=new.cluster,
        old=old.name,
        new=new.name,
        old_release=old.release,
        release=new.release,
        changes=tuple(sorted([release, *changes], key=lambda change: -change.severity) if release else changes),
        causes=values_behind,
        manifest_changes=edits,
        membership=membership,
        added=comparison.added,
        removed=comparison.removed,
        groups=groups,
        compute=tuple(work.compute),
        others=frozenset(new.hosts).difference(work.compute),
        steps=steps(work),
        texts=comparison.texts(),
        room=room,
        old_commit=old.commit,
        new_commit=new.commit,
    )
