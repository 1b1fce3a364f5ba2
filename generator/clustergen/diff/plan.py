"""A plan: what changes between two snapshots of a cluster, why, what it takes, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.accounts import left_over, renumbered
from clustergen.diff.arrival import Arrival, arrival
from clustergen.diff.causes import causes
from clustergen.diff.change import Change
from clustergen.diff.compare import Comparison, TextChange
from clustergen.diff.host_values import abandoned, fitted, readdressed, reformatted
from clustergen.diff.inventory import Inventory
from clustergen.diff.manifest_changes import ManifestChange, compare_manifests
from clustergen.diff.manual_steps import hosts_that_left
from clustergen.diff.membership import of_membership
from clustergen.diff.overrides import as_in_file, mapped
from clustergen.diff.packages import upgrades
from clustergen.diff.release import release_change
from clustergen.diff.room import RoomChanges, room_changes
from clustergen.diff.snapshot import Snapshot
from clustergen.diff.step import Step, Work
from clustergen.diff.steps import steps
from clustergen.feature import modules
from clustergen.records import record, replace

_OTHER_NAME = "the controller gets another name and keeps its state: slurmctld stops; running steps are notified"


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
    """The name by which the user called it."""
    new: str
    old_release: SlurmRelease | None
    release: SlurmRelease | None
    """None: the cluster has no Slurm."""
    changes: tuple[Change, ...]
    """The worst first."""
    causes: dict[Change, tuple[ManifestChange, ...]]
    room_causes: tuple[ManifestChange, ...]
    """The values behind what changes in the machine room; those of `membership` left out."""
    group_causes: tuple[ManifestChange, ...]
    """The same for hosts of the inventory."""
    untraced: tuple[ManifestChange, ...]
    """Changed values of which it is not known whether a change follows from them."""
    manifest_changes: tuple[ManifestChange, ...]
    """Changed values of the manifest; empty where one of the two is not known."""
    membership: tuple[ManifestChange, ...]
    """Values that only say which nodes there are and where."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: dict[str, str]
    """Previous → new name of machines that keep their address; both are among `removed` and `added` too."""
    groups: tuple[Group, ...]
    compute: tuple[str, ...]
    """All nodes that run slurmd, in the new snapshot."""
    routers: frozenset[str]
    """Of LNet, that run no jobs."""
    others: frozenset[str]
    """Hosts of the new snapshot that run no slurmd: there is nothing to drain."""
    steps: tuple[Step, ...]
    arrival: Arrival | None
    """None where no Slurm comes."""
    texts: tuple[TextChange, ...]
    """The files that a reviewer reads line by line."""
    room: RoomChanges | None = None
    """Changes in the machine room; None: none."""
    old_commit: str = ""
    """The commit that the old side was read from; empty for files of the work tree."""
    new_commit: str = ""

    @property
    def empty(self) -> bool:
        """True if nothing changes on any node or in the machine room, whatever the manifests say."""
        return not (self.changes or self.added or self.removed or self.groups or self.room)

    @property
    def releases(self) -> str:
        """`, Slurm 24.11 → 25.11`; empty for a cluster that has no Slurm and gets none."""
        sides = dict.fromkeys(str(release or "none") for release in (self.old_release, self.release))
        return f", Slurm {' → '.join(sides)}" if self.old_release or self.release else ""

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
        """Changed values of the manifest that nothing follows from, those of `membership` left out."""
        traced = {value for values in self.causes.values() for value in values}
        other = {*traced, *self.membership, *self.room_causes, *self.group_causes, *self.untraced}
        return tuple(value for value in self.manifest_changes if value not in other)

    @property
    def has_causes(self) -> bool:
        """True if any value of the manifest is named for an effect."""
        return bool(self.causes or self.room_causes or self.group_causes)

    def other_manifest_changes(self) -> Iterator[tuple[tuple[ManifestChange, ...], str]]:
        """Values that are named for no effect, with what is known of them."""
        if self.silent:
            yield self.silent, "no separate effect"
        if self.untraced:
            total = len(self.manifest_changes)
            yield self.untraced, f"effects were traced for {total - len(self.untraced):,} of {total:,} values"

    @property
    def only_behind_hosts(self) -> tuple[ManifestChange, ...]:
        """The values behind other hosts of groups that no other change follows from."""
        elsewhere = {value for values in self.causes.values() for value in values}.union(self.room_causes)
        return tuple(value for value in self.group_causes if value not in elsewhere)

    def only_behind(self, changes: Collection[Change]) -> tuple[ManifestChange, ...]:
        """The values behind these changes that no other change follows from, those of `membership` left out: they are
        named nowhere else.
        """
        selected = set(changes)
        elsewhere = {value for change, values in self.causes.items() if change not in selected for value in values}
        elsewhere.update(self.room_causes, self.group_causes)
        values_behind = dict.fromkeys(value for change in changes for value in self.causes.get(change, ()))
        return tuple(value for value in values_behind if value not in elsewhere and value not in self.membership)


def plan(old: Snapshot, new: Snapshot) -> Plan:
    before, after = old.inventory, new.inventory
    comparison = Comparison(old, new)
    renamed = _renamed(before, after, comparison)
    changes = [_with_names(change, renamed) for change in comparison.changes()]
    accounting = after.groups.get("slurm_accounting", ())
    release = release_change(before.release, after.release)
    if release is not None and not accounting:
        kept = tuple(effect for effect in release.effects if effect.kind != "restart-slurmdbd")
        release = replace(release, effects=kept)
    edits = compare_manifests(old.source, new.source) if old.source and new.source else ()
    membership = of_membership(old, new, edits, (*comparison.added, *comparison.removed))
    in_file = as_in_file(edits, old.source, new.source) if old.source and new.source else {}
    values = mapped(edits, in_file)
    # One value of the file may be several of the types that nodes get: it alone is the cause of all.
    origins = causes(old, new, changes, values if len(values) == 1 else edits, membership)
    if release is not None:
        origins.of_changes[release] = tuple(value for value in edits if value.path == ("slurm", "version"))
    for upgrade, value in upgrades(old, new, edits):
        changes.append(upgrade)
        origins.of_changes[upgrade] = (value,)
    room = room_changes(old.tables, new.tables, renamed)
    comes = arrival(changes) if after.release and not before.release else None
    gained, lost = fitted(old, new)
    work = Work(
        changes=[change for change in changes if change.kind != "system"],
        systems=[change for change in changes if change.kind == "system"],
        added=comparison.added,
        removed=comparison.removed,
        retired=[host for host in comparison.removed if host not in {*renamed, *before.groups.get("cloud", ())}],
        controllers=after.groups.get("slurm_controller", ()),
        accounting=accounting,
        compute=after.groups.get("slurm_compute", ()) if after.release else (),
        routers=after.groups.get("lnet_router", ()),
        left_accounting=_left_accounting(before.groups.get("slurm_accounting", ()), accounting, renamed),
        release=release,
        kept=left_over(old, new),
        renumbered=renumbered(old, new),
        abandoned=abandoned(old, new),
        reformatted=reformatted(old, new),
        moved=[host for host, address in after.addresses.items() if before.addresses.get(host, address) != address],
        readdressed=readdressed(old, new),
        manual=[step for module in modules("effects") for step in module.steps(old, new)],
        room=room,
        arrival=comes,
        renamed=renamed,
        gained=gained,
        lost=lost,
    )
    groups = tuple(Group(*group) for group in comparison.groups())
    return Plan(
        cluster=after.cluster,
        old=old.name,
        new=new.name,
        old_release=before.release,
        release=after.release,
        changes=tuple(sorted([release, *changes], key=lambda change: -change.severity) if release else changes),
        causes={change: mapped(values, in_file) for change, values in origins.of_changes.items()},
        room_causes=mapped(_without(membership, origins.of_room), in_file) if room else (),
        group_causes=mapped(_without(membership, origins.of_hosts), in_file) if groups else (),
        untraced=mapped((value for value in edits if value in origins.untraced), in_file),
        manifest_changes=values,
        membership=mapped(membership, in_file),
        added=comparison.added,
        removed=comparison.removed,
        renamed=renamed,
        groups=groups,
        compute=tuple(work.compute),
        routers=frozenset(work.routers).difference(work.compute),
        others=frozenset(after.hosts).difference(work.compute),
        steps=steps(work),
        arrival=comes,
        texts=comparison.texts(),
        room=room,
        old_commit=old.commit,
        new_commit=new.commit,
    )


def _left_accounting(before: Collection[str], after: Collection[str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(before) if after and not {renamed.get(host, host) for host in before} & set(after) else ()


def _renamed(before: Inventory, after: Inventory, comparison: Comparison) -> dict[str, str]:
    names = {after.addresses[host]: host for host in comparison.added if host in after.addresses}
    places = {host: before.addresses.get(host) for host in comparison.removed}
    return {host: names[address] for host, address in places.items() if address in names}


def _with_names(change: Change, renamed: Mapping[str, str]) -> Change:
    """A controller that only gets another name takes its state along."""
    if change.key != "SlurmctldHost" or not hosts_that_left(change) or not hosts_that_left(change) <= renamed.keys():
        return change
    return replace(change, reason=_OTHER_NAME)


def _without(left_out: Collection[ManifestChange], values: Iterable[ManifestChange]) -> tuple[ManifestChange, ...]:
    return tuple(value for value in values if value not in left_out)
