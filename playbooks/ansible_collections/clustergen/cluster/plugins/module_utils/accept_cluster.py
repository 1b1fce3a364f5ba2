"""One acceptance run: the nodes that it holds, its gates one after the other, drains, and its report."""

from __future__ import annotations

import json
import os
import time

from ansible_collections.clustergen.cluster.plugins.module_utils import accept_plan as plan
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_report as reports
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_run as runs
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_verdicts import (
    FAILED,
    NOT_RUN,
    PASSED,
    condemned,
)
from ansible_collections.clustergen.cluster.plugins.module_utils.controller import OURS, Controller

_ATTEMPTS = 3
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
        """All gates; a node that fails one that drains takes part in no later one."""
        data = state.data
        hosts = [host for host in data["held"] if host not in data["drained"] and host not in self.left_out]
        failed = set(data["drained"])
        for gate in self.gates:
            results = []
            for jobs in self._rounds(gate, [host for host in hosts if host not in failed]):
                due = [job for job in jobs if is_due(data["results"].get(plan.key(gate, job)))]
                if due:
                    for result in self.reframe.run(gate, due):
                        data["results"][plan.key(gate, result["hosts"])] = result
                    state.save()
                results += [data["results"][plan.key(gate, job)] for job in jobs]
            self._judge(gate, results, state)
            failed |= set(data["drained"]) | self._failed_alone(gate, results)

    @staticmethod
    def _failed_alone(gate, results):
        if gate["nodes"] != 1 or not gate["drains"]:
            return set()
        return {result["hosts"][0] for result in results if result["status"] == FAILED}

    def _judge(self, gate, results, state):
        guilty, remark = condemned(gate, results)
        if remark and gate["name"] + ": " + remark not in state.data["remarks"]:
            state.data["remarks"].append(gate["name"] + ": " + remark)
        for host, reason in sorted(guilty.items()):
            text = "acceptance: {}: {}".format(gate["name"], reason)
            if self.asked["drain"]:
                self._drain(host, text)
                state.data["drained"][host] = text
            else:
                state.data["remarks"].append(f"{host} would be drained: {text}")
        state.save()

    def _drain(self, host, text):
        kept = "".join(sign if sign.isalnum() or sign in " .,:;()/_%+-<>=!" else " " for sign in text)[:300]
        self.slurm.run("scontrol", "update", "NodeName=" + host, "State=DRAIN", "Reason=" + OURS + kept)

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
                "baseline": runs.read_json(base, {}),
                "last": runs.read_json(last, {}),
            }
        )
        readings = {
            one["gate"] + "@" + ",".join(one["hosts"]): one["readings"] for one in results if one["status"] == PASSED
        }
        baseline = {} if self.asked["new_baseline"] else runs.read_json(base, {})
        runs.write(base, json.dumps(dict(readings, **baseline), indent=1, sort_keys=True) + "\n")
        runs.write(last, json.dumps(dict(runs.read_json(last, {}), **readings), indent=1, sort_keys=True) + "\n")
        folder = os.path.join(self.directory, "reports")
        os.makedirs(folder, mode=0o755, exist_ok=True)
        path = os.path.join(folder, document["end"].replace(":", ""))
        runs.write(path + ".json", json.dumps(document, indent=1) + "\n")
        runs.write(path + ".md", reports.markdown(document))
        return document, path + ".md"


def is_due(result):
    """Whether a run that goes on has to do a job: without a result, or with one that says nothing about the nodes."""
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
