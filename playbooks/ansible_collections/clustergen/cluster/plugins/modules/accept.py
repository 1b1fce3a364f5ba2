#!/usr/bin/python
"""Runs the gates of acceptance/ on idle nodes; runs on a controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: accept
short_description: Runs the acceptance gates of a cluster on idle nodes
description:
  - Reserves the idle nodes, runs the gates with ReFrame stage by stage, and drains what fails with the gate as the reason.
  - Nodes with jobs are left out. A run that was cut off goes on with the gates that are missing.
author: The clustergen developers
options:
  directory:
    description: Directory on the controller with gates.json, reframe.yaml and checks/.
    type: path
    required: true
  reframe:
    description: The program of ReFrame.
    type: path
    required: true
  nodes:
    description: Names of nodes; without, all compute nodes.
    type: list
    elements: str
    default: []
  stages:
    description: Stages to run.
    type: list
    elements: str
    choices: [presence, node, pair, whole]
    default: [presence, node, pair, whole]
  without:
    description: Gates to omit, by name, kind or node type.
    type: list
    elements: str
    default: []
  drain:
    description: Drains nodes that fail; without, failures are only reported.
    type: bool
    default: true
  again:
    description: Starts from the first gate, also where the last run was cut off.
    type: bool
    default: false
  new_baseline:
    description: Replaces the baseline by this run.
    type: bool
    default: false
  seconds:
    description: Duration of one measurement, in seconds.
    type: int
    default: 30
  file_size:
    description: Size of the file that each process of a storage gate writes, as fio reads it.
    type: str
    default: 4g
  processes:
    description: Processes of a storage gate on one node.
    type: int
    default: 8
  patience:
    description: How long a gate waits for its nodes, in seconds.
    type: int
    default: 60
  options:
    description: More options of srun, such as an account.
    type: list
    elements: str
    default: []
attributes:
  check_mode: {support: none, description: The playbook stops before it.}
"""
EXAMPLES = r"""
- name: Accept two nodes
  clustergen.cluster.accept:
    directory: /var/lib/clustergen/acceptance
    reframe: /opt/clustergen/reframe/bin/reframe
    nodes: [compute01, compute02]
"""
RETURN = r"""
summary:
  description: How many gates passed, failed and were not run.
  returned: success
  type: str
drained:
  description: Nodes that this run drained, each with the reason.
  returned: success
  type: dict
left_out:
  description: Nodes that were not free, each with the reason.
  returned: success
  type: dict
report:
  description: Path of the report on the controller.
  returned: success
  type: str
lines:
  description: Failures, gates that were not run, and remarks.
  returned: success
  type: list
goes_on:
  description: Whether this run went on where another was cut off.
  returned: success
  type: bool
"""

import fcntl
import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import accept_plan as plan
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_report as reports
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_run as runs
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_cluster import Acceptance, lines_of
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_verdicts import FAILED, NOT_RUN
from ansible_collections.clustergen.cluster.plugins.module_utils.safe_files import reason_of


def main():
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "required": True},
            "reframe": {"type": "path", "required": True},
            "nodes": {"type": "list", "elements": "str", "default": []},
            "stages": {
                "type": "list",
                "elements": "str",
                "choices": list(plan.STAGES),
                "default": list(plan.STAGES),
            },
            "without": {"type": "list", "elements": "str", "default": []},
            "drain": {"type": "bool", "default": True},
            "again": {"type": "bool", "default": False},
            "new_baseline": {"type": "bool", "default": False},
            "seconds": {"type": "int", "default": 30},
            "file_size": {"type": "str", "default": "4g"},
            "processes": {"type": "int", "default": 8},
            "patience": {"type": "int", "default": 60},
            "options": {"type": "list", "elements": "str", "default": []},
        },
    )
    try:
        accept(module)
    except plan.UnfitError as err:
        module.fail_json(msg=str(err))
    except OSError as err:  # such as a full disk
        where = err.filename or module.params["directory"]
        module.fail_json(
            msg=f"{where}: {reason_of(err)}; repair it and run this again: finished gates are not repeated"
        )


def accept(module):
    acceptance = Acceptance(module)
    with open(os.path.join(acceptance.directory, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            module.fail_json(msg=f"another acceptance run holds {lock.name}")
        strangers = plan.unknown(acceptance.document, module.params["without"])
        if strangers:
            module.fail_json(msg="no gate is called {}".format(", ".join(strangers)))
        nodes = acceptance.nodes()
        digest = plan.digest(acceptance.document, nodes, acceptance.gates)
        state = runs.State(os.path.join(acceptance.directory, "state.json"), digest, module.params["again"])
        acceptance.reservation.release()
        try:
            held = acceptance.hold(nodes, state.data["drained"])
            if not held:
                shown = ["{} {}".format(*pair) for pair in sorted(acceptance.left_out.items())[:5]]
                module.fail_json(msg="no node is idle: " + "; ".join(shown), left_out=acceptance.left_out)
            state.data["held"] = sorted(set(state.data.get("held", [])) | set(held))
            state.save()
            acceptance.run(state)
        finally:
            left = acceptance.reservation.release()
        state.data["remarks"] += [left] if left else []
        document, path = acceptance.report(state)
        state.finish()
    module.exit_json(
        changed=bool(document["drained"]),
        summary=reports.summary(document),
        drained=document["drained"],
        left_out=document["left_out"],
        report=path,
        lines=lines_of(document),
        passed=not document["counts"][FAILED] and not document["counts"][NOT_RUN],
        goes_on=state.goes_on,
    )


if __name__ == "__main__":
    main()
