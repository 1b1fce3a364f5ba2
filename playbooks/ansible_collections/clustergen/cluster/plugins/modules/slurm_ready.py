#!/usr/bin/python
"""Waits until slurmctld answers, or until nodes can take jobs; runs on a node that has Slurm's commands."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_ready
short_description: Waits until slurmctld answers or nodes can take jobs
description:
  - Without nodes it tells at once, without failing, whether slurmctld answers.
  - With nodes it waits until each is up, registered by a slurmd of the release if one is given, and not drained.
author: The clustergen developers
options:
  nodes:
    description: Names of nodes.
    type: list
    elements: str
    default: []
  release:
    description: The release, such as 24.11, that their slurmd is to have.
    type: str
    default: ""
  drained_ok:
    description: Whether a drained node counts as ready, so long as it is up, or is down for its drain alone.
    type: bool
    default: false
  timeout:
    description: How long to wait for the nodes, in seconds.
    type: int
    default: 300
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: A node can take jobs
  clustergen.cluster.slurm_ready:
    nodes: [compute01]
"""
RETURN = r"""
answers:
  description: Whether slurmctld answers.
  returned: always
  type: bool
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.controller import (
    DRAINED,
    UNUSABLE,
    Controller,
    is_held_down,
)


def waiting(asked, slurm):
    """The missing parts: name → in words."""
    reported_states = slurm.nodes()
    releases = slurm.releases() if asked["release"] else {}
    pending = {}
    for name in asked["nodes"]:
        if name not in reported_states:
            pending[name] = "Slurm does not know it"
            continue
        states, reason = reported_states[name]
        wrong = states & (UNUSABLE | DRAINED)
        if asked["drained_ok"]:
            wrong -= DRAINED | {"down"} if is_held_down(states) else DRAINED
        if wrong:
            pending[name] = "+".join(sorted(states)) + (", " + reason if reason else "")
        elif asked["release"] and not (releases[name] + ".").startswith(asked["release"] + "."):
            pending[name] = "registered by slurmd " + (releases[name] or "of an unknown release")
    return pending


def main():
    module = AnsibleModule(
        argument_spec={
            "nodes": {"type": "list", "elements": "str", "default": []},
            "release": {"type": "str", "default": ""},
            "drained_ok": {"type": "bool", "default": False},
            "timeout": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    asked = module.params
    slurm = Controller(module)
    if not asked["nodes"]:
        code, out, err = slurm.ask("scontrol", "ping")
        up = code == 0 and " is UP" in out
        module.exit_json(changed=False, answers=up, said=(err or out).strip())
    until = time.monotonic() + asked["timeout"]
    left = waiting(asked, slurm)
    while left and time.monotonic() < until and not module.check_mode:
        time.sleep(1)
        left = waiting(asked, slurm)
    if left:
        listed = [f"{name} ({left[name]})" for name in sorted(left)]
        more = " and %d more" % (len(listed) - 5) if len(listed) > 5 else ""
        module.fail_json(
            msg="after %d s not ready: %s%s" % (asked["timeout"], "; ".join(listed[:5]), more), answers=True
        )
    module.exit_json(changed=False, answers=True)


if __name__ == "__main__":
    main()
