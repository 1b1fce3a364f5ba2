#!/usr/bin/python
"""Compares the BMC of this node with the manifest, and sets its address and a user if asked to."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_bmc
short_description: Compares a BMC with the manifest, and sets its address and a user
description:
  - Asks the BMC by ipmitool and returns what differs. It changes nothing unless write is true.
  - Fails without a change if there is no BMC, if its LAN channels are not the expected ones, if the user's slot has another name, or if
    the user has another slot.
  - Sets the user first and the address last, so that a run that was cut can be repeated.
author: The clustergen developers
options:
  address:
    description: The BMC's IPv4 address.
    type: str
    required: true
  netmask:
    description: The netmask, such as 255.255.255.0.
    type: str
    required: true
  gateway:
    description: The router; not compared if it is empty.
    type: str
    default: ""
  vlan:
    description: The 802.1Q VLAN, 0 for none; not compared if it is absent.
    type: int
  channel:
    description: The LAN channel; if it is absent, the BMC must have exactly one.
    type: int
  user:
    description: Name of the user.
    type: str
    required: true
  slot:
    description: The user's slot. Vendors use slots 1 and 2.
    type: int
    default: 3
  privilege:
    description: The user's privilege on the channel.
    type: str
    choices: [USER, OPERATOR, ADMINISTRATOR]
    default: OPERATOR
  password:
    description: The user's password, of 1 to 16 bytes; write requires it.
    type: str
    default: ""
  over_lan:
    description: Whether the channel must accept IPMI over LAN.
    type: bool
    default: false
  write:
    description: Whether to set what differs, and the password.
    type: bool
    default: false
  options:
    description: Options by which ipmitool reaches the BMC.
    type: list
    elements: str
    default: [-I, open]
attributes:
  check_mode: {support: full, description: It returns what differs.}
"""
EXAMPLES = r"""
- name: What would change
  clustergen.cluster.node_bmc:
    address: 10.0.9.11
    netmask: 255.255.255.0
    user: clustergen
"""
RETURN = r"""
bmc:
  description: Manufacturer, product and firmware.
  returned: always
  type: str
differs:
  description: One text for each value that differs, before the change.
  returned: always
  type: list
is_at_address:
  description: Whether the BMC had the address before the change.
  returned: always
  type: bool
"""

import re
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils.ipmi import MAX_PASSWORD, Bmc, IpmiError

_PRIVILEGES = {"USER": 2, "OPERATOR": 3, "ADMINISTRATOR": 4}
_SETTLES = 20  # seconds; some BMCs show the old values for a while


class RefusedError(Exception):
    """Something is not as expected; nothing was changed."""


def lan_channel(bmc, expected):
    """The number of the channel and its rows. Raises RefusedError."""
    channels = bmc.lan_channels()
    numbers = ", ".join(map(str, channels)) or "none"
    if expected is not None:
        if expected not in channels:
            raise RefusedError("channel %d is not a LAN channel of this BMC; LAN channels: %s" % (expected, numbers))
        return expected, channels[expected]
    if len(channels) != 1:
        raise RefusedError(
            "the BMC has %d LAN channels (%s), not one: name one as bmc_channel" % (len(channels), numbers)
        )
    return next(iter(channels.items()))


def check_slot(users, user, slot):
    """Refuses a slot that is not the user's or empty, and a user with another slot."""
    if slot not in users:
        raise RefusedError(
            "the BMC has no user slot %d; slots: %d to %d" % (slot, min(users, default=0), max(users, default=0))
        )
    if users[slot] not in ("", user):
        free = [number for number, name in sorted(users.items()) if not name and number > 2]
        hint = "; slot %d is empty: bmc_slot" % free[0] if free else ""
        raise RefusedError("user slot %d belongs to '%s', not '%s'%s" % (slot, users[slot], user, hint))
    others = [number for number, name in sorted(users.items()) if name == user and number != slot]
    if others:
        raise RefusedError("user '%s' has slot %d, not %d: state it as bmc_slot" % (user, others[0], slot))


def lan_differences(asked, lan):
    """Key of the setting → what differs, in the order in which they are set."""
    expected = {
        "ipsrc": ("IP Address Source", "Static Address"),
        "netmask": ("Subnet Mask", asked["netmask"]),
        "gateway": ("Default Gateway IP", asked["gateway"]),
        "vlan": ("802.1q VLAN ID", {None: "", 0: "Disabled"}.get(asked["vlan"], str(asked["vlan"]))),
        "address": ("IP Address", asked["address"]),
    }
    differs = {}
    for key, (row, value) in expected.items():
        if key == "vlan" and value and row not in lan:
            if asked["vlan"]:
                raise RefusedError("the BMC reports no VLAN: set VLAN %d in its own configuration" % asked["vlan"])
            continue
        if value and lan.get(row) != value:
            differs[key] = "%s: %s, not %s" % (row, lan.get(row) or "not reported", value)
    return differs


def user_differences(asked, users, access):
    differs = {}
    slot = asked["slot"]
    if users[slot] != asked["user"]:
        differs["name"] = "user slot %d: empty, not %s" % (slot, asked["user"])
    expected = {"privilege": ("Privilege Level", asked["privilege"]), "messaging": ("IPMI Messaging", "enabled")}
    if access.get("Enable Status") == "disabled":  # old releases of ipmitool do not know it
        expected["enabled"] = ("Enable Status", "enabled")
    for key, (row, value) in expected.items():
        if access.get(row) != value:
            differs[key] = "%s of user slot %d: %s, not %s" % (row, slot, access.get(row) or "not reported", value)
    return differs


def set_user(bmc, asked, channel, differs):
    slot = asked["slot"]
    if "name" in differs:
        bmc.ask("user", "set", "name", slot, asked["user"])
    bmc.set_password(slot, asked["password"])
    privilege = "privilege=%d" % _PRIVILEGES[asked["privilege"]]
    bmc.ask("channel", "setaccess", channel, slot, "callin=off", "ipmi=on", "link=off", privilege)
    bmc.ask("user", "enable", slot)


def set_lan(bmc, asked, channel, differs):
    vlan = asked["vlan"] or "off"
    words = {
        "ipsrc": ("ipsrc", "static"),
        "netmask": ("netmask", asked["netmask"]),
        "gateway": ("defgw", "ipaddr", asked["gateway"]),
        "vlan": ("vlan", "id", vlan),
        "address": ("ipaddr", asked["address"]),
    }
    for key in differs:
        bmc.ask("lan", "set", channel, *words[key])


def compare(bmc, asked, channel):
    """Differences of the LAN settings and of the user. Raises RefusedError."""
    users = bmc.users(channel)
    check_slot(users, asked["user"], asked["slot"])
    of_lan = lan_differences(asked, bmc.lan(channel))
    return of_lan, user_differences(asked, users, bmc.access(channel, asked["slot"]))


def check_arguments(asked):
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,16}", asked["user"]):
        raise RefusedError(
            "a user name must have 1 to 16 letters, digits, dots, dashes or underscores: '%s'" % asked["user"]
        )
    if asked["write"] and not 1 <= len(asked["password"].encode()) <= MAX_PASSWORD:
        raise RefusedError(
            "the password must have 1 to %d bytes; supply it as secrets_given.bmc" % MAX_PASSWORD
            if asked["password"]
            else "no password: supply it as secrets_given.bmc"
        )


def main():
    module = AnsibleModule(
        argument_spec={
            "address": {"type": "str", "required": True},
            "netmask": {"type": "str", "required": True},
            "gateway": {"type": "str", "default": ""},
            "vlan": {"type": "int"},
            "channel": {"type": "int"},
            "user": {"type": "str", "required": True},
            "slot": {"type": "int", "default": 3},
            "privilege": {"type": "str", "choices": list(_PRIVILEGES), "default": "OPERATOR"},
            "password": {"type": "str", "default": "", "no_log": True},
            "over_lan": {"type": "bool", "default": False},
            "write": {"type": "bool", "default": False},
            "options": {"type": "list", "elements": "str", "default": ["-I", "open"]},
        },
        supports_check_mode=True,
    )
    asked = module.params
    bmc = Bmc(asked["options"])
    is_changed = False
    try:
        check_arguments(asked)
        name = bmc.name()
        channel, rows = lan_channel(bmc, asked["channel"])
        of_lan, of_user = compare(bmc, asked, channel)
        if asked["over_lan"] and rows.get("Access Mode") == "disabled":
            of_user["access"] = "Access Mode of channel %d: disabled, not always available" % channel
        differs = [*of_user.values(), *of_lan.values()]
        if asked["write"] and not module.check_mode:
            is_changed = True
            if "access" in of_user:
                bmc.ask("lan", "set", channel, "access", "on")
            set_user(bmc, asked, channel, of_user)
            set_lan(bmc, asked, channel, of_lan)
            left = [text for part in compare(bmc, asked, channel) for text in part.values()]
            until = time.monotonic() + _SETTLES
            while left and time.monotonic() < until:
                time.sleep(2)
                left = [text for part in compare(bmc, asked, channel) for text in part.values()]
            if left:
                module.fail_json(msg="the BMC accepted the values, but reports: " + "; ".join(left), changed=True)
    except RefusedError as err:
        module.fail_json(msg=str(err), changed=is_changed)
    except IpmiError as err:
        state = "; some values may be set: run this again" if is_changed else "; nothing was changed"
        module.fail_json(msg=str(err) + state, changed=is_changed)
    module.exit_json(
        changed=is_changed or (bool(differs) and asked["write"]),
        bmc=name,
        differs=differs,
        is_at_address="address" not in of_lan,
    )


if __name__ == "__main__":
    main()
