#!/usr/bin/python3
"""Explains in a sentence why a job waits, or how it ended, and what its user can do.

    why [JOBID ...]

Without a job, explains all waiting jobs of the user. It asks Slurm's own commands, changes nothing, and needs no rights
beyond those of the user.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys

sys.path.insert(0, "/usr/local/lib/clustergen")

from slurm_limits import limit_of, of_limit
from slurm_records import (
    NONE,
    Answer,
    Record,
    amount,
    clock,
    counted,
    duration,
    fields,
    jobs_of,
    joined,
    minutes,
    moment,
    node_count,
    output,
    printable,
    tres,
    update,
)

WAITS_FOR_SPACE = ("Resources", "Priority", "None", "ReqNodeNotAvail", "Nodes_required_for_job", "Reservation")
UNUSABLE = ("DOWN", "DRAIN", "FAIL", "MAINT", "INVAL", "NOT_RESPONDING", "UNKNOWN", "FUTURE")
ENDED = "jobid,state,exitcode,elapsed,timelimit,nodelist,end,jobname"
STARTED = "jobid,state,user,qos,partition,start,end"


# -- other reasons ----------------------------------------------------------------------------------------------------


def of_partition(job: Record, _: str) -> Answer:
    name = job["Partition"].partition(",")[0]
    part = fields(output("scontrol", "show", "partition", name))
    most, least, total = (part.get(key, "") for key in ("MaxNodes", "MinNodes", "TotalNodes"))
    time, longest = minutes(job["TimeLimit"]), minutes(part.get("MaxTime", ""))
    if longest is not None and (time is None or time > longest):
        others = [
            f"{other['PartitionName']} ({other['MaxTime']})"
            for line in output("scontrol", "-o", "show", "partition").splitlines()
            for other in [fields(line)]
            if other.get("State") == "UP" and (minutes(other["MaxTime"]) or 1e9) >= (time or 1e9)
        ]
        return Answer(
            f"partition {name} allows {part['MaxTime']}, and the job requests {job['TimeLimit']}",
            f"shorten it: {update(job, 'timelimit=' + part['MaxTime'])}"
            + (f"; longer jobs may run in {joined(others[:4])}" if others else ""),
        )
    nodes = node_count(job)
    allowed = min([int(text) for text in (most, total) if text.isdigit()], default=nodes)
    if nodes > allowed:
        why = f"partition {name} allows {counted(allowed, 'node')} per job, and the job requests {nodes}"
        fewer = f"submit it again with at most {counted(allowed, 'node')}, or to another partition (`sinfo`)"
        return Answer(why, fewer)
    if least.isdigit() and nodes < int(least):
        why = f"partition {name} requires {counted(int(least), 'node')} per job, and the job requests {nodes}"
        return Answer(why, f"submit it again with {least} nodes or more, or to another partition (`sinfo`)")
    state = part.get("State", "")
    if state not in ("", "UP"):
        why = f"partition {name} is {state}, so none of its jobs start"
        move = f"move the job: {update(job, 'partition=NAME')} (`sinfo` lists them)"
        return Answer(why, f"wait until it is UP, or {move}")
    return Answer(f"partition {name} does not accept the job", f"`scontrol show partition {name}` has its limits")


def of_access(job: Record, reason: str) -> Answer:
    """Of partitions for some accounts, QOS or groups; Slurm's reason names which, or is PartitionConfig."""
    name = job["Partition"].partition(",")[0]
    part = fields(output("scontrol", "show", "partition", name))
    for what, key, value, setting in (
        ("account", "Accounts", job["Account"], "account=NAME"),
        ("QOS", "Qos", job["QOS"], "qos=NAME"),
        ("user", "Groups", job["UserId"].partition("(")[0], "partition=NAME"),
    ):
        allowed, denied = part.get(f"Allow{key}", "ALL"), part.get(f"Deny{key}", "")
        is_refused = value in denied.split(",") or (allowed not in ("ALL", *NONE) and value not in allowed.split(","))
        if is_refused:
            rule = f"no {key.lower()} of {denied}" if denied not in NONE else f"only {key.lower()} {allowed}"
            return Answer(
                f"partition {name} accepts {rule}, and the job has {what} {value}",
                f"change it: {update(job, setting)}; yours: `sacctmgr show associations user=$USER format=account,qos`",
            )
    return Answer(
        f"partition {name} does not accept the job", f"`scontrol show partition {name}` has its rules: {reason}"
    )


def of_association(job: Record, reason: str) -> Answer:
    what = f"QOS {job['QOS']}" if reason == "InvalidQOS" else f"account {job['Account']}"
    setting = "qos=NAME" if reason == "InvalidQOS" else "account=NAME"
    return Answer(
        f"the job's user may no longer use {what}",
        f"choose another one of `sacctmgr show associations user=$USER format=account,qos`: {update(job, setting)}",
    )


def of_dependency(job: Record, reason: str) -> Answer:
    parts = []
    for kind, number in re.findall(r"(\w+):([\d_*]+)", job["Dependency"]):
        state = output("squeue", "-h", "-a", "-j", number.rstrip("_*"), "-o", "%T").split()
        state = state or output("sacct", "-n", "-X", "-P", "-j", number.rstrip("_*"), "-o", "state").split()
        parts.append(f"{kind} of job {number} ({state[0] if state else 'unknown to Slurm'})")
    if job["Dependency"].startswith("singleton"):
        parts.append(f"jobs of the same name ({printable(job['JobName'])})")
    until = joined(parts) if parts else job["Dependency"]
    if reason == "DependencyNeverSatisfied":
        remedy = f"cancel it (`scancel {job['JobId']}`), or start it nevertheless: {update(job, 'dependency=')}"
        return Answer(f"it depends on {until}, which cannot come true", remedy)
    return Answer(f"it depends on {until}", f"wait, or start it independently: {update(job, 'dependency=')}")


def of_hold(job: Record, reason: str) -> Answer:
    number = job["JobId"]
    if reason == "JobHeldUser":
        return Answer("its user holds it", f"release it: `scontrol release {number}`")
    if reason in ("JobHoldMaxRequeue", "launch_failed_requeued_held"):
        return Answer(
            f"its start failed on a node, after {counted(int(job.get('Restarts') or 0), 'restart')}",
            f"tell the operators, and release it when the cause is gone: `scontrol release {number}`",
        )
    return Answer("an operator holds it", "ask the operators: a user cannot release it")


def of_begin(job: Record, _: str) -> Answer:
    when = moment(job["StartTime"]) or moment(job["EligibleTime"])
    restarts = int(job["Restarts"] or 0)
    after = f" It was put back into the queue {counted(restarts, 'time')}." if restarts else ""
    return Answer(
        f"it may not start before {clock(when) if when else 'its begin time'}.{after}".rstrip("."),
        f"wait, or start it at once: {update(job, 'starttime=now')}",
    )


def of_licenses(job: Record, _: str) -> Answer:
    parts = []
    for item in re.split(r"[,|]", job["Licenses"]):
        name, _, count = item.partition(":")
        have = fields(output("scontrol", "-o", "show", "licenses", name))
        free = have.get("Free", "?")
        parts.append(f"{count or 1} of license {name}, of which {free} of {have.get('Total', '?')} are free")
    who = "`squeue -t running -o '%i %u %W %L'`"
    return Answer(f"it requests {joined(parts)}", f"wait until other jobs return them: {who}")


def of_array(job: Record, _: str) -> Answer:
    most = job.get("ArrayTaskThrottle") or job.get("ArrayTaskId", "").rpartition("%")[2]
    tasks = "one task" if most == "1" else f"{most} tasks"
    return Answer(
        f"its array runs at most {tasks} at a time", f"wait, or raise it: {update(job, 'arraytaskthrottle=N')}"
    )


def share_of_node(job: Record) -> dict[str, float]:
    """Resources that the job requests on each of its nodes."""
    number = node_count(job)
    return {
        name: -(-count // number)
        for name, count in tres(job["ReqTRES"]).items()
        if name in ("cpu", "mem") or name.startswith("gres/")
    }


def of_constraints(job: Record, _: str) -> Answer:
    share = [amount(name, count) for name, count in share_of_node(job).items()]
    features = f" and features {job['Features']}" if job.get("Features", "") not in NONE else ""
    return Answer(
        f"no node of partition {job['Partition']} has what it requests: {joined(share)} on a node{features}",
        "submit it again with what a node has: `sinfo -o '%P %n %c %m %G %f'`",
    )


def of_memory(job: Record, _: str) -> Answer:
    part = fields(output("scontrol", "show", "partition", job["Partition"]))
    most = " or ".join(f"{key}={part[key]}" for key in ("MaxMemPerNode", "MaxMemPerCPU") if part.get(key) not in NONE)
    return Answer(
        f"it requests more memory than partition {job['Partition']} allows ({most or 'limit of the cluster'}, in MiB)",
        "submit it again with less memory (`--mem`, `--mem-per-gpu`)",
    )


def of_reservation(job: Record, _: str) -> Answer:
    name = job.get("Reservation", "")
    have = fields(output("scontrol", "-o", "show", "reservation", name)) if name not in NONE else {}
    if not have.get("ReservationName"):
        why = f"its reservation {name if name not in NONE else ''} does not exist".replace("  ", " ")
        return Answer(why, f"leave it: {update(job, 'reservationname=')}, then `scontrol release {job['JobId']}`")
    start = moment(have["StartTime"])
    if start and start > datetime.datetime.now():
        return Answer(
            f"its reservation {name} begins at {clock(start)}", f"wait, or leave it: {update(job, 'reservationname=')}"
        )
    return Answer(f"the nodes of its reservation {name} are in use", f"`squeue -R {name}` lists the jobs there")


# -- nodes and the queue ----------------------------------------------------------------------------------------------


def nodes_of(partition: str) -> list[Record]:
    listed = fields(output("scontrol", "show", "partition", partition)).get("Nodes", "")
    text = output("scontrol", "-o", "show", "node", listed) if listed not in NONE else ""
    rows = []
    for line in text.splitlines():
        reason = re.search(r" Reason=(.*?)(?: \[\S+@\S+\])?\s*$", line)  # the only text with blanks, at the end
        rows.append(Record(fields(line), Reason=printable(reason[1]) if reason else ""))
    return rows


def is_usable(node: Record) -> bool:
    return not any(word in node.get("State", "") for word in UNUSABLE) and not node.get("State", "").endswith("*")


def fits(node: Record, job: Record) -> bool:
    """True if a node has the job's share of resources free."""
    have, used = tres(node.get("CfgTRES", "")), tres(node.get("AllocTRES", ""))
    return all(have.get(name, 0) - used.get(name, 0) >= count for name, count in share_of_node(job).items())


def reserved(job: Record) -> Answer | None:
    """A reservation of nodes that begins before the job could end."""
    time = minutes(job["TimeLimit"])
    today = datetime.datetime.now()
    names = {node.get("NodeName", "") for node in nodes_of(job["Partition"].partition(",")[0])}
    for line in output("scontrol", "-o", "show", "reservation").splitlines():
        have = fields(line)
        start, end = moment(have.get("StartTime", "")), moment(have.get("EndTime", ""))
        hosts = set(output("scontrol", "show", "hostnames", have.get("Nodes", "")).split())
        if not start or not end or not names & hosts or have.get("ReservationName") == job.get("Reservation"):
            continue
        what = f"reservation {have['ReservationName']} of {counted(len(names & hosts), 'node')} of the partition"
        if start <= today < end:
            return Answer(f"{what} lasts until {clock(end)}", f"wait until {clock(end)}, or use other nodes (`sinfo`)")
        if today < start and (time is None or today + datetime.timedelta(minutes=time) > start):
            left = int((start - today).total_seconds() // 60) - 1
            shorter = f"shorten it to end before: {update(job, f'timelimit={duration(left)}')}, or " if left > 1 else ""
            return Answer(
                f"{what} begins at {clock(start)}, before the job with its {job['TimeLimit']} could end",
                f"{shorter}wait until {clock(end)}",
            )
    return None


def of_unavailable(job: Record, reason: str) -> Answer:
    if answer := reserved(job):
        return answer
    names = re.search(r"UnavailableNodes:(\S+)", reason)
    needed = set(output("scontrol", "show", "hostnames", names[1]).split()) if names else set()
    causes: dict[str, list[str]] = {}
    for node in nodes_of(job["Partition"].partition(",")[0]):
        if node["NodeName"] in needed or (not needed and not is_usable(node)):
            causes.setdefault(": ".join(filter(None, (node["State"].lower(), node["Reason"]))), []).append(
                node["NodeName"]
            )
    parts = [f"{', '.join(hosts[:4])}{' …' if hosts[4:] else ''} ({cause})" for cause, hosts in causes.items()][:3]
    if not parts:
        return of_queue(job, reason)
    why = f"nodes that it needs are not available: {joined(parts)}"
    return Answer(why, "wait for the operators, or use other nodes")


def of_queue(job: Record, reason: str) -> Answer:
    """Of jobs that wait for nodes, or behind others."""
    partition = job["Partition"].partition(",")[0]
    mine = int(job["Priority"])
    ahead = 0
    for line in output("squeue", "-h", "-a", "-t", "pending", "-p", partition, "-o", "%Q|%r").splitlines():
        priority, other = line.split("|", 1)
        ahead += int(priority) > mine and other.replace(" ", "_").startswith(WAITS_FOR_SPACE)
    nodes = nodes_of(partition)
    usable = [node for node in nodes if is_usable(node)]
    free = sum(fits(node, job) for node in usable)
    number = node_count(job)
    down = f" ({counted(len(nodes) - len(usable), 'node')} out of service)" if len(usable) < len(nodes) else ""
    needs = f"it needs {counted(number, 'node')}, and {free} of {len(nodes)} in partition {partition} have room{down}"
    verb = "waits" if ahead == 1 else "wait"
    behind = f"{counted(ahead, 'job')} of higher priority {verb} before it" if ahead else "no job waits before it"
    start = moment(job["StartTime"])
    expected = f"; Slurm expects its start at {clock(start)}" if start else ""
    share = priority_of(job) if reason == "Priority" else ""
    shorter = f"a shorter limit lets it start in a gap: {update(job, 'timelimit=HH:MM:SS')}"
    return Answer(f"{needs}; {behind}{expected}{share}", f"wait, or request less; {shorter}")


def priority_of(job: Record) -> str:
    """The parts of the priority, and the fair share behind it; empty where Slurm's priority has no parts."""
    text = output("sprio", "-h", "-j", job["JobId"], "-o", "%Y|%A|%F|%Q|%P|%N").strip().splitlines()
    parts = text[0].replace(" ", "").split("|") if text else []
    if len(parts) != 6:
        return ""
    names = ("age", "fair share", "QOS", "partition")
    weights = ", ".join(f"{name} {value}" for name, value in zip(names, parts[1:5]))
    nice = f", less nice {parts[5]}" if parts[5] not in ("", "0") else ""
    user = job["UserId"].partition("(")[0]
    columns = "RawShares,NormShares,EffectvUsage,FairShare"
    rows = output("sshare", "-n", "-P", "-u", user, "-A", job["Account"], "-o", f"User,{columns}").splitlines()
    share = ""
    of_account = next((row.split("|") for row in rows if not row.split("|")[0].strip()), [])
    of_user = next((row.split("|") for row in rows if row.split("|")[0].strip() == user), [])
    if len(of_account) == 5 and len(of_user) == 5:
        entitled, used = (100 * float(value or 0) for value in of_account[2:4])
        share = (
            f"; account {job['Account']} is entitled to {entitled:.0f} % and has {used:.0f} % of recent usage, "
            f"so the fair-share factor of {user} is {float(of_user[4] or 0):.2f} of 1"
        )
    return f"; its priority is {job['Priority']} ({weights}{nice}){share}"


_REASONS = {
    "PartitionTimeLimit": of_partition,
    "PartitionNodeLimit": of_partition,
    "PartitionDown": of_partition,
    "PartitionInactive": of_partition,
    "PartitionConfig": of_access,
    "AccountNotAllowed": of_access,
    "QOSNotAllowed": of_access,
    "UserNotAllowed": of_access,
    "InvalidAccount": of_association,
    "InvalidQOS": of_association,
    "Dependency": of_dependency,
    "DependencyNeverSatisfied": of_dependency,
    "JobHeldUser": of_hold,
    "JobHeldAdmin": of_hold,
    "JobHoldMaxRequeue": of_hold,
    "launch_failed_requeued_held": of_hold,
    "BeginTime": of_begin,
    "Licenses": of_licenses,
    "JobArrayTaskLimit": of_array,
    "BadConstraints": of_constraints,
    "MaxMemPerLimit": of_memory,
    "Reservation": of_reservation,
    "ReservationDeleted": of_reservation,
    "RESV_DEL_HOLD": of_reservation,
    "Resources": of_queue,
    "Priority": of_queue,
}


def of_reason(job: Record) -> Answer:
    reason = job["Reason"].partition(",")[0]
    if limit := limit_of(reason):
        unknown = Answer(
            f"a limit is reached ({reason}), whose numbers Slurm does not show to you, or which has changed since",
            "`scontrol show assoc_mgr flags=qos,assoc` lists limits with their usage",
        )
        return of_limit(limit, job) or unknown
    if reason in _REASONS:
        return _REASONS[reason](job, reason)
    if job["Reason"].startswith(("ReqNodeNotAvail", "Nodes_required_for_job")):
        return of_unavailable(job, job["Reason"])
    if "not_permitted_to_use_this_partition" in job["Reason"]:
        return of_access(job, reason)
    if reason in NONE:
        return Answer("Slurm has not considered it yet", "ask again in a minute")
    return Answer(
        "Slurm names a reason that this program does not know", "`man squeue` explains it, section JOB REASON CODES"
    )


# -- what is printed --------------------------------------------------------------------------------------------------


def of_running(job: Record) -> tuple[str, str]:
    end = moment(job["EndTime"])
    until = f", and ends at {clock(end)} at the latest" if end else ", without a time limit"
    verb = {"RUNNING": "runs", "COMPLETING": "ends", "CONFIGURING": "starts", "SUSPENDED": "is suspended"}
    since = f" for {job['RunTime']}" if job["JobState"] in ("RUNNING", "SUSPENDED") else ""
    number = job["JobId"]
    remedy = f"its steps and their use of CPUs and memory: `sstat -a -j {number} -o jobid,avecpu,maxrss`"
    return f"{verb.get(job['JobState'], job['JobState'].lower())} on {job['NodeList']}{since}{until}.", remedy


def of_end(job: Record) -> tuple[str, str]:
    """How a job ended; `job` has the keys of scontrol, also where sacct answered."""
    state = job["JobState"].split()[0]
    number, ran = job["JobId"], job["RunTime"]
    code, _, signal = job["ExitCode"].partition(":")
    steps = f"`sacct -j {number} -o jobid,state,exitcode,maxrss,reqmem,elapsed`"
    texts = {
        "COMPLETED": (f"ended without an error after {ran}.", ""),
        "TIMEOUT": (
            f"reached its time limit of {job['TimeLimit']} and was ended.",
            "save checkpoints and request a longer limit (`--time`); `scontrol show partition` has the longest",
        ),
        "OUT_OF_MEMORY": (
            f"used more memory than it requested, and the kernel ended it after {ran}.",
            f"{steps} shows what each step used; request more with `--mem`, `--mem-per-gpu` or `--mem-per-cpu`",
        ),
        "NODE_FAIL": (
            f"ended after {ran} because a node failed (of {job['NodeList']}).",
            "submit it again, with `--requeue` so that Slurm does it; the operators see the node",
        ),
        "PREEMPTED": (
            f"made way for a job of higher priority after {ran}.",
            "`sacctmgr show qos format=name,preempt,preemptmode,gracetime` shows which QOS preempt which; use "
            "`--requeue` and checkpoints",
        ),
        "CANCELLED": (f"was cancelled after {ran}.", f"{steps} shows by whom: CANCELLED by UID"),
        "DEADLINE": ("could not end before its deadline.", "submit it with a later `--deadline`"),
        "BOOT_FAIL": (f"could not start: a node of {job['NodeList']} did not boot.", "submit it again"),
    }
    by_signal = f"signal {signal}" if signal not in ("", "0") else f"exit status {code}"
    text, remedy = texts.get(state, (f"failed after {ran} with {by_signal}.", f"read its output; steps: {steps}"))
    restarts = job.get("Restarts", "0")
    again = f" It had been restarted {counted(int(restarts), 'time')}." if restarts not in ("", "0") else ""
    return text + again, remedy


def from_accounting(number: str) -> list[Record]:
    """The runs of a job, the last one last: one that made way and was queued again has several."""
    keys = ("JobId", "JobState", "ExitCode", "RunTime", "TimeLimit", "NodeList", "EndTime", "JobName")
    rows = output("sacct", "-n", "-X", "-P", "-D", "-j", number, "-o", ENDED).splitlines()
    parts = [row.split("|", len(keys) - 1) for row in rows]
    return [Record(zip(keys, values)) for values in parts if len(values) == len(keys)]


def made_way(number: str, runs: list[Record]) -> str:
    """For which jobs the last run that was preempted made way: Slurm records none, but they start on its nodes then."""
    preempted = [run for run in runs if run["JobState"].startswith("PREEMPTED")]
    end = moment(preempted[-1]["EndTime"]) if preempted else None
    if end is None:
        return ""
    until = end + datetime.timedelta(minutes=2)
    times = ("-S", end.isoformat(), "-E", until.isoformat(), "-N", preempted[-1]["NodeList"])
    started = []
    for row in output("sacct", "-n", "-X", "-P", "-a", *times, "-o", STARTED).splitlines():
        job, state, user, qos, part, start, ended = row.split("|")
        began, last = moment(start), moment(ended)
        is_later = job != number and began is not None and end <= began <= until
        made_way_too = state.startswith("PREEMPTED") and last is not None and last <= until
        if is_later and not made_way_too:
            started.append(f"job {job} of {user} (QOS {qos}, partition {part})")
    names = f" On its nodes started then: {joined(started[:3])}." if started else ""
    return f" It made way at {clock(end)}.{names}"


def explained(number: str) -> list[str]:
    """Two lines, or none where Slurm has no such job."""
    jobs = jobs_of(number)
    waiting = [job for job in jobs if job["JobState"] == "PENDING"]
    job = waiting[0] if waiting else jobs[0] if jobs else None
    has_restarted = job is None or job["JobState"] == "PREEMPTED" or job["Restarts"] not in ("", "0")
    runs = from_accounting(number) if has_restarted else []
    if job is None and runs:
        job = runs[-1]
    if job is None:
        return []
    name = f"Job {number} ({printable(job['JobName'])})"
    if job["JobState"] == "PENDING":
        answer = of_reason(job)
        slurms = printable(job["Reason"].replace("_", " "))
        running = sum(other["JobState"] == "RUNNING" for other in jobs)
        others = f" {counted(running, 'task')} of the array run." if len(jobs) > 1 and running else ""
        text, remedy = f"waits: {answer.why} ({slurms}).{others}", answer.remedy
    elif job["JobState"] in ("RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"):
        text, remedy = of_running(job)
    else:
        text, remedy = of_end(job)
    return [f"{name} {text}{made_way(number, runs)}", *([f"  What you can do: {remedy}."] if remedy else [])]


def main() -> int:
    parser = argparse.ArgumentParser(prog="why", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="JOBID", help="default: all waiting jobs of the user")
    numbers: list[str] = parser.parse_args().jobs
    wrong = [number for number in numbers if not re.fullmatch(r"\d+([_+]\d+)?", number)]
    if wrong:
        parser.error(f"{wrong[0]!r} is not the number of a job: squeue --me lists yours")
    if not output("scontrol", "ping"):
        sys.stderr.write("why: Slurm does not answer: `scontrol ping`\n")
        return 3
    if not numbers:
        user = subprocess.run(["id", "-un"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        numbers = output("squeue", "-h", "-t", "pending", "-u", user, "-o", "%F").split()
        numbers = list(dict.fromkeys(numbers))
        if not numbers:
            print("None of your jobs waits.")
    status = 0
    for number in numbers:
        lines = explained(number)
        if lines:
            print("\n".join(lines))
        else:
            sys.stderr.write(f"why: Slurm has no job {number}, or does not show it to you\n")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
