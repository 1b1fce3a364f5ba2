"""Looks at the tree before anything is touched: is it as it was rendered, and by this version?"""

from __future__ import annotations

from ansible.plugins.action import ActionBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, version

_MOST = 5


class ActionModule(ActionBase):
    """`tree: folder`. With `edited_by_hand: true` or `other_version: true` in the variables it only warns."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("folder", "edited_ok", "version_ok"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        result["changed"] = False
        tree = Tree(self._task.args["folder"])
        wrong, warnings = [], []
        damage = list(tree.damage())
        if damage:
            more = f" and {len(damage) - _MOST} more" if len(damage) > _MOST else ""
            text = f"{'; '.join(damage[:_MOST])}{more}. The tree is not as it was rendered: render it again, or say -e cluster_edited_ok=true"
            (warnings if self._task.args.get("edited_ok") else wrong).append(text)
        if tree.lock.get("clustergen") != version():
            text = (
                f"the tree was made by clustergen {tree.lock.get('clustergen')}, and {version()} would apply it: "
                "render it again with this one, or say -e cluster_version_ok=true"
            )
            (warnings if self._task.args.get("version_ok") else wrong).append(text)
        if warnings:
            result["warnings"] = warnings
        if wrong:
            return dict(result, failed=True, msg=". ".join(wrong))
        hosts = {entry["group"] for entry in tree.files.values() if "group" in entry}
        return dict(result, msg=f"{len(tree.files)} files in {len(hosts)} groups, as they were rendered")
