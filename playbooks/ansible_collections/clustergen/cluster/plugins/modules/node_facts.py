#!/usr/bin/python
"""Collects what commands print about this node: bounded in time and size, and without a change to it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_facts
short_description: Collects what commands print about a node
description: Runs all commands at once, each with a limit of time and of bytes. It changes nothing.
author: The clustergen developers
options:
  commands:
    description: Lines for sh by the name of the file that their output is for.
    type: dict
    required: true
  seconds:
    description: Limit of time of each command.
    type: int
    default: 30
  most:
    description: Limit of bytes of each output.
    type: int
    default: 1048576
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: Which kernel runs?
  clustergen.cluster.node_facts:
    commands: {uname: uname -r}
"""
RETURN = r"""
files:
  description: Outputs by name, compressed; commands that print nothing are left out.
  returned: always
  type: dict
late:
  description: Commands that did not end in time.
  returned: always
  type: list
large:
  description: Commands that printed more than the limit.
  returned: always
  type: list
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import outputs


def main():
    module = AnsibleModule(
        argument_spec={**outputs.OPTIONS, "commands": {"type": "dict", "required": True}}, supports_check_mode=True
    )
    limits = module.params
    running = outputs.begin(limits["commands"], limits["most"])
    module.exit_json(changed=False, **outputs.collect(running, limits["seconds"]))


if __name__ == "__main__":
    main()
