"""The question to the module `node_state`, and what in its answer makes a node unfit for the tree."""

from __future__ import annotations

import re
import time

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.clustergen.cluster.plugins.plugin_utils import accounting
from ansible_collections.clustergen.cluster.plugins.plugin_utils.packages import modules_of
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import (
    packages_of,
    paths_of,
    purposes_of,
    units_of,
)

# Of packages, only those of systemd's units are in some of these, and no package has files in them.
_OWNED = re.compile(r"/etc/(slurm/[^/]+\.d|systemd/system/[^/]+\.d|clustergen-firewall/[^/]+\.d|prometheus/(rules|sd))")
_MIB_FOR_FILES = 16
_MIB_FOR_PACKAGES = 1024


def query(overlay, task_vars, secrets=(), commands=()):
    """Arguments of the module for one host: files of its overlay, packages, paths, units, paths of secrets, and lines of
    `commands`, to which the comparison of the accounting database is added.
    """
    return {
        "commands": {**dict(commands), **accounting.command(overlay, task_vars)},
        "files": [{key: file[key] for key in ("target", "sha256", "mode", "owner")} for file in overlay],
        "directories": owned_directories(file["target"] for file in overlay),
        "held": task_vars.get("cluster_held_packages") or [],
        "packages": packages_of(task_vars),
        "modules": modules_of(purposes_of(task_vars)),
        "paths": paths_of(task_vars),
        "units": units_of(task_vars)[0],
        "secrets": list(secrets),
    }


def owned_directories(targets):
    """Directories of these files in which nothing else belongs: root runs, or a daemon reads, all that is in them."""
    return sorted(
        {directory for directory in (target.rpartition("/")[0] for target in targets) if _OWNED.fullmatch(directory)}
    )


def unfit(state, task_vars, began):
    """Why this node cannot be applied to; all of it. `began`: this host's clock when the node was asked."""
    offset = state["clock"] - (began + time.time()) / 2
    if not state["root"]:
        yield f"{task_vars.get('ansible_user', 'the user')} is not root on this node: set ansible.become in the manifest"
    if not state["systemd"]:
        yield "systemd does not run on this node"
    machine = task_vars.get("os_facts", {}).get("architecture", "")
    systems = [name[3:] for name in task_vars["group_names"] if name.startswith("os_")]
    os_facts = state["os"]
    if systems and boolean(task_vars.get("cluster_os_check", True)):
        if machine and os_facts["machine"] != machine:
            yield f"its architecture is {os_facts['machine']} but the manifest states {machine}: set arch of its node type"
        systems[0] = systems[0][: -len(machine) - 1] if machine and systems[0].endswith("_" + machine) else systems[0]
        family, _, version = systems[0].partition("_")
        installed = os_facts["version"] if "_" in version else os_facts["version"].partition(".")[0]
        if os_facts["id"] not in (family, {"rocky": "almalinux"}.get(family)) or installed != version.replace("_", "."):
            yield f"runs {os_facts['id']} {os_facts['version'] or os_facts['codename']} but the manifest states {systems[0].replace('_', ' ', 1).replace('_', '.')}"
    name = task_vars["inventory_hostname"]
    if boolean(task_vars.get("cluster_name_check", True)) and state["host"].partition(".")[0] != name:
        yield f"its hostname is {state['host']}, not {name}: hostnamectl set-hostname {name}"
    tolerance = float(task_vars.get("cluster_clock_tolerance", 300))
    if abs(offset) > tolerance:
        yield f"its clock is {abs(offset):.0f} s {'ahead' if offset > 0 else 'behind'}; munge and TLS stop working at {tolerance:.0f} s"
    yield from (f"{path} is mounted read-only" for path in state["read_only"])
    if state["unwritable"]:
        yield f"/var/lib/clustergen cannot be written: {state['unwritable']}"
    needed = _MIB_FOR_PACKAGES if state["packages"] else _MIB_FOR_FILES
    for path, free in state["free"].items():
        least = needed if path in ("/", "/var") else _MIB_FOR_FILES
        if free["mib"] < least:
            yield f"{path} has {free['mib']} MiB free, {least} are needed"
        elif free["inodes"] is not None and free["inodes"] < 1000:
            yield f"{path} has {free['inodes']} inodes free"
    if masked := [unit for unit, unit_state in state["units"].items() if unit_state["load"] == "masked"]:
        yield f"{', '.join(masked)}: masked on this node"
