#!/usr/bin/python
"""Tells which versions of Slurm's programs are installed on this node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_versions
short_description: Tells the versions of Slurm's installed programs
description: Each program is asked itself, so that it does not matter how it came here. Nothing is changed.
author: The clustergen developers
options: {}
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: Which Slurm is this?
  clustergen.cluster.slurm_versions:
"""
RETURN = r"""
versions:
  description: Program and version, such as 24.11.5, of those that are installed.
  returned: always
  type: dict
running:
  description: Those of the daemons that run.
  returned: always
  type: list
"""

import re
import shutil

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.outputs import PATH

_PROGRAMS = ("slurmdbd", "slurmctld", "slurmd", "sackd", "slurmrestd", "sinfo")


def main():
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    versions, running, silent = {}, [], []
    for name in _PROGRAMS:
        program = shutil.which(name, path=PATH)
        if not program:
            continue
        _, out, err = module.run_command(["timeout", "-k", "2", "20", program, "-V"])
        match = re.search(r"^slurm\S*\s+v?(\d+\.\d+\S*)", out + err, re.MULTILINE)
        if match:
            versions[name] = match.group(1)
        else:  # slurmdbd tells nothing where it has no slurmdbd.conf
            silent.append(name)
        if module.run_command(["systemctl", "is-active", "--quiet", name + ".service"])[0] == 0:
            running.append(name)
    if silent and not versions:
        versions = dict.fromkeys(silent, "")
    module.exit_json(changed=False, versions=versions, running=running)


if __name__ == "__main__":
    main()
