"""Records what the commands of `clustergen discover` print on one node, in a directory of the control host."""

from __future__ import annotations

import json

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers, recording
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking, distrusted
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import AnswerError

_SLURM = {"scontrol-nodes": "scontrol -o show nodes"}


class ActionModule(Asking):
    """`folder`, and whether the node is a `controller`. An unreachable node is recorded as such, and is no failure."""

    _VALID_ARGS = frozenset(("folder", "controller", "seconds"))

    def run(self, tmp=None, task_vars=None):
        from clustergen.hardware.discovery.script import COMMANDS, without_serials

        result = super().run(tmp, task_vars)
        place = recording.directory(self._task.args.get("folder"), task_vars["inventory_hostname"])
        commands = {**COMMANDS, **(_SLURM if self._task.args.get("controller") else {})}
        arguments = {
            "commands": {name: without_serials(line) for name, line in commands.items()},
            "seconds": int(self._task.args.get("seconds") or 30),
        }
        try:
            answer = self.ask("node_facts", arguments, task_vars)
        except AnsibleConnectionFailure as err:
            answer = {"unreachable": True, "msg": str(err)}
        if "files" not in answer:
            message = " ".join(str(answer.get("msg") or "no answer").split())[:500]
            recording.replace(place, {"unreachable": message.encode()})
            result.update(changed=False, reachable=False, msg=f"not recorded: {message}")
            return result
        try:
            files = {name: answers.unpacked(text, answers.MOST_OUTPUT) for name, text in answer["files"].items()}
        except AnswerError as err:
            failure = distrusted(err)
            recording.replace(place, {"unreachable": failure["msg"].encode()})
            return dict(result, changed=False, reachable=False, msg=failure["msg"])
        failures = dict.fromkeys(answer["late"], f"no answer in {arguments['seconds']} s")
        failures.update(dict.fromkeys(answer["large"], "its output is too large"))
        if failures:
            files["failures.json"] = json.dumps(failures).encode()
        recording.replace(place, files)
        result.update(changed=False, reachable=True, msg="recorded")
        return result
