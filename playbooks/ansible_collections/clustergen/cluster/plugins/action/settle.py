"""Starts, restarts and tells Slurm's daemons of one node."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.module_utils.effects import SLURM_UNITS
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking
from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import turn_of


class ActionModule(Asking):
    """`units`: those of Slurm's units whose turn it is; `stop: true` stops them; `effects`: more than those of the files, or with
    `only` in place of them.
    """

    _VALID_ARGS = frozenset(("units", "stop", "effects", "only"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        fact = task_vars["ansible_facts"]["clustergen"]
        plan = task_vars["hostvars"]["localhost"]["ansible_facts"]["clustergen_plan"]
        stop = bool(self._task.args.get("stop"))
        effects = [*fact["effects"], *plan["from_afar"].get(task_vars["inventory_hostname"], [])]
        effects = [] if self._task.args.get("only") else effects
        turn, requested, idle = turn_of(fact, self._task.args.get("units", SLURM_UNITS), effects, plan["reconfigures"])
        requested += self._task.args.get("effects", [])
        if not (requested or idle or (turn and stop)):
            return dict(result, changed=False, skipped=True, msg="nothing to do")
        done = self.ask(
            "node_settle",
            {"effects": requested, "units": turn, "without": fact["without"], "stop": stop},
            task_vars,
        )
        result.update(done)
        if not done.get("failed") and "done" in done:
            result["msg"] = ", ".join(done["done"]) or "already done"
        return result
