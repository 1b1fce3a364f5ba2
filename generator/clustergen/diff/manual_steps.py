"""Manual steps, and steps with a playbook of their own, before and after `site.yml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.file_system import file_systems
from clustergen.diff.change import Change, folded
from clustergen.diff.compare import LEFT
from clustergen.diff.host_values import TMPDIR_VALUES
from clustergen.diff.release import path_between
from clustergen.diff.step import REMOVE, UPGRADE, Step, Work
from clustergen.diff.windows import ADDRESS, SERVERS
from clustergen.render.effects import NONE, Effect
from clustergen.render.unit_names import mount_unit
from clustergen.slurmconf.scalars import hosts_of

_KEEPS = "so that no job is lost: stop slurmctld,"
_GOES_ON = "and apply with cluster_jobs_may_be_lost=true"


def before(work: Work) -> Iterable[Step]:
    """Steps before applying the tree."""
    removed = set(work.removed)
    yield from _of_features(work, are_first=True)
    for change in work.changes:
        yield from _of_the_controllers(work, change)
    yield from _numbers(work)
    yield from _addresses(work)
    yield from _file_systems(work)
    yield from _moved(work)
    yield from _abandoned(work, unmounted=True)
    for change in work.changes:
        if change.kind == "packages" and change.name and change.effect == NONE:
            text = (
                f"upgrade {change.name} from {change.old} to {change.new} by its guide: servers, then drained clients"
            )
            yield Step(text, change.nodes, "")
    if work.left_accounting:
        text = f"stop slurmdbd on {folded(work.left_accounting)}, and copy its database: slurmctld ends without it"
        yield Step(text, folded(work.accounting), "")
    yield from _recabling(work)
    yield from _fitting(work.gained, "fit them with what is new, unless it is there", work)
    for change in work.changes:
        if change.file in work.reformatted:
            text = f"drain with clustergen.cluster.drain, unmount and {work.reformatted[change.file]}"
            yield Step(text, work.hosts([change]), "")
    for change in work.systems:
        yield from _anew(work, change)
    if work.arrival and work.arrival.without_job:
        text = "let users end what they run: from now on prologs and epilogs end their processes outside of jobs"
        yield Step(text, work.arrival.without_job, "")
    if work.release:
        yield from _upgrade(work, work.release)
    drained = _drained_and_removed(work)
    if drained and removed:
        text = "drain and stop the removed nodes, with the old tree"
        yield Step(text, work.hosts(drained), REMOVE, "remove")
    if work.renamed:
        names = f"{folded(work.renamed)} → {folded(work.renamed.values())}"
        text = f"rename the machines with hostnamectl set-hostname: {names}"
        yield Step(f"{text}; where another one takes over the address, copy what is on its disks", None, "")


def after(work: Work) -> Iterable[Step]:
    """Steps after applying the tree, for things that it leaves as they are."""
    yield from _of_features(work, are_first=False)
    yield from _fitting(work.lost, "take out what Slurm no longer counts", work)
    if work.kept:
        commands = "; ".join(work.kept)
        text = f"delete what the manifest no longer has: {commands}"
        yield Step(text, folded(work.controllers[:1]), "", "commands", commands)
    yield from _abandoned(work, unmounted=False)
    serving = set(hosts_of(work.hosts(_drained_and_removed(work)) or ""))
    if hosts := [host for host in work.retired if host not in serving]:
        # After the others, which may use their file systems until now.
        yield Step("stop what runs on the removed nodes, with the old tree", folded(hosts), REMOVE, "retire")
    if controllers := [host for host in _moved_controllers(work) if host not in set(work.compute)]:
        yield Step("remove the old address from the machine", folded(controllers), "")
    kept: dict[str, list[str]] = {}
    for change in work.changes:
        if change.row.endswith(" kept"):
            kept.setdefault(change.name, []).append(f"{change.key}={change.new or ''}")
    for name, settings in kept.items():
        command = f"scontrol update PartitionName={name} {' '.join(settings)}"
        text = f"{command}: slurmctld keeps the values that it has"
        yield Step(text, folded(work.controllers[:1]), "", "commands", command)
    rebooted = set(hosts_of(work.hosts(work.with_kind("reboot"), work.compute) or ""))
    lasting = hosts_of(work.hosts([change for change in work.changes if change.reason == LEFT]) or "")
    if hosts := [host for host in lasting if host not in rebooted]:
        yield Step("reboot when it suits: what is no longer set keeps its value until then", folded(hosts), "")
    for change in work.changes:
        if change.kind == "node" and change.key == "State" and (change.new or "").upper() == "FUTURE":
            command = f"scontrol update NodeName={change.name} State=FUTURE"
            text = f"{command}: a node that slurmctld knows keeps its state"
            yield Step(text, folded(work.controllers[:1]), "", "commands", command)


def _of_features(work: Work, *, are_first: bool) -> Iterable[Step]:
    for step in work.manual:
        changed = [change for change in work.changes if change.kind == "file" and change.file.startswith(step.below)]
        if step.is_first is are_first and (changed or not step.below):
            yield Step(step.text, work.hosts(changed) if step.below else None, "")


def _drained_and_removed(work: Work) -> list[Change]:
    """Nodes that slurm.conf no longer has."""
    drained = work.with_kind("drain")
    return [change for change in drained if change.kind == "node" and not change.key and change.new is None]


def _abandoned(work: Work, *, unmounted: bool) -> Iterable[Step]:
    """Directories of jobs that no epilog removes: before the run if it unmounts them."""
    removed = {change.file for change in work.changes if change.new is None and change.file.endswith(".mount")}
    for directory in work.abandoned:
        places = [directory, *map(str, PurePosixPath(directory).parents)]
        if any(f"/etc/systemd/system/{mount_unit(place)}" in removed for place in places) is unmounted:
            scratch = work.hosts([change for change in work.changes if change.file == TMPDIR_VALUES])
            if unmounted:
                text = (
                    f"drain with clustergen.cluster.drain, and remove what is left in {directory}, which is unmounted"
                )
            else:
                text = f"remove what is left in {directory} once the jobs that run now have ended"
            yield Step(f"{text}: the new epilog does not remove their directories", scratch, "")


def _of_the_controllers(work: Work, change: Change) -> Iterable[Step]:
    if change.kind != "key" or not change.file.endswith("/slurm.conf"):
        return
    controllers = folded(work.controllers)
    if change.key == "StateSaveLocation" and Effect("refuse") in change.effects:
        yield Step(f"{_KEEPS} move its files from {change.old} to {change.new}, {_GOES_ON}", controllers, "")
    elif change.key == "SlurmctldHost" and Effect("refuse") in change.effects:
        if hosts_that_left(change) <= work.renamed.keys():
            yield Step(f"{_KEEPS.removesuffix(',')} on {change.old}, {_GOES_ON}", controllers, "")
        else:
            yield Step(f"{_KEEPS} copy StateSaveLocation from {change.old}, {_GOES_ON}", controllers, "")
    elif change.key == "ClusterName" and Effect("refuse") in change.effects:
        text = "delete the file clustername in StateSaveLocation, or slurmctld does not start under the new name"
        yield Step(text, controllers, "")
    elif change.key == "SlurmUser":
        text = f"stop Slurm's daemons, create the account {change.new}, chown StateSaveLocation and /var/log/slurm"
        hosts = folded(dict.fromkeys((*work.controllers, *work.accounting)))
        yield Step(text, hosts, "", "new-user", change.new)


def hosts_that_left(change: Change) -> set[str]:
    """Of a change of SlurmctldHost: the controllers that it no longer names."""
    before, after = ({host.partition("(")[0] for host in (side or "").split(",")} for side in (change.old, change.new))
    return before - after


def _numbers(work: Work) -> Iterable[Step]:
    if work.renumbered:
        text = f"stop Slurm's daemons, renumber {'; '.join(work.renumbered)} (usermod, groupmod), and chown the files"
        yield Step(f"{text}: systemd-sysusers does not change existing accounts", None, "")


def _addresses(work: Work) -> Iterable[Step]:
    """No file of the tree sets a management address; from now on the inventory looks for the machines there."""
    moved = [change for change in work.changes if change.kind == "node" and change.key == "NodeAddr"]
    hosts = [*hosts_of(work.hosts(moved) or ""), *_moved_controllers(work)]
    compute = set(work.compute)
    hosts = list(dict.fromkeys([*hosts, *(host for host in work.moved if host in compute)]))
    if nodes := [host for host in hosts if host in compute]:
        text = "drain with clustergen.cluster.drain, wait for their jobs, and change the addresses of the machines"
        yield Step(text, folded(nodes), "")
    if controllers := [host for host in hosts if host not in compute]:  # scontrol calls the old one until the end
        yield Step("add the new address to the machine, and keep the old one", folded(controllers), "")
    if rest := set(work.moved).difference(hosts):
        yield Step("change the address of the machine", folded(rest), "")
    networked = [change for change in work.changes if change.file.startswith("/etc/clustergen-network/")]
    by_playbook = set(hosts_of(work.hosts(networked) or ""))
    others = [host for host in work.readdressed if host not in by_playbook]
    if nodes := [host for host in others if host in compute]:
        text = "drain with clustergen.cluster.drain, wait for their jobs, and change the addresses of their interfaces"
        yield Step(text, folded(nodes), "")
    if rest := set(others).difference(nodes):
        text = "change the addresses of their interfaces, while the nodes that need them are drained"
        yield Step(text, folded(rest), "")


def _moved_controllers(work: Work) -> Iterable[str]:
    """Controllers that keep their name and get another address."""
    for change in work.changes:
        if change.key == "SlurmctldHost" and Effect("refuse") not in change.effects:
            previous, current = (set((side or "").split(",")) for side in (change.old, change.new))
            before = {host.partition("(")[0] for host in previous - current}
            yield from (name for host in sorted(current - previous) if (name := host.partition("(")[0]) in before)


def _recabling(work: Work) -> Iterable[Step]:
    """Cables and devices of machines in service. New machines are cabled while the others run."""
    if work.room is None:
        return
    compute = set(work.compute)
    nodes = [host for host in work.room.recabled if host in compute]
    others = [host for host in work.room.recabled if host not in compute]
    if nodes:
        text = "recable: drain with clustergen.cluster.drain, wait for their jobs, power off, and move the cables"
        yield Step(text, folded(nodes), "")
    if others:
        yield Step("recable: their services stop; drain the nodes that need them, and power off", folded(others), "")
    if work.room.narrowed:
        text = "recable uplinks, one cable at a time: less bandwidth meanwhile, jobs continue"
        yield Step(text, folded(work.room.narrowed), "")
    if work.room.recabled_bmc:
        yield Step("recable the BMC; jobs continue", folded(work.room.recabled_bmc), "")


def _fitting(changes: Mapping[str, str], verb: str, work: Work) -> Iterable[Step]:
    """Hardware that comes before Slurm reads of it, or goes afterwards: a node never has less than slurm.conf says."""
    nodes: dict[str, list[str]] = {}
    for host in filter(set(work.compute).__contains__, changes):
        nodes.setdefault(changes[host], []).append(host)
    for what, hosts in nodes.items():
        text = f"drain with clustergen.cluster.drain, wait for their jobs, power off, {verb} ({what}), and resume"
        yield Step(text, folded(hosts), "")


def _file_systems(work: Work) -> Iterable[Step]:
    """A new file system that its own daemon mounts: its clients have to join first, which no playbook does."""
    added = [change for change in work.changes if change.kind == "file" and change.old is None]
    for kind in file_systems():
        first, name, last = kind.ready_unit.partition("{name}")
        for change in added if name else ():
            unit = change.file.removeprefix("/etc/systemd/system/")
            if unit.startswith(first) and unit.endswith(last):
                entry = unit.removeprefix(first).removesuffix(last)
                text = f"follow the manual steps for file system {entry} in the tree's README.md"
                yield Step(text, work.hosts([change]), "")


def _moved(work: Work) -> Iterable[Step]:
    """Data that is elsewhere from now on."""
    for change in work.with_kind("window"):
        unit = change.effect.unit
        if change.key == SERVERS:
            names = unit if change.old else "what the servers offer"
            target, _, server = (change.old or "").partition(" on ")
            place = (change.new or "").rpartition(" on ")[2]
            verb = f"move {target} from {server} to {place}" if place else f"empty and deactivate {target}"
            text = f"drain with clustergen.cluster.drain, unmount {names}{f', and {verb}' if change.old else ''}"
        elif change.kind == "packages":
            text = f"drain with clustergen.cluster.drain, stop {change.name} everywhere, and upgrade it by its guide"
        else:
            verb = f"copy {change.old} to {change.new}"
            if change.key == ADDRESS:
                verb = f"change the servers' addresses: {change.old} becomes {change.new}"
                verb += " (lctl replace_nids)" if "@" in str(change.new) else ""
            elif change.reason:
                verb += ", unless both are one server"
            text = f"drain with clustergen.cluster.drain, stop {unit}, and {verb}"
        yield Step(text, work.hosts([change]), "")


def _anew(work: Work, change: Change) -> Iterable[Step]:
    hosts = set(hosts_of(change.nodes or ""))
    for kept, servers in (("StateSaveLocation", work.controllers), ("the accounting database", work.accounting)):
        if reinstalled := hosts.intersection(servers):
            yield Step(f"back up {kept}, and restore it on the new system", folded(reinstalled), "")
    if nodes := hosts.intersection(work.compute):
        yield Step(f"drain, and install {change.new}; then clustergen.cluster.replace", folded(nodes), "")
    if others := hosts.difference(work.compute):
        yield Step(f"install {change.new}", folded(others), "")


def _upgrade(work: Work, change: Change) -> Iterable[Step]:
    if change.new is None:
        text = "end all jobs, stop and disable slurmctld, slurmdbd and slurmd, and remove Slurm's packages"
        yield Step(f"{text}: site.yml removes only their files", None, "")
        return
    if change.old is not None and SlurmRelease(change.new) < SlurmRelease(change.old):
        text = "restore the accounting database and StateSaveLocation from before the upgrade"
        yield Step(text, folded([*work.accounting, *work.controllers]), "")
        return
    text = f"back up {'the accounting database and ' if work.accounting else ''}StateSaveLocation"
    yield Step(text, folded([*work.accounting, *work.controllers]) or None, "")
    for release in path_between(SlurmRelease(change.old or ""), SlurmRelease(change.new or "")):
        text = f"upgrade Slurm to {release}: slurmdbd, then slurmctld, then slurmd and the commands"
        yield Step(text, None, UPGRADE, "upgrade")
