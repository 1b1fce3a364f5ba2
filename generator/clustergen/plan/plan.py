"""A plan: what changes between two snapshots of a cluster, why, what it takes, and in which order."""

from __future__ import annotations

from collections.abc import Collection

from clustergen.catalogue.versions import SlurmRelease
from clustergen.plan.accounts import left_over, renumbered
from clustergen.plan.causes import causes
from clustergen.plan.change import Change
from clustergen.plan.compare import Comparison
from clustergen.plan.release import release_change
from clustergen.plan.snapshot import Snapshot
from clustergen.plan.steps import steps
from clustergen.plan.work import Step, Work
from clustergen.plan.written import Written, written_changes
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
    causes: dict[Change, tuple[Written, ...]]
    written: tuple[Written, ...]
    """Changed values of the manifest; empty where one of the two is not known."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    groups: tuple[Group, ...]
    compute: tuple[str, ...]
    """All nodes that run slurmd, in the new snapshot."""
    others: frozenset[str]
    """Hosts of the new snapshot that run no slurmd: there is nothing to drain."""
    steps: tuple[Step, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing changes on any node, whatever the manifests say."""
        return not (self.changes or self.added or self.removed or self.groups)

    @property
    def silent(self) -> tuple[Written, ...]:
        """Changed values of the manifest that no change is known to follow from."""
        told = {value for values in self.causes.values() for value in values}
        return tuple(value for value in self.written if value not in told)

    def only_behind(self, changes: Collection[Change]) -> tuple[Written, ...]:
        """The values behind these changes that no other change follows from: they are named nowhere else."""
        those = set(changes)
        told = {value for change, values in self.causes.items() if change not in those for value in values}
        found = dict.fromkeys(value for change in changes for value in self.causes.get(change, ()))
        return tuple(value for value in found if value not in told)


def plan(old: Snapshot, new: Snapshot) -> Plan:
    comparison = Comparison(old, new)
    changes = comparison.changes()
    accounting = new.groups.get("slurm_accounting", ())
    release = release_change(old.release, new.release)
    if release is not None and not accounting:
        kept = tuple(effect for effect in release.effects if effect.kind != "restart-slurmdbd")
        release = replace(release, effects=kept)
    written = written_changes(old.source, new.source) if old.source and new.source else ()
    found = causes(old, new, changes, written)
    if release is not None:
        found[release] = tuple(value for value in written if value.path == ("slurm", "version"))
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
    )
    groups = tuple(Group(*group) for group in comparison.groups())
    return Plan(
        cluster=new.cluster,
        old=old.name,
        new=new.name,
        old_release=old.release,
        release=new.release,
        changes=tuple(sorted([release, *changes], key=lambda change: -change.severity) if release else changes),
        causes=found,
        written=written,
        added=comparison.added,
        removed=comparison.removed,
        groups=groups,
        compute=tuple(work.compute),
        others=frozenset(new.hosts).difference(work.compute),
        steps=steps(work),
    )
