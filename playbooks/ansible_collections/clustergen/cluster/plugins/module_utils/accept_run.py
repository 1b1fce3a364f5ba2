"""One acceptance run on the controller: its reservation, ReFrame's processes, and the state that survives a cut."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files, safe_write
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_verdicts import not_run, verdict

RESERVATION = "clustergen-accept"
_LOG_LIMIT = 1000000  # characters
_OVERHEAD = 60  # seconds of ReFrame itself in a round
_END_OF_JOBS = 120  # seconds that cancelled jobs may take, with their epilog
_SHARE = 4  # a measurement takes at most this part of the gate's time
_JOBS = 64  # that ReFrame starts at once, as reframe.yaml has it
# A ReFrame that outlives a killed module would start more jobs in the reservation of the next run.
_WITH_ITS_PARENT = ("setpriv", "--pdeathsig", "KILL")


def moment():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def write(path, text):
    """Completely or not at all."""
    safe_write.replace(path, text.encode(), sync=True)


def last_line(log):
    """The last line of ReFrame's output but for where its own logs are."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [" ".join(line.split()) for line in file.read(_LOG_LIMIT).splitlines()]
    return ([line for line in lines if line and not line.startswith("Log file(s)")] or ["no output"])[-1][:300]


class State:
    """Results so far, on disk after every round."""

    def __init__(self, path, digest, again):
        self.path = path
        state = safe_files.read_json(path, {})
        self.goes_on = bool(not again and state.get("digest") == digest and state.get("unfinished"))
        if not self.goes_on:
            state = {
                "digest": digest,
                "begin": moment(),
                "unfinished": True,
                "results": {},
                "drained": {},
                "remarks": [],
            }
        self.data = state

    def save(self):
        write(self.path, json.dumps(self.data))

    def finish(self):
        self.data["unfinished"] = False
        self.save()


class Reservation:
    """Keeps other jobs off the nodes. Slurm refuses it where a node has jobs, which is what keeps ours off theirs."""

    def __init__(self, slurm):
        self.slurm = slurm

    def take(self, nodes, seconds):
        """Why Slurm refuses, or an empty text."""
        minutes = max(2, -(-seconds // 60))
        code, out, err = self.slurm.ask(
            "scontrol",
            "create",
            "reservation",
            "ReservationName=" + RESERVATION,
            "Users=root",
            "StartTime=now",
            "Duration=%d" % minutes,
            "Nodes=" + ",".join(nodes),
        )
        return "" if code == 0 else (err or out).strip()

    def release(self):
        """Ends the jobs that a cut-off run left, and the reservation; neither needs to exist.

        Slurm keeps a reservation that has jobs, so this waits for their end. What to do where it is left, or an empty text.
        """
        self.slurm.ask("scancel", "--full", "--reservation=" + RESERVATION)
        until = time.monotonic() + _END_OF_JOBS
        while time.monotonic() < until:
            code, out, _ = self.slurm.ask("squeue", "--noheader", "--reservation=" + RESERVATION, "--format=%i")
            if code or not out.strip():
                break
            time.sleep(1)
        _, _, err = self.slurm.ask("scontrol", "delete", "ReservationName=" + RESERVATION)
        _, shown, _ = self.slurm.ask("scontrol", "--oneliner", "show", "reservation", RESERVATION)
        if "ReservationName=" not in shown:
            return ""
        return "reservation %s is left (%s): scontrol delete ReservationName=%s" % (
            RESERVATION, " ".join(err.split()) or "jobs do not end", RESERVATION
        )  # fmt: skip


class Reframe:
    """Runs rounds of jobs. `variables` are the GATE_ variables of all programs, `options` go to every srun."""

    def __init__(self, directory, program, mpi, variables, options, patience):
        self.directory = directory
        self.program = program
        self.round = {"mpi": mpi, "variables": variables, "options": options, "patience": patience}

    def seconds(self, gate, jobs):
        """The bound of a round: every job may wait its turn, wait for Slurm and run to its limit."""
        turns = -(-len(jobs) // _JOBS)
        return turns * (gate["seconds"] + self.round["patience"]) + _OVERHEAD

    def run(self, gate, jobs):
        """The results of a round, one for each job."""
        work = os.path.join(self.directory, "round")
        os.makedirs(work, mode=0o700, exist_ok=True)
        for name in os.listdir(work):
            if name.endswith(".json"):
                os.unlink(os.path.join(work, name))
        limit = gate["seconds"] + self.round["patience"]
        entries = [{"gate": gate, "hosts": hosts, "seconds": limit} for hosts in jobs]
        variables = dict(self.round["variables"])
        variables["GATE_SECONDS"] = str(min(int(variables["GATE_SECONDS"]), gate["seconds"] // _SHARE))
        document = dict(self.round, jobs=entries, directory=work, variables=variables)
        write(os.path.join(work, "round.json"), json.dumps(document))
        command = [
            *_WITH_ITS_PARENT,
            self.program,
            "--config-file=" + os.path.join(self.directory, "reframe.yaml"),
            "--checkpath=" + os.path.join(self.directory, "checks", "gates.py"),
            "--prefix=" + os.path.join(self.directory, "reframe"),
            "--report-file=" + os.path.join(work, "report.json"),
            "--nocolor",
            "--run",
        ]
        environment = dict(os.environ, CLUSTERGEN_ACCEPT=os.path.join(work, "round.json"), LC_ALL="C.UTF-8")
        environment.update(RFM_AUTODETECT_METHODS="", RFM_REMOTE_DETECT="0")
        log = os.path.join(work, "reframe.log")
        code = self._bounded(command, environment, self.seconds(gate, jobs), log)
        cases = self._cases(safe_files.read_json(os.path.join(work, "report.json"), {}))
        if code is not None and not cases:
            reason = "ReFrame ended without a report (exit status %d): %s" % (code, last_line(log))
            return [not_run(gate, hosts, reason) for hosts in jobs]
        return [
            verdict(gate, hosts, cases.get(index), safe_files.read_json(os.path.join(work, "job-%d.json" % index), None))
            for index, hosts in enumerate(jobs)
        ]

    @staticmethod
    def _bounded(command, environment, seconds, log):
        """The exit status; None where the whole process group was ended after its time."""
        with open(log, "wb") as out:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
            try:
                return process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                time.sleep(5)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return None

    @staticmethod
    def _cases(report):
        """Test cases by the number of their job."""
        cases = {}
        for run in report.get("runs") or ():
            for case in run.get("testcases") or ():
                number = str(case.get("name", "")).partition("job_number=")[2].split(" ")[0]
                if number.isdigit():
                    cases[int(number)] = case
        return cases
