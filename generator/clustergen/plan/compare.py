"""Two snapshots of one cluster → what changes on its nodes, each change with the hosts that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from clustergen.plan.change import Change, folded
from clustergen.plan.comments import same_but_for_comments
from clustergen.plan.slurm import slurm_changes
from clustergen.plan.snapshot import NodeFile, Snapshot
from clustergen.records import replace
from clustergen.render.effects import NONE, Effect

Groups = tuple[str, ...]
Files = dict[str, NodeFile]

_SLURM = "/etc/slurm/"
_ANEW = "the machines are installed anew, which no playbook does; what is on their disks is lost"
_SAME = "means the same to Slurm for the nodes that stay"


def is_slurms(target: str) -> bool:
    """Whether Slurm's daemons read the file as configuration: what changes in it tells, not that it changes."""
    return target.startswith(_SLURM) and target.endswith((".conf", ".yaml"))


class Comparison:
    """What differs. Hosts with the same groups before and after are looked at once."""

    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self.old = old
        self.new = new
        self.added = tuple(host for host in new.hosts if host not in old.hosts)
        self.removed = tuple(host for host in old.hosts if host not in new.hosts)

    @cached_property
    def _pairs(self) -> dict[tuple[Groups, Groups], list[str]]:
        """Groups before and after → the hosts that have them."""
        found: dict[tuple[Groups, Groups], list[str]] = {}
        for host, groups in self.new.hosts.items():
            before = self.old.hosts.get(host)
            if before is not None:
                found.setdefault((before, groups), []).append(host)
        return found

    def groups(self) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Groups with other hosts: name, those that joined, those that left."""
        for group in sorted({*self.old.groups, *self.new.groups} - {"all"}):
            if "__" in group:  # a part of a group, split where texts differ
                continue
            before, after = (dict.fromkeys(side.groups.get(group, ())) for side in (self.old, self.new))
            joined = tuple(host for host in after if host not in before)
            left = tuple(host for host in before if host not in after)
            if joined or left:
                yield group, joined, left

    def changes(self) -> list[Change]:
        """The worst first; of equals Slurm's own first, then by file."""
        found = [*self._systems(), *self._slurm(), *self._files()]
        return sorted(found, key=lambda change: (-change.severity, not is_slurms(change.file), change.file))

    def _systems(self) -> Iterator[Change]:
        """Other operating systems, of which the tree's files may show nothing."""
        found: dict[tuple[str, str], list[str]] = {}
        for host, now in self.new.systems.items():
            was = self.old.systems.get(host, now)
            if was != now:
                found.setdefault((was, now), []).append(host)
        for (was, now), hosts in found.items():
            nodes = folded(hosts)
            yield Change("", "system", "", "", was, now, nodes, (Effect("drain"),), False, _ANEW, "")

    # -- Slurm's files ----------------------------------------------------------------------------------------------

    def _slurm(self) -> Iterator[Change]:
        by_files: dict[tuple[tuple[str, ...], ...], tuple[Files, Files, list[str]]] = {}
        before: dict[str, list[str]] = {}
        after: dict[str, list[str]] = {}
        for old, new, hosts in self._slurms_files():
            for target in old:
                before.setdefault(target, []).extend(hosts)
            for target in new:
                after.setdefault(target, []).extend(hosts)
            key = _fingerprint(old), _fingerprint(new)
            if key[0] != key[1] or self.old.release != self.new.release:
                by_files.setdefault(key, (old, new, []))[2].extend(hosts)
        merged: dict[Change, tuple[int, ...]] = {}
        """→ the places in `by_files` of those that have it."""
        for index, (old, new, _) in enumerate(by_files.values()):
            was, now = ({target: file.text for target, file in side.items()} for side in (old, new))
            found = slurm_changes(was, now, self.new.release, old_release=self.old.release)
            told = {change.file for change in found}
            quiet = [name for name in {**was, **now} if name not in told and was.get(name) != now.get(name)]
            same = [_same(name) if name in was and name in now else _gone(name, old, new) for name in quiet]
            for change in (*found, *same):
                merged[change] = (*merged.get(change, ()), index)
        loud = {change.file for change in merged if change.reason != _SAME}
        listed = [hosts for _, _, hosts in by_files.values()]
        those: dict[tuple[str, tuple[int, ...]], str | None] = {}
        """File and places → its hosts; None for all that have the file."""
        for change, places in merged.items():
            if change.reason == _SAME and change.file in loud:
                continue
            if change.nodes is None:
                of_it = change.file, places
                if of_it not in those:
                    having = {host for place in places for host in listed[place]}
                    everywhere = having.issuperset(after.get(change.file) or before[change.file])
                    those[of_it] = None if everywhere else folded(having)
                change = replace(change, nodes=those[of_it])
            yield change

    def _slurms_files(self) -> Iterator[tuple[Files, Files, list[str]]]:
        """Slurm's files before and after, of hosts alike. Where no controller stays, the first ones stand for each
        other, with the files that both have.
        """
        for (before, after), hosts in self._pairs.items():
            yield _slurms(self.old.of_groups(before)), _slurms(self.new.of_groups(after)), hosts
        controllers = [side.groups.get("slurm_controller", ()) for side in (self.old, self.new)]
        if all(controllers) and not set(controllers[0]) & set(controllers[1]):
            first_old, first_new = controllers[0][0], controllers[1][0]
            old = _slurms(self.old.of_groups(self.old.hosts[first_old]))
            new = _slurms(self.new.of_groups(self.new.hosts[first_new]))
            both = old.keys() & new.keys()
            yield {name: old[name] for name in both}, {name: new[name] for name in both}, [first_new]

    # -- all other files --------------------------------------------------------------------------------------------

    def _files(self) -> Iterator[Change]:
        found: dict[tuple[str, NodeFile | None, NodeFile | None], list[str]] = {}
        for (before, after), hosts in self._pairs.items():
            old, new = self.old.of_groups(before), self.new.of_groups(after)
            for target in {**old, **new}:
                was, now = old.get(target), new.get(target)
                if (was and was.same_as) != (now and now.same_as):
                    if is_slurms(target) and (was and was.sha256) != (now and now.sha256):
                        continue
                    found.setdefault((target, was, now), []).extend(hosts)
        merged: dict[Change, list[str]] = {}
        for (target, was, now), hosts in found.items():
            merged.setdefault(_file_change(target, was, now), []).extend(hosts)
        for change, hosts in merged.items():
            yield replace(change, nodes=folded(hosts))


def _slurms(files: Files) -> Files:
    return {target: file for target, file in files.items() if is_slurms(target)}


def _fingerprint(files: Files) -> tuple[str, ...]:
    return tuple(f"{target} {file.sha256}" for target, file in sorted(files.items()))


def _same(target: str) -> Change:
    return Change(target, "file", "", "", None, None, None, (NONE,), False, _SAME, "")


def _gone(target: str, old: Files, new: Files) -> Change:
    """A file that comes or goes with the slurm.conf beside it."""
    return replace(
        _file_change(target, old.get(target), new.get(target)), effects=(NONE,), reason="as slurm.conf beside it"
    )


def _file_change(target: str, was: NodeFile | None, now: NodeFile | None) -> Change:
    either = now or was
    assert either is not None
    effects: tuple[Effect, ...] = (either.effect,)
    if was is None or now is None:
        texts: tuple[str | None, str | None] = (_lines(was), _lines(now))
    elif was.sha256 == now.sha256:
        effects = (NONE,)
        texts = f"{was.mode} {was.owner}", f"{now.mode} {now.owner}"
    else:
        before, after = (Counter(file.text.splitlines()) for file in (was, now))
        gone, come = (before - after).total(), (after - before).total()
        texts = _lines(was), f"+{come} -{gone} lines"
        if same_but_for_comments(was.text, now.text):
            return Change(target, "file", "", "", *texts, None, (NONE,), False, "only comments differ", "")
    return Change(target, "file", "", "", *texts, None, effects, False, "", "clustergen.lock.json")


def _lines(file: NodeFile | None) -> str | None:
    return None if file is None else f"{len(file.text.splitlines())} lines"
