"""One acceptance run: the nodes that it holds, its gates one after the other, drains, and its report."""

from __future__ import annotations

import json
import os
import time

from ansible_collections.clustergen.cluster.plugins.module_utils import accept_plan as plan
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_report as reports
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_run as runs
from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_verdicts import (
    FAILED,
    NOT_RUN,
    PASSED,
    condemned,
    fail_slow,
    went_down,
)
from ansible_collections.clustergen.cluster.plugins.module_utils.controller import OURS, Controller

_ATTEMPTS = 3
_SETTLING = 90  # seconds until a node that failed has ended its job, or Slurm shows that it is down
_MOST_LINES = 40


class Acceptance:
    """One run: `hosts` is what it holds, `left_out` names the other nodes that were asked for."""

    def __init__(self, module):
        self.module = module
        self.asked = module.params
        self.slurm = Controller(module)
        self.directory = self.asked["directory"]
        self.document = plan.load(os.path.join(self.directory, "gates.json"))
        self.gates = plan.chosen(self.document, self.asked["stages"], self.asked["without"])
        self.types = {name: self._expanded(one["hosts"]) for name, one in self.document["types"].items()}
        self.reservation = runs.Reservation(self.slurm)
        variables = {
            "GATE_SECONDS": str(self.asked["seconds"]),
            "GATE_SIZE": self.asked["file_size"],
            "GATE_JOBS": str(self.asked["processes"]),
        }
        options = ["--reservation=" + runs.RESERVATION] + self.asked["options"]
        self.reframe = runs.Reframe(
            self.directory, self.asked["reframe"], self.document["mpi"], variables, options, self.asked["patience"]
        )
        self.left_out = {}

    def _expanded(self, folded):
        return self.slurm.run("scontrol", "show", "hostnames", folded).split()

    def nodes(self):
        everything = [host for hosts in self.types.values() for host in hosts]
        strangers = sorted(set(self.asked["nodes"]) - set(everything))
        if strangers:
            self.module.fail_json(msg="no gate is for {}: render and apply the tree".format(", ".join(strangers[:5])))
        return self.asked["nodes"] or everything

    def hold(self, nodes, drained):
        """Reserves the idle ones among the nodes; Slurm refuses a node that has a job by now."""
        refusal = ""
        for _ in range(_ATTEMPTS):
            states = self.slurm.nodes()
            self.left_out = {
                host: "drained by this run before it was cut off" if host in drained else reason
                for host in nodes
                if (reason := plan.why_not_free(states.get(host, ({"unknown"}, ""))[0]))
            }
            free = [host for host in nodes if host not in self.left_out]
            if not free:
                return []
            refusal = self.reservation.take(free, self._seconds(free))
            if not refusal:
                return free
            time.sleep(5)
        self.module.fail_json(msg=f"Slurm refuses to reserve {len(free)} idle nodes: {refusal}")
        return []

    def _rounds(self, gate, hosts):
        return plan.rounds(gate, [host for host in self.types[gate["type"]] if host in hosts])

    def _seconds(self, hosts):
        return sum(self.reframe.seconds(gate, jobs) for gate in self.gates for jobs in self._rounds(gate, hosts))

    def run(self, state):
        """All gates; a node that fails one that drains takes part in no later one, nor does one that went down."""
        data = state.data
        data.setdefault("lost", {})
        hosts = [host for host in data["held"] if host not in data["drained"] and host not in self.left_out]
        failed = set(data["drained"]) | set(data["lost"])
        for gate in self.gates:
            results = self._results(gate, [host for host in hosts if host not in failed], state)
            self._judge(gate, results, state, self._compare(gate, results))
            failed |= set(data["drained"]) | set(data["lost"]) | self._failed_alone(gate, results)

    def _compare(self, gate, results):
        """Fails nodes that are slower than others of their type, now or in the last run; a remark."""
        if "compare" not in gate:
            return ""
        return fail_slow(gate, results, safe_files.read_json(os.path.join(self.directory, "last.json"), {}))

    def _results(self, gate, hosts, state):
        """The results about nodes that were up to the end of the gate; a gate over all nodes goes on with the others."""
        data, results = state.data, []
        for jobs in self._rounds(gate, hosts):
            jobs = [job for job in jobs if not data["lost"].keys() & set(job)]
            due = [job for job in jobs if is_due(data["results"].get(plan.key(gate, job)))]
            if due:
                for result in self._settled(gate, self.reframe.run(gate, due), state):
                    data["results"][plan.key(gate, result["hosts"])] = result
                state.save()
            results += [data["results"][plan.key(gate, job)] for job in jobs]
        rest = [host for host in hosts if host not in data["lost"]]
        if gate["nodes"] == 0 and len(rest) < len(hosts):
            return self._results(gate, rest, state)
        return [result for result in results if not data["lost"].keys() & set(result["hosts"])]

    def _settled(self, gate, results, state):
        """The results, with what Slurm shows of nodes whose jobs did not pass."""
        suspects = sorted({host for result in results if result["status"] != PASSED for host in result["hosts"]})
        down = self._down(suspects) if suspects else {}
        common = len(down) > 1 and 2 * len(down) > len(state.data["held"])
        for host, word in sorted(down.items()):
            self._lose(host, "acceptance: {}: the node went down ({})".format(gate["name"], word), state, common)
        if common:
            text = "%d of %d nodes went down, so none is drained: look for a common cause"
            state.data["remarks"].append(gate["name"] + ": " + text % (len(down), len(state.data["held"])))
        return [
            went_down(gate, one, down.keys()) if one["status"] != PASSED and down.keys() & set(one["hosts"]) else one
            for one in results
        ]

    def _down(self, hosts):
        """Host → how Slurm shows it, of those that are down or do not end their job. All are in our reservation."""
        until = time.monotonic() + _SETTLING
        while True:
            nodes = self.slurm.nodes()
            states = {host: nodes.get(host, ({"unknown"}, ""))[0] for host in hosts}
            busy = [host for host, words in states.items() if words & plan.BUSY and not words & plan.OUT]
            if not busy or time.monotonic() >= until:
                break
            time.sleep(2)
        words = {host: "+".join(sorted(words & plan.OUT)) for host, words in states.items()}
        words.update((host, "its job does not end") for host in busy)
        return {host: word for host, word in words.items() if word}

    def _lose(self, host, text, state, common):
        """Slurm ends the jobs of a node that is DOWN, and takes one back that boots, unless it is drained."""
        state.data["lost"][host] = text
        if self.asked["drain"] and not common:
            self.slurm.run("scontrol", "update", "NodeName=" + host, "State=DOWN", "Reason=" + OURS + _clean(text))
            self._drain(host, text)
            state.data["drained"][host] = text
        else:
            state.data["remarks"].append(f"{host} is not tested further: {text}")

    @staticmethod
    def _failed_alone(gate, results):
        if gate["nodes"] != 1 or not gate["drains"]:
            return set()
        return {result["hosts"][0] for result in results if result["status"] == FAILED}

    def _judge(self, gate, results, state, comparison):
        guilty, remark = condemned(gate, results)
        for text in (comparison, remark):
            if text and gate["name"] + ": " + text not in state.data["remarks"]:
                state.data["remarks"].append(gate["name"] + ": " + text)
        for host, reason in sorted(guilty.items()):
            text = "acceptance: {}: {}".format(gate["name"], reason)
            if self.asked["drain"]:
                self._drain(host, text)
                state.data["drained"][host] = text
            else:
                state.data["remarks"].append(f"{host} would be drained: {text}")
        state.save()

    def _drain(self, host, text):
        self.slurm.run("scontrol", "update", "NodeName=" + host, "State=DRAIN", "Reason=" + OURS + _clean(text))

    def report(self, state):
        """Writes report and baseline; returns the document and the path."""
        base = os.path.join(self.directory, "baseline.json")
        last = os.path.join(self.directory, "last.json")
        results = list(state.data["results"].values())
        document = reports.document(
            {
                "cluster": self.document["cluster"],
                "begin": state.data["begin"],
                "end": runs.moment(),
                "nodes": state.data["held"],
                "left_out": self.left_out,
                "drained": state.data["drained"],
                "remarks": state.data["remarks"],
                "results": results,
                "baseline": safe_files.read_json(base, {}),
                "last": safe_files.read_json(last, {}),
            }
        )
        readings = {
            one["gate"] + "@" + ",".join(one["hosts"]): one["readings"] for one in results if one["status"] == PASSED
        }
        baseline = {} if self.asked["new_baseline"] else safe_files.read_json(base, {})
        runs.write(base, json.dumps(dict(readings, **baseline), indent=1, sort_keys=True) + "\n")
        runs.write(last, json.dumps(dict(safe_files.read_json(last, {}), **readings), indent=1, sort_keys=True) + "\n")
        directory = os.path.join(self.directory, "reports")
        os.makedirs(directory, mode=0o755, exist_ok=True)
        path = os.path.join(directory, document["end"].replace(":", ""))
        runs.write(path + ".json", json.dumps(document, indent=1) + "\n")
        runs.write(path + ".md", reports.markdown(document))
        return document, path + ".md"


def _clean(text):
    """For a reason in Slurm: what a node printed may be in it."""
    return "".join(sign if sign.isalnum() or sign in " .,:;()/_%+-<>=!" else " " for sign in text)[:300]


def is_due(result):
    """True if a run that goes on has to do a job: without a result, or with one that says nothing about the nodes."""
    return result is None or result["status"] == NOT_RUN


def lines_of(document):
    """Failures first, then gates that were not run, drained nodes and remarks."""
    rows = []
    for status in (FAILED, NOT_RUN):
        for one in document["results"]:
            if one["status"] == status:
                where = ",".join(one["hosts"]) if len(one["hosts"]) < 5 else "%d nodes" % len(one["hosts"])
                rows.append("{}: {} on {}: {}".format(status, one["gate"], where, one["reason"]))
    rows += document["remarks"] + document["worse"]
    more = len(rows) - _MOST_LINES
    return rows[:_MOST_LINES] + (["and %d more lines in the report" % more] if more > 0 else [])
