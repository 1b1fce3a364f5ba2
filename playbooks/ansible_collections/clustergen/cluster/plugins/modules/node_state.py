#!/usr/bin/python
"""Answers, in one go, how this node differs from what a tree wants of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_state
short_description: Tells how a node differs from what a rendered tree wants of it
description: One question for files, packages, units, secrets, the state of the machine and outputs of commands. It changes nothing.
author: The clustergen developers
options:
  files:
    description: The files wanted, each with target, sha256, mode and owner.
    type: list
    elements: dict
    default: []
  directories:
    description: Directories whose files are all of the tree.
    type: list
    elements: str
    default: []
  held:
    description: Patterns of the names of packages that keep their version.
    type: list
    elements: str
    default: []
  packages:
    description: Packages that are to be installed.
    type: list
    elements: str
    default: []
  modules:
    description: Kernel modules, of which those that are loaded are returned.
    type: list
    elements: str
    default: []
  paths:
    description: Paths that are to be there.
    type: list
    elements: str
    default: []
  units:
    description: Units that are to be enabled and active.
    type: list
    elements: str
    default: []
  secrets:
    description: Files whose SHA-256 is returned, so that nodes can be compared.
    type: list
    elements: str
    default: []
  contents:
    description: Whether the old content of a file that differs is returned.
    type: bool
    default: true
  commands:
    description: Lines for sh by the name of the file that their output is for, as for node_facts.
    type: dict
    default: {}
  seconds:
    description: Limit of time of each command.
    type: int
    default: 30
  most:
    description: Limit of bytes of each output.
    type: int
    default: 1048576
attributes:
  check_mode: {support: full, description: It only looks.}
"""
EXAMPLES = r"""
- name: How does this node differ?
  clustergen.cluster.node_state:
    files: [{target: /etc/nccl.conf, sha256: "…", mode: "0644", owner: "root:root"}]
    units: [slurmd.service]
"""
RETURN = r"""
differs:
  description: Files that are not as wanted, and in what.
  returned: always
  type: list
foreign:
  description: Files in the directories that neither these files nor an earlier tree have.
  returned: always
  type: list
slipped:
  description: Name, version and recorded version of held packages that changed.
  returned: always
  type: list
outputs:
  description: What the module node_facts returns for these commands.
  returned: always
  type: dict
"""

import hashlib
import os
import re
import shutil
import socket
import sys
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import (
    held,
    journal,
    outputs,
    overlay,
    run_mark,
    safe_files,
)
from ansible_collections.clustergen.cluster.plugins.module_utils.controller import Controller

MOST_DIRECTORIES = 1000  # below a mount point, of those that programs made before it was mounted
MOST_MOUNTS, UNIT = 100, 1 << 14  # mount units of earlier trees, and the bytes of each that are read
FREE = ("/", "/etc", "/var", "/run", "/boot")
MOST_FOREIGN = 200


def missing_packages(module, requested):
    if not requested:
        return []
    if shutil.which("dpkg-query"):
        _, out, _ = module.run_command(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *requested])
        installed = {line.split()[0] for line in out.splitlines() if line.endswith(" installed")}
        return [name for name in requested if name.partition("=")[0].partition(":")[0] not in installed]
    missing = []
    for name in requested:
        if module.run_command(["rpm", "-q", "--whatprovides", name])[0]:
            missing.append(name)
    return missing


def loaded(modules):
    try:
        with open("/proc/modules", encoding="ascii") as file:
            names = {line.split()[0] for line in file}
    except OSError:
        return []
    return [name for name in modules if name in names]


def unit_states(module, units):
    """The units that are not both enabled and active, with their states."""
    if not units:
        return {}
    fields = "Id,Names,LoadState,ActiveState,UnitFileState,Type,Result,NeedDaemonReload"
    _, out, _ = module.run_command(["systemctl", "show", "-p", fields, "--", *units])
    states = {}
    # Nodes of Rocky 9 have Python 3.9, whose zip knows no strict.
    for unit, block in zip(units, out.strip().split("\n\n")):  # noqa: B905
        state = dict(line.partition("=")[::2] for line in block.splitlines())
        active = state.get("ActiveState") in ("active", "reloading")
        # A oneshot that does not remain has done its work when it is inactive again.
        if (
            state.get("Type") == "oneshot"
            and state.get("ActiveState") == "inactive"
            and state.get("Result") == "success"
        ):
            active = "RemainAfterExit" not in state
        enabled = state.get("UnitFileState") not in ("disabled", "")
        if not active or not enabled:
            states[unit] = {"load": state.get("LoadState", ""), "active": active, "enabled": enabled}
    return states


def hides_files(unit):
    """True if a mount that is down has files below its mount point, which nobody would see while it is up."""
    path = "/" + re.sub(
        r"\\x([0-9a-f]{2})", lambda code: chr(int(code[1], 16)), unit[: -len(".mount")].replace("-", "/")
    )
    if os.path.ismount(path):
        return False
    for count, (directory, names, files) in enumerate(os.walk(path)):
        names[:] = [name for name in names if not os.path.ismount(os.path.join(directory, name))]
        if files or count > MOST_DIRECTORIES:
            return True
    return False


def operating_system():
    values = {}
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            for line in file:
                key, _, value = line.strip().partition("=")
                values[key] = value.strip("\"'")
    except OSError:
        pass
    return {
        "id": values.get("ID", ""),
        "version": values.get("VERSION_ID", ""),
        "codename": values.get("VERSION_CODENAME", ""),
        "machine": os.uname().machine,
    }


def foreign(directories, targets):
    """Files beside those of trees; of a directory that cannot be read, none."""
    present = []
    for directory in directories:
        try:
            present += [os.path.join(directory, name) for name in os.listdir(directory)]
        except OSError:
            continue
    return sorted(path for path in present if path not in targets)[:MOST_FOREIGN]


def sha256(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def free_space():
    space = {}
    seen = set()
    for path in FREE:
        try:
            device = os.stat(path).st_dev
            if device not in seen:
                seen.add(device)
                stat = os.statvfs(path)
                space[path] = {
                    "mib": stat.f_bavail * stat.f_frsize >> 20,
                    "inodes": stat.f_favail if stat.f_files else None,
                }
        except OSError:
            continue
    return space


def writable(path):
    """True if a file of 64 KiB can be written there: a full or read-only disk says so here, not half way."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        probe = os.path.join(path, ".probe")
        with open(probe, "wb") as file:
            file.write(b"\0" * 65536)
            file.flush()
            os.fsync(file.fileno())
        os.unlink(probe)
    except OSError as err:
        return safe_files.reason_of(err)
    return None


def main():
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "dict", "default": []},
            "directories": {"type": "list", "elements": "str", "default": []},
            "held": {"type": "list", "elements": "str", "default": []},
            "packages": {"type": "list", "elements": "str", "default": []},
            "modules": {"type": "list", "elements": "str", "default": []},
            "paths": {"type": "list", "elements": "str", "default": []},
            "units": {"type": "list", "elements": "str", "default": []},
            "secrets": {"type": "list", "elements": "str", "default": [], "no_log": False},
            "contents": {"type": "bool", "default": True},
            **outputs.OPTIONS,
        },
        supports_check_mode=True,
    )
    asked = module.params
    commands = outputs.begin(asked["commands"], asked["most"])
    state = journal.read()
    targets = {file["target"] for file in asked["files"]}
    root = os.geteuid() == 0
    units = unit_states(module, asked["units"])
    running = [
        unit
        for unit in ("slurmctld.service", "slurmd.service")
        if not module.run_command(["systemctl", "is-active", "--quiet", unit])[0]
    ]
    leftovers = sorted(target for target in state["files"] if target not in targets and os.path.lexists(target))
    mounts = [target for target in leftovers if target.endswith(".mount")][:MOST_MOUNTS] if root else []
    module.exit_json(
        changed=False,
        differs=overlay.differences(asked["files"], asked["contents"]) if root else [],
        leftovers=leftovers,
        mounts={target: overlay.pack(safe_files.read_text(target, UNIT).encode()) for target in mounts},
        foreign=foreign(asked["directories"], targets | state["files"].keys()),
        slipped=held.changes(module, asked["held"])[:MOST_FOREIGN],
        unrecorded=bool(asked["held"]) and held.recorded() is None,
        effects_of={target: entry["effect"] for target, entry in state["files"].items() if target not in targets},
        pending=state["pending"],
        applied=state["tree"],
        last_run=(run_mark.read() or {"id": "none"})["id"],
        packages=missing_packages(module, asked["packages"]),
        modules=loaded(asked["modules"]),
        paths=[path for path in asked["paths"] if not os.path.exists(path)],
        units=units,
        hiding=[
            unit
            for unit, answer in units.items()
            if unit.endswith(".mount") and not answer["active"] and hides_files(unit)
        ],
        started=[unit for unit in state["units"] if unit not in asked["units"]],
        secrets={path: sha256(path) for path in asked["secrets"]},
        running=running,
        drained=Controller(module).left_drained() if "slurmctld.service" in running else [],
        root=root,
        os=operating_system(),
        python="%d.%d" % sys.version_info[:2],
        host=socket.gethostname(),
        clock=time.time(),
        free=free_space(),
        read_only=[path for path in ("/etc",) if os.statvfs(path).f_flag & os.ST_RDONLY],
        unwritable=writable(journal.DIRECTORY) if root and not module.check_mode else None,
        systemd=os.path.isdir("/run/systemd/system"),
        outputs=outputs.collect(commands, asked["seconds"]),
    )


if __name__ == "__main__":
    main()
