"""Actions that run a module of this collection on a node: what it answers is bounded and checked before anybody reads it."""

from __future__ import annotations

from ansible.plugins.action import ActionBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers, bounds
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import AnswerError

COLLECTION = "clustergen.cluster."


class Asking(ActionBase):
    """`ask` in the place of `_execute_module`."""

    TRANSFERS_FILES = False

    def ask(self, module, arguments, task_vars):
        """The checked answer. `failed` in it says that the module failed, or that its answer is not to be trusted."""
        bounds.install()
        try:
            with bounds.own_module():
                answer = self._execute_module(COLLECTION + module, arguments, task_vars=task_vars)
        except MemoryError:
            return {"failed": True, "msg": f"its answer takes more than {bounds.MEMORY >> 20} MiB"}
        try:
            return answers.checked(module, arguments, answer)
        except AnswerError as err:
            return distrusted(err)


def distrusted(err):
    return {"failed": True, "msg": f"invalid answer from clustergen's module: {err}"}
