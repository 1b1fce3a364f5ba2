"""Looks over the answers of all hosts, once: who is behind, who has to be emptied, and what must not be while jobs run."""

from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import ROUTERS
from ansible_collections.clustergen.cluster.plugins.plugin_utils.plan import Asked, make_plan


class ActionModule(ActionBase):
    """Sets the fact `clustergen_plan`: host patterns for the plays that follow. Runs once."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset()

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        facts = {host: task_vars["hostvars"][host]["ansible_facts"] for host in task_vars["ansible_play_hosts"]}
        answers = {host: fact["clustergen"] for host, fact in facts.items() if "clustergen" in fact}
        asked = Asked(
            # Not the variable: a fact of a node would count for more.
            task_vars["groups"].get("slurm_controller", ()),
            task_vars["ansible_play_hosts_all"],
            task_vars["groups"]["all"],
            task_vars["groups"].get(ROUTERS, ()),
            changes=not self._task.check_mode,
            lost_ok=boolean(self._templar.template(task_vars.get("cluster_jobs_may_be_lost", False))),
            same_ok=boolean(self._templar.template(task_vars.get("cluster_same_ok", False))),
        )
        plan, message, wrong = make_plan(answers, asked)
        result.update(changed=False, ansible_facts={"clustergen_plan": plan}, msg="; ".join(wrong) or message)
        return dict(result, failed=True) if wrong else result
