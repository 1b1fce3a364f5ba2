"""Judges a measured change: whether its verdict was right, too strict or too mild."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from effects.change import Change
from effects.cluster import JOBS, RUNNING
from effects.verdicts import Verdict

RIGHT, STRICT = "right", "too strict"
JOBS_LOST, NOT_IN_EFFECT, MINOR = "too mild: jobs", "too mild: not in effect", "too mild: minor"
MILD = (JOBS_LOST, NOT_IN_EFFECT, MINOR)


@dataclass(frozen=True)
class Outcome:
    """One word of the above, and what was seen."""

    kind: str
    detail: str


def judge(change: Change, verdict: Verdict, result: Mapping[str, Any]) -> Outcome:
    """Of a run that did what the verdict says."""
    lost = lost_jobs(change, result)
    dead = _dead(change, result)
    shown = [check for each in result["rounds"] for check in each["checks"] if not check["shown"]]
    silent = "; ".join(f"{check['command'][:50]}: {check['output'][-80:]}" for check in shown)
    stranded = _stranded(change, result)
    answer = verdict.plan.waiting
    if verdict.is_refusal and not change.hand:
        return Outcome(RIGHT, f"forced: {lost}") if lost or dead else Outcome(STRICT, "forced, and no job was lost")
    if change.accepts and not silent:
        return Outcome(RIGHT, change.accepts)
    if lost and not dead and not silent and _is_announced(lost, verdict):
        return Outcome(RIGHT, f"announced: {lost}")
    if lost or dead:
        return Outcome(JOBS_LOST, "; ".join(filter(None, (lost, dead))))
    if silent:
        return Outcome(NOT_IN_EFFECT, silent)
    if stranded and not answer:
        return Outcome(MINOR, f"not announced: {stranded}")
    if (new := result["new_job"]) is not None and "rc=0" not in new:
        return Outcome(JOBS_LOST, f"a new job: {' '.join(new.split())[-120:]}")
    return Outcome(RIGHT, f"announced: {stranded}" if stranded else "")


def broken_promises(verdicts: Sequence[Verdict], result: Mapping[str, Any]) -> list[str]:
    """Of several changes in turn: jobs that none of the verdicts names, and values not in effect at the end."""
    plain = Change("several", ())
    lost, stranded = lost_jobs(plain, result), _stranded(plain, result)
    promises = [dead] if (dead := _dead(plain, result)) else []
    if lost and not any(_is_announced(lost, verdict) for verdict in verdicts):
        promises.append(f"lost: {lost}")
    if stranded and not any(verdict.plan.waiting for verdict in verdicts):
        promises.append(f"stranded: {stranded}")
    return promises + [f"not in effect: {line}" for line in result["stale"]]


def _is_announced(lost: str, verdict: Verdict) -> bool:
    """True if the verdict names running jobs that end in just these states."""
    states = {state for jobs in verdict.plan.running for state in jobs.state.split(", ")}
    return set(re.findall(r"(?:^|; )[a-z]+ (\w+)", lost)) <= states


def is_enough(change: Change, result: Mapping[str, Any]) -> bool:
    """True if a run with less than the verdict lost nothing and put everything into effect."""
    shown = all(check["shown"] for each in result["rounds"] for check in each["checks"])
    new = result["new_job"]
    fine = shown and not lost_jobs(change, result) and not _dead(change, result) and not _stranded(change, result)
    return fine and (new is None or "rc=0" in new)


def _options(change: Change) -> list[str]:
    return [name for name in {**JOBS, **change.jobs} if change.jobs.get(name, "") is not None]


def _of(result: Mapping[str, Any], name: str) -> str:
    """Empty for a job that completed undisturbed."""
    final = result["final"].get(name)
    output = result["outputs"].get(name, "")
    if final is None:
        return "gone"
    if final["state"] == "COMPLETED" and final["restarts"] == "0" and final["exit"] == "0:0":
        wrong = re.search(r"rc=[1-9]\d*", output)
        return f"FAILED (a step: {wrong[0][:100]})" if wrong else ""
    restarted = ", requeued" if final["restarts"] != "0" else ""
    return f"{final['state']} ({final['reason']}){restarted}"


def lost_jobs(change: Change, result: Mapping[str, Any]) -> str:
    """The running jobs that did not complete undisturbed, each with what became of it."""
    ended = {name: _of(result, name) for name in _options(change) if name in RUNNING}
    return "; ".join(f"{name} {how}" for name, how in ended.items() if how)


def _stranded(change: Change, result: Mapping[str, Any]) -> str:
    ended = {name: _of(result, name) for name in _options(change) if name not in RUNNING}
    return "; ".join(f"{name} {how}" for name, how in ended.items() if how)


def _dead(change: Change, result: Mapping[str, Any]) -> str:
    last = result["rounds"][-1]
    dead = [node for node in change.nodes if last["slurmds"][node] < 1 and node not in change.removes]
    words = [f"no slurmd on {','.join(dead)}"] if dead else []
    if last["slurmctld"] < 1:
        words.append("no slurmctld")
    return "; ".join(words)
