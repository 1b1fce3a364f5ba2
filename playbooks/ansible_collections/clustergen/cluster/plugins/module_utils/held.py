"""Versions of held packages, as the last playbook that replaced some has left them: /var/lib/clustergen/held.json."""

from __future__ import annotations

import json
import os
import shutil

from ansible_collections.clustergen.cluster.plugins.module_utils import journal, safe_files, safe_write

PLACE = journal.DIRECTORY + "/held.json"


def versions(module, patterns):
    """Name → version, of installed packages whose names match; several versions of a kernel are one text."""
    if not patterns:
        return {}
    if shutil.which("dpkg-query"):
        form = "${Package} ${Version} ${db:Status-Status}\n"
        _, out, _ = module.run_command(["dpkg-query", "-W", "-f", form, *patterns])
        rows = [line.split()[:2] for line in out.splitlines() if line.endswith(" installed")]
    else:
        _, out, _ = module.run_command(["rpm", "-qa", "--qf", "%{NAME} %{EVR}\n", *patterns])
        rows = [line.split() for line in out.splitlines()]
    by_name = {}
    for name, version in rows:
        by_name.setdefault(name, set()).add(version)
    return {name: ", ".join(sorted(each)) for name, each in by_name.items()}


def recorded():
    """Name → version; None where nothing is recorded."""
    content = safe_files.read_json(PLACE)
    return {str(name): str(version) for name, version in content.items()} if isinstance(content, dict) else None


def changes(module, patterns):
    """Name, version and recorded version of each package that differs; a version is empty where it is not installed."""
    before = recorded()
    if before is None or not patterns:
        return []
    after = versions(module, patterns)
    names = sorted(before.keys() | after.keys())
    return [[name, after.get(name, ""), before.get(name, "")] for name in names if after.get(name) != before.get(name)]


def record(module, patterns):
    _write(versions(module, patterns))


def renew(module, names):
    """Records the versions of these packages, if versions are recorded at all."""
    before = recorded()
    if before is not None:
        kept = {name: version for name, version in before.items() if name not in names}
        _write({**kept, **versions(module, sorted(names))})


def _write(content):
    os.makedirs(journal.DIRECTORY, mode=0o700, exist_ok=True)
    safe_write.replace(PLACE, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
