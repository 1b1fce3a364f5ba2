# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: lib/slurm_limits.py
"""Limits of QOS and associations that keep a job waiting, with what is in use of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from slurm_records import (
    NONE,
    Answer,
    Record,
    amount,
    counted,
    duration,
    fields,
    minutes,
    node_count,
    output,
    tres,
    update,
)


class Limit(NamedTuple):
    """A limit that a reason names: where it is set, its name in the association manager, and the resource."""

    scope: str  # qos, assoc
    name: str  # GrpTRES, MaxTRESPU …
    resource: str  # cpu, mem, gres …; empty for counts of jobs and for times
    whose: str  # group, user, account, job, node


_RESOURCES = {
    "cpu": "cpu", "mem": "mem", "memory": "mem", "node": "node", "gres": "gres/", "billing": "billing",
    "license": "license/", "energy": "energy", "bb": "bb/", "unknown": "",
}  # fmt: skip
_TRES = "|".join(sorted(_RESOURCES, key=len, reverse=True))
_FORMS = (
    (rf"grp({_TRES})(?:limit)?", "GrpTRES", "group"),
    (rf"grp({_TRES})runminutes(?:limit)?", "GrpTRESRunMins", "group"),
    (rf"grp({_TRES})minutes(?:limit)?", "GrpTRESMins", "group"),
    (rf"max({_TRES})(?:perjob)(?:limit)?", "MaxTRESPJ", "job"),
    (rf"max({_TRES})pernode(?:limit)?", "MaxTRESPN", "node"),
    (rf"max({_TRES})minutesperjob(?:limit)?", "MaxTRESMinsPJ", "job"),
    (rf"max({_TRES})peruser(?:limit)?", "MaxTRESPU", "user"),
    (rf"max({_TRES})peraccount(?:limit)?", "MaxTRESPA", "account"),
    (rf"min({_TRES})(?:notsatisfied)?", "MinTRESPJ", "job"),
    (r"grpwall(?:limit)?", "GrpWall", "group"),
    (r"grpjobslimit", "GrpJobs", "group"),
    (r"maxwalldurationperjoblimit", "MaxWallPJ", "job"),
    (r"maxjobsperuserlimit", "MaxJobsPU", "user"),
    (r"maxjobsperaccount(?:limit)?", "MaxJobsPA", "account"),
    (r"maxjobslimit", "MaxJobs", "user"),
)


_DECAY = "wait until past usage counts less, or ask the operators for more"


def limit_of(reason: str) -> Limit | None:
    """The limit that a reason names; None for other reasons."""
    match = re.fullmatch(r"(QOS|Assoc)?((?:Grp|Max|Min)\w+)", reason)
    if not match:
        return None
    for pattern, name, whose in _FORMS:
        form = re.fullmatch(pattern, match[2], re.IGNORECASE)
        if form:
            resource = _RESOURCES[form[1].lower()] if form.groups() else ""
            return Limit("assoc" if match[1] == "Assoc" else "qos", name, resource, whose)
    return None


class Place(NamedTuple):
    """Where a limit can be set: its owner in words, the running jobs that it counts, and the limits with their use."""

    owner: str
    jobs: str  # options of squeue
    text: str


def of_limit(limit: Limit, job: Record) -> Answer | None:
    """The place whose limit the job reaches, with the numbers; None where they are hidden, or have changed."""
    for place in _associations(job) if limit.scope == "assoc" else _qos(limit, job):
        match = re.search(rf"\b{limit.name}=(\S*)", place.text)
        if match is None:
            continue
        if "TRES" not in limit.name:
            if answer := _of_count(limit, place, match[1], job):
                return answer
            continue
        for item in match[1].split(","):
            name, _, numbers = item.rpartition("=")
            counts = re.fullmatch(r"(\d+)(?:\((\d+)\))?", numbers)
            if counts and name.startswith(limit.resource):
                answer = _of_tres(limit, place, name, (float(counts[1]), float(counts[2] or 0)), job)
                if answer:
                    return answer
    return None


def _associations(job: Record) -> Iterator[Place]:
    """The association of the user, and the accounts above it."""
    user, account = job["UserId"].partition("(")[0], job["Account"]
    parent, seen = account, set[str]()
    while parent and parent not in seen:
        seen.add(parent)
        text = output("scontrol", "show", "assoc_mgr", "flags=assoc", f"accounts={parent}")
        following = ""
        for block in text.split("\nClusterName=")[1:]:
            name, partition, up = (
                re.search(rf" {key}=([^\s(]*)", block) for key in ("UserName", "Partition", "ParentAccount")
            )
            if name is None or partition is None or partition[1] not in ("", job["Partition"]):
                continue
            if name[1] == user and parent == account:
                yield Place(f"{user} in account {parent}", f"-u {user} -A {parent}", block)
            elif not name[1]:
                yield Place(f"account {parent}", f"-A {parent}", block)
                following = up[1] if up else ""
        parent = following


def _qos(limit: Limit, job: Record) -> Iterator[Place]:
    """The QOS of the job, and that of its partition."""
    user, account = job["UserId"].partition("(")[0], job["Account"]
    for qos in (job["QOS"], fields(output("scontrol", "show", "partition", job["Partition"])).get("QoS", "")):
        text = output("scontrol", "show", "assoc_mgr", "flags=qos", f"qos={qos}") if qos not in NONE else ""
        if limit.whose == "user":
            yield Place(f"each user of QOS {qos}", f"-q {qos} -u {user}", _section(text, "User Limits", job["UserId"]))
        elif limit.whose == "account":
            yield Place(
                f"each account of QOS {qos}", f"-q {qos} -A {account}", _section(text, "Account Limits", account)
            )
        else:
            yield Place(f"QOS {qos}", f"-q {qos}", re.split(r"(?m)^ +(?:Account|User) Limits", text)[0])


def _section(text: str, heading: str, name: str) -> str:
    """The lines below a name within `Account Limits` or `User Limits` of a QOS; 22.05 has `1001` for `alice(1001)`."""
    names = "|".join(map(re.escape, (name, name.rpartition("(")[2].rstrip(")"))))
    part = re.search(rf"(?m)^ +{heading}\n((?:      .*\n)*)", text + "\n")
    lines = re.search(rf"(?m)^      (?:{names})\n((?:        .*\n)*)", part[1] if part else "")
    return lines[1] if lines else ""


def _of_count(limit: Limit, place: Place, text: str, job: Record) -> Answer | None:
    """Of jobs and of times, which Slurm prints in minutes."""
    match = re.fullmatch(r"(\d+)(?:\.\d+)?(?:\((\d+)(?:\.\d+)?\))?", text)
    if match is None:
        return None
    most, used, time = int(match[1]), int(match[2] or 0), minutes(job["TimeLimit"])
    if limit.name == "MaxWallPJ":
        why = f"a job of {place.owner} may run for {duration(most)}, and this one requests {job['TimeLimit']}"
        shorter = Answer(why, f"shorten it: {update(job, f'timelimit={duration(most)}')}")
        return shorter if time is None or time > most else None
    if limit.name == "GrpWall":
        why = f"jobs of {place.owner} may run for {counted(most, 'minute')} together, and have run for {used}"
        return Answer(why, _DECAY) if used + (time or 0) > most else None
    if limit.name == "MaxJobs":  # of which the association manager shows no use
        used = len(output("squeue", "-h", "-t", "running", *place.jobs.split(), "-o", "%i").split())
    why = f"{place.owner} may have {counted(most, 'running job')}, and {used} {'runs' if used == 1 else 'run'}"
    return Answer(why, f"wait until one ends: `squeue -t running {place.jobs}`") if used >= most else None


def _of_tres(limit: Limit, place: Place, name: str, counts: tuple[float, float], job: Record) -> Answer | None:
    """`counts`: the limit, and what is in use of it."""
    most, used = counts
    asked = tres(job["ReqTRES"]).get(name, 0) / (node_count(job) if limit.whose == "node" else 1)
    if "Mins" in limit.name:
        return _of_minutes(limit, place, name, counts, asked, job)
    allowed, requested = amount(name, most), amount(name, asked)
    where = " on a node" if limit.whose == "node" else ""
    if limit.name == "MinTRESPJ":
        why = f"a job of {place.owner} has to request at least {allowed}, and this one requests {requested}"
        return Answer(why, f"submit it again with {allowed}, or with another QOS") if asked < most else None
    if limit.name in ("MaxTRESPJ", "MaxTRESPN"):
        why = f"a job of {place.owner} may use {allowed}{where}, and this one requests {requested}"
        return Answer(why, f"submit it again with at most {allowed}{where}") if asked > most else None
    if used + asked <= most:
        return None
    why = f"{place.owner} may use {allowed} at once, {amount(name, used)} in use, and this job requests "
    if asked > most:
        return Answer(why + requested, f"it can never start: submit it again with at most {allowed}")
    less = f", or submit it with at most {amount(name, most - used)}" if most > used else ""
    return Answer(why + requested, f"wait until other jobs end (`squeue -t running {place.jobs}`){less}")


def _of_minutes(
    limit: Limit, place: Place, name: str, counts: tuple[float, float], asked: float, job: Record
) -> Answer | None:
    most, used = counts
    needed = asked * (minutes(job["TimeLimit"]) or 0)
    unit = "GiB minutes" if name == "mem" else f"{amount(name, 1)[2:]} minutes"
    allowed, in_use, requested = (f"{number / (1024 if name == 'mem' else 1):.0f}" for number in (most, used, needed))
    shorter = int((most if limit.name == "MaxTRESMinsPJ" else most - used) / asked) if asked else 0
    remedy = f"shorten it: {update(job, f'timelimit={duration(shorter)}')}" if shorter > 0 else ""
    if limit.name == "MaxTRESMinsPJ":
        why = f"a job of {place.owner} may use {allowed} {unit}, and this one requests {requested}"
        return Answer(why, remedy) if needed > most else None
    if used + needed <= most:
        return None
    if limit.name == "GrpTRESRunMins":
        why = f"running jobs of {place.owner} may need {allowed} {unit} until their time limits, and need {in_use}"
        other = f"wait until they end (`squeue -t running {place.jobs}`)"
    else:
        why = f"{place.owner} may use {allowed} {unit}, and has used {in_use}"
        other = _DECAY
    return Answer(f"{why}; this job requests {requested}", f"{remedy}, or {other}" if remedy else other)
