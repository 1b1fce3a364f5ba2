"""ReFrame test: one gate on certain nodes. CLUSTERGEN_ACCEPT names the JSON file with the jobs of a round."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import ClassVar

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function

DIRECTORY = Path(__file__).resolve().parent
sys.path.insert(0, str(DIRECTORY))
import outputs  # noqa: E402

ROUND = json.loads(Path(os.environ["CLUSTERGEN_ACCEPT"]).read_text(encoding="utf-8"))

_PROGRAMS = {
    "nccl-node": "nccl",
    "nccl-pair": "nccl",
    "nccl-domain": "nccl",
    "nccl-rail": "nccl",
    "nccl-whole": "nccl",
    "mpi-pair": "mpi",
    "mpi-whole": "mpi",
    "storage-whole": "storage",
    "training-whole": "training",
}
_WITH_MPI = ("nccl", "mpi", "linpack", "ior", "mdtest")


def bounds(floor):
    """ReFrame's reference: the value, how far below and above it a reading may be as a share, and the unit.

    A share of 0 is no tolerance, None no bound.
    """
    below = None if floor["relation"] == "most" else 0
    above = None if floor["relation"] == "least" else 0
    return floor["value"], below, above, floor["unit"]


@rfm.simple_test
class Gate(rfm.RunOnlyRegressionTest):
    """Passes where the program ran on all of its nodes, reported no problem, and each reading keeps its floor."""

    job_number = parameter(range(len(ROUND["jobs"])))
    valid_prog_environs: ClassVar = ["*"]
    executable = "bash"

    @run_after("init")
    def describe(self):
        self.wanted_job = ROUND["jobs"][self.job_number]
        gate = self.wanted_job["gate"]
        self.descr = "%s on %s" % (gate["name"], ",".join(self.wanted_job["hosts"]))
        self.valid_systems = ["*:" + gate["type"]]
        self.time_limit = "%ds" % self.wanted_job["seconds"]
        self.num_tasks = len(self.wanted_job["hosts"]) * gate["tasks_per_node"]
        self.num_tasks_per_node = gate["tasks_per_node"]
        self.exclusive_access = True
        program = _PROGRAMS.get(gate["kind"], gate["kind"])
        variables = dict(ROUND["variables"])
        variables.update(("GATE_" + name, value) for name, value in gate["arguments"].items())
        text = (DIRECTORY / "programs" / (program + ".sh")).read_text(encoding="utf-8")
        exports = "".join("export %s=%s\n" % (name, shlex.quote(value)) for name, value in variables.items())
        script = 'echo "@host ${SLURMD_NODENAME:-$(hostname -s)}"\n' + exports + text
        self.executable_opts = ["-c", shlex.quote(script)]
        self.reference = {"*": {floor["metric"]: bounds(floor) for floor in gate["floors"]}}

    @run_before("run")
    def place(self):
        gate = self.wanted_job["gate"]
        program = _PROGRAMS.get(gate["kind"], gate["kind"])
        hosts = self.wanted_job["hosts"]
        self.job.options = [
            "--label",
            "--nodes=%d" % len(hosts),
            "--nodelist=" + ",".join(hosts),
            "--mem=0",
            "--immediate=%d" % ROUND["patience"],
            "--kill-on-bad-exit=1",
            "--mpi=" + (ROUND["mpi"] if program in _WITH_MPI else "none"),
            *ROUND["options"],
        ]
        if gate["gpus"]:
            self.job.options.append("--gres=gpu:%d" % gate["gpus"])
        if program == "linpack":
            self.job.options.append("--hint=nomultithread")  # one task for each core

    @run_before("sanity")
    def read_output(self):
        text, complaints = (
            outputs.text_of(Path(self.stagedir) / stream.evaluate()) for stream in (self.stdout, self.stderr)
        )
        self.srun = [outputs.printable(line) for line in complaints.split("\n") if line.startswith("srun:")]
        self.answer = outputs.read(text)
        metrics = [floor["metric"] for floor in self.wanted_job["gate"]["floors"]]
        self.perf_variables = {
            metric: sn.make_performance_function(
                sn.defer(value),
                next((f["unit"] for f in self.wanted_job["gate"]["floors"] if f["metric"] == metric), "-"),
            )
            for metric, value in self.answer.readings.items()
            if metric in metrics
        }
        self.keep()

    def keep(self):
        """Keep the results that are not in ReFrame's own report: readings without a floor, hosts and problems."""
        document = {
            "readings": self.answer.readings,
            "hosts": sorted(set(self.answer.hosts.values())),
            "problems": self.answer.problems[:20],
            "missing": sorted(self.answer.missing),
            "srun": self.srun[:5],
        }
        Path(ROUND["directory"], "job-%d.json" % self.job_number).write_text(json.dumps(document), encoding="utf-8")

    @sanity_function
    def every_node_ran(self):
        gate, answer = self.wanted_job["gate"], self.answer
        hosts = set(self.wanted_job["hosts"])
        ran = set(answer.hosts.values())
        metrics = {floor["metric"] for floor in gate["floors"]}
        checks = [
            sn.assert_false(answer.missing, "not installed: %s" % ", ".join(sorted(answer.missing))),
            sn.assert_false(answer.problems, "; ".join(answer.problems[:3])),
            sn.assert_eq(ran, hosts, "ran on %s; %s" % (",".join(sorted(ran)) or "no node", "; ".join(self.srun[:2]))),
        ]
        if _PROGRAMS.get(gate["kind"], gate["kind"]) in _WITH_MPI:
            checks.append(sn.assert_eq(answer.readings.get("ranks"), self.num_tasks, "not one job of all tasks"))
            if len(hosts) > 1:
                checks.append(sn.assert_eq(answer.readings.get("hosts"), len(hosts), "not one job on all nodes"))
        absent = metrics - answer.readings.keys()
        checks.append(sn.assert_false(absent, "no reading of %s" % ", ".join(sorted(absent))))
        return sn.all(checks)
