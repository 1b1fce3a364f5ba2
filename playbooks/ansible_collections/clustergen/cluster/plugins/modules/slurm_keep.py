#!/usr/bin/python
"""Keeps the accounting database, or slurmctld's state, in a file of this node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_keep
short_description: Dumps the accounting database, or archives slurmctld's state
description:
  - The file is for its owner alone (0600), has the version and the time in its name, and is there only when it is whole.
  - Where the database is and how to log in is read from slurmdbd.conf; without a password there, root's login through the socket is used.
author: The clustergen developers
options:
  what:
    description: What to keep. Nothing happens where this node has no state.
    choices: [database, state]
    required: true
    type: str
  version:
    description: The version that it is from.
    type: str
    required: true
  directory:
    description: Where the file goes; made for its owner alone.
    type: path
    default: /var/backups/clustergen
attributes:
  check_mode: {support: none, description: The playbook ends before this is reached.}
"""
EXAMPLES = r"""
- name: Dump the database
  clustergen.cluster.slurm_keep:
    what: database
    version: 24.11.5
"""
RETURN = r"""
path:
  description: The file; empty where nothing was there to be kept.
  returned: success
  type: str
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import slurm_keep


def main():
    module = AnsibleModule(
        argument_spec={
            "what": {"type": "str", "choices": ["database", "state"], "required": True},
            "version": {"type": "str", "required": True},
            "directory": {"type": "path", "default": "/var/backups/clustergen"},
        },
    )
    asked = module.params
    stamp = asked["version"] + time.strftime("-%Y%m%dT%H%M%S")
    try:
        if asked["what"] == "database":
            dump = slurm_keep.Database(module).dump(asked["directory"], stamp)
        else:
            dump = slurm_keep.state(asked["directory"], stamp)
    except (slurm_keep.KeepError, OSError) as err:
        module.fail_json(msg="the backup failed, so the upgrade stops: %s" % err)
    if dump is None:
        module.exit_json(changed=False, path="", msg="no state on this host")
    path, size = dump
    module.exit_json(changed=True, path=path, msg="%s, %.1f MiB" % (path, size / 1048576))


if __name__ == "__main__":
    main()
