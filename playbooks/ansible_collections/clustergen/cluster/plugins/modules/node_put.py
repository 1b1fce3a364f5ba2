#!/usr/bin/python
"""Puts files of a tree on this node and carries out what they take, but for Slurm's own daemons."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_put
short_description: Puts files on a node, each in one step, and carries out their local effects
description:
  - The daemons' own parsers read the new files before the first of them is live. Where one refuses them, nothing is changed.
  - The journal C(/var/lib/clustergen/state.json) is written first, so that a run that was cut off is carried on by the next.
author: The clustergen developers
options:
  files:
    description: The files, each with target, sha256, mode, owner, effect and content (zlib and base64; null where only mode or owner differ).
    type: list
    elements: dict
    required: true
  remove:
    description: Files of an earlier tree that are to go.
    type: list
    elements: str
    default: []
  record:
    description: All files of the tree on this node, each with sha256 and effect.
    type: dict
    required: true
  tree:
    description: The tree that they are from.
    type: str
    required: true
  effects:
    description: What the changed files take.
    type: list
    elements: str
    default: []
  units:
    description: Units that are to be enabled and active.
    type: list
    elements: str
    default: []
  without:
    description: Units that this node is without, although files are about them.
    type: list
    elements: str
    default: []
  trials:
    description: Names of trials that this node has no part in.
    type: list
    elements: str
    default: []
  only_trial:
    description: Lets the parsers read the files, and changes nothing.
    type: bool
    default: false
  replaces:
    description: The effects are all that is to be done on this node now, what earlier runs left included.
    type: bool
    default: false
  held:
    description: Patterns of the names of packages whose versions are recorded, to be compared with later ones.
    type: list
    elements: str
    default: []
attributes:
  check_mode: {support: none, description: The action says what would change before this is reached.}
"""
EXAMPLES = r"""
- name: Put a file
  clustergen.cluster.node_put:
    tree: 3f1c
    record: {}
    files: []
"""
RETURN = r"""
done:
  description: Effects that were carried out, in their order.
  returned: always
  type: list
"""

import os
import socket

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import (
    effects,
    held,
    journal,
    overlay,
    safe_files,
    trials,
)

_MUNGE = "munge.service"


def unpacked(files):
    """The files with their content as bytes; those of which only mode or owner differ are read from where they are."""
    files_in_place = []
    for file in files:
        ids = overlay.owner_ids(file["owner"])
        if file["content"] is not None:
            files_in_place.append(dict(file, content=overlay.unpack(file["content"]), ids=ids, whole=True))
        else:
            files_in_place.append(dict(file, content=overlay.content_in_place(file), ids=ids, whole=False))
    return files_in_place


ARGUMENTS = {
    "files": {"type": "list", "elements": "dict", "required": True},
    "remove": {"type": "list", "elements": "str", "default": []},
    "record": {"type": "dict", "required": True},
    "tree": {"type": "str", "required": True},
    "effects": {"type": "list", "elements": "str", "default": []},
    "units": {"type": "list", "elements": "str", "default": []},
    "without": {"type": "list", "elements": "str", "default": []},
    "trials": {"type": "list", "elements": "str", "default": []},
    "only_trial": {"type": "bool", "default": False},
    "replaces": {"type": "bool", "default": False},
    "held": {"type": "list", "elements": "str", "default": []},
}


def tried(module, files):
    """Lets the parsers read the new files; the trials that have no program here. Ends the module where one refuses."""
    asked = module.params
    try:
        wrong, absent = trials.run(module, [file for file in files if file["whole"]], asked["remove"], asked["trials"])
    except OSError as err:
        module.fail_json(msg=f"the new files could not be tested: {err}")
    if wrong:
        module.fail_json(msg="nothing was changed: " + "; ".join(wrong))
    return absent


def planned(asked):
    """The journal with what this run is about to do, and the files of an earlier tree that its record does not have."""
    state = journal.read()
    # What an earlier run left to do is among the effects, but for what waits until the node is empty.
    keep = ("remount", "drain", "reboot") if asked["replaces"] else None
    state["pending"] = [effect for effect in state["pending"] if keep is None or effect.partition(":")[0] in keep]
    journal.add_pending(state, asked["effects"])
    state["tree"] = asked["tree"]
    state["units"] = sorted({*state["units"], *(unit for unit in asked["units"] if unit not in effects.SLURM_UNITS)})
    # A phase before the one that removes them leaves files of an earlier tree on the list.
    left = {target: entry for target, entry in state["files"].items() if target not in asked["record"]}
    state["files"] = dict(asked["record"], **left)
    return state, left


def exchange(module, files, state, left, earlier):
    """Puts and removes the files, the journal first; the targets that were put. `earlier`: targets of an earlier tree. Ends the
    module at the first failure.
    """
    asked = module.params
    put = []
    target = journal.PLACE
    try:
        overlay.keep_originals(module, [file["target"] for file in files if file["target"] not in earlier])
        journal.write(state)
        for file in files:
            target = file["target"]
            overlay.put(module, file, file["content"])
            put.append(file["target"])
        for target in asked["remove"]:
            if os.path.dirname(target) == "/etc/systemd/system":
                module.run_command(["systemctl", "disable", "--now", "--quiet", os.path.basename(target)])
            overlay.remove(target)
            state["files"].pop(target, None)
        if left:
            journal.write(state)
    except (OSError, LookupError) as err:
        # A disk that is full says so without a name.
        words = f"{err.filename or target}: {safe_files.reason_of(err)}" if isinstance(err, OSError) else str(err)
        module.fail_json(msg="stopped after %d of %d files: %s" % (len(put), len(files), words))
    return put


def own_addresses():
    """The addresses of this node's name, one of which munged writes into what it signs until it is started again."""
    try:
        return {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        return set()


def carry_out(worker, targets, units):
    """Carries out the effects in the journal, even if this run brought no file: an earlier run was cut off."""
    pending = journal.read()["pending"]
    if any(target.startswith("/etc/systemd/") for target in targets) and "daemon-reload" not in pending:
        pending.append("daemon-reload")
    early = [effect for effect in pending if effect in ("create", "daemon-reload", "sysctl")]
    effects.local(worker, early)
    # What a new mount requires reads its new files before.
    required = {
        name
        for unit in units
        if unit.endswith(".mount") and not worker.active(unit)
        for name in worker.property(unit, "Requires").split()
    }
    first = [effect for effect in pending if effect.partition(":")[2] in required]
    effects.local(worker, first)
    worker.start([unit for unit in units if unit not in effects.SLURM_UNITS])
    effects.local(worker, [effect for effect in pending if effect not in [*early, *first]])


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS)
    asked = module.params
    try:
        files = unpacked(asked["files"])
    except OSError as err:
        module.fail_json(msg="nothing was changed: %s: %s" % (err.filename, safe_files.reason_of(err)))
    absent = tried(module, files)
    if asked["only_trial"]:
        module.exit_json(changed=False, not_asked=absent)
    earlier = journal.read()["files"].keys()
    state, left = planned(asked)
    worker = effects.Worker(module, asked["without"])
    has_hosts = any(file["target"] == "/etc/hosts" for file in files)
    addresses = own_addresses() if has_hosts else set()
    put = exchange(module, files, state, left, earlier)
    if has_hosts and own_addresses() != addresses and worker.active(_MUNGE) and worker.systemctl("restart", _MUNGE):
        worker.done.append("restart:" + _MUNGE)
    carry_out(worker, [file["target"] for file in files] + asked["remove"], asked["units"])
    if asked["held"]:
        held.record(module, asked["held"])
    result = {
        "changed": bool(put or asked["remove"] or worker.done),
        "put": put,
        "removed": asked["remove"],
        "done": worker.done,
        "not_asked": absent,
    }
    if worker.failed:
        module.fail_json(msg="the files are in place, but: " + "; ".join(worker.failed), changed=result["changed"])
    module.exit_json(**result)


if __name__ == "__main__":
    main()
