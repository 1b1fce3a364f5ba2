#!/usr/bin/python
"""Starts, restarts and tells Slurm's daemons on this node what changed."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_settle
short_description: Carries out what changed files take of Slurm's own daemons
description: In the order slurmdbd, accounts, slurmctld, reconfigure, slurmd. Each effect leaves the journal when it is done.
author: The clustergen developers
options:
  effects:
    description: What is to be done.
    type: list
    elements: str
    default: []
  units:
    description: Slurm's units that are to run on this node.
    type: list
    elements: str
    default: []
  without:
    description: Units that this node is without.
    type: list
    elements: str
    default: []
  stop:
    description: Only stops the daemons, for a change that none of them may see half done.
    type: bool
    default: false
attributes:
  check_mode: {support: none, description: The action says what would change before this is reached.}
"""
EXAMPLES = r"""
- name: Restart slurmd
  clustergen.cluster.node_settle:
    effects: [restart-slurmd]
    units: [slurmd.service]
"""
RETURN = r"""
done:
  description: What was carried out, in its order.
  returned: always
  type: list
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import effects


def main():
    module = AnsibleModule(
        argument_spec={
            "effects": {"type": "list", "elements": "str", "default": []},
            "units": {"type": "list", "elements": "str", "default": []},
            "without": {"type": "list", "elements": "str", "default": []},
            "stop": {"type": "bool", "default": False},
        },
    )
    asked = module.params
    worker = effects.Worker(module, asked["without"])
    if asked["stop"]:
        effects.stop(worker, asked["units"])
    else:
        effects.slurm(worker, asked["effects"], asked["units"])
    if worker.failed:
        module.fail_json(msg="; ".join(worker.failed))
    module.exit_json(changed=bool(worker.done), done=worker.done)


if __name__ == "__main__":
    main()
