"""One run at a time applies to a cluster: the controller has a note of who does."""

from __future__ import annotations

import getpass
import os
import socket
import time
from pathlib import Path

from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking


class ActionModule(Asking):
    """`state`: begun or over. To be delegated to a controller. `anyway: true` goes on beside another run."""

    _VALID_ARGS = frozenset(("state", "after", "anyway"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        result["changed"] = False
        parent = os.getppid()
        if orphaned(parent):
            return dict(result, failed=True, msg="this run was killed; its lock is not set")
        asked = {
            "state": self._task.args["state"],
            "run": this_run(parent),
            "after": self._task.args.get("after") or "",
            "dead": [],
        }
        done = self.ask("run_mark", asked, task_vars)
        other = done.get("other")
        if other and other["open"] and (self._task.args.get("anyway") or over(other)):
            asked.update(dead=[other["id"]])
            done = self.ask("run_mark", asked, task_vars)
            other = done.get("other")
        if done.get("failed") or done.get("unreachable") or "other" not in done:
            return dict(result, **done)
        return dict(result, failed=True, msg=words(other)) if other else result


def this_run(pid):
    """The ansible-playbook that this is part of, by its process."""
    host = socket.gethostname()
    who = os.environ.get("SUDO_USER") or getpass.getuser()
    return {"id": f"{who}@{host}:{pid}:{started(pid)}", "who": who, "host": host, "pid": pid}


def orphaned(parent):
    """True if the ansible-playbook that forked this worker is gone, and `parent` is who took the worker over."""
    try:
        return Path(f"/proc/{parent}/cmdline").read_bytes() != Path("/proc/self/cmdline").read_bytes()
    except OSError:
        return parent == 1


def started(pid):
    """When a process began, in words of this kernel; empty where there is no such process, or no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""


def over(other):
    """True if a run of this machine ended without a word."""
    if other["host"] != socket.gethostname():
        return False
    if Path("/proc/self").is_dir():
        alive = started(other["pid"])
        return not alive or other["id"].rpartition(":")[2] != alive
    try:
        os.kill(other["pid"], 0)
    except OSError as err:
        return isinstance(err, ProcessLookupError)
    return False


def words(other):
    who = f"{other['who']} on {other['host']}"
    if not other["open"]:
        return f"a run of {who} has changed the cluster since this run queried the nodes: run it again. No file was installed"
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(other["began"]))
    return (
        f"a run of {who} (process {other['pid']}) applies to this cluster since {began}: wait until it has ended. "
        "No file was installed. If that run is dead, set -e cluster_other_run_ok=true"
    )
