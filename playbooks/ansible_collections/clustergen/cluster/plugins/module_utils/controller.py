"""States of nodes and jobs from slurmctld, asked on a node that has Slurm's commands."""

from __future__ import annotations

import re

# Begins the reason of a drain by a playbook. The health check begins its own with HEALTH and takes those back by itself,
# so the two have to differ.
OURS = "clustergen playbook: "
# Continues that of a drain by site.yml. Slurm keeps it, so that the next run knows what a run that was killed has drained.
SITE = "site.yml: "
HEALTH = "clustergen: "
DRAINED = frozenset(("drain", "draining", "drained"))
# Words of a state that say that no job can start there, besides those of a drain.
UNUSABLE = frozenset(
    [
        "down",
        "error",
        "fail",
        "failing",
        "future",
        "invalid",
        "invalid_reg",
        "maintenance",
        "not_responding",
        "power_down",
        "powered_down",
        "powering_down",
        "reboot_issued",
        "reboot_requested",
        "unknown",
    ]
)


def is_held_down(states):
    """True if a node answers and is down because it is drained.

    slurmctld sets a node down that was silent for SlurmdTimeout. Once it registers, ReturnToService=1 returns it only if the
    whole reason is "Not responding"; that of a drain begins otherwise, so it stays down until somebody resumes it.
    """
    return "down" in states and bool(states & DRAINED) and "not_responding" not in states


def is_ours(reason, begins=""):
    """True for a drain by a playbook, for a reason that begins so."""
    return reason.startswith(OURS + begins)


_ON_NODES = "running,completing,suspended,configuring,stopped,signaling,stage_out"


class Controller:
    """Slurm's commands; one that fails ends the module with what it said."""

    def __init__(self, module):
        self.module = module

    def ask(self, *command):
        """Exit status, output and error output; a command that hangs ends after a minute."""
        return self.module.run_command(["timeout", "-k", "2", "60", *command])

    def run(self, *command):
        code, out, err = self.ask(*command)
        if code:
            last_line = (err or out).strip().splitlines()[-1:] or ["exit status %d" % code]
            self.module.fail_json(msg="{}: {}".format(" ".join(command[:3]), last_line[0]))
        return out

    def nodes(self):
        """Name → (states in lower case, reason)."""
        return {name: (states, reason) for name, states, reason, _ in parsed(self.run(*_SHOW))}

    def releases(self):
        """Name → the version of the slurmd that registered, empty for one that never did."""
        return {name: version for name, _, _, version in parsed(self.run(*_SHOW))}

    def left_drained(self):
        """Nodes that site.yml drained; none if slurmctld does not answer."""
        code, out, _ = self.ask(*_SHOW)
        rows = parsed(out) if code == 0 else ()
        return [name for name, states, reason, _ in rows if states & DRAINED and is_ours(reason, SITE)]

    def jobs_on(self, nodes):
        return self._jobs(nodes, "%i").split()

    def places_of_jobs(self, nodes):
        """`17 on compute[01-02]`, job by job."""
        return self._jobs(nodes, "%i on %N").splitlines()

    def _jobs(self, nodes, form):
        where = "--nodelist=" + ",".join(nodes)
        return self.run("squeue", "--noheader", "--all", "--states=" + _ON_NODES, "--format=" + form, where)


_SHOW = ("scontrol", "--oneliner", "show", "node")


def parsed(text):
    """Name, states, reason and version of every line of `scontrol --oneliner show node`."""
    for line in text.splitlines():
        name = re.search(r"\bNodeName=(\S+)", line)
        state = re.search(r"\bState=(\S+)", line)
        if name and state:
            reason = re.search(r"\bReason=(.*?)(?: \[\S+\])?(?: Comment=.*)?$", line)
            version = re.search(r"\bVersion=(\S+)", line)
            states = set(state.group(1).lower().split("+"))
            yield name.group(1), states, reason.group(1) if reason else "", version.group(1) if version else ""
