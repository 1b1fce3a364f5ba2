"""Two snapshots of one cluster → what changes on its nodes, each change with the hosts that it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from clustergen.catalogue.package_effects import is_stopped
from clustergen.catalogue.slurm import read_releases
from clustergen.catalogue.slurm_jobs import AffectedJobs, rules, running
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.groups import group_name, mount_group
from clustergen.diagnostics.redaction import redacted_value
from clustergen.diff.change import Change, folded
from clustergen.diff.comments import same_but_for_comments
from clustergen.diff.conditions import Conditions
from clustergen.diff.packages import changes_beside_files, dropped_units, units_of
from clustergen.diff.policy import VALUES, policy_changes
from clustergen.diff.settings import differing, read_by_jobs
from clustergen.diff.slurm import conditions_of, slurm_changes
from clustergen.diff.snapshot import Snapshot
from clustergen.diff.windows import (
    ADDRESS,
    RENAMED,
    SERVERS,
    effect_inside,
    lustre_target,
    moved,
    names_of,
    on_servers,
    renamed,
    same_servers,
)
from clustergen.records import record, replace
from clustergen.render.effects import DAEMON_RELOAD, NONE, Effect
from clustergen.render.side import NodeFile

Groups = tuple[str, ...]
Files = dict[str, NodeFile]

_WHERE = re.compile(r"^Where=(\S+)", re.MULTILINE)
_REQUIRES = re.compile(r"^Requires=(\S+)$", re.MULTILINE)
_SLURM, _UNITS = "/etc/slurm/", "/etc/systemd/system/"
_SERVICE = re.compile(rf"{_UNITS}[^/]+\.(service|timer)")
_ANEW = "the machines must be reinstalled, which no playbook does; the data on their disks is lost"
COMMENTS = "only comments differ"
_SAME_SERVERS = "the servers answer under one of the addresses: all clients are drained first"
_SAME_PERHAPS = (
    "clients of two servers would write to both: all are drained first, and the data is copied if they are two"
)
_UNDER_CLIENTS = "the servers stop it under their clients: all are drained first"
JOBS_READ_IT = "jobs that start later read it; running jobs keep the old values"
ENDED = "the unit is stopped and disabled when its file goes"
LEFT = "the running system keeps what it is set to until it reboots"
_SETTINGS = ("/etc/clustergen/", "/etc/sysctl.d/", "/etc/modules-load.d/")
"""Files of settings that units and sysctl only ever set."""
_REMOVED = "removed with Slurm"
_OF_SLURM = frozenset(
    ("reconfigure", "restart-slurmctld", "restart-slurmdbd", "restart-slurmd", "restart-slurm", "load-accounts")
)
_SAME = "same meaning to Slurm on the remaining nodes"


def is_slurms(target: str) -> bool:
    """True if Slurm's daemons read the file as configuration: what changes in it tells, not that it changes."""
    return target.startswith(_SLURM) and target.endswith((".conf", ".yaml"))


@record
class TextChange:
    """A file that Slurm or jobs read, with its hosts, on which both texts differ from each other."""

    target: str
    nodes: str
    old: NodeFile
    new: NodeFile


def _redacted(change: Change) -> Change:
    """A change that shows no secret, such as one that somebody wrote into a tree."""
    old, new = (text and redacted_value(change.key, text) for text in (change.old, change.new))
    return change if (old, new) == (change.old, change.new) else replace(change, old=old, new=new)


def _with_slurm(change: Change) -> Change:
    """A change of what goes with Slurm: nothing restarts or reads it."""
    effects = tuple(effect for effect in change.effects if effect.kind not in _OF_SLURM)
    if effects == change.effects:
        return change
    return replace(change, effects=effects or (NONE,), reason=_REMOVED, source="")


class Comparison:
    """The differences. Hosts with the same groups before and after are compared once."""

    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self.old = old
        self.new = new
        self.added = tuple(host for host in new.inventory.hosts if host not in old.inventory.hosts)
        self.removed = tuple(host for host in old.inventory.hosts if host not in new.inventory.hosts)

    @cached_property
    def _pairs(self) -> dict[tuple[Groups, Groups], list[str]]:
        """Groups before and after → the hosts that have them."""
        hosts_of_groups: dict[tuple[Groups, Groups], list[str]] = {}
        for host, groups in self.new.inventory.hosts.items():
            before = self.old.inventory.hosts.get(host)
            if before is not None:
                hosts_of_groups.setdefault((before, groups), []).append(host)
        return hosts_of_groups

    @property
    def _release(self) -> SlurmRelease:
        """The release of the new files; of the old ones if Slurm is removed; the newest in a cluster without it."""
        return self.new.inventory.release or self.old.inventory.release or max(read_releases())

    def groups(self) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Groups with other hosts: name, those that joined, those that left."""
        for group in sorted({*self.old.inventory.groups, *self.new.inventory.groups} - {"all"}):
            if "__" in group:  # a part of a group, split where texts differ
                continue
            before, after = (dict.fromkeys(side.inventory.groups.get(group, ())) for side in (self.old, self.new))
            joined = tuple(host for host in after if host not in before)
            left = tuple(host for host in before if host not in after)
            if joined or left:
                yield group, joined, left

    def changes(self) -> list[Change]:
        """The worst first; of equals Slurm's own first, then by file."""
        beside_files = changes_beside_files(self.old, self.new, self._pairs)
        changes = [*self._systems(), *beside_files, *map(_redacted, self._slurm()), *self._files()]
        if self.old.inventory.release and not self.new.inventory.release:
            changes = [_with_slurm(change) for change in changes]
        return sorted(changes, key=lambda change: (-change.severity, not is_slurms(change.file), change.file))

    def _systems(self) -> Iterator[Change]:
        """Other operating systems, of which the tree's files may show nothing."""
        hosts_of_systems: dict[tuple[str, str], list[str]] = {}
        for host, current in self.new.inventory.systems.items():
            previous = self.old.inventory.systems.get(host, current)
            if previous != current:
                hosts_of_systems.setdefault((previous, current), []).append(host)
        for (previous, current), hosts in hosts_of_systems.items():
            nodes = folded(hosts)
            yield Change("", "system", (Effect("drain"),), _ANEW, old=previous, new=current, nodes=nodes)

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
            if key[0] != key[1] or self.old.inventory.release != self.new.inventory.release:
                by_files.setdefault(key, (old, new, []))[2].extend(hosts)
        merged: dict[Change, tuple[int, ...]] = {}
        """→ the places in `by_files` of those that have it."""
        for index, (old, new, _) in enumerate(by_files.values()):
            old_texts, new_texts = ({target: file.text for target, file in side.items()} for side in (old, new))
            changes = slurm_changes(old_texts, new_texts, self._release, old_release=self.old.inventory.release)
            reported = {change.file for change in changes}
            unreported = [
                name
                for name in {**old_texts, **new_texts}
                if name not in reported and old_texts.get(name) != new_texts.get(name)
            ]
            same = [
                _same(name) if name in old_texts and name in new_texts else _file_of_slurm(name, old, new)
                for name in unreported
            ]
            for change in (*changes, *same):
                merged[change] = (*merged.get(change, ()), index)
        meaningful = {change.file for change in merged if change.reason != _SAME}
        listed = [hosts for _, _, hosts in by_files.values()]
        hosts_of_change: dict[tuple[str, tuple[int, ...]], str | None] = {}
        """File and places → its hosts; None for all that have the file."""
        for change, places in merged.items():
            if change.reason == _SAME and change.file in meaningful:
                continue
            if change.nodes is None:
                file_and_places = change.file, places
                if file_and_places not in hosts_of_change:
                    having = {host for place in places for host in listed[place]}
                    everywhere = having.issuperset(after.get(change.file) or before[change.file])
                    hosts_of_change[file_and_places] = None if everywhere else folded(having)
                change = replace(change, nodes=hosts_of_change[file_and_places])
            yield change

    def _slurms_files(self) -> Iterator[tuple[Files, Files, list[str]]]:
        """Slurm's files before and after, of hosts alike. Where no controller stays, the first ones stand for each
        other, with the files that both have.
        """
        for (before, after), hosts in self._pairs.items():
            yield _slurms(self.old.of_groups(before)), _slurms(self.new.of_groups(after)), hosts
        controllers = [side.inventory.groups.get("slurm_controller", ()) for side in (self.old, self.new)]
        if all(controllers) and not set(controllers[0]) & set(controllers[1]):
            first_old, first_new = controllers[0][0], controllers[1][0]
            old = _slurms(self.old.of_groups(self.old.inventory.hosts[first_old]))
            new = _slurms(self.new.of_groups(self.new.inventory.hosts[first_new]))
            both = old.keys() & new.keys()
            yield {name: old[name] for name in both}, {name: new[name] for name in both}, [first_new]

    @cached_property
    def _conditions(self) -> Conditions:
        """Of the new slurm.conf, which is the same wherever it says something of jobs."""
        files = {file.target: file.text for file in self.new.files.values() if is_slurms(file.target)}
        return conditions_of(files, self._release)

    def texts(self) -> tuple[TextChange, ...]:
        """The changed files that a reviewer reads line by line, Slurm's first; each pair of texts once."""
        hosts_of_texts: dict[tuple[str, str, str], tuple[NodeFile, NodeFile, list[str]]] = {}
        for (before, after), hosts in self._pairs.items():
            old, new = self.old.of_groups(before), self.new.of_groups(after)
            for target in old.keys() & new.keys():
                one, other = old[target], new[target]
                if one.sha256 != other.sha256 and (is_slurms(target) or read_by_jobs(target)):
                    key = target, one.sha256, other.sha256
                    hosts_of_texts.setdefault(key, (one, other, []))[2].extend(hosts)
        listed = [TextChange(key[0], folded(hosts), *files) for key, (*files, hosts) in hosts_of_texts.items()]
        return tuple(sorted(listed, key=lambda text: (not is_slurms(text.target), text.target, text.nodes)))

    # -- all other files --------------------------------------------------------------------------------------------

    def _files(self) -> Iterator[Change]:
        hosts_of_files: dict[tuple[str, NodeFile | None, NodeFile | None], list[str]] = {}
        for (before, after), hosts in self._pairs.items():
            old, new = self.old.of_groups(before), self.new.of_groups(after)
            removed_units = {target.removeprefix(_UNITS) for target in old if target not in new}
            units = dropped_units(self.old, before, self.new, after)
            removed_units.update(unit for unit in units if is_stopped(unit))
            started = {*units_of(self.old, before), *(target.removeprefix(_UNITS) for target in old)}
            sides = [_mounts(old, new), _mounts(new, old)]
            pairs = dict(renamed(*sides)) if all(sides) else {}
            for target, other in pairs.items():
                file = replace(new[other], effect=old[target].effect)
                hosts_of_files.setdefault((target, old[target], file), []).extend(hosts)
            for target in {**old, **new}:
                if target in pairs:
                    continue
                old_file, new_file = old.get(target), new.get(target)
                if old_file and not new_file and not _is_left(old_file):
                    old_file = replace(old_file, effect=_of_removal(old_file, removed_units))
                if new_file and not old_file:
                    new_file = replace(new_file, effect=_of_addition(new_file, started))
                if (old_file and old_file.same_as) != (new_file and new_file.same_as):
                    if is_slurms(target) and (old_file and old_file.sha256) != (new_file and new_file.sha256):
                        continue
                    hosts_of_files.setdefault((target, old_file, new_file), []).extend(hosts)
        merged: dict[Change, list[str]] = {}
        for (target, old_file, new_file), hosts in hosts_of_files.items():
            if old_file and new_file and old_file.sha256 != new_file.sha256:
                effect = effect_inside(target, new_file.effect, old_file.text, new_file.text)
                new_file = new_file if effect == new_file.effect else replace(new_file, effect=effect)
            either, move = new_file or old_file, self._move(target, old_file, new_file)
            if either and either.effect.kind == "window" and not move:
                # A new target has no clients; other files are of a service that may run.
                is_new = old_file is None and target.endswith(".mount")
                if clients := [] if is_new else self._clients(target, either.effect, hosts):
                    merged.setdefault(_of_clients(target, either.effect, old_file, new_file), []).extend(clients)
                effect = on_servers(target, either.effect, is_there=bool(old_file and new_file))
                old_file, new_file = (file and replace(file, effect=effect) for file in (old_file, new_file))
            for change in (
                _of_policy(target, old_file, new_file, self._release, self._conditions)
                or move
                or _of_settings(target, old_file, new_file)
                or (_file_change(target, old_file, new_file),)
            ):
                ending = change.running or self._ending(target, old_file, new_file)
                merged.setdefault(replace(change, running=ending), []).extend(hosts)
        compute = {*self.old.inventory.groups.get("slurm_compute", ())}
        for change, hosts in self._after_restarts(merged):
            waiting = () if change.kind == "file" and compute.isdisjoint(hosts) else change.waiting
            yield replace(change, nodes=folded(hosts), waiting=waiting)

    def _move(self, target: str, old: NodeFile | None, new: NodeFile | None) -> tuple[Change, ...]:
        """A file system of another server or address; empty where its files stay where they are."""
        sides = moved(target, old.text, new.text) if old and new and new.effect.kind == "window" else None
        if sides is None or new is None:
            return ()
        is_same = same_servers(*sides, self._names)
        is_renamed = new.target != target
        key = RENAMED if is_renamed else ADDRESS if is_same else "source"
        reason = _SAME_SERVERS if is_same else _SAME_PERHAPS if is_same is None else ""
        waiting = _below(old.text) if old and is_renamed else ()
        return (replace(_setting(target, key, *sides, new.effect, reason), waiting=waiting),)

    @cached_property
    def _names(self) -> list[dict[str, str]]:
        """Address or name → host, of both sides."""
        texts = [{file.target: file for file in side.files.values()}.get("/etc/hosts") for side in (self.old, self.new)]
        hosts = self.old.inventory.hosts, self.new.inventory.hosts
        return [names_of(file.text if file else "", names) for file, names in zip(texts, hosts, strict=True)]

    def _after_restarts(self, changes: Mapping[Change, list[str]]) -> Iterator[tuple[Change, list[str]]]:
        """The changes with their hosts; a new mount waits on hosts where a unit that it requires restarts."""
        restarted: dict[str, set[str]] = {}
        for change, hosts in changes.items():
            for effect in change.effects:
                if effect.kind == "drain" and effect.unit:
                    restarted.setdefault(effect.unit, set()).update(hosts)
        for change, hosts in changes.items():
            if change.effect.kind == "start" and restarted:
                text = self.new.of_groups(self.new.inventory.hosts[hosts[0]])[change.file].text
                for unit in _REQUIRES.findall(text):
                    if later := [host for host in hosts if host in restarted.get(unit, ())]:
                        yield replace(change, effects=(Effect("drain", unit), change.effect)), later
                        hosts = [host for host in hosts if host not in later]
            if hosts:
                yield change, hosts

    def _clients(self, target: str, effect: Effect, servers: Iterable[str]) -> list[str]:
        """The hosts that mount, before and after, the file system of a target, or all of these servers."""
        before, after = self.old.inventory, self.new.inventory
        served = {group for server in servers for group in before.hosts[server] if group.startswith("serve_")}
        names = {group_name(effect.unit or "")} if target.endswith(".mount") else {name[6:] for name in served}
        groups = {mount_group(name) for name in names}
        return [host for host in before.hosts if groups & {*before.hosts[host]} & {*after.hosts.get(host, ())}]

    def _ending(self, target: str, old: NodeFile | None, new: NodeFile | None) -> tuple[AffectedJobs, ...]:
        """Running jobs that settings beside Slurm's may end."""
        base = target.rpartition("/")[2]
        if new is None or not any(row.file == base for row in rules("slurm_running.tsv")):
            return ()
        changes = differing(target, old.text if old else "", new.text)
        jobs = (running(base, key, self._release, "", (f"{before}>{after}".lower(),)) for key, before, after in changes)
        return tuple(each for several in jobs for each in several)


def _setting(file: str, key: str, old: str | None, new: str | None, effect: Effect, reason: str) -> Change:
    """One setting of a file that is not Slurm's."""
    return Change(file, "setting", (effect,), reason, key=key, old=old, new=new)


def _of_clients(target: str, effect: Effect, old: NodeFile | None, new: NodeFile | None) -> Change:
    """A change of servers under clients that mount the file system."""
    is_target = target.endswith(".mount")
    before, after = (lustre_target(file.text) if file and is_target else None for file in (old, new))
    return _setting(target, SERVERS, before, after, effect, _UNDER_CLIENTS)


def _mounts(files: Files, others: Files) -> dict[str, str]:
    """The mount units that only one side has, with their texts."""
    return {target: file.text for target, file in files.items() if target.endswith(".mount") and target not in others}


def _is_left(file: NodeFile) -> bool:
    """True if the removal of the file leaves its settings in effect."""
    return file.effect.kind in ("run", "sysctl") and file.target.startswith(_SETTINGS)


def _of_removal(file: NodeFile, removed_units: Collection[str]) -> Effect:
    """The effects of a removed file: systemd forgets units and their parts, and no unit is restarted that goes
    as well, or that is stopped in its turn.
    """
    if file.effect.kind == "drain" and file.effect.unit in removed_units and not file.target.startswith(_UNITS):
        return NONE
    if file.effect.unit is None or file.effect.kind not in ("run", "reload", "restart"):
        return file.effect
    if file.target.startswith(_UNITS):
        return DAEMON_RELOAD
    return NONE if file.effect.unit in removed_units else file.effect


def _of_addition(file: NodeFile, started: Collection[str]) -> Effect:
    """The effects of a new file; nothing uses a mount or service that was not there. `started`: units before."""
    unit = file.effect.unit
    if file.effect.kind not in ("remount", "drain") or unit is None or unit in started:
        return file.effect
    if file.effect.kind == "drain":
        return Effect("restart", unit)
    return Effect("start", unit) if file.target == _UNITS + unit else NONE


def _of_policy(
    target: str, old: NodeFile | None, new: NodeFile | None, release: SlurmRelease, conditions: Conditions
) -> tuple[Change, ...]:
    """Settings of accounts and QOS; empty where another file changes, or the script in other ways."""
    if target != VALUES or old is None or new is None:
        return ()
    return tuple(policy_changes(old.text, new.text, new.effect, release, conditions))


def _of_settings(target: str, old: NodeFile | None, new: NodeFile | None) -> tuple[Change, ...]:
    """Settings one by one; empty for files that come, go, or are of another grammar."""
    if old is None or new is None or old.sha256 == new.sha256:
        return ()
    reason = JOBS_READ_IT if read_by_jobs(target) and new.effect == NONE else ""
    is_left = _is_left(new)
    return tuple(
        _setting(target, name, before, after, new.effect, LEFT if is_left and after is None else reason)
        for name, before, after in differing(target, old.text, new.text)
    )


def _slurms(files: Files) -> Files:
    return {target: file for target, file in files.items() if is_slurms(target)}


def _fingerprint(files: Files) -> tuple[str, ...]:
    return tuple(f"{target} {file.sha256}" for target, file in sorted(files.items()))


def _same(target: str) -> Change:
    return Change(target, "file", (NONE,), _SAME)


def _file_of_slurm(target: str, old: Files, new: Files) -> Change:
    """A file that comes or goes with the slurm.conf beside it."""
    return replace(
        _file_change(target, old.get(target), new.get(target)),
        effects=(NONE,),
        reason="added or removed with slurm.conf",
    )


def _file_change(target: str, old: NodeFile | None, new: NodeFile | None) -> Change:
    either = new or old
    assert either is not None
    if new is None and _is_left(either):
        return Change(target, "file", (NONE,), LEFT, old=_lines(old))
    effects: tuple[Effect, ...] = (either.effect,)
    reason = ""
    if old is None or new is None:
        before, after = _lines(old), _lines(new)
        if new is None and _SERVICE.fullmatch(target) and either.effect == DAEMON_RELOAD:
            reason = ENDED
    elif old.sha256 == new.sha256:
        effects = (NONE,)
        before, after = f"{old.mode} {old.owner}", f"{new.mode} {new.owner}"
    else:
        old_lines, new_lines = (Counter(file.text.splitlines()) for file in (old, new))
        before = _lines(old)
        after = f"+{(new_lines - old_lines).total()} -{(old_lines - new_lines).total()} lines"
        if same_but_for_comments(old.text, new.text):
            effects, reason = (NONE,), COMMENTS
        elif read_by_jobs(target) and new.effect == NONE:
            reason = JOBS_READ_IT
    waiting = _below(old.text) if old is not None and new is None and either.effect.kind == "remount" else ()
    return Change(target, "file", effects, reason, old=before, new=after, waiting=waiting)


def _below(text: str) -> tuple[AffectedJobs, ...]:
    """Pending jobs of a mount unit that goes. Without its directory a job runs in /tmp; output that slurmd cannot open
    ends the job (JobLaunchFailure, exit 0:53); newer releases make directories where the user may.
    """
    words = "pending jobs with their directory or output below {0} fail when they start, or write elsewhere"
    return tuple(AffectedJobs(words.format(place), "FAILED") for place in _WHERE.findall(text))


def _lines(file: NodeFile | None) -> str | None:
    return None if file is None else f"{len(file.text.splitlines())} lines"
