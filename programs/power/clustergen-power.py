#!/usr/bin/python3
"""Switches nodes on or off: slurmctld calls it with a host list. Its messages go to the journal and to syslog.

    clustergen-power-on [--wait] NODES, clustergen-power-off [--wait] NODES
    clustergen-power-fail [--wait] NODES   switches nodes off that did not come up in time

It works in the background, as slurmctld waits for its programs. With --wait:
exit 0 all are in that state, 1 some are not
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

sys.path.insert(0, "/usr/local/lib/clustergen")

from redfish import Redfish, RedfishError

VALUES = json.loads(Path("/etc/clustergen/power.json").read_text(encoding="utf-8"))
TABLE = "/etc/clustergen/power-nodes"
PASSWORD_FILE = "/etc/clustergen/bmc-password"
PROTOCOL: str = VALUES["protocol"]  # of the BMCs; empty where the site's command switches all nodes
COMMAND: str = VALUES["command"]  # switches nodes without a BMC in the table
NAME = Path(sys.argv[0]).name.rpartition("-")[2]
ACTION = {"fail": "off"}.get(NAME, NAME)
SIDE_BY_SIDE = {"on": 32, "off": 256}
TIMEOUT: int = VALUES["resume_timeout_s" if ACTION == "on" else "suspend_timeout_s"]
ANSWER = 60  # seconds for one request
PATIENCE = max(TIMEOUT - 30, 30)  # seconds for the operating system to shut down; then the power is cut
POLL = 5  # seconds between two questions
END = time.monotonic() + PATIENCE
LAST = time.monotonic() + TIMEOUT  # slurmctld may switch the node on again after that
BUTTONS = {"on": "On", "reset": "ForceRestart", "soft": "GracefulShutdown", "off": "ForceOff"}  # as Redfish has them
PROBLEMS = (OSError, RuntimeError, ValueError, KeyError, subprocess.TimeoutExpired)


def run(*command: str, timeout: int = ANSWER) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip() or f"exit status {done.returncode}")
    return done.stdout


def ipmi(address: str, word: str) -> str:
    login = ("-H", address, "-U", VALUES["user"], "-f", PASSWORD_FILE)
    return run("ipmitool", "-I", "lanplus", *login, "chassis", "power", word)


def redfish(address: str) -> Redfish:
    password = Path(PASSWORD_FILE).read_text(encoding="utf-8").rstrip("\n")
    return Redfish(address, VALUES["user"], password, VALUES["check_certificates"], ANSWER)


def state(address: str) -> str:
    """`on`, `off` or another state."""
    if PROTOCOL == "ipmi":
        return ipmi(address, "status").rpartition(" is ")[2].strip()
    bmc = redfish(address)
    answer = bmc.resource(bmc.machine()).get("PowerState")
    if not isinstance(answer, str):
        raise RedfishError("the BMC's answer has no PowerState")
    return {"On": "on", "Off": "off"}.get(answer, answer)


def press(address: str, button: str) -> None:
    """Button: on, reset, soft (the operating system shuts down) or off."""
    if PROTOCOL == "ipmi":
        ipmi(address, button)
        return
    bmc = redfish(address)
    bmc.post(f"{bmc.machine()}/Actions/ComputerSystem.Reset", {"ResetType": BUTTONS[button]})


def is_known_off(address: str) -> bool:
    """False also if the BMC does not answer: it is asked again, and the power is cut in the end."""
    try:
        return state(address) == "off"
    except PROBLEMS:
        return False


def bmc_addresses() -> dict[str, str]:
    lines = Path(TABLE).read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {row[0]: row[1] for row in rows}


def reason(error: BaseException) -> str:
    return f"{error.args[0]} has no BMC address in {TABLE}" if isinstance(error, KeyError) else str(error)


def switch_off(node: str, address: str) -> str | None:
    """None, or what is wrong."""
    if is_known_off(address):
        return None
    try:
        press(address, "soft")
    except PROBLEMS as error:
        report(f"{node}: the BMC does not shut it down: {reason(error)}")
    while time.monotonic() < END:
        time.sleep(POLL)
        if is_known_off(address):
            return None
    if time.monotonic() > LAST:
        return "is still on, and slurmctld may be waking it already: its power was not cut"
    press(address, "off")
    return f"did not shut down in {PATIENCE} s: its power was cut"


def switch(node: str, addresses: dict[str, str]) -> str | None:
    """None, or what is wrong."""
    try:
        if COMMAND and node not in addresses:
            run(COMMAND, ACTION, node, timeout=TIMEOUT)
        elif ACTION == "off":
            return switch_off(node, addresses[node])
        else:
            # slurmctld waits for a node that booted after its request, and sets one that was still on DOWN.
            press(addresses[node], "reset" if state(addresses[node]) == "on" else "on")
    except PROBLEMS as error:
        return reason(error)
    return None


def report(text: str) -> None:
    print(text, file=sys.stderr)
    subprocess.run(["logger", "-t", f"clustergen-power-{NAME}", "--", text], timeout=ANSWER, check=False)


def leave() -> None:
    """Goes on in the background, in a session of its own: slurmctld kills what its programs leave in theirs."""
    if os.fork():
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--wait"]
    if ACTION not in SIDE_BY_SIDE or len(words) != 1:
        sys.exit("usage: clustergen-power-on [--wait] NODES, or clustergen-power-off [--wait] NODES")
    if words == sys.argv[1:]:
        leave()
    addresses = bmc_addresses() if PROTOCOL else {}
    nodes = run("scontrol", "show", "hostnames", words[0]).split()
    if NAME == "fail":
        report(f"{words[0]}: not up within {VALUES['resume_timeout_s']} s, and switched off")
    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE[ACTION]) as pool:
        results = pool.map(switch, nodes, repeat(addresses))
        problems = [(node, problem) for node, problem in zip(nodes, results) if problem]
    for node, problem in problems:
        report(f"{node}: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
