"""Starts, restarts and tells Slurm's daemons of one node."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.module_utils.effects import SLURM_UNITS
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking


class ActionModule(Asking):
    """`units`: those of Slurm's units whose turn it is; `stop: true` stops them."""

    _VALID_ARGS = frozenset(("units", "stop", "effects"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        fact = task_vars["ansible_facts"]["clustergen"]
        plan = task_vars["hostvars"]["localhost"]["ansible_facts"]["clustergen_plan"]
        turn = [unit for unit in self._task.args.get("units", SLURM_UNITS) if unit in fact["units"]]
        stop = bool(self._task.args.get("stop"))
        effects = [*fact["effects"], *plan["from_afar"].get(task_vars["inventory_hostname"], [])]
        requested = [effect for effect in dict.fromkeys(effects) if _turn(effect, turn, fact["units"])]
        if plan["reconfigures"] and "slurmctld.service" not in fact["units"]:
            requested = [effect for effect in requested if effect != "reconfigure"]
        requested += self._task.args.get("effects", [])
        idle = [unit for unit in turn if unit in fact["start"]]
        if not (requested or (turn and (stop or idle))):
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


def _turn(effect, turn, units):
    """True if an effect belongs to the units whose turn it is."""
    name, _, unit = effect.partition(":")
    if name == "load-accounts":
        return "slurmctld.service" in turn
    if name == "reconfigure":
        return ("slurmctld.service" if "slurmctld.service" in units else "slurmd.service") in turn
    return unit in turn or name.removeprefix("restart-") + ".service" in turn
