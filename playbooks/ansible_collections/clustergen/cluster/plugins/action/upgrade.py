"""Looks over the releases of all hosts, once, before anything is touched: may they become the tree's, and which have to?"""

from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import folded
from ansible_collections.clustergen.cluster.plugins.plugin_utils.releases import judge, mpi_of
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree

NOBODY = "all:!all"


class ActionModule(ActionBase):
    """`tree: directory`. Sets the fact `clustergen_upgrade`: host patterns for the plays that follow. Runs once."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("tree", "mixed_ok"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        hosts = task_vars["ansible_play_hosts_all"]
        answers = {host: task_vars["hostvars"][host].get("clustergen_installed") or {} for host in hosts}
        versions = {host: answer["versions"] for host, answer in answers.items() if "versions" in answer}
        absent = [host for host in hosts if host not in versions]
        groups = task_vars["groups"]
        target = str(task_vars["slurm_release"])
        verdict = judge(versions, target, boolean(self._task.args.get("mixed_ok") or False))
        servers = [*groups.get("slurm_accounting", ()), *groups.get("slurm_controller", ())]
        if lost := [host for host in absent if host in servers]:
            verdict.wrong.append(f"{folded(lost)} cannot be reached, but slurmdbd and slurmctld must be upgraded first")
        if verdict.wrong:
            return dict(result, failed=True, msg="nothing was changed: " + ". ".join(verdict.wrong))
        idle = [host for host in versions if _not_running(host, versions, answers, groups)]
        todo = bool(verdict.behind or idle) and not self._task.check_mode
        installed = [host for host in versions if host not in verdict.bare]

        def pattern(names):
            return ",".join(name for name in names if name in installed and todo) or NOBODY

        accounting = groups.get("slurm_accounting", [])
        controllers = task_vars.get("slurm_controllers") or []
        compute = [host for host in groups.get("slurm_compute", []) if host not in controllers]
        others = [host for host in installed if host not in {*accounting, *controllers, *compute}]
        fact = {
            "behind": verdict.behind,
            "moving": pattern(verdict.behind),
            "accounting": pattern(accounting),
            "controllers": pattern(controllers),
            "stops": pattern(reversed(controllers)) if set(controllers) & set(verdict.behind) else NOBODY,
            "compute": pattern(compute),
            "others": pattern(others),
            "all": pattern(installed),
            "absent": absent,
            "old": verdict.old,
            "mpi": mpi_of(Tree(self._task.args["tree"])),
        }
        messages = [
            f"Slurm {' and '.join(verdict.old)} → {target} on {folded(verdict.behind)}"
            if verdict.behind
            else f"Slurm is {target} everywhere"
        ]
        if absent:
            messages.append(f"not reached, and not upgraded: {folded(absent)}")
        if verdict.bare:
            messages.append(f"without Slurm: {folded(verdict.bare)}")
        return dict(
            result,
            changed=bool(verdict.behind) and self._task.check_mode,
            ansible_facts={"clustergen_upgrade": fact},
            msg="; ".join(messages),
        )


def _not_running(host, versions, answers, groups):
    """True if a daemon that belongs there stands still: an earlier run may have been cut off."""
    group_of_daemon = {"slurmdbd": "slurm_accounting", "slurmctld": "slurm_controller", "slurmd": "slurm_compute"}
    return any(
        host in groups.get(group, ()) and daemon in versions[host] and daemon not in answers[host]["running"]
        for daemon, group in group_of_daemon.items()
    )
