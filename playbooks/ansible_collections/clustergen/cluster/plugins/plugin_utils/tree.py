"""The rendered tree, for the actions: its lock file, and which of its files a host gets."""

from __future__ import annotations

import hashlib
import json
from fnmatch import fnmatchcase
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean

LOCK = "clustergen.lock.json"
FORMAT = 1
# Variables of a site, which may be expressions.
_OF_SITES = (
    "cluster_clock_tolerance",
    "cluster_edited_ok",
    "cluster_name_check",
    "cluster_os_check",
    "cluster_reboots",
    "cluster_without_files",
    "cluster_without_packages",
    "cluster_without_units",
    "packages_extra",
    "secrets_given",
)


class Tree:
    """A tree on disk. Raises AnsibleError where its lock file cannot be read."""

    def __init__(self, folder):
        self.folder = Path(folder)
        try:
            self.lock = json.loads((self.folder / LOCK).read_text(encoding="utf-8"))
            self.files = self.lock["files"]
        except OSError as err:
            raise AnsibleError(f"{self.folder / LOCK}: {err.strerror}; `clustergen render` makes it") from err
        except (ValueError, KeyError, TypeError) as err:
            raise AnsibleError(f"{self.folder / LOCK} is no lock file of clustergen ({err})") from err

    @property
    def name(self):
        """What the journal of a node calls this tree."""
        return hashlib.sha256((self.folder / LOCK).read_bytes()).hexdigest()[:16]

    def damage(self):
        """What is not as it was rendered: one text per file."""
        if self.lock.get("format") != FORMAT:
            yield f"{LOCK} has format {self.lock.get('format')}, this clustergen reads {FORMAT}"
            return
        for path, entry in self.files.items():
            try:
                content = (self.folder / path).read_bytes()
            except OSError as err:
                yield f"{path}: {(err.strerror or '').lower()}"
                continue
            if hashlib.sha256(content).hexdigest() != entry["sha256"]:
                yield f"{path} was edited by hand"
        there = {f.relative_to(self.folder).as_posix() for f in (self.folder / "overlays").rglob("*") if f.is_file()}
        for path in sorted(there - set(self.files)):
            yield f"{path} is not of this tree"

    def of_host(self, variables):
        """The files of one host: [{"path", "target", "sha256", "mode", "owner", "effect"}]."""
        groups = groups_of(variables)
        without = variables.get("cluster_without_files") or []
        edited = boolean(variables.get("cluster_edited_ok", False))
        return [
            {
                "path": path,
                **{key: entry[key] for key in ("target", "mode", "owner", "effect")},
                "sha256": hashlib.sha256(self.content(path)).hexdigest() if edited else entry["sha256"],
            }
            for path, entry in self.files.items()
            if entry.get("group") in groups and not any(fnmatchcase(entry["target"], glob) for glob in without)
        ]

    def content(self, path):
        return (self.folder / path).read_bytes()


def settled(templar, variables):
    """The variables of a host, with those of its site as what their expressions come to on this host."""
    return {**variables, **{name: templar.template(variables[name]) for name in _OF_SITES if name in variables}}


def groups_of(variables):
    return {"all", *variables.get("group_names", ())}


def of_groups(table, variables):
    """What a table `group → list` says of one host, each once, in the table's order."""
    groups = groups_of(variables)
    return list(dict.fromkeys(item for group, items in (table or {}).items() if group in groups for item in items))


def paths_of(variables):
    """What roles make on a host and no overlay holds, but for what the host is without."""
    without = variables.get("cluster_without_files") or []
    wanted = of_groups(variables.get("cluster_paths"), variables)
    return [path for path in wanted if not any(fnmatchcase(path, glob) for glob in without)]


def units_of(variables):
    """The units that are to run on a host, and those that files name but the host is without."""
    without = variables.get("cluster_without_units") or []
    wanted = of_groups(variables.get("cluster_units"), variables)
    left = [unit for unit in wanted if any(fnmatchcase(unit, glob) for glob in without)]
    return [unit for unit in wanted if unit not in left], without


def packages_of(variables):
    """Packages by name, for what a host is for."""
    without = variables.get("cluster_without_packages") or []
    names = variables.get("os_packages") or {}
    wanted = [purpose for purpose in of_groups(variables.get("cluster_packages"), variables) if purpose not in without]
    found = [name for purpose in wanted for name in names.get(purpose, ())]
    return list(dict.fromkeys([*found, *(variables.get("packages_extra") or [])]))


def version():
    """The version of clustergen that is installed beside this ansible-playbook."""
    from clustergen import __version__

    return __version__
