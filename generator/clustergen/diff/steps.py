"""The steps of applying a change: the plays of site.yml, and the work that the effects of a plan give to each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from clustergen.catalogue.effects import order_on_a_node
from clustergen.diff import manual_steps
from clustergen.diff.change import Change, folded
from clustergen.diff.packages import PACKAGES, UNIT
from clustergen.diff.policy import VALUES
from clustergen.diff.step import Step, Work
from clustergen.render.effects import NONE, Effect
from clustergen.slurmconf.scalars import hosts_of

GATE = "Jobs at risk"
EMPTY = "Nodes to drain before any change"
STOP = "Daemons to stop during the change"
PUT = "Files"
ACCOUNTING, CONTROLLERS, NODES = "Accounting", "Controllers", "Nodes"
RESUME, TURNS = "Resume drained nodes", "Rolling batch"
PLAYS = (GATE, EMPTY, STOP, PUT, ACCOUNTING, CONTROLLERS, NODES, RESUME, TURNS)
"""Names of plays of site.yml, in its order."""
_MOST_PARTITIONS = 4


def partitions(changes: Sequence[Change]) -> str:
    """`partition a, partition b`; of many, the first of them and how many they are."""
    names = [change.name for change in changes]
    if len(names) <= _MOST_PARTITIONS:
        return ", ".join(f"partition {name}" for name in names)
    return f"{len(names):,} partitions ({', '.join(names[: _MOST_PARTITIONS - 1])} …)"


def _gate(work: Work) -> Iterable[Step]:
    if work.with_kind("refuse"):
        yield Step("wait until no job is running or pending, or set cluster_jobs_may_be_lost=true", None, GATE)
    if cancelling := work.with_kind("cancel-jobs"):
        has = "has" if len(cancelling) == 1 else "have"
        text = f"wait until {partitions(cancelling)} {has} no jobs, or set cluster_jobs_may_be_lost=true"
        yield Step(text, None, GATE)


def _drain(work: Work) -> Iterable[Step]:
    removed = set(work.removed)
    draining = [change for change in work.changes if {Effect("drain"), Effect("vacate")} & set(change.effects)]
    draining += work.with_kind("window")
    nodes = [name for name in hosts_of(work.hosts(draining, work.compute) or "") if name not in removed]
    if nodes:
        yield Step("drain, and wait for their jobs", folded(nodes), EMPTY)


def _stop(work: Work) -> Iterable[Step]:
    if work.with_kind("refuse"):
        hosts = folded({*work.controllers, *work.compute, *work.accounting})
        yield Step("stop slurmd, slurmctld and slurmdbd", hosts, STOP)
    elif work.with_kind("move-state"):
        yield Step("stop slurmctld", folded(work.controllers), STOP)


_LOCAL = {
    "create": "create accounts and directories (systemd-sysusers, systemd-tmpfiles)",
    "daemon-reload": "systemctl daemon-reload",
    "sysctl": "sysctl --system",
    "run": "run {unit}",
    "reload": "reload {unit}",
    "restart": "restart {unit}",
    "stop": "stop and disable {unit}",
}
"""Effects that need no empty node."""


def _put(work: Work) -> Iterable[Step]:
    for change in work.changes:
        if change.kind == PACKAGES and change.new and change.effect == NONE:
            yield Step(f"install {change.new}", work.hosts([change]), PUT)
    in_files = [change for change in work.changes if change.kind not in (PACKAGES, UNIT)]
    if in_files or work.added:
        # Slurm's files are everywhere, whichever nodes their lines are about.
        everywhere = any(not change.is_beside_slurm and change.file != VALUES for change in in_files)
        hosts = None if everywhere else work.hosts(in_files)
        yield Step("install the changed files", hosts and folded({*hosts_of(hosts), *work.added}), PUT)
    if work.added:
        yield Step("install packages and all files, start all units", folded(work.added), PUT)
    for kind in (kind for kind in order_on_a_node() if kind in _LOCAL):
        by_unit: dict[str | None, list[Change]] = {}
        for change in work.changes:
            for effect in change.effects:
                if effect.kind == kind and effect.unit not in _LATER:
                    by_unit.setdefault(effect.unit, []).append(change)
        for unit, changes in by_unit.items():
            yield Step(_LOCAL[kind].format(unit=unit), work.hosts(changes), PUT)
    for change in work.with_kind("window"):
        verb = f"install {change.new}" if change.kind == PACKAGES else f"unmount and mount {change.effect.unit}"
        text = f"{verb}, on all hosts at once (cluster_window)"
        yield Step(text, work.hosts([change]), PUT)
    for text, hosts in _of_each_host(work, ("remount", "drain"), serving=False):
        yield Step(f"{text}, with users logged in", hosts, PUT)
    for change in work.with_kind("start"):
        yield Step(f"mount {change.effect.unit}", work.hosts([change]), PUT)


def _daemon(
    word: str, text: str, play: str, where: Callable[[Work], Sequence[str]]
) -> Callable[[Work], Iterable[Step]]:
    kinds = (f"restart-{word}", "restart-slurm") if word != "slurmdbd" else (f"restart-{word}",)
    unit = f"{word}.service"

    def steps(work: Work) -> Iterable[Step]:
        restarting = work.with_kind(*kinds)
        restarting += [change for change in work.changes if Effect("restart", unit) in change.effects]
        stopped = work.with_kind("refuse") or (word == "slurmctld" and work.with_kind("move-state"))
        if not (restarting or stopped):
            return
        hosts: str | None = folded(where(work))
        if word == "slurmd" and not stopped and not any(change.everywhere for change in restarting):
            hosts = work.hosts(restarting, where(work))
        if hosts:
            yield Step(f"start {word}" if stopped else text, hosts, play)

    return steps


def _accounts(work: Work) -> Iterable[Step]:
    if work.with_kind("load-accounts"):
        text = "set accounts, users and QOS as the manifest states them (clustergen-accounts)"
        yield Step(text, folded(work.controllers[:1]), CONTROLLERS)


def _reconfigure(work: Work) -> Iterable[Step]:
    everywhere = any(change.everywhere for change in work.with_kind("restart-slurm"))
    if work.with_kind("reconfigure") and not everywhere:  # else all daemons have read all of it
        text = "scontrol reconfigure, once"
        yield Step(text, folded(work.controllers[:1]), CONTROLLERS)


def _resume(work: Work) -> Iterable[Step]:
    vacated = [change for change in work.changes if Effect("vacate") in change.effects or _is_removed_node(change)]
    stay = set(hosts_of(work.hosts(vacated) or ""))
    for step in _drain(work):
        nodes = [name for name in hosts_of(step.hosts or "") if name not in stay]
        if len(nodes) < len(hosts_of(step.hosts or "")):  # a node with another name may inherit the drain
            nodes += [name for change in work.changes if _is_new_node(change) for name in hosts_of(change.name)]
        if nodes:
            yield Step("resume", folded(nodes), RESUME)


def _is_new_node(change: Change) -> bool:
    return change.kind == "node" and not change.key and change.old is None


def _is_removed_node(change: Change) -> bool:
    return change.kind == "node" and not change.key and change.new is None


def _new_cluster_id(work: Work) -> Iterable[Step]:
    if work.with_kind("new-cluster-id"):
        text = "stop slurmctld, and remove clustername from StateSaveLocation"
        yield Step(text, folded(work.controllers), CONTROLLERS)


def _move_state(work: Work) -> Iterable[Step]:
    for change in work.with_kind("move-state"):
        text = f"copy {change.old} to {change.new}, unless what is there is newer"
        yield Step(text, folded(work.controllers[:1]), CONTROLLERS)


def _turns(work: Work) -> Iterable[Step]:
    """Each host has one turn, for all that it takes; only those that serve jobs are drained for it."""
    for text, hosts in _of_each_host(work, ("reboot",), serving=False):
        yield Step(f"host by host: {text}, with users logged in", hosts, TURNS)
    for text, hosts in _of_each_host(work, ("remount", "reboot", "drain"), serving=True):
        yield Step(f"node by node: drain, {text}, resume", hosts, TURNS)


def _of_each_host(work: Work, kinds: Collection[str], *, serving: bool) -> Iterable[tuple[str, str]]:
    """What these kinds of effects take, and the hosts that have the same to do, of those that serve jobs or others."""
    verbs: dict[str, dict[str, None]] = {}
    compute = set(work.compute)
    for change in work.changes:
        for effect in change.effects:
            if effect.kind in kinds and (effect.kind != "drain" or effect.unit):
                for host in work.compute if change.nodes is None else hosts_of(change.nodes):
                    if (host in compute) is serving:
                        verbs.setdefault(host, {}).update(dict.fromkeys(_verbs(change, effect)))
    alike: dict[tuple[str, ...], list[str]] = {}
    for host, host_verbs in verbs.items():
        alike.setdefault(tuple(sorted(host_verbs, key=_turn)), []).append(host)
    for words, hosts in sorted(alike.items()):
        yield ", ".join(words), folded(hosts)


def _turn(verb: str) -> int:
    """The order of a step: removals make place first; a reboot ends it."""
    if verb.startswith("unmount "):
        return int(verb.startswith("unmount and mount "))
    return 3 if verb == "reboot" else 2


def _verbs(change: Change, effect: Effect) -> Iterable[str]:
    if change.kind == PACKAGES:
        yield f"install {change.new}"
    if effect.kind == "remount":
        goes = change.kind == "file" and change.new is None
        yield f"{'unmount' if goes else 'unmount and mount'} {effect.unit}"
    else:
        yield "reboot" if effect.kind == "reboot" else f"restart {effect.unit}"


_LATER = ("slurmd.service", "slurmctld.service", "slurmdbd.service")

STEPS: tuple[Callable[[Work], Iterable[Step]], ...] = (
    manual_steps.before,
    _gate,
    _drain,
    _stop,
    _put,
    _daemon("slurmdbd", "restart slurmdbd", ACCOUNTING, lambda work: work.accounting),
    _new_cluster_id,
    _move_state,
    _daemon("slurmctld", "restart slurmctld", CONTROLLERS, lambda work: work.controllers),
    _accounts,
    _reconfigure,
    _daemon("slurmd", "restart slurmd; running jobs continue", NODES, lambda work: work.compute),
    _resume,
    _turns,
    manual_steps.after,
)


def steps(work: Work) -> tuple[Step, ...]:
    """The steps, in order."""
    return tuple(step for make in STEPS for step in make(work))
