"""Tries the steps of a plan on a Slurm in the sandbox, and prints the state after each of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from clustergen.diagnostics import ClustergenError
from clustergen.diff.change import Change, folded
from clustergen.diff.messages import subject
from clustergen.diff.plan import Plan
from clustergen.diff.step import Step
from clustergen.slurmconf.scalars import hosts_of
from clustergen.verify import slurm_trial
from clustergen.verify.sandbox import SandboxError
from clustergen.verify.slurm_roots import SlurmInstall, for_release

_ENVIRONMENT = 3  # exit code
_MOST_LIMITS = 8


_Question = tuple[Change, tuple[str, str, str]]


def carried_out(
    plan: Plan, old: Mapping[str, str], new: Mapping[str, str], hosts: str
) -> tuple[slurm_trial.Report, SlurmInstall, list[_Question]]:
    """The trial of a plan, its Slurm, and the changes whose values it asked for. Raises ClustergenError.

    `old` and `new`: name below /etc/slurm, or path of those of accounts → text, of a controller; `hosts`: the text of
    /etc/hosts.
    """
    if "slurm.conf" not in old or "slurm.conf" not in new:
        raise ClustergenError("only a cluster with Slurm on both sides can be tried", "leave out --trial", 2)
    release = str(plan.old_release)
    if plan.old_release != plan.release:
        raise ClustergenError("an upgrade of Slurm cannot be tried", "leave out --trial", 2)
    install = for_release(release)
    if install is None:
        hint = (
            "clustergen setup parsers installs 22.05, 24.11 and 26.05, and"
            " clustergen verify --slurm-image IMAGE a container image with another release"
        )
        raise ClustergenError(f"no Slurm {release} is installed for a trial", hint, _ENVIRONMENT)
    steps = [_step(number, step, plan) for number, step in enumerate(plan.steps, 1) if _kind(step)]
    questions = list(_questions(plan.changes))
    try:
        asked = [question for _, question in questions]
        report = slurm_trial.carry_out(install, old, new, hosts, steps, asked)
    except SandboxError as error:
        raise ClustergenError(f"the trial cannot run here: {error}", "", _ENVIRONMENT) from None
    return report, install, questions


def tried(plan: Plan, old: Mapping[str, str], new: Mapping[str, str], hosts: str) -> tuple[str, bool]:
    """The trial as text, and whether it is good: all jobs completed, slurmctld answers, and each value is in effect."""
    report, install, questions = carried_out(plan, old, new, hosts)
    lines = [f"trial on Slurm {install.version}"]
    lines += [f"  {words}" for words in report.complaints]
    if 0 in report.states:
        lines += [f"  before: {_state(report.states[0])}"]
        lines += [f"  not submitted: {words.strip()}" for words in [report.states[0].output] if words]
    for number, step in enumerate(plan.steps, 1):
        lines.append(f"  {number}. {step.text}")
        if number in report.states:
            state = report.states[number]
            lines += [f"     {_state(state)}", *([f"     it printed: {state.output.strip()}"] if state.output else [])]
            lines += [f"     the database differs: {words}" for words in state.differs]
        else:
            lines.append("     not tried")
    for number, (change, _) in enumerate(questions):
        words = report.values.get(number) or "nothing"
        if number in report.not_in_effect:
            words += f", and after a restart {report.restarted[number] or 'nothing'}: not in effect"
        lines.append(f"  {subject(change)}: {change.old or 'none'} → {change.new or 'none'}; slurmctld reports {words}")
    accounting = "" if install.has_database else "accounting, "
    lines.append(
        f"  left out: {accounting}cgroups, prologs and other programs; devices are those that slurm.conf counts"
    )
    if any(_kind(step) == "load-accounts" for step in plan.steps) and not (report.differs or report.limits):
        lines.append("  accounts and limits: slurmctld and the database have those of the new tree")
    lines += [f"  not in effect until a restart of slurmctld: {words}" for words in report.limits[:_MOST_LIMITS]]
    lines += [f"  lost: {words}" for words in report.lost]
    if report.jobs and not report.lost:
        recorded = ", and slurmdbd has their records" if report.records is not None else ""
        lines.append(f"  all {len(report.jobs)} jobs completed{recorded}")
    return "\n".join(lines) + "\n", report.is_good


def _kind(step: Step) -> str:
    kind = {"remove": "drain"}.get(step.kind, step.kind)
    return kind if kind in slurm_trial.KINDS and (kind != "drain" or not step.what) else ""


def _step(number: int, step: Step, plan: Plan) -> slurm_trial.TrialStep:
    about = (step.what or "").split() or (hosts_of(step.hosts) if step.hosts else list(plan.compute))
    return slurm_trial.TrialStep(number, _kind(step), about)


def _questions(changes: tuple[Change, ...]) -> Iterator[_Question]:
    """Changes whose value scontrol shows, each with the question."""
    for change in changes:
        if not change.key or not change.file.endswith("/slurm.conf") or slurm_trial.is_left_out(change.key):
            continue
        key = "ActiveFeatures" if change.key == "Feature" else re.escape(change.key)
        if change.kind == "key":
            yield change, ("config", "-", rf"^{key} *=.*")
        elif change.kind == "partition":
            yield change, ("partition", change.name, rf"\b{key}=[^ ]+")
        elif change.kind == "node" and change.key not in ("order", "NodeAddr"):
            yield change, ("node", hosts_of(change.name)[0], rf"\b{key}=[^ ]+")


def _state(state: slurm_trial.State) -> str:
    """`n[1-2] drained, n[3-4] mixed; jobs: 2 running, 1 pending; slurmd of n4 does not run`."""
    by_state: dict[str, list[str]] = {}
    for line in state.nodes:
        name, words = line.split(" ", 1)
        by_state.setdefault(words.removesuffix(" none").removesuffix(" trial"), []).append(name)
    jobs = Counter(line.split(" ")[1].lower() for line in state.jobs)
    reasons = sorted({line.split(" ")[2] for line in state.jobs if line.split(" ")[1] == "PENDING"})
    why = {"pending": f" ({','.join(reasons)})"}
    counts = [f"{number} {words}{why.get(words, '')}" for words, number in jobs.items()]
    parts = [", ".join(f"{folded(names)} {words}" for words, names in by_state.items()) or "slurmctld does not answer"]
    parts.append("jobs: " + (", ".join(counts) or "none"))
    absent = [line.split(" ")[0] for line in state.nodes if f"slurmd@{line.split(' ')[0]}" not in state.daemons]
    return "; ".join(parts + ([f"no slurmd on {folded(absent)}"] if absent else []))
