"""The results of the jobs of a gate, the hosts that a failure condemns, and how readings compare with those of another
run.
"""

from __future__ import annotations

import statistics

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
_BUSY = (
    "Requested nodes are busy",
    "Unable to allocate resources",
    "Immediate execution impossible",
    "Socket timed out",
)
_LOWER_IS_BETTER = frozenset(
    ("latency", "allreduce_ms", "loss", "failed", "errors", "wrong", "throttled", "row_pending")
)
_COUNTS = frozenset(("cpus", "memory", "gpus", "ranks", "hosts", "direct", "status", "results", "recorded"))
WORSE = 0.1  # a reading that is a tenth worse than before is listed
_SIGNS = {"least": "<", "most": ">", "equal": "!="}


def plain(value):
    """A reading for people, with four digits."""
    return "%.4g" % value if value < 1e4 else "%d" % value


def breaches(gate, readings):
    """Readings beyond their floor, each as `busbw 311 < 344.1 GB/s`."""
    beyond = {"least": lambda a, b: a < b, "most": lambda a, b: a > b, "equal": lambda a, b: a != b}
    return [
        "%s %s %s %s %s"
        % (
            floor["metric"],
            plain(readings[floor["metric"]]),
            _SIGNS[floor["relation"]],
            plain(floor["value"]),
            floor["unit"],
        )
        for floor in gate["floors"]
        if floor["metric"] in readings and beyond[floor["relation"]](readings[floor["metric"]], floor["value"])
    ]


def not_run(gate, hosts, reason):
    """The result of a job that says nothing about its nodes."""
    return {
        "gate": gate["name"],
        "stage": gate["stage"],
        "hosts": hosts,
        "readings": {},
        "status": NOT_RUN,
        "reason": reason,
    }


def went_down(gate, result, hosts):
    """The result of a job during which nodes went down: about the node where it ran on one, about none of several."""
    reason = "%s went down during this gate" % ",".join(sorted(hosts & set(result["hosts"])))
    status = FAILED if gate["nodes"] == 1 else NOT_RUN
    return dict(result, status=status, reason=reason, readings={})


def verdict(gate, hosts, case, answer):
    """One job's result: ReFrame's test case and what the test kept of the output; either may be missing."""
    if case is not None and str(case.get("fail_reason")).startswith("oserror"):  # a full disk of the controller
        return not_run(gate, hosts, "on the controller: " + _first(case))
    readings = (answer or {}).get("readings") or {}
    result = {"gate": gate["name"], "stage": gate["stage"], "hosts": hosts, "readings": readings, "reason": ""}
    srun = " ".join((answer or {}).get("srun") or ())
    if case is None:
        result.update(status=FAILED, reason="ended after its time")
    elif case.get("result") == "pass":
        result.update(status=PASSED)
    elif answer is None:
        late = "timed out" in str(case.get("fail_reason"))
        result.update(status=FAILED, reason="no end within %d s" % gate["seconds"] if late else _first(case))
    elif not answer.get("hosts") and any(text in srun for text in _BUSY):
        result.update(status=NOT_RUN, reason="no free node: " + srun)
    elif answer.get("missing"):
        result.update(status=NOT_RUN, reason="not installed: " + ", ".join(answer["missing"]))
    else:
        words = answer.get("problems") or breaches(gate, readings) or [_first(case)]
        result.update(status=FAILED, reason="; ".join(words[:3]))
    return result


def _first(case):
    """The first lines of ReFrame's reason, without its indent."""
    return " ".join(str(case.get("fail_reason") or "no reason").split())[:300]


def fail_slow(gate, results, earlier):
    """Fails nodes whose reading is below a share of the median of the type's nodes; a remark where there are but two.

    `earlier` is the last run's readings by job: they stand for nodes of the type that this run does not have.
    """
    metric, share = gate["compare"]["metric"], gate["compare"]["share"]
    mine = {result["hosts"][0]: result for result in results if metric in result["readings"]}
    values = {host: result["readings"][metric] for host, result in mine.items()}
    for job, readings in earlier.items():
        name, _, host = job.partition("@")
        if name == gate["name"] and metric in readings:
            values.setdefault(host, readings[metric])
    if len(values) < 3:
        slow = [host for host, value in values.items() if value < share * max(values.values())]
        return "".join("%s has the lower %s of two nodes: %s" % (host, metric, plain(values[host])) for host in slow)
    median = statistics.median(values.values())
    for host, result in mine.items():
        if result["status"] == PASSED and values[host] < share * median:
            words = (metric, plain(values[host]), plain(share * median), 100 * share, plain(median), len(values))
            result.update(status=FAILED, reason="%s %s < %s: %d %% of the median %s of %d nodes" % words)
    return ""


def condemned(gate, results):
    """Hosts to drain for a gate, host → reason; and one remark where failures name nobody."""
    failed = [result for result in results if result["status"] == FAILED]
    judged = [result for result in results if result["status"] != NOT_RUN]
    if not failed or not gate["drains"]:
        return {}, ""
    if gate["nodes"] == 1:
        if len(failed) > 1 and 2 * len(failed) > len(judged):
            return {}, "%d of %d nodes fail, so none is drained: look for a common cause" % (len(failed), len(judged))
        return {result["hosts"][0]: result["reason"] for result in failed}, ""
    if len(judged) == 1:
        return {}, "%s: one of the two is at fault, so neither is drained" % " and ".join(failed[0]["hosts"])
    if len(failed) == len(judged):
        return {}, "every pair fails, so no node is drained: look for a common cause"
    pairs = {}
    for result in judged:
        for host in result["hosts"]:
            pairs.setdefault(host, []).append(result)
    guilty = {
        host: mine[0]["reason"]
        for host, mine in pairs.items()
        if len(mine) > 1 and all(result["status"] == FAILED for result in mine)
    }
    open_pairs = [" and ".join(result["hosts"]) for result in failed if not guilty.keys() & set(result["hosts"])]
    remark = (
        "%s: both pass with their other neighbours, so neither is drained" % "; ".join(open_pairs) if open_pairs else ""
    )
    return guilty, remark


def changes(readings, earlier):
    """Metric → (earlier, later) of readings that are a tenth worse than before."""
    worse = {}
    for metric, value in readings.items():
        before = earlier.get(metric)
        if metric in _COUNTS or not before:
            continue
        ratio = value / before
        if ratio > 1 + WORSE if metric in _LOWER_IS_BETTER else ratio < 1 - WORSE:
            worse[metric] = (before, value)
    return worse
