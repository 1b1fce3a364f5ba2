"""Texts of effects and plans: what a kind of effect does, and the verdict, which names the worst effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clustergen.catalogue.effects import effect_kinds
from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.diagnostics import words
from clustergen.diagnostics.words import counted
from clustergen.diff.change import Change, folded
from clustergen.diff.compare import COMMENTS, JOBS_READ_IT
from clustergen.diff.plan import Plan
from clustergen.diff.settings import read_by_jobs
from clustergen.diff.steps import partitions
from clustergen.diff.totals import EMPTIES, daemons_restarted, hosts_with
from clustergen.render.effects import AGAIN, Effect
from clustergen.slurmconf.scalars import hosts_of

_LONGEST_NAME = 60
_MOST_REASONS = 3


def title(effect: Effect) -> str:
    text = effect_kinds()[effect.kind].title
    if effect.unit is None or effect == AGAIN:
        return f"{text} again" if effect.unit else text
    return f"drain, restart {effect.unit}" if effect.kind == "drain" else f"{text} {effect.unit}"


def titles(effects: Iterable[Effect]) -> str:
    """`drain first, then scontrol reconfigure`."""
    texts = [title(effect) for effect in effects if effect.kind != "refuse"]
    return ", then ".join(texts) or effect_kinds()["refuse"].title


def heading(change: Change) -> str:
    """The heading of all changes with the same effects."""
    if change.effect.kind == "refuse":
        return title(change.effect)
    if change.kind == "system":
        return "reinstall"
    if change.effect.kind == "none" and change.reason == JOBS_READ_IT:
        return "settings of new jobs"
    text = titles(change.effects)
    return text if change.everywhere is False or change.effect.kind != "restart-slurm" else f"{text}, on all nodes"


def reason(change: Change) -> str:
    usual = effect_kinds()[change.effect.kind].reason
    if change.reason or not change.running:
        return change.reason or usual
    return f"{usual.partition(';')[0]}; it applies to running jobs too"


def cut(text: str, longest: int) -> str:
    """Without breaks and runs of blanks, and at most `longest` characters."""
    return words.cut(" ".join(text.split()), longest)


def subject(change: Change) -> str:
    """`partition debug MaxTime`, `node n[1-4]`, `/etc/hosts`."""
    if change.kind == "release":
        return "Slurm"
    if change.kind == "system":
        return "operating system"
    if change.kind == "packages":
        return f"packages of {change.name}" if change.name else "packages"
    if change.kind == "unit":
        return "unit"
    if change.is_beside_slurm:
        return f"{change.file} {change.key}".rstrip()
    name = change.name.replace(" in ", " of account ") if change.kind == "user" else change.name
    parts = [change.kind, cut(name, _LONGEST_NAME), change.key] if change.kind != "key" else [change.key]
    return " ".join(part for part in parts if part)


def _counted(names: Iterable[str]) -> str:
    listed = list(names)
    return f"{counted(len(listed), 'node')} ({cut(folded(listed), _LONGEST_NAME)})"


def verdict(plan: Plan) -> str:
    """One line: the worst that applying the plan does and to whom, the nodes that come or go, what jobs see."""
    by_kind: dict[str, list[Change]] = {}
    for change in plan.changes:
        for effect in change.effects:
            by_kind.setdefault(effect.kind, []).append(change)
    if worst := by_kind.get("refuse"):
        return f"not while jobs run: {subject(worst[0])}: {reason(worst[0])}"
    disruptive = _disruptive(plan, by_kind)
    phrases = [*disruptive, *_arrivals(plan), *_of_later_jobs(plan)]
    if "reconfigure" in by_kind and not disruptive:
        phrases.append("scontrol reconfigure")
        disruptive = phrases
    policy = _policy(by_kind.get("load-accounts", ()))
    if disruptive or policy:
        is_lossy = "cancel-jobs" in by_kind or any(change.kind == "system" for change in plan.changes)
        ending = [] if is_lossy or plan.arrival else [_jobs(plan)]
        return "; ".join([*phrases, *policy, *ending, *_manual_steps(plan)])
    if any(kind in by_kind for kind in ("restart", "stop", "reload", "run", "sysctl", "create")):
        outcome = "no job is lost" if phrases else "jobs are not affected"
        outcome = _jobs(plan) if plan.running or plan.waiting else outcome
        return "; ".join([*phrases, "services and settings outside Slurm change", *(_manual_steps(plan) or [outcome])])
    if phrases:
        return "; ".join([*phrases, *(_manual_steps(plan) or ["no job is lost"])])
    if plan.changes:
        return "; ".join(["files only", *(_manual_steps(plan) or ["no restart required"])])
    if plan.room:
        return "; ".join(["only the machine room changes", *(_manual_steps(plan) or ["jobs are not affected"])])
    if plan.groups:
        return "only groups of the inventory change"
    return "nothing changes on the nodes" if plan.manifest_changes else "no change"


def _disruptive(plan: Plan, by_kind: Mapping[str, Sequence[Change]]) -> list[str]:
    """Effects that jobs, logged-in users and Slurm's daemons notice, the worst first."""
    phrases: list[str] = []
    if cancelling := by_kind.get("cancel-jobs"):
        phrases.append("cancels the jobs of " + partitions(cancelling))
    if plan.arrival and plan.arrival.without_job:
        phrases.append(f"ends users' processes outside of jobs on {_counted(hosts_of(plan.arrival.without_job))}")
    if plan.arrival and plan.arrival.without_login:
        phrases.append(f"ssh to {_counted(hosts_of(plan.arrival.without_login))} requires a job")
    anew = [change for change in plan.changes if change.kind == "system"]
    if anew:
        phrases.append(f"{_counted(hosts_with(anew, plan))} to reinstall")
    if moving := by_kind.get("window"):
        phrases.append(f"needs a maintenance window for {', '.join(dict.fromkeys(str(c.effect.unit) for c in moving))}")
    emptied = [change for kind in EMPTIES for change in by_kind.get(kind, ()) if change not in anew]
    if emptied:
        phrases += _emptied(emptied, plan, reboots="reboot" in by_kind)
    if recabled := [host for host in (plan.room.recabled if plan.room else ()) if host not in plan.others]:
        phrases.append(f"recable: drain {_counted(recabled)}")
    daemons = daemons_restarted(plan)
    if daemons:
        verb = "starts " if plan.arrival else "restarts "
        phrases.append(verb + " and ".join([", ".join(daemons[:-1]), daemons[-1]] if daemons[1:] else daemons))
    return phrases


def _arrivals(plan: Plan) -> list[str]:
    new_names = plan.renamed.values()
    sides = (
        ("adds", [host for host in plan.added if host not in new_names]),
        ("removes", [host for host in plan.removed if host not in plan.renamed]),
    )
    phrases = [f"{verb} {_counted(hosts)}" for verb, hosts in sides if hosts]
    if plan.renamed:
        phrases.append(f"renames {_counted(plan.renamed)} to {cut(folded(new_names), _LONGEST_NAME)}")
    return phrases


def _of_later_jobs(plan: Plan) -> list[str]:
    """`changes NCCL and UCX settings of new jobs`."""
    files = (change for change in plan.changes if change.is_beside_slurm and change.reason != COMMENTS)
    names = list(dict.fromkeys(what for change in files if (what := read_by_jobs(change.file))))
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return [f"changes {listed} settings of new jobs"] if names else []


def _policy(changes: Sequence[Change]) -> list[str]:
    """`changes qos high MaxJobsPerUser and account vision GrpTRES`; of many, the first and how many there are."""
    if not changes:
        return []
    named = [change for change in changes if change.kind != "file"]
    if not named:
        return ["accounts, users or QOS change"]
    if len(named) > _MOST_REASONS:
        return [f"changes {len(named):,} settings of accounts, users and QOS ({_limit(named[0])} …)"]
    verbs = {"+": "adds", "-": "removes", "~": "changes"}
    signs = {change: "~" if change.key else change.sign for change in named}
    phrases = {
        sign: f"{verb} {' and '.join(_limit(change) for change in named if signs[change] == sign)}"
        for sign, verb in verbs.items()
    }
    return [phrases[sign] for sign in verbs if sign in signs.values()]


def _limit(change: Change) -> str:
    """`qos high MaxJobsPerUser (4 → 2)`."""
    sides = [cut(side or "none", _LONGEST_NAME) for side in (change.old, change.new)]
    return f"{subject(change)} ({' → '.join(sides)})" if change.key else subject(change)


def _jobs(plan: Plan) -> str:
    """The fate of jobs where no step is about them."""
    if plan.release is None and plan.old_release is None:
        return "nothing waits for what runs there"
    phrases = []
    unknown = [subject(change) for change in plan.changes if not change.is_known]
    if unknown:
        phrases.append(f"the effect of {cut(', '.join(unknown), _LONGEST_NAME)} on jobs is not known")
    if plan.running:
        phrases.append(f"running jobs may end early{_states(plan.running)}")
    elif plan.waiting and not unknown:
        phrases.append("no running job is lost")
    if plan.waiting:
        but = "but " if not (plan.running or unknown) else ""
        phrases.append(f"{but}pending jobs may wait or fail{_states(plan.waiting)}")
    return ", ".join(phrases) or "no job is lost"


def _states(jobs: Iterable[AffectedJobs]) -> str:
    """` (PREEMPTED)`; empty for many."""
    states = dict.fromkeys(state for each in jobs for state in each.state.split(", ") if state != "None")
    return f" ({', '.join(states)})" if 0 < len(states) <= _MOST_REASONS else ""


def _emptied(changes: Sequence[Change], plan: Plan, *, reboots: bool) -> list[str]:
    """Who is drained, and who has nothing to drain: on a login node people lose a file system."""
    names = hosts_with(changes, plan)
    # A node that leaves serves until it is removed; one that is in both counts as it will be.
    others = [name for name in names if name in plan.others - plan.routers]
    routers = [name for name in names if name in plan.routers]
    serving = [name for name in names if name not in plan.others]
    phrases = [f"{'drains and reboots' if reboots else 'drains'} {_counted(serving)}"] if serving else []
    if others:
        phrases.append(f"{'reboots' if reboots else 'interrupts'} {_counted(others)} with users logged in")
    return phrases + ([f"LNet pauses on {_counted(routers)}"] if routers else [])


def _manual_steps(plan: Plan) -> list[str]:
    """`step 1 is manual`; empty where there is none."""
    numbers = [n for n, step in enumerate(plan.steps, 1) if not step.play]
    if not numbers:
        return []
    which = f"step {numbers[0]} is" if len(numbers) == 1 else f"steps {', '.join(map(str, numbers))} are"
    return [f"{which} manual"]


def grouped(changes: Sequence[Change]) -> dict[str, list[Change]]:
    """Heading → the changes under it, in their order."""
    by_heading: dict[str, list[Change]] = {}
    for change in changes:
        by_heading.setdefault(heading(change), []).append(change)
    return by_heading
