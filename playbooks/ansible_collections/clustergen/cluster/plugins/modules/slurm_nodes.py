#!/usr/bin/python
"""Drains and resumes nodes of Slurm; runs on a controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_nodes
short_description: Drains nodes and waits for their jobs, or resumes what it drained
description:
  - Nodes that somebody else drained stay as they are, and are not resumed afterwards.
  - It runs on a controller; a node that Slurm does not know yet needs no draining.
author: The clustergen developers
options:
  nodes:
    description: Names of nodes.
    type: list
    elements: str
    required: true
  partitions:
    description: Counts only the jobs of these, with C(state=jobs).
    type: list
    elements: str
    default: []
  state:
    description: What they are to be; C(jobs) only counts the jobs of the cluster.
    choices: [drained, resumed, jobs]
    required: true
    type: str
  reason:
    description: Why, in few words.
    type: str
    default: maintenance
  reasons:
    description: Of some nodes another reason, by name.
    type: dict
    default: {}
  timeout:
    description: How long to wait for the jobs of the nodes, in seconds.
    type: int
    default: 14400
  wait:
    description: Waits for the jobs of the nodes; without, the jobs that are left are only told.
    type: bool
    default: true
  begins:
    description: How the reason of an earlier run begins. Nodes drained for it get the new reason, and no others are resumed.
    type: str
    default: ""
  any_playbook:
    description: Nodes that other playbooks drained get the new reason as well, and so are resumed afterwards.
    type: bool
    default: false
  any_reason:
    description: Resumes also what somebody else drained, and what is down but answers.
    type: bool
    default: false
attributes:
  check_mode: {support: none, description: The action says what would change before this is reached.}
"""
EXAMPLES = r"""
- name: Drain one node
  clustergen.cluster.slurm_nodes:
    nodes: [compute01]
    state: drained
    reason: new driver
"""
RETURN = r"""
jobs:
  description: Jobs that are known to Slurm, with C(state=jobs).
  returned: success
  type: int
others:
  description: Nodes that somebody else had drained before, each with the reason, with C(state=drained).
  returned: success
  type: dict
jobs_left:
  description: Jobs that still run on the nodes, with C(state=drained).
  returned: success
  type: list
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import run_mark
from ansible_collections.clustergen.cluster.plugins.module_utils.controller import (
    DRAINED,
    HEALTH,
    OURS,
    Controller,
    is_held_down,
    is_ours,
)

SILENT = frozenset(("not_responding", "unknown"))
RETURNS_S = 60  # to wait for nodes that do not answer yet


def drain(module, slurm):
    asked = module.params
    states = slurm.nodes()
    present = [name for name in asked["nodes"] if name in states]
    # What the health check drained it may resume at any time, so that becomes ours.
    todo = [name for name in present if not states[name][0] & DRAINED or states[name][1].startswith(HEALTH)]
    if asked["begins"] or asked["any_playbook"]:
        begins = "" if asked["any_playbook"] else asked["begins"]
        todo += [name for name in present if name not in todo and is_ours(states[name][1], begins)]
    nodes_of = {}
    for name in todo:
        nodes_of.setdefault(asked["reasons"].get(name, asked["reason"]), []).append(name)
    for reason, names in nodes_of.items():
        slurm.run("scontrol", "update", "NodeName=" + ",".join(names), "State=DRAIN", "Reason=" + OURS + reason)
    until = time.monotonic() + asked["timeout"]
    jobs = slurm.jobs_on(present) if present else []
    while jobs and asked["wait"]:
        if time.monotonic() > until:
            module.fail_json(
                msg="after %d s still %d job%s: %s; the drain stays: run again to carry on, or give up with clustergen.cluster.resume"
                % (asked["timeout"], len(jobs), "" if len(jobs) == 1 else "s", listed(slurm.places_of_jobs(present)))
            )
        time.sleep(2)
        run_mark.sign()
        jobs = slurm.jobs_on(present)
    others = {name: states[name][1] for name in present if name not in todo and not states[name][1].startswith(OURS)}
    module.exit_json(changed=bool(todo), drained=todo, others=others, jobs_left=jobs)


def listed(places):
    return ", ".join(places[:5]) + (" and %d more" % (len(places) - 5) if len(places) > 5 else "")


def resumable(states, reason, asked):
    """True if a node is ours to resume; one that is down only if it answers, since it would be down again at once."""
    if states & DRAINED:
        return asked["any_reason"] or is_ours(reason, asked["begins"])
    return asked["any_reason"] and "down" in states and "not_responding" not in states


def settled(slurm, nodes, is_pending, until):
    """All nodes that Slurm knows, once the states of none of these are pending, or the time is up."""
    while True:
        reported_states = slurm.nodes()
        if time.monotonic() > until or not any(
            is_pending(reported_states[name][0]) for name in nodes if name in reported_states
        ):
            return reported_states
        time.sleep(1)


def is_silent(states):
    return bool(states & SILENT)


def is_returning(states):
    """True if a node may come back by itself: it does not answer yet, or was restarted just now."""
    return is_silent(states) or ("down" in states and not is_held_down(states))


def resume(module, slurm):
    asked = module.params
    until = time.monotonic() + RETURNS_S
    states = settled(slurm, asked["nodes"], is_returning, until)
    # slurmctld refuses to resume what has not registered since it started, and all others of the same command with it.
    ours = [
        name
        for name in asked["nodes"]
        if name in states and "unknown" not in states[name][0] and resumable(*states[name], asked)
    ]
    if ours:
        slurm.run("scontrol", "update", "NodeName=" + ",".join(ours), "State=RESUME")
        # slurmctld pings a resumed node before it gives it a job.
        states = settled(slurm, ours, is_silent, until)
    left = {
        name: states[name][1] or "does not answer"
        for name in asked["nodes"]
        if name in states and states[name][0] & (DRAINED | SILENT | {"down"})
    }
    module.exit_json(changed=bool(ours), resumed=ours, left=left)


def main():
    module = AnsibleModule(
        argument_spec={
            "nodes": {"type": "list", "elements": "str", "required": True},
            "partitions": {"type": "list", "elements": "str", "default": []},
            "state": {"type": "str", "choices": ["drained", "resumed", "jobs"], "required": True},
            "reason": {"type": "str", "default": "maintenance"},
            "reasons": {"type": "dict", "default": {}},
            "timeout": {"type": "int", "default": 14400},
            "wait": {"type": "bool", "default": True},
            "begins": {"type": "str", "default": ""},
            "any_playbook": {"type": "bool", "default": False},
            "any_reason": {"type": "bool", "default": False},
        },
    )
    slurm = Controller(module)
    run_mark.sign()
    if module.params["state"] == "jobs":
        some = ["--partition=" + ",".join(module.params["partitions"])] if module.params["partitions"] else []
        if module.params["nodes"]:
            module.exit_json(changed=False, jobs=len(slurm.jobs_on(module.params["nodes"])))
        out = slurm.run("squeue", "--noheader", "--all", "--format=%i", *some)
        module.exit_json(changed=False, jobs=len(out.split()))
    (drain if module.params["state"] == "drained" else resume)(module, slurm)


if __name__ == "__main__":
    main()
