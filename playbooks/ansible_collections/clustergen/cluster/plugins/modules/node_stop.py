#!/usr/bin/python
"""Stops units on this node, and by default disables them as well."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_stop
short_description: Stops units, and disables them
description: Units that are not there, or neither run nor start at boot, are passed over. One that does not stop keeps none of the others running.
author: The clustergen developers
options:
  units:
    description: Names of units, in the order in which they are stopped.
    type: list
    elements: str
    required: true
  disable:
    description: Whether they are to stay away after the next boot.
    type: bool
    default: true
attributes:
  check_mode: {support: full, description: It tells what would be stopped.}
"""
EXAMPLES = r"""
- name: This node leaves the cluster
  clustergen.cluster.node_stop:
    units: [slurmd.service]
"""
RETURN = r"""
stopped:
  description: Units that ran, or started at boot, until now.
  returned: always
  type: list
"""

from ansible.module_utils.basic import AnsibleModule


def properties(module, unit):
    _, out, _ = module.run_command(["systemctl", "show", "-p", "LoadState,ActiveState,UnitFileState", "--", unit])
    return dict(line.partition("=")[::2] for line in out.splitlines())


def main():
    module = AnsibleModule(
        argument_spec={
            "units": {"type": "list", "elements": "str", "required": True},
            "disable": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    disable = module.params["disable"]
    stopped, failed = [], []
    for unit in module.params["units"]:
        state = properties(module, unit)
        runs = state.get("ActiveState") not in ("inactive", "failed", None)
        enabled = disable and state.get("UnitFileState") in ("enabled", "enabled-runtime")
        if state.get("LoadState") in ("not-found", None) or not (runs or enabled):
            continue
        stopped.append(unit)
        if module.check_mode:
            continue
        for verb in [verb for verb, is_due in (("stop", runs), ("disable", enabled)) if is_due]:
            code, out, err = module.run_command(["timeout", "-k", "5", "300", "systemctl", verb, "--", unit])
            if code:
                last_line = (err or out).strip().splitlines()[-1:] or ["exit status %d" % code]
                failed.append(f"systemctl {verb} {unit}: {last_line[0]}")
    if failed:
        module.fail_json(msg="; ".join(failed), stopped=stopped)
    module.exit_json(changed=bool(stopped), stopped=stopped)


if __name__ == "__main__":
    main()
