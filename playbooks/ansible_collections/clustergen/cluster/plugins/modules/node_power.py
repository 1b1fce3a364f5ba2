#!/usr/bin/python
"""Switches a node on or off by its BMC, by the command of a site, by slurmctld or by Wake-on-LAN."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_power
short_description: Shows or switches the power of a node
description:
  - It runs on a host that reaches what switches the node, the first Slurm controller for ways slurm and command.
  - A node that has the state already is left as it is. It does not wait for the operating system.
author: The clustergen developers
options:
  node:
    description: Name of the node.
    type: str
    required: true
  way:
    description: What switches it.
    type: str
    choices: [bmc, command, slurm, wake]
    required: true
  power:
    description: The state to reach, or status to show it. With wake, only on and status are possible.
    type: str
    choices: [status, "on", "off", cycle]
    default: status
  force:
    description: Cuts the power without shutting down the operating system; with slurm, without waiting for jobs.
    type: bool
    default: false
  address:
    description: The BMC's address, or the node's for wake.
    type: str
    default: ""
  protocol:
    description: The BMC's protocol.
    type: str
    choices: [ipmi, redfish]
    default: ipmi
  user:
    description: The user of the BMC's login.
    type: str
    default: ""
  password:
    description: The password of the BMC's login.
    type: str
    default: ""
  privilege:
    description: The privilege of a session by IPMI.
    type: str
    choices: [USER, OPERATOR, ADMINISTRATOR]
    default: OPERATOR
  check_certificates:
    description: Whether Redfish checks the BMC's certificate.
    type: bool
    default: true
  command:
    description: The program of the site, called with on or off and the node's name.
    type: str
    default: ""
  mac:
    description: The address that a magic packet names.
    type: str
    default: ""
  broadcast:
    description: Where magic packets are sent.
    type: str
    default: 255.255.255.255
  seconds:
    description: Limit of time for each state.
    type: int
    default: 300
attributes:
  check_mode: {support: full, description: It shows the state.}
"""
EXAMPLES = r"""
- name: Switch a node on
  clustergen.cluster.node_power:
    node: gpu1
    way: bmc
    power: "on"
    address: 10.0.9.11
    protocol: redfish
    user: clustergen
    password: "{{ secrets_given.bmc }}"
"""
RETURN = r"""
power:
  description: on, off, or empty where nothing shows it.
  returned: always
  type: str
"""

import socket
import subprocess

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.ipmi import IpmiError
from ansible_collections.clustergen.cluster.plugins.module_utils.machine_power import (
    PowerError,
    power_of,
    switch_off,
    switch_on,
)
from ansible_collections.clustergen.cluster.plugins.module_utils.redfish import RedfishError

_DISCARD = 9
_PACKETS = 3


def run(*command, seconds=60):
    """The output of a command. Raises PowerError."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        raise PowerError(
            "%s: %s" % (command[0], getattr(err, "strerror", None) or "no end in %d s" % seconds)
        ) from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise PowerError("%s: %s" % (command[0], lines[-1] if lines else "exit status %d" % done.returncode))
    return done.stdout


class Machine:
    """A node with a BMC."""

    def __init__(self, asked):
        self.asked, self.machine = asked, power_of(asked)

    def state(self):
        return self.machine.state()

    def off(self):
        switch_off(self.machine, self.asked["seconds"], self.asked["force"])

    def on(self):
        switch_on(self.machine, self.asked["seconds"])


class Command:
    """A node that a program of the site switches."""

    def __init__(self, asked):
        self.asked = asked

    def state(self):
        return ""

    def off(self):
        run(self.asked["command"], "off", self.asked["node"], seconds=self.asked["seconds"])

    def on(self):
        run(self.asked["command"], "on", self.asked["node"], seconds=self.asked["seconds"])


class Slurm:
    """A node of a cloud, which slurmctld starts and stops."""

    def __init__(self, asked):
        self.asked = asked

    def state(self):
        shown = run("scontrol", "--oneliner", "show", "node", self.asked["node"])
        states = set(shown.partition(" State=")[2].partition(" ")[0].split("+"))
        return "off" if states & {"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"} else "on"

    def update(self, state):
        run("scontrol", "update", "NodeName=" + self.asked["node"], "State=" + state)

    def off(self):
        self.update("POWER_DOWN_FORCE" if self.asked["force"] else "POWER_DOWN_ASAP")

    def on(self):
        self.update("POWER_UP")


class Wake:
    """A node whose network adapter wakes it. Its operating system shuts it down."""

    def __init__(self, asked):
        self.asked = asked

    def state(self):
        try:
            socket.create_connection((self.asked["address"], 22), timeout=2).close()
        except ConnectionRefusedError:
            return "on"
        except OSError:
            return "off"
        return "on"

    def off(self):
        raise PowerError("its operating system shuts it down")

    def on(self):
        packet = b"\xff" * 6 + bytes.fromhex(self.asked["mac"].replace(":", "")) * 16
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                for _ in range(_PACKETS):
                    sender.sendto(packet, (self.asked["broadcast"], _DISCARD))
        except OSError as err:
            raise PowerError("no packet to %s: %s" % (self.asked["broadcast"], err.strerror)) from None


WAYS = {"bmc": Machine, "command": Command, "slurm": Slurm, "wake": Wake}


def switch(asked, is_trial=False):
    """True if the node was switched, and its state then. Raises PowerError, IpmiError and RedfishError."""
    node, power = WAYS[asked["way"]](asked), asked["power"]
    before = node.state()
    if power == "status" or is_trial or before == power:
        return power != "status" and before != power, before
    if power in ("off", "cycle"):
        node.off()
    if power in ("on", "cycle"):
        node.on()
    return True, "off" if power == "off" else "on"


def main():
    text = {"type": "str", "default": ""}
    module = AnsibleModule(
        argument_spec={
            "node": {"type": "str", "required": True},
            "way": {"type": "str", "choices": list(WAYS), "required": True},
            "power": {"type": "str", "choices": ["status", "on", "off", "cycle"], "default": "status"},
            "force": {"type": "bool", "default": False},
            "address": text,
            "protocol": {"type": "str", "choices": ["ipmi", "redfish"], "default": "ipmi"},
            "user": text,
            "password": {**text, "no_log": True},
            "privilege": {"type": "str", "choices": ["USER", "OPERATOR", "ADMINISTRATOR"], "default": "OPERATOR"},
            "check_certificates": {"type": "bool", "default": True},
            "command": text,
            "mac": text,
            "broadcast": {"type": "str", "default": "255.255.255.255"},
            "seconds": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    try:
        changed, power = switch(module.params, module.check_mode)
    except (PowerError, IpmiError, RedfishError) as err:
        module.fail_json(msg="%s: %s" % (module.params["node"], err))
    module.exit_json(changed=changed, power=power)


if __name__ == "__main__":
    main()
