"""What applying a change does, step by step: the plays of site.yml, and what the effects of a plan give each to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clustergen.catalogue.versions import SlurmRelease
from clustergen.plan.change import Change, folded
from clustergen.plan.release import path_between
from clustergen.plan.values import hosts_of
from clustergen.records import record
from clustergen.render.effects import Effect

GATE = "Jobs that would be lost"
EMPTY = "Nodes that have to be empty before anything changes"
STOP = "Daemons that must not see a half of the change"
PUT = "Files, and what they take"
ACCOUNTING, CONTROLLERS, NODES = "Accounting", "Controllers", "Nodes"
RESUME, TURNS = "Nodes that were emptied", "Nodes that take turns"
PLAYS = (GATE, EMPTY, STOP, PUT, ACCOUNTING, CONTROLLERS, NODES, RESUME, TURNS)
"""Names of plays of site.yml, in its order."""
REMOVE, UPGRADE = "clustergen.cluster.remove", "clustergen.cluster.upgrade"
"""Playbooks of their own, run before site.yml."""
_MOST_PARTITIONS = 4


@record
class Step:
    """One thing to do, in its turn."""

    text: str
    hosts: str | None
    """Folded; None where it is done in one place for all."""
    play: str
    """The play of site.yml that does it, or REMOVE, UPGRADE; empty for what stays with people."""

    @property
    def by(self) -> str:
        """Who does it, where it is not site.yml: a playbook, or `by hand`."""
        if self.play == REMOVE:
            return f"ansible-playbook {REMOVE} -e nodes={self.hosts}"
        if self.play == UPGRADE:
            return f"ansible-playbook {UPGRADE}"
        return "" if self.play else "by hand"


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
    """That of the release of Slurm, which is not among `changes`."""

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
            here = set(among)
            return folded(name for name in names if name in here)
        return folded(names)


def partitions(changes: Sequence[Change]) -> str:
    """`partition a, partition b`; of many, the first of them and how many they are."""
    names = [change.name for change in changes]
    if len(names) <= _MOST_PARTITIONS:
        return ", ".join(f"partition {name}" for name in names)
    return f"{len(names):,} partitions ({', '.join(names[: _MOST_PARTITIONS - 1])} …)"


def _people(work: Work) -> Iterable[Step]:
    gone = set(work.removed)
    for change in work.changes:
        if change.key == "StateSaveLocation":
            yield Step(f"stop slurmctld, and copy {change.old} to {change.new}", folded(work.controllers), "")
        elif change.key == "SlurmctldHost" and Effect("restart-slurm") in change.effects:
            text = f"stop slurmctld on {change.old}, and bring StateSaveLocation from there"
            yield Step(text, folded(work.controllers), "")
        elif change.key == "ClusterName" and Effect("refuse") in change.effects:
            text = "delete the file clustername in StateSaveLocation, or slurmctld does not start under the new name"
            yield Step(text, folded(work.controllers), "")
    for change in work.systems:
        yield from _anew(work, change)
    if work.release:
        yield from _upgrade(work, work.release)
    drained = [
        change for change in work.with_kind("drain") if change.kind == "node" and not change.key and change.new is None
    ]
    if drained and gone:
        text = "drain and stop the nodes that leave, while the old tree still has them"
        yield Step(text, work.hosts(drained), REMOVE)


def _anew(work: Work, change: Change) -> Iterable[Step]:
    hosts = set(hosts_of(change.nodes or ""))
    for kept, those in (("StateSaveLocation", work.controllers), ("the accounting database", work.accounting)):
        if here := hosts.intersection(those):
            yield Step(f"back up {kept}, and bring it to the new system", folded(here), "")
    if nodes := hosts.intersection(work.compute):
        yield Step(f"drain, and install {change.new}; then clustergen.cluster.replace", folded(nodes), "")
    if others := hosts.difference(work.compute):
        yield Step(f"install {change.new}", folded(others), "")


def _upgrade(work: Work, change: Change) -> Iterable[Step]:
    if change.new is not None and change.old is not None and SlurmRelease(change.new) < SlurmRelease(change.old):
        text = "restore the accounting database and StateSaveLocation from before the upgrade"
        yield Step(text, folded([*work.accounting, *work.controllers]), "")
        return
    text = f"back up {'the accounting database and ' if work.accounting else ''}StateSaveLocation"
    yield Step(text, folded([*work.accounting, *work.controllers]) or None, "")
    for release in path_between(SlurmRelease(change.old or ""), SlurmRelease(change.new or "")):
        text = f"bring Slurm to {release}: slurmdbd, then slurmctld, then slurmd and the commands"
        yield Step(text, None, UPGRADE)


def _gate(work: Work) -> Iterable[Step]:
    if work.with_kind("refuse"):
        yield Step("wait until no job is running or pending, or say cluster_jobs_may_be_lost=true", None, GATE)
    if gone := work.with_kind("cancel-jobs"):
        has = "has" if len(gone) == 1 else "have"
        text = f"wait until {partitions(gone)} {has} no jobs, or say cluster_jobs_may_be_lost=true"
        yield Step(text, None, GATE)


def _drain(work: Work) -> Iterable[Step]:
    gone = set(work.removed)
    found = [change for change in work.changes if Effect("drain") in change.effects]
    nodes = [name for name in hosts_of(work.hosts(found, work.compute) or "") if name not in gone]
    if nodes:
        yield Step(
            "drain, and wait for their jobs", folded(nodes), "Nodes that have to be empty before anything changes"
        )


def _stop(work: Work) -> Iterable[Step]:
    if work.with_kind("refuse"):
        hosts = folded({*work.controllers, *work.compute, *work.accounting})
        yield Step("stop slurmd, slurmctld and slurmdbd", hosts, STOP)


_LOCAL: tuple[tuple[str, str], ...] = (
    ("create", "make accounts and folders (systemd-sysusers, systemd-tmpfiles)"),
    ("daemon-reload", "systemctl daemon-reload"),
    ("sysctl", "sysctl --system"),
    ("run", "run {unit}"),
    ("reload", "reload {unit}"),
    ("restart", "restart {unit}"),
)


def _put(work: Work) -> Iterable[Step]:
    if work.changes or work.added:
        # Slurm's files are everywhere, whichever nodes their lines are about.
        hosts = None if any(change.kind != "file" for change in work.changes) else work.hosts(work.changes)
        yield Step("put the changed files in place", hosts and folded({*hosts_of(hosts), *work.added}), PUT)
    if work.added:
        yield Step("install packages, put all files and start all units", folded(work.added), PUT)
    for kind, text in _LOCAL:
        by_unit: dict[str | None, list[Change]] = {}
        for change in work.changes:
            for effect in change.effects:
                if effect.kind == kind and effect.unit not in _LATER:
                    by_unit.setdefault(effect.unit, []).append(change)
        for unit, changes in by_unit.items():
            yield Step(text.format(unit=unit), work.hosts(changes), PUT)


def _daemon(
    word: str, text: str, play: str, where: Callable[[Work], Sequence[str]]
) -> Callable[[Work], Iterable[Step]]:
    kinds = (f"restart-{word}", "restart-slurm") if word != "slurmdbd" else (f"restart-{word}",)
    unit = f"{word}.service"

    def steps(work: Work) -> Iterable[Step]:
        found = work.with_kind(*kinds)
        found += [change for change in work.changes if Effect("restart", unit) in change.effects]
        if not found:
            return
        hosts: str | None = folded(where(work))
        if word == "slurmd" and not any(change.everywhere for change in found):
            hosts = work.hosts(found, where(work))
        if hosts:
            yield Step(text, hosts, play)

    return steps


def _accounts(work: Work) -> Iterable[Step]:
    if work.with_kind("load-accounts"):
        text = "bring accounts, users and QOS to what the manifest says (clustergen-accounts)"
        yield Step(text, folded(work.controllers[:1]), CONTROLLERS)


def _reconfigure(work: Work) -> Iterable[Step]:
    everywhere = any(change.everywhere for change in work.with_kind("restart-slurm"))
    if work.with_kind("reconfigure") and not everywhere:  # else all daemons have read all of it
        text = "scontrol reconfigure, once"
        yield Step(text, folded(work.controllers[:1]), CONTROLLERS)


def _resume(work: Work) -> Iterable[Step]:
    for step in _drain(work):
        yield Step("resume", step.hosts, RESUME)


def _turns(work: Work) -> Iterable[Step]:
    slow: dict[str, list[Change]] = {}
    for change in work.changes:
        for effect in change.effects:
            if effect.kind in ("remount", "reboot") or (effect.kind == "drain" and effect.unit):
                verbs = {"remount": f"unmount and mount {effect.unit}", "drain": f"restart {effect.unit}"}
                slow.setdefault(verbs.get(effect.kind, "reboot"), []).append(change)
    for verb, changes in slow.items():
        yield Step(f"one after the other: drain, {verb}, resume", work.hosts(changes), TURNS)


_LATER = ("slurmd.service", "slurmctld.service", "slurmdbd.service")

STEPS: tuple[Callable[[Work], Iterable[Step]], ...] = (
    _people,
    _gate,
    _drain,
    _stop,
    _put,
    _daemon("slurmdbd", "restart slurmdbd", ACCOUNTING, lambda work: work.accounting),
    _daemon("slurmctld", "restart slurmctld", CONTROLLERS, lambda work: work.controllers),
    _accounts,
    _reconfigure,
    _daemon("slurmd", "restart slurmd; running jobs live on", NODES, lambda work: work.compute),
    _resume,
    _turns,
)


def steps(work: Work) -> tuple[Step, ...]:
    """What is to be done, in order."""
    return tuple(step for make in STEPS for step in make(work))
