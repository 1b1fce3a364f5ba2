"""Looks at the command and at the tree before anything is touched: is it as it was rendered, and by this version?"""

from __future__ import annotations

from ansible.plugins.action import ActionBase
from ansible.utils.vars import load_extra_vars

from ansible_collections.clustergen.cluster.plugins.plugin_utils import settings
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, version

_MOST = 5


class ActionModule(ActionBase):
    """`directory`. With `edited_ok` or `version_ok` it only warns of that."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("directory", "edited_ok", "version_ok"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        result["changed"] = False
        if not self._task.args["directory"]:
            return dict(
                result,
                failed=True,
                msg="no inventory: run this in the tree's directory, which has the ansible.cfg",
            )
        if wrong := list(self._command(task_vars)):
            return dict(result, failed=True, msg="; ".join(wrong))
        tree = Tree(self._task.args["directory"])
        wrong, warnings = [], []
        damage = list(tree.damage())
        if damage:
            more = f" and {len(damage) - _MOST} more" if len(damage) > _MOST else ""
            text = f"{'; '.join(damage[:_MOST])}{more}. The tree has been changed since it was rendered: render it again, or set -e cluster_edited_ok=true"
            (warnings if self._task.args.get("edited_ok") else wrong).append(text)
        if tree.lock.get("clustergen") != version():
            text = (
                f"the tree was made by clustergen {tree.lock.get('clustergen')}, and {version()} would apply it: "
                "render it again with this one, or set -e cluster_version_ok=true"
            )
            (warnings if self._task.args.get("version_ok") else wrong).append(text)
        if warnings:
            result["warnings"] = warnings
        if wrong:
            return dict(result, failed=True, msg=". ".join(wrong))
        hosts = {entry["group"] for entry in tree.files.values() if "group" in entry}
        return dict(result, msg=f"{len(tree.files)} files in {len(hosts)} groups, unchanged since they were rendered")

    def _command(self, task_vars):
        """Errors of the options of ansible-playbook and of the site's variables."""
        if task_vars["ansible_run_tags"] not in (["all"], ("all",)) or task_vars["ansible_skip_tags"]:
            yield "these playbooks have no tags: omit --tags and --skip-tags (--limit selects hosts)"
        stated = {name: task_vars[name] for name in settings.KINDS if name in task_vars}
        yield from settings.wrong_with({name: self._templar.template(value) for name, value in stated.items()})
        yield from settings.slips(load_extra_vars(self._loader))
