#!/usr/bin/python
"""Notes on a controller that a run applies to its cluster, so that two do not at the same time."""

from __future__ import annotations

DOCUMENTATION = r"""
module: run_mark
short_description: One run at a time applies to a cluster
description:
  - The note is C(/run/clustergen/run.json). A run that gives no sign for a quarter of an hour is taken for dead.
  - Nothing fails here; what is in the way is returned.
author: The clustergen developers
options:
  state:
    description: Whether the run begins or is over.
    choices: [begun, over]
    required: true
    type: str
  run:
    description: What this run is, with id, who, host and pid.
    type: dict
    required: true
  after:
    description: The id of the run that was the last when this one asked; empty where that is not known.
    type: str
    default: ""
  dead:
    description: Ids of runs that are known to be over.
    type: list
    elements: str
    default: []
attributes:
  check_mode: {support: none, description: The action says what would change before this is reached.}
"""
EXAMPLES = r"""
- name: This run begins
  clustergen.cluster.run_mark:
    state: begun
    run: {id: 17, who: root, host: admin, pid: 17}
"""
RETURN = r"""
other:
  description: A run that is in the way, or that was over only after this one had asked.
  returned: success
  type: dict
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import run_mark


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["begun", "over"], "required": True},
            "run": {"type": "dict", "required": True},
            "after": {"type": "str", "default": ""},
            "dead": {"type": "list", "elements": "str", "default": []},
        },
    )
    asked = module.params
    run = asked["run"]
    with run_mark.Alone():
        if asked["state"] == "over":
            mark = run_mark.read()
            if mark and mark["id"] == run["id"]:
                mark.pop("silent")
                run_mark.write(dict(mark, open=False))
            module.exit_json(changed=False, other=None)
        other = run_mark.in_the_way(run["id"], asked["dead"])
        last = run_mark.read()
        if not other and asked["after"] and last and last["id"] not in (asked["after"], run["id"], *asked["dead"]):
            other = last
        if not other:
            run_mark.write(dict(run, began=time.time(), open=True))
    module.exit_json(changed=False, other=other)


if __name__ == "__main__":
    main()
