#!/usr/bin/python
"""Checks over the network that no device uses a BMC's address, or that the BMC accepts a user; changes nothing."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_reach
short_description: Checks an address before a BMC gets it, and a user after that
description:
  - With state free it fails if any device answers at the address. It asks by RMCP, TCP and ping, and reads the neighbour table.
  - With state login it waits until the BMC answers, and logs in by IPMI or Redfish.
author: The clustergen developers
options:
  address:
    description: The BMC's IPv4 address.
    type: str
    required: true
  state:
    description: What to check.
    type: str
    choices: [free, login]
    default: login
  protocol:
    description: How to log in.
    type: str
    choices: [ipmi, redfish]
    default: ipmi
  user:
    description: The user of the login.
    type: str
    default: ""
  password:
    description: The password of the login.
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
  timeout:
    description: How long to wait until the BMC answers, in seconds.
    type: int
    default: 60
  attempts:
    description: Number of logins. A BMC may lock a user after a few wrong passwords.
    type: int
    default: 3
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: No device has this address
  clustergen.cluster.bmc_reach:
    address: 10.0.9.11
    state: free
"""
RETURN = r"""
said:
  description: How the BMC answered.
  returned: always
  type: str
"""

import errno
import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.ipmi import IpmiError, run
from ansible_collections.clustergen.cluster.plugins.module_utils.redfish import Redfish, RedfishError
from ansible_collections.clustergen.cluster.plugins.module_utils.safe_files import reason_of

_PRESENCE_PING = bytes.fromhex("0600ff06000011be80010000")  # RMCP, ASF 2.0
_PORTS = (443, 22, 80)
_SILENT = (errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT)


class UnknownError(Exception):
    """This host cannot tell."""


def is_silence(error):
    """True if nothing answered; before Python 3.10, a timeout of a socket has no number."""
    return error.errno in (None, *_SILENT)


def udp_answer(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(1)
        try:
            sock.connect((address, 623))
            sock.send(_PRESENCE_PING)
            sock.recv(64)
        except ConnectionRefusedError:
            return "UDP port 623 is closed"
        except OSError as err:
            if is_silence(err):
                return ""
            raise UnknownError("%s: %s" % (address, reason_of(err))) from None
    return "RMCP on UDP port 623"


def tcp_answer(address, port):
    try:
        with socket.create_connection((address, port), timeout=1):
            return "TCP port %d" % port
    except ConnectionRefusedError:
        return "TCP port %d is closed" % port
    except OSError as err:
        if is_silence(err):
            return ""
        raise UnknownError("%s: %s" % (address, reason_of(err))) from None


def command_answer(*command):
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10, check=False)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def ping_answer(address):
    return "ping" if command_answer("ping", "-n", "-c", "1", "-W", "1", address) else ""


def answer_of(address):
    """How a device at the address answers; empty if none does. Raises UnknownError."""
    with ThreadPoolExecutor(5) as pool:
        tries = [pool.submit(udp_answer, address), *(pool.submit(tcp_answer, address, port) for port in _PORTS)]
        tries.append(pool.submit(ping_answer, address))
    for one in tries:
        if text := one.result():
            return text
    # A device that drops all of these still answers ARP.
    words = command_answer("ip", "-4", "neigh", "show", "to", address).split()
    if "lladdr" in words and words[-1] != "FAILED":
        return "ARP, as " + words[words.index("lladdr") + 1]
    return ""


def ipmi_login(asked):
    options = ("-I", "lanplus", "-H", asked["address"], "-U", asked["user"], "-E", "-L", asked["privilege"])
    try:
        return run([*options, "chassis", "power", "status"], {"IPMI_PASSWORD": asked["password"]}, 60).strip()
    except IpmiError as err:
        raise UnknownError(str(err)) from None


def redfish_login(asked):
    bmc = Redfish(asked["address"], asked["user"], asked["password"], asked["check_certificates"])
    try:
        return "HTTP status %d" % bmc.get("/redfish/v1/Systems")[0]
    except RedfishError as err:
        raise UnknownError(str(err)) from None


def log_in(asked):
    """The BMC's answer to a login. Raises UnknownError."""
    until = time.monotonic() + asked["timeout"]
    while not answer_of(asked["address"]):
        if time.monotonic() >= until:
            raise UnknownError("%s does not answer for %d s" % (asked["address"], asked["timeout"]))
        time.sleep(2)
    left = asked["attempts"]
    while True:
        try:
            return redfish_login(asked) if asked["protocol"] == "redfish" else ipmi_login(asked)
        except UnknownError as err:
            left -= 1
            if left <= 0:
                raise UnknownError("%s as %s: %s" % (asked["address"], asked["user"], err)) from None
        time.sleep(5)


def main():
    module = AnsibleModule(
        argument_spec={
            "address": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["free", "login"], "default": "login"},
            "protocol": {"type": "str", "choices": ["ipmi", "redfish"], "default": "ipmi"},
            "user": {"type": "str", "default": ""},
            "password": {"type": "str", "default": "", "no_log": True},
            "privilege": {"type": "str", "choices": ["USER", "OPERATOR", "ADMINISTRATOR"], "default": "OPERATOR"},
            "check_certificates": {"type": "bool", "default": True},
            "timeout": {"type": "int", "default": 60},
            "attempts": {"type": "int", "default": 3},
        },
        supports_check_mode=True,
    )
    asked = module.params
    try:
        answer = answer_of(asked["address"]) if asked["state"] == "free" else log_in(asked)
    except UnknownError as err:
        module.fail_json(msg=str(err))
    if asked["state"] == "free" and answer:
        module.fail_json(msg="another device has %s: it answers by %s" % (asked["address"], answer))
    module.exit_json(changed=False, said=answer or "no answer")


if __name__ == "__main__":
    main()
