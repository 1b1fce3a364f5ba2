#!/usr/bin/python
"""Starts slurmdbd after an upgrade and waits until it has converted its database."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_convert
short_description: Starts slurmdbd and waits until it answers
description:
  - The first start of a new release converts the database, which may take from seconds to hours. It is never stopped or killed for that,
    neither by this module nor by systemd's start timeout, which is lifted for the time.
  - Running it again goes on waiting.
author: The clustergen developers
options:
  timeout:
    description: How long to wait, in seconds; slurmdbd goes on after that.
    type: int
    default: 14400
attributes:
  check_mode: {support: none, description: The playbook ends before this is reached.}
"""
EXAMPLES = r"""
- name: Convert the database
  clustergen.cluster.slurm_convert:
"""
RETURN = r"""
seconds:
  description: How long it took.
  returned: success
  type: int
"""

import os
import shutil
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import effects

_UNIT = "slurmdbd.service"
_DIRECTORY = "/run/systemd/system/slurmdbd.service.d"


def answers(module):
    """It opens its port when the conversion is done; where Slurm's commands are, they ask it."""
    if not effects.listens(effects._dbd_port(), 1):
        return False
    asks = shutil.which("sacctmgr") and os.path.exists("/etc/slurm/slurm.conf")
    return not asks or module.run_command(["timeout", "-k", "2", "30", "sacctmgr", "-nP", "show", "cluster"])[0] == 0


def main():
    module = AnsibleModule(argument_spec={"timeout": {"type": "int", "default": 14400}})
    worker = effects.Worker(module)
    began = time.monotonic()
    if worker.active(_UNIT) and answers(module):
        module.exit_json(changed=False, seconds=0)
    log = effects.slurm_log(_UNIT)
    size = os.path.getsize(log) if log else 0
    os.makedirs(_DIRECTORY, exist_ok=True)
    with open(_DIRECTORY + "/clustergen-upgrade.conf", "w", encoding="utf-8") as file:
        file.write("[Service]\nTimeoutStartSec=infinity\nRestart=no\n")
    module.run_command(["systemctl", "daemon-reload"])
    try:
        module.run_command(["systemctl", "reset-failed", _UNIT])
        module.run_command(["systemctl", "start", "--no-block", _UNIT])
        while not (worker.active(_UNIT) and answers(module)):
            state = worker.property(_UNIT, "ActiveState")
            spent = time.monotonic() - began
            if state == "failed" or (state == "inactive" and spent > 10):
                words = worker.words(log, size, worker.property(_UNIT, "InvocationID"))
                module.fail_json(msg="slurmdbd did not start: %s" % (words or "see journalctl -u slurmdbd"))
            if spent > module.params["timeout"]:
                module.fail_json(
                    msg="slurmdbd still converts its database after %d s; do not stop it, watch its log, and run the playbook again.  "
                    "Jobs run, and slurmctld keeps their accounting" % spent
                )
            time.sleep(1)
    finally:
        if worker.property(_UNIT, "ActiveState") != "activating":
            shutil.rmtree(_DIRECTORY, ignore_errors=True)
            module.run_command(["systemctl", "daemon-reload"])
    spent = int(time.monotonic() - began)
    module.exit_json(changed=True, seconds=spent, msg="the database is converted, slurmdbd answers after %d s" % spent)


if __name__ == "__main__":
    main()
