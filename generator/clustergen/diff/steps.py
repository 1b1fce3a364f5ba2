"""The steps of applying a change, from the effects of a plan, in the order of steps.tsv, which site.yml follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from clustergen.catalogue.effects import step_kinds
from clustergen.diff import manual_steps
from clustergen.diff.change import Change, folded
from clustergen.diff.packages import PACKAGES, UNIT
from clustergen.diff.policy import VALUES
from clustergen.diff.step import Step, Work
from clustergen.diff.windows import RENAMED, SERVERS, is_served
from clustergen.records import replace
from clustergen.render.effects import AGAIN, NONE, Effect
from clustergen.slurmconf.scalars import hosts_of

GATE = "Jobs at risk"
PREPARE = "Accounts and packages"
EMPTY = "Nodes to drain before any change"
STOP = "Daemons to stop during the change"
PUT, DRAINED = "Files", "Drained nodes"
ACCOUNTING, CONTROLLERS, NODES = "Accounting", "Controllers", "Nodes"
REGISTERED = "Controllers of registered nodes"
LOGINS, RESUME, ROUTERS, TURNS = "Logins", "Resume drained nodes", "LNet routers", "Rolling batch"
WITHDRAW = "File systems without clients"
_BESIDE_JOBS = ("none", "create", "daemon-reload", "sysctl", "start", "run", "window", "reload", "restart", "stop")
_EMPTYING = ("remount", "drain", "reboot")
_LATER = ("slurmd.service", "slurmctld.service", "slurmdbd.service")
_MOST = 4
_Part = tuple[str, str | None]
"""A step on a host, and the unit or the packages that it is about."""


def partitions(changes: Sequence[Change]) -> str:
    """`partition a, partition b`; of many, the first of them and how many they are."""
    names = [change.name for change in changes]
    if len(names) <= _MOST:
        return ", ".join(f"partition {name}" for name in names)
    return f"{len(names):,} partitions ({_listed(names)})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST else f"{', '.join(names[: _MOST - 1])} …"


def _step(play: str, kind: str, hosts: str | None, what: str | None = None) -> Step:
    return Step(step_kinds()[play, kind].text.format(what=what), hosts, play, kind, what)


def _gate(work: Work) -> Iterable[Step]:
    if work.with_kind("refuse"):
        yield _step(GATE, "wait", None, "no job is running or pending")
    if cancelling := work.with_kind("cancel-jobs"):
        has = "has" if len(cancelling) == 1 else "have"
        yield _step(GATE, "wait", None, f"{partitions(cancelling)} {has} no jobs")


def _drained(work: Work) -> list[str]:
    """The nodes without jobs before any file changes."""
    removed = set(work.removed)
    draining = [change for change in work.changes if {Effect("drain"), Effect("vacate")} & set(change.effects)]
    draining += work.with_kind("window")
    return [name for name in hosts_of(work.hosts(draining, work.compute) or "") if name not in removed]


def _drain(work: Work) -> Iterable[Step]:
    if nodes := _drained(work):
        yield _step(EMPTY, "drain", folded(nodes))


def _stop(work: Work) -> Iterable[Step]:
    if work.with_kind("refuse"):
        yield _step(STOP, "stop-slurm", folded({*work.controllers, *work.compute}), "slurmd and slurmctld")
    elif work.with_kind("move-state"):
        yield _step(STOP, "stop-slurm", folded(work.controllers), "slurmctld")


def _put(work: Work) -> Iterable[Step]:
    in_files = [change for change in work.changes if change.kind not in (PACKAGES, UNIT)]
    if in_files or work.added:
        # Slurm's files are everywhere, whichever nodes their lines are about.
        everywhere = any(not change.is_beside_slurm and change.file != VALUES for change in in_files)
        hosts = None if everywhere else work.hosts(in_files)
        yield _step(PUT, "files", hosts and folded({*hosts_of(hosts), *work.added}))
    if work.added:
        yield _step(PUT, "install-all", folded(work.added))


def _parts(change: Change, effect: Effect) -> Iterator[_Part]:
    """The steps of one effect."""
    if change.kind == PACKAGES and change.new and (effect != NONE or not change.name):
        yield ("window" if effect.kind == "window" else "install"), change.new
    if effect.kind == "remount" and change.kind == "file" and change.new is None:
        yield "unmount", effect.unit
    elif change.key == RENAMED:
        yield "unmount-all", effect.unit
    elif effect != NONE and (change.kind != PACKAGES or effect.kind == "reboot"):
        yield effect.kind, effect.unit


def _on_hosts(work: Work) -> Iterable[Step]:
    """Yields what hosts carry out by themselves: with the files where no job notices, without jobs where one would.

    A node that is drained anyway does the latter before Slurm reads the files, and is resumed once; others take turns.
    Hosts that serve no jobs reboot in turns, and do the rest at once; routers of LNet do all in turns.
    """
    compute, routers = set(work.compute), set(work.routers)
    at_once: dict[tuple[str, _Part], dict[str | None, None]] = {}
    booting = _mounted_at_boot(work)
    late: dict[str | None, dict[_Part, None]] = {}
    effects = [(change, effect) for change in work.changes for effect in change.effects if effect.unit not in _LATER]
    # What a host stops waits for the rest of its turn, so that is known first.
    for change, effect in sorted(effects, key=lambda pair: pair[1].kind == "stop"):
        kind: str = effect.kind
        if effect == Effect("drain") or kind not in (*_BESIDE_JOBS, *_EMPTYING):
            continue
        if _is_withdrawn(change) or change.key == SERVERS or (kind == "window" and Effect("reboot") in change.effects):
            continue
        everyone = work.compute if kind in _EMPTYING else (None,)
        for host in everyone if change.nodes is None else hosts_of(change.nodes):
            if kind == "remount" and (host, effect.unit) in booting:
                continue
            is_emptied = kind in _EMPTYING and host in compute | routers
            is_late = kind == "reboot" or is_emptied or (kind == "stop" and host in late)
            is_late = is_late or (kind == "start" and change.effect.kind == "drain" and host in compute)
            for part in _parts(change, effect):
                if is_late:
                    late.setdefault(host, {})[part] = None
                else:
                    play = PREPARE if change.kind == PACKAGES else PUT
                    part = ("restart", part[1]) if part[0] == "drain" else part
                    at_once.setdefault((play, part), {})[host] = None
    drained = set(_drained(work))
    for host in [host for host in late if host in drained]:
        for part in late.pop(host):
            at_once.setdefault((DRAINED, part), {})[host] = None
    for (play, (kind, what)), hosts in at_once.items():
        yield _step(play, kind, None if None in hosts else folded(filter(None, hosts)), what)
    alike: dict[tuple[str, tuple[Step, ...]], list[str]] = {}
    for host, parts in late.items():
        ordered = sorted((_step(DRAINED, kind, None, what) for kind, what in parts), key=_place)
        turn = "turn" if host in compute else "turn-of-router" if host in routers else "turn-of-host"
        alike.setdefault((turn, tuple(ordered)), []).append(str(host))
    for (turn, whole), names in alike.items():
        text = ", ".join(step.text for step in whole)
        play = ROUTERS if turn == "turn-of-router" else TURNS
        yield replace(_step(play, turn, folded(names), text), what=None, parts=whole)


def _mounted_at_boot(work: Work) -> set[tuple[str, str | None]]:
    """Hosts with mount units of a file system whose module is replaced: only the reboot mounts them."""
    replaced = [
        change
        for change in work.changes
        if change.kind == PACKAGES and {"window", "reboot"} <= {effect.kind for effect in change.effects}
    ]
    return {
        (host, effect.unit)
        for package in replaced
        for change in work.with_kind("remount")
        if change.file.startswith(f"/etc/{package.name.lower()}/")
        for effect in change.effects
        for host in {*hosts_of(change.nodes or "")} & {*hosts_of(package.nodes or "")}
    }


def _served(work: Work) -> Iterable[Step]:
    """Stops of file systems on servers: those with a window in it, others when all clients have unmounted them."""
    windows = {change.file for change in work.with_kind("window")}
    by_step: dict[tuple[str, str, str | None], list[str]] = {}
    for change in filter(_is_withdrawn, work.changes):
        is_mount = change.file.endswith(".mount")
        unit = change.file.rpartition("/")[2] if is_mount else str(change.effect.unit)
        play = PUT if change.file in windows else WITHDRAW
        by_step.setdefault((play, "withdraw" if is_mount else "reload", work.hosts([change])), []).append(unit)
    for (play, kind, hosts), units in by_step.items():
        yield _step(play, kind, hosts, _listed(list(dict.fromkeys(units))))


def _is_withdrawn(change: Change) -> bool:
    return change.kind == "file" and change.new is None and is_served(change.file)


def _daemon(word: str, play: str, where: Callable[[Work], Sequence[str]]) -> Callable[[Work], Iterable[Step]]:
    kind = f"restart-{word}"
    kinds = (kind, "restart-slurm") if word != "slurmdbd" else (kind,)

    def steps(work: Work) -> Iterable[Step]:
        restarting = work.with_kind(*kinds)
        restarting += [change for change in work.changes if Effect("restart", f"{word}.service") in change.effects]
        stopped = word != "slurmdbd" and work.with_kind("refuse")
        stopped = stopped or (word == "slurmctld" and work.with_kind("move-state"))
        if not (restarting or stopped):
            return
        hosts: str | None = folded(where(work))
        if word == "slurmd" and not stopped and not any(change.everywhere for change in restarting):
            hosts = work.hosts(restarting, where(work))
        if hosts:
            step = _step(play, kind, hosts)
            yield replace(step, text=f"start {word}") if stopped or work.arrival else step

    return steps


def _on_controllers(work: Work) -> Iterable[Step]:
    first = folded(work.controllers[:1])
    if work.with_kind("new-cluster-id"):
        yield _step(CONTROLLERS, "new-cluster-id", folded(work.controllers))
    for change in work.with_kind("move-state"):
        yield _step(CONTROLLERS, "move-state", first, f"{change.old} to {change.new}")
    if work.with_kind("load-accounts"):
        yield _step(CONTROLLERS, "load-accounts", first)
    all_start = work.with_kind("refuse") or any(change.everywhere for change in work.with_kind("restart-slurm"))
    if work.with_kind("reconfigure") and not all_start:  # else all daemons have read all of it
        yield _step(CONTROLLERS, "reconfigure", first)


def _again(work: Work) -> Iterable[Step]:
    if any(AGAIN in change.effects for change in work.changes):
        yield _step(REGISTERED, "restart-slurmctld", folded(work.controllers))


def _logins(work: Work) -> Iterable[Step]:
    if work.arrival and work.arrival.without_login:
        yield _step(LOGINS, "logins", work.arrival.without_login)


def _resume(work: Work) -> Iterable[Step]:
    drained = _drained(work)
    vacated = [change for change in work.changes if Effect("vacate") in change.effects or _is_removed_node(change)]
    stay = set(hosts_of(work.hosts(vacated) or ""))
    nodes = [name for name in drained if name not in stay]
    if len(nodes) < len(drained):  # a node with another name may inherit the drain
        nodes += [name for change in work.changes if _is_new_node(change) for name in hosts_of(change.name)]
    if nodes:
        yield _step(RESUME, "resume", folded(nodes))


def _is_new_node(change: Change) -> bool:
    return change.kind == "node" and not change.key and change.old is None


def _is_removed_node(change: Change) -> bool:
    return change.kind == "node" and not change.key and change.new is None


def _place(step: Step) -> int:
    return list(step_kinds()).index((step.play, step.kind))


_OF_SITE: tuple[Callable[[Work], Iterable[Step]], ...] = (
    _gate,
    _drain,
    _stop,
    _put,
    _on_hosts,
    _served,
    _daemon("slurmdbd", ACCOUNTING, lambda work: work.accounting),
    _daemon("slurmctld", CONTROLLERS, lambda work: work.controllers),
    _on_controllers,
    _daemon("slurmd", NODES, lambda work: work.compute),
    _again,
    _logins,
    _resume,
)


def steps(work: Work) -> tuple[Step, ...]:
    """The steps, in order."""
    of_site = sorted((step for make in _OF_SITE for step in make(work)), key=_place)
    return (*manual_steps.before(work), *of_site, *manual_steps.after(work))
