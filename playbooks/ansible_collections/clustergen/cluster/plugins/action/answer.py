"""Runs a module of this collection that has no action of its own; meta/runtime.yml sends their names here."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import COLLECTION, Asking

_DEFAULTS = {"slurm_nodes": {"nodes": []}, "node_stop": {"units": []}}


class ActionModule(Asking):
    """The arguments are the module's."""

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        module = self._task.action.removeprefix(COLLECTION)
        arguments = {**_DEFAULTS.get(module, {}), **self._task.args}
        result.update(self.ask(module, arguments, task_vars))
        return result
