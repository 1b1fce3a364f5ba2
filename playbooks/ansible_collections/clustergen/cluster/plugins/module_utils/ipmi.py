"""ipmitool on this machine: what it prints, as Python values; passwords are never in its arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

MAX_PASSWORD = 16  # bytes; IPMI 2.0 permits 20, which not every BMC keeps
_SLOW = 120  # seconds; a BMC that lists 64 users over a slow system interface


class IpmiError(Exception):
    """ipmitool failed; the text has what it printed."""


def run(arguments, environment=None, timeout=_SLOW, needs=""):
    """The output of ipmitool; with an exit status other than 0 only if `needs` is in it. Raises IpmiError."""
    program = shutil.which("ipmitool", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if program is None:
        raise IpmiError("ipmitool is not installed")
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise IpmiError("the BMC did not answer ipmitool in %d s" % timeout) from None
    if done.returncode != 0 and not (needs and needs in done.stdout):
        # Debian's ipmitool lacks the registry of vendors, and says so each time.
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip() and "IANA PEN" not in line]
        raise IpmiError("; ".join(lines[-3:]) or "ipmitool: exit status %d" % done.returncode)
    return done.stdout


def table(text):
    """`name : value` lines; the first of a name counts."""
    rows = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            rows.setdefault(name.strip(), value.strip())
    return rows


class Bmc:
    """A BMC behind ipmitool's options, such as `-I open`."""

    def __init__(self, options):
        self.options = list(options)

    def ask(self, *words, needs=""):
        return run([*self.options, *map(str, words)], needs=needs)

    def name(self):
        """Manufacturer, product and firmware. Raises IpmiError where there is no BMC."""
        rows = table(self.ask("mc", "info"))
        parts = (rows.get("Manufacturer Name"), rows.get("Product Name"), rows.get("Firmware Revision"))
        return ", ".join(part for part in parts if part) or "unnamed"

    def lan_channels(self):
        """Number → rows of `channel info`, of each channel that is an 802.3 LAN."""
        channels = {}
        for number in range(1, 12):
            try:
                rows = table(self.ask("channel", "info", number))
            except IpmiError:
                continue  # no such channel
            if rows.get("Channel Medium Type") == "802.3 LAN":
                channels[number] = rows
        return channels

    def lan(self, channel):
        # It fails after all rows where a BMC lacks one of the optional values behind them.
        return table(self.ask("lan", "print", channel, needs="Default Gateway IP"))

    def users(self, channel):
        """Slot → name; an empty slot has an empty name."""
        names = {}
        for line in self.ask("-c", "user", "list", channel).splitlines():
            slot, _, rest = line.partition(",")
            if slot.isdigit():
                name = rest.rsplit(",", 4)[0].strip()
                names[int(slot)] = "" if name == "(Empty User)" else name
        return names

    def access(self, channel, slot):
        return table(self.ask("channel", "getaccess", channel, slot))

    def set_password(self, slot, password):
        """Through a file in memory for ipmitool's `exec`: without a terminal, `user set password` sets an empty one."""
        octets = password.encode().ljust(MAX_PASSWORD, b"\0")
        line = "raw 0x06 0x47 %#04x 0x02 %s\n" % (slot, " ".join("%#04x" % octet for octet in octets))
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else "/run"
        with tempfile.NamedTemporaryFile("w", dir=memory, prefix="clustergen-") as file:  # mode 0600
            file.write(line)
            file.flush()
            try:
                self.ask("exec", file.name)
            except IpmiError as err:
                raise IpmiError("the BMC refuses the password: " + str(err).rpartition("): ")[2]) from None
