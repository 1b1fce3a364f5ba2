"""The power of a machine by its BMC: Redfish or IPMI."""

from __future__ import annotations

import time

from ansible_collections.clustergen.cluster.plugins.module_utils import ipmi
from ansible_collections.clustergen.cluster.plugins.module_utils.redfish import Redfish, RedfishError

_DENIED = (401, 403)  # a BMC may lock a user after a few of them
_INTERVAL = 2  # seconds between two questions


class PowerError(Exception):
    """The machine does not have the state, or its BMC does not answer."""


def mapping(document, key):
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def reset_types(bmc, system):
    """Allowed types of a reset; empty if the BMC does not list them. Raises RedfishError."""
    action = mapping(mapping(system, "Actions"), "#ComputerSystem.Reset")
    values = action.get("ResetType@Redfish.AllowableValues")
    if not isinstance(values, list) and isinstance(action.get("@Redfish.ActionInfo"), str):
        parameters = bmc.resource(action["@Redfish.ActionInfo"]).get("Parameters")
        for parameter in parameters if isinstance(parameters, list) else ():
            if isinstance(parameter, dict) and parameter.get("Name") == "ResetType":
                values = parameter.get("AllowableValues")
    return values if isinstance(values, list) else []


class RedfishPower:
    """A machine behind Redfish. Raises RedfishError."""

    errors = (RedfishError,)

    def __init__(self, bmc, path=None, system=None):
        self.bmc = bmc
        self.path = path or bmc.machine()
        self.system = system or bmc.resource(self.path)

    def state(self):
        return {"On": "on", "Off": "off"}.get(str(self.bmc.resource(self.path).get("PowerState")), "")

    def is_final(self, error):
        return error.status in _DENIED

    def can_shut_down(self):
        types = reset_types(self.bmc, self.system)
        return not types or "GracefulShutdown" in types

    def press(self, button):
        """Button: on, soft (the operating system shuts down) or off."""
        kind = {"on": "On", "soft": "GracefulShutdown", "off": "ForceOff"}[button]
        action = mapping(mapping(self.system, "Actions"), "#ComputerSystem.Reset")
        self.bmc.post(str(action.get("target")), {"ResetType": kind})


class IpmiPower:
    """A machine behind IPMI over LAN. Raises IpmiError."""

    errors = (ipmi.IpmiError,)

    def __init__(self, asked):
        login = ("-I", "lanplus", "-H", asked["address"], "-U", asked["user"], "-E", "-L", asked["privilege"])
        self.login, self.environment = login, {"IPMI_PASSWORD": asked["password"]}

    def ask(self, word):
        return ipmi.run([*self.login, "chassis", "power", word], self.environment, 60)

    def state(self):
        word = self.ask("status").rpartition(" is ")[2].strip()
        return word if word in ("on", "off") else ""

    def is_final(self, error):
        return False

    def can_shut_down(self):
        return True

    def press(self, button):
        self.ask(button)


def power_of(asked):
    """The machine of a BMC. Raises PowerError."""
    if asked["protocol"] == "ipmi":
        return IpmiPower(asked)
    try:
        return RedfishPower(Redfish(asked["address"], asked["user"], asked["password"], asked["check_certificates"]))
    except RedfishError as err:
        raise PowerError(str(err)) from None


def becomes(machine, button, state, seconds):
    """True if the machine has the state in time after a press. A BMC may be silent meanwhile."""
    machine.press(button)
    until = time.monotonic() + seconds
    while True:
        try:
            if machine.state() == state:
                return True
        except machine.errors as err:
            if machine.is_final(err):
                raise
        if time.monotonic() >= until:
            return False
        time.sleep(_INTERVAL)


def switch_off(machine, seconds, at_once=False):
    """Shuts the operating system down, and cuts the power if it is still on then. Raises PowerError."""
    if machine.state() == "off":
        return
    gently = not at_once and machine.can_shut_down() and becomes(machine, "soft", "off", seconds)
    if not gently and not becomes(machine, "off", "off", seconds):
        raise PowerError("the machine is not off %d s after ForceOff" % seconds)


def switch_on(machine, seconds):
    """Raises PowerError."""
    if not becomes(machine, "on", "on", seconds):
        raise PowerError("the machine is not on %d s after it was switched on" % seconds)
