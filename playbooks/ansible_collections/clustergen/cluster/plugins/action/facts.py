"""Records what the commands of `clustergen discover` print on one node, in a directory of the control host; with `tree` also
how the node differs from the tree. One module answers both, since a module costs more than all that it runs."""

from __future__ import annotations

import json
import time

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.clustergen.cluster.plugins.plugin_utils import accounting, answers, node_state, recording
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking, distrusted
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import AnswerError
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, settled

_SLURM = {"scontrol-nodes": "scontrol -o show nodes", "scontrol-partitions": "scontrol -o show partitions"}


class ActionModule(Asking):
    """`directory`, whether the node is a `controller`, and the `tree`. An unreachable node is recorded as such, and is no failure."""

    _VALID_ARGS = frozenset(("directory", "controller", "seconds", "tree"))

    def run(self, tmp=None, task_vars=None):
        from clustergen.hardware.discovery.script import COMMANDS, without_serials

        result = super().run(tmp, task_vars)
        place = recording.node_directory(self._task.args.get("directory"), task_vars["inventory_hostname"])
        commands = {**COMMANDS, **(_SLURM if self._task.args.get("controller") else {})}
        arguments = {
            "commands": {name: without_serials(line) for name, line in commands.items()},
            "seconds": int(self._task.args.get("seconds") or 30),
        }
        module = "node_facts"
        if self._task.args.get("tree"):
            module = "node_state"
            task_vars = settled(self._templar, task_vars)
            overlay = Tree(self._task.args["tree"]).of_host(task_vars)
            arguments |= {**node_state.query(overlay, task_vars, (), arguments["commands"]), "contents": False}
        began = time.time()
        try:
            answer = self.ask(module, arguments, task_vars)
        except AnsibleConnectionFailure as err:
            answer = {"unreachable": True, "msg": str(err)}
        outputs = answer.get("outputs", answer)
        if "files" not in outputs:
            message = " ".join(str(answer.get("msg") or "no answer").split())[:500]
            recording.replace(place, {"unreachable": message.encode()})
            result.update(changed=False, msg=f"not recorded: {message}")
            return result
        try:
            files = {name: answers.unpacked(text, answers.MOST_OUTPUT) for name, text in outputs["files"].items()}
            accounts = accounting.comparison(answer, arguments["commands"]) if module == "node_state" else {}
        except AnswerError as err:
            failure = distrusted(err)
            recording.replace(place, {"unreachable": failure["msg"].encode()})
            return dict(result, changed=False, msg=failure["msg"])
        failures = dict.fromkeys(outputs["late"], f"no answer in {arguments['seconds']} s")
        failures.update(dict.fromkeys(outputs["large"], "its output is too large"))
        if accounts.get("failure"):
            failures.setdefault(accounting.COMMAND, accounts["failure"])
        files.pop(accounting.COMMAND, None)
        if failures:
            files["failures.json"] = json.dumps(failures).encode()
        if module == "node_state":
            unfit = "; ".join(node_state.unfit(answer, task_vars, began))
            files["tree.json"] = recording.tree_json(answer, accounts, unfit)
        recording.replace(place, files)
        result.update(changed=False, msg="recorded")
        return result
