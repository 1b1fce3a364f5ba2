"""Facts of nodes on the control host: a directory per node, a file per command."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from ansible.errors import AnsibleError

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


def node_directory(directory, host):
    """The directory of one node. Raises AnsibleError for a host that no node is called by."""
    if not _HOST.fullmatch(host):
        raise AnsibleError(f"{host!r} is not a name for a directory of facts: letters, digits and -, at most 63")
    if not directory:
        raise AnsibleError("no directory for the facts: set -e facts=DIR")
    return Path(directory).expanduser().absolute() / host


def replace(place, files):
    """Writes the facts of a node in the place of earlier ones: the directory is complete, or as it was."""
    new, old = place.with_name(f".{place.name}.new"), place.with_name(f".{place.name}.old")
    for path in (new, old):
        shutil.rmtree(path, ignore_errors=True)
    new.mkdir(parents=True, mode=0o755)
    for name, content in files.items():
        (new / name).write_bytes(content)
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def add(place, name, document):
    """Writes one more file of a node whose facts are recorded."""
    place.mkdir(parents=True, exist_ok=True)
    new = place / f".{name}.new"
    new.write_text(json.dumps(document), encoding="utf-8")
    new.rename(place / name)


def tree_json(state, accounts, failure):
    """How a node differs from the tree, of an answer of `node_state`, as the file tree.json has it; and its accounting
    database from the manifest.
    """
    document = {
        "files": [file["target"] for file in state["differs"]],
        "units": sorted(state["units"]),
        **{key: state[key] for key in ("leftovers", "foreign", "slipped", "packages", "paths")},
        "accounts": accounts["differs"],
        "unlisted": accounts["unlisted"],
    }
    if failure:  # what differs on a machine that is not the planned one says nothing
        document = {**{key: [] for key in document}, "failure": failure[:2000]}
    return json.dumps(document, indent=1).encode()
