"""Adds to the recorded facts of a node how it differs from the tree: what `site.yml --check` reports."""

from __future__ import annotations

from ansible.plugins.action import ActionBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils import recording


class ActionModule(ActionBase):
    """`folder`, and the `answer` of the action `ask`."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("folder", "answer"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        place = recording.directory(self._task.args.get("folder"), task_vars["inventory_hostname"])
        recording.add(place, "tree.json", recording.tree_json(self._task.args["answer"]))
        result.update(changed=False, msg="recorded")
        return result
