"""Packages and units of hosts that stay, from the variables of both inventories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from clustergen.catalogue import package_effects
from clustergen.catalogue.package_effects import PackageEffect
from clustergen.cluster.file_system import file_system
from clustergen.cluster.groups import entry_group, group_name, mount_group
from clustergen.diff.change import Change, folded
from clustergen.diff.inventory import variables_of
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.snapshot import Snapshot
from clustergen.records import replace
from clustergen.render.effects import NONE, Effect, read
from clustergen.render.inventory_file import VARIABLES

PACKAGES, UNIT = "packages", "unit"
_OF_SLURM = tuple(f"{daemon}.service" for daemon in ("slurmdbd", "slurmctld", "slurmd", "sackd", "slurmrestd"))
_BESIDE_JOBS = "installed at once; running jobs continue"
_RUNS = "no playbook stops it: it keeps running"
_STAY = "no playbook removes packages: they stay installed"
_UPGRADED = "no playbook upgrades packages that keep their names"
_GROUPS = tuple[str, ...]
Names = Mapping[str, Sequence[str]]


def changes_beside_files(
    old: Snapshot, new: Snapshot, pairs: Mapping[tuple[_GROUPS, _GROUPS], Sequence[str]]
) -> Iterator[Change]:
    """`pairs`: groups before and after → the hosts that have them. A host with another operating system is left out."""
    if old.variables == new.variables and all(before == after for before, after in pairs):
        return
    merged: dict[Change, list[str]] = {}
    for (before, after), hosts in pairs.items():
        ending = [_unit(unit) for unit in dropped_units(old, before, new, after)]
        by_system: dict[str, list[str]] = {}
        for host in hosts:
            system = new.inventory.systems.get(host, "")
            if old.inventory.systems.get(host, system) == system:
                by_system.setdefault(system, []).append(host)
        for system, alike in by_system.items():
            changes = _of_host(_packages(old, before, system), _packages(new, after, system))
            for change in (*changes, *ending):
                merged.setdefault(change, []).extend(alike)
    for change, names in merged.items():
        yield replace(change, nodes=folded(names))


def upgrades(old: Snapshot, new: Snapshot, edits: Iterable[ManifestChange]) -> Iterator[tuple[Change, ManifestChange]]:
    """Other releases of file systems whose packages keep their names, by the manifest: no file of a tree has them."""
    entries = ((new.source and new.source.data) or {}).get("storage", {})
    for edit in edits:
        if edit.path[:1] != ("storage",) or edit.path[2:] != ("version",) or edit.old is None or edit.new is None:
            continue
        name, before, after = str(edit.path[1]), edit.old.strip("'\""), edit.new.strip("'\"")
        kind = file_system(entries[name]["type"])
        if kind.has_releases and before.split(".")[0] == after.split(".")[0]:  # another major release has other names
            groups = {mount_group(name), entry_group("serve", name)}
            staying = [host for host in new.inventory.hosts if host in old.inventory.hosts]
            hosts = [host for host in staying if groups.intersection(new.inventory.hosts[host])]
            yield replace(_change(f"{kind.kind} {name}", before, after, NONE, _UPGRADED), nodes=folded(hosts)), edit


def _packages(side: Snapshot, groups: Iterable[str], system: str) -> dict[str, tuple[str, ...]]:
    """Purpose → packages of a host, in the order of the system's table."""
    purposes = _mapping(side.variables.get(VARIABLES, ""), "cluster_packages")
    names = _mapping(side.variables.get(f"inventory/group_vars/os_{group_name(system)}.yml", ""), "os_packages")
    listed = {purpose for group in groups for purpose in purposes.get(group, ())}
    return {purpose: tuple(packages) for purpose, packages in names.items() if purpose in listed}


def dropped_units(old: Snapshot, before: _GROUPS, new: Snapshot, after: _GROUPS) -> list[str]:
    """Services that an earlier tree started. Slurm's daemons have effects of their own, and a unit whose file goes ends
    with it.
    """
    units = _without(units_of(old, before), units_of(new, after)).split()
    removed = {target.rpartition("/")[2] for target in old.of_groups(before)} if units else set()
    return [unit for unit in units if unit not in removed and unit not in _OF_SLURM]


def _unit(unit: str) -> Change:
    effect, reason = (Effect("stop", unit), "") if package_effects.is_stopped(unit) else (NONE, _RUNS)
    return _change("", unit, None, effect, reason, kind=UNIT)


def units_of(side: Snapshot, groups: Iterable[str]) -> list[str]:
    """Units that the tree starts on a host."""
    units = _mapping(side.variables.get(VARIABLES, ""), "cluster_units")
    return [unit for group in groups for unit in units.get(group, ())]


def _mapping(text: str, name: str) -> Names:
    """A variable of the inventory; empty where the text is not in clustergen's format."""
    try:
        values = variables_of(text).get(name)
    except (ValueError, AttributeError):
        return {}
    return values if isinstance(values, dict) else {}


def _of_host(before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]]) -> Iterator[Change]:
    installed, requested = (dict.fromkeys(chain.from_iterable(side.values())) for side in (before, after))
    replaced: dict[str, PackageEffect] = {}
    for purpose, names in after.items():
        row = package_effects.of_purpose(purpose)
        if row and row.replaces and not installed.keys() >= set(names) and _of_family(before, row.family):
            replaced.setdefault(row.family, row)
    for row in replaced.values():
        previous, current = (_of_family(side, row.family) for side in (before, after))
        dropped, fresh = _without(previous, current), _without(current, previous)
        change = _change(row.family, dropped or None, fresh, NONE, row.note, row.source)
        yield replace(change, effects=tuple(map(read, row.effect)))
        done = {*previous, *current}
        installed, requested = ({name: None for name in side if name not in done} for side in (installed, requested))
    if fresh := _without(requested, installed):
        yield _change("", None, fresh, NONE, _BESIDE_JOBS)
    if dropped := _without(installed, requested):
        yield _change("", dropped, None, NONE, _STAY)


def _without(names: Iterable[str], others: Iterable[str]) -> str:
    listed = set(others)
    return " ".join(dict.fromkeys(name for name in names if name not in listed))


def _of_family(packages: Mapping[str, Sequence[str]], family: str) -> list[str]:
    rows = {purpose: package_effects.of_purpose(purpose) for purpose in packages}
    return [name for purpose, row in rows.items() if row and row.family == family for name in packages[purpose]]


def _change(
    name: str, old: str | None, new: str | None, effect: Effect, reason: str, source: str = "", kind: str = PACKAGES
) -> Change:
    return Change("", kind, (effect,), reason, name, old=old, new=new, source=source)
