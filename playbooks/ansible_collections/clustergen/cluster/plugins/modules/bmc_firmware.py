#!/usr/bin/python
"""Compares settings of a machine's firmware with the asked ones by Redfish, or sets them and restarts the machine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_firmware
short_description: Compares or sets settings of a machine's firmware by its BMC
description:
  - It asks the BMC by Redfish and returns what differs. With state set it sends what differs to the settings objects of BIOS and boot
    order, switches the machine off, gracefully if the BMC can, and on again; it does not wait for the operating system.
  - It fails without a change if an asked attribute is not known or not there.
author: The clustergen developers
options:
  address:
    description: The BMC's address.
    type: str
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
    description: Whether to check the BMC's certificate.
    type: bool
    default: true
  rows:
    description:
      - What is asked, as C(cluster_firmware) of the inventory has it, with the keys setting, attribute, value, stated and confirmed. An
        attribute may have * and ? as in file names. Rows of the setting boot_order have an alias or a name of a boot option as value.
    type: list
    elements: dict
    required: true
  state:
    description: Whether to compare or to set.
    type: str
    choices: [compared, set]
    default: compared
  seconds:
    description:
      - With state compared, how long the BMC may take until it shows the asked values; with state set, how long the machine may take to
        switch off, and to switch on.
    type: int
    default: 0
attributes:
  check_mode: {support: full, description: It returns what differs.}
"""
EXAMPLES = r"""
- name: What would be set
  clustergen.cluster.bmc_firmware:
    address: 10.0.9.11
    user: clustergen
    password: "{{ secrets_given.bmc }}"
    rows: [{setting: sr_iov, attribute: SRIOVEnable, value: Disable, stated: true, confirmed: true}]
"""
RETURN = r"""
differs:
  description: One text for each value that differs; with state set, before the change.
  returned: always
  type: list
unconfirmed:
  description: Settings that differ, and whose attribute or value no source confirms.
  returned: always
  type: list
absent:
  description: One text for each attribute that follows from the node type and that the BMC does not have.
  returned: always
  type: list
messages:
  description: What the BMC reports about the last settings that it got.
  returned: always
  type: list
"""

import difflib
import time
from fnmatch import fnmatchcase

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.machine_power import (
    PowerError,
    RedfishPower,
    mapping,
    switch_off,
    switch_on,
)
from ansible_collections.clustergen.cluster.plugins.module_utils.redfish import (
    Redfish,
    RedfishError,
    link,
    messages_of,
    printable,
)

_MOST_OPTIONS = 100  # entries of a boot order
_MOST_SECONDS = 120  # of all answers for one comparison
_DENIED = (401, 403)  # a BMC may lock a user after a few of them
_INTERVAL = 2  # seconds between two questions
_BOOT_ORDER = "boot_order"


class RefusedError(Exception):
    """A setting cannot be set; nothing was changed."""


def shown(value):
    return printable(str(value)) or "empty"


def typed(text, current):
    """A value of the type that the BMC shows."""
    if isinstance(current, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    return int(text) if isinstance(current, int) and text.isdigit() else text


def listed(words):
    return ", ".join(words[:8]) + (" and %d more" % (len(words) - 8) if len(words) > 8 else "")


class Machine:
    """The machine of a BMC. Raises RedfishError."""

    def __init__(self, asked):
        self.end = time.monotonic() + _MOST_SECONDS
        self.bmc = Redfish(asked["address"], asked["user"], asked["password"], asked["check_certificates"])
        self.path = self.bmc.machine()
        self.system = self.resource(self.path)
        bios = link(self.system, "Bios")
        self.bios = self.resource(bios) if bios else {}

    def resource(self, path):
        if time.monotonic() > self.end:
            raise RedfishError("its answers take more than %d s" % _MOST_SECONDS)
        return self.bmc.resource(path)

    def options(self):
        """Reference of each entry of the boot order → its alias and its name, in their order."""
        order = mapping(self.system, "Boot").get("BootOrder")
        if not isinstance(order, list):
            raise RefusedError("the BMC shows no boot order")
        names = {}
        members = self.resource(link(mapping(self.system, "Boot"), "BootOptions")).get("Members")
        for member in members[:_MOST_OPTIONS] if isinstance(members, list) else ():
            option = self.resource(link(member))
            names[str(option.get("BootOptionReference"))] = (str(option.get("Alias")), str(option.get("DisplayName")))
        return {str(reference): names.get(str(reference), ("", str(reference))) for reference in order}

    def messages(self):
        return messages_of(mapping(self.bios, "@Redfish.Settings").get("Messages"))


class Difference:
    """An attribute, or the boot order, whose value is another one than the asked."""

    def __init__(self, row, name, current, value):
        self.row, self.name, self.current, self.value = row, name, current, value

    def __str__(self):
        return "%s is %s, not %s" % (self.name, shown(self.current), shown(self.value))


def attributes_that_differ(machine, rows):
    """Differences, and a text for each attribute that nobody stated and the BMC lacks. Raises RefusedError."""
    present = mapping(machine.bios, "Attributes")
    differences, absent, wrong = [], [], []
    for row in rows:
        names = [name for name in present if fnmatchcase(name, row["attribute"])] if row["attribute"] else []
        problem = ""
        if not row["attribute"]:
            problem = "%s: the catalogue knows no attribute of this firmware" % row["setting"]
        elif not names:
            problem = "%s: the BMC has no attribute %s%s" % (row["setting"], row["attribute"], nearest(row, present))
        elif not row["value"]:
            problem = "%s: it is not known which value of %s means this; state that value" % (row["setting"], names[0])
        if problem:
            (wrong if row["stated"] else absent).append(problem)
        elif len(names) > _MOST_OPTIONS:
            wrong.append("%s: %d attributes of the BMC fit %s" % (row["setting"], len(names), row["attribute"]))
        else:
            values = [(name, present[name]) for name in names]
            differing = [
                each for each in values if row["value"] != str(each[1]) and typed(row["value"], each[1]) != each[1]
            ]
            differences += [Difference(row, name, current, row["value"]) for name, current in differing]
    if wrong:
        raise RefusedError("; ".join(wrong))
    return differences, absent


def nearest(row, present):
    close = difflib.get_close_matches(row["attribute"].strip("*"), list(present), 1)
    return ", but %s" % shown(close[0]) if close else ""


def boot_order_that_differs(machine, rows):
    """None if the asked options are first, in their order. Raises RefusedError."""
    options = machine.options()
    first = []
    for row in rows:
        entry = row["value"]
        fitting = [
            reference
            for reference, (alias, name) in options.items()
            if entry in (alias, reference) or fnmatchcase(name, entry)
        ]
        if not fitting:
            names = [shown(name) for _, name in options.values()]
            raise RefusedError("boot_order: no boot option is '%s'; the BMC shows %s" % (entry, listed(names)))
        first += [reference for reference in fitting if reference not in first]
    if first == list(options)[: len(first)]:
        return None
    order = first + [reference for reference in options if reference not in first]
    names = [listed([shown(options[one][1]) for one in some]) for some in (list(options)[: len(first)], first)]
    difference = Difference(rows[0], "boot order", *names)
    difference.value, difference.order = names[1], order
    return difference


def compare(machine, rows):
    """Differences and texts of absent attributes. Raises RefusedError and RedfishError."""
    order = [row for row in rows if row["setting"] == _BOOT_ORDER]
    differences, absent = attributes_that_differ(machine, [row for row in rows if row["setting"] != _BOOT_ORDER])
    if order and (difference := boot_order_that_differs(machine, order)):
        differences.append(difference)
    return differences, absent


def send(machine, resource, path, content):
    """Sends to the settings object of a resource, or to the resource where it has none."""
    settings = mapping(resource, "@Redfish.Settings")
    times = settings.get("SupportedApplyTimes")
    if isinstance(times, list) and times:
        fitting = [one for one in ("OnReset", "Immediate") if one in times]
        if not fitting:
            raise RefusedError("the BMC applies settings only %s" % listed([shown(one) for one in times]))
        content = {**content, "@Redfish.SettingsApplyTime": {"ApplyTime": fitting[0]}}
    machine.bmc.patch(link(settings, "SettingsObject") or path, content)


def restart(machine, seconds):
    """Switches the machine off and on. Raises RedfishError and PowerError."""
    power = RedfishPower(machine.bmc, machine.path, machine.system)
    switch_off(power, seconds)
    switch_on(power, seconds)


def apply(machine, differences, seconds):
    attributes = {one.name: typed(one.value, one.current) for one in differences if one.row["setting"] != _BOOT_ORDER}
    if attributes:
        send(machine, machine.bios, link(machine.system, "Bios"), {"Attributes": attributes})
    for one in differences:
        if one.row["setting"] == _BOOT_ORDER:
            send(machine, machine.system, machine.path, {"Boot": {"BootOrder": one.order}})
    restart(machine, seconds)


def awaited(asked):
    """The comparison once nothing differs, or the time is up."""
    until = time.monotonic() + asked["seconds"]
    while True:
        try:
            machine = Machine(asked)
            differences, absent = compare(machine, asked["rows"])
            if not differences or time.monotonic() >= until:
                return machine, differences, absent
        except RedfishError as err:
            if err.status in _DENIED or time.monotonic() >= until:
                raise
        time.sleep(_INTERVAL)


def checked(rows):
    """Rows with all keys, as texts and booleans."""
    rows = [{key: row.get(key, "") for key in ("setting", "attribute", "value", "stated", "confirmed")} for row in rows]
    for row in rows:
        row.update({key: str(row[key]) for key in ("setting", "attribute", "value")})
    return rows


def main():
    module = AnsibleModule(
        argument_spec={
            "address": {"type": "str", "required": True},
            "user": {"type": "str", "required": True},
            "password": {"type": "str", "required": True, "no_log": True},
            "check_certificates": {"type": "bool", "default": True},
            "rows": {"type": "list", "elements": "dict", "required": True},
            "state": {"type": "str", "choices": ["compared", "set"], "default": "compared"},
            "seconds": {"type": "int", "default": 0},
        },
        supports_check_mode=True,
    )
    asked = {**module.params, "rows": checked(module.params["rows"])}
    is_set = asked["state"] == "set" and not module.check_mode
    try:
        machine, differences, absent = awaited({**asked, "seconds": 0} if is_set else asked)
        if is_set and differences:
            apply(machine, differences, asked["seconds"])
    except (RedfishError, RefusedError, PowerError) as err:
        module.fail_json(msg="BMC %s: %s" % (asked["address"], err))
    module.exit_json(
        changed=bool(differences) and asked["state"] == "set",
        differs=[str(one) for one in differences],
        unconfirmed=sorted({one.row["setting"] for one in differences if not one.row["confirmed"]}),
        absent=absent,
        messages=machine.messages(),
    )


if __name__ == "__main__":
    main()
