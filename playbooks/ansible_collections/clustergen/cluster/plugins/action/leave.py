"""Stops and disables on one node what clustergen runs there: Slurm's daemons, and units that the tree brought."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.module_utils.effects import SLURM_UNITS
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, settled

_DIRECTORY = "/etc/systemd/system/"


class ActionModule(Asking):
    """`tree: directory`, which still has the node. Units of the distribution, such as ssh, stay."""

    _VALID_ARGS = frozenset(("tree",))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        files = [file["target"] for file in Tree(self._task.args["tree"]).of_host(settled(self._templar, task_vars))]
        names = [target.removeprefix(_DIRECTORY) for target in files if target.startswith(_DIRECTORY)]
        # Timers first, since they would start their services again.
        names = sorted((unit for unit in names if "/" not in unit), key=lambda unit: not unit.endswith(".timer"))
        done = self.ask("node_stop", {"units": [*reversed(SLURM_UNITS), *names]}, task_vars)
        result.update(done)
        if not done.get("failed") and "stopped" in done:
            result["msg"] = (
                f"stopped {', '.join(done['stopped'])}"
                if done["stopped"]
                else "none of clustergen's services runs here"
            )
        return result
