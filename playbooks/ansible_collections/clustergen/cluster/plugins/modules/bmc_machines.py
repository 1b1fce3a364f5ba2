#!/usr/bin/python
"""Reads power state, health and BIOS attributes of machines from their BMCs by Redfish; changes nothing."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_machines
short_description: Reads power state, health and BIOS attributes from BMCs
description:
  - Asks many BMCs at once by Redfish, with GET requests only. A BMC that does not answer in time costs the others nothing.
author: The clustergen developers
options:
  bmcs:
    description: Addresses of BMCs by the name of their node.
    type: dict
    required: true
  user:
    description: The user of the login.
    type: str
    required: true
  password:
    description: The password of the login.
    type: str
    required: true
  check_certificates:
    description: Whether to check the BMCs' certificates.
    type: bool
    default: true
  attributes:
    description: Names of BIOS attributes to return, with * and ? as in file names.
    type: list
    elements: str
    default: []
  seconds:
    description: Limit of time for all BMCs together.
    type: int
    default: 60
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: Is the machine switched on?
  clustergen.cluster.bmc_machines:
    bmcs: {gpu1: 10.0.9.11}
    user: clustergen
    password: "{{ secrets_given.bmc }}"
"""
RETURN = r"""
machines:
  description: By the name of the node either failure, or power, health and attributes, as the BMC has them.
  returned: always
  type: dict
"""

import queue
import threading
import time
from fnmatch import fnmatchcase

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.redfish import Redfish, RedfishError, link

_THREADS = 64
_ANSWER = 15  # seconds for one step of a request
_MOST_ATTRIBUTES = 200


def machine(bmc, patterns):
    """The machine of one BMC. Raises RedfishError."""
    system = bmc.resource(bmc.machine())
    status = system.get("Status") if isinstance(system.get("Status"), dict) else {}
    bios = link(system, "Bios")
    return {
        "power": word(system.get("PowerState")),
        "health": word(status.get("HealthRollup") or status.get("Health")),
        "attributes": selected(bmc.resource(bios).get("Attributes"), patterns) if bios and patterns else {},
    }


def word(value):
    return value[:30] if isinstance(value, str) and value.isalnum() and value.isascii() else ""


def selected(values, patterns):
    """Attributes whose names fit, those with one value that can be printed."""
    rows = {}
    for name, value in values.items() if isinstance(values, dict) else ():
        if len(rows) < _MOST_ATTRIBUTES and len(name) <= 200 and isinstance(value, (str, int, bool)):
            text = str(value)[:100]
            if any(fnmatchcase(name, pattern) for pattern in patterns) and (name + text).isprintable():
                rows[name] = text
    return rows


def ask(waiting, answers, asked):
    while True:
        try:
            name, address = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            bmc = Redfish(address, asked["user"], asked["password"], asked["check_certificates"], _ANSWER)
            answers[name] = machine(bmc, asked["attributes"])
        except RedfishError as err:
            answers[name] = {"failure": str(err)}
        except (AttributeError, KeyError, TypeError, ValueError) as err:  # concerns this BMC only
            answers[name] = {"failure": "%s in its answer" % type(err).__name__}


def ask_all(asked):
    """The answers of all BMCs; threads that still wait at the end are left behind with this process."""
    waiting, answers = queue.Queue(), {}
    for row in asked["bmcs"].items():
        waiting.put(row)
    threads = [
        threading.Thread(target=ask, args=(waiting, answers, asked), daemon=True)
        for _ in range(min(_THREADS, len(asked["bmcs"])))
    ]
    until = time.monotonic() + asked["seconds"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, until - time.monotonic()))
    late = {"failure": "no answer in %d s" % asked["seconds"]}
    return {name: answers.get(name, late) for name in asked["bmcs"]}


def main():
    module = AnsibleModule(
        argument_spec={
            "bmcs": {"type": "dict", "required": True},
            "user": {"type": "str", "required": True},
            "password": {"type": "str", "required": True, "no_log": True},
            "check_certificates": {"type": "bool", "default": True},
            "attributes": {"type": "list", "elements": "str", "default": []},
            "seconds": {"type": "int", "default": 60},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, machines=ask_all(module.params))


if __name__ == "__main__":
    main()
