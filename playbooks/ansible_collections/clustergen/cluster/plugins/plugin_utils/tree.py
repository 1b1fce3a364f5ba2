"""The rendered tree, for the actions: its lock file, and which of its files a host gets."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError
from clustergen.render import access, lock_file
from clustergen.render.tree import FILE_LIMIT, LOCK

# Variables of a site, which may be expressions.
_OF_SITES = (
    "cluster_clock_tolerance",
    "cluster_edited_ok",
    "cluster_mount_over",
    "cluster_name_check",
    "cluster_os_check",
    "cluster_reboots",
    "cluster_window",
    "cluster_without_files",
    "cluster_without_packages",
    "cluster_without_units",
    "packages_extra",
    "secrets_given",
)


class Tree:
    """A tree on disk. Raises AnsibleError where its lock file cannot be read, or a render of it was interrupted."""

    def __init__(self, directory):
        self.directory = Path(directory)
        with _in_ansibles_words(), access.reading(self.directory):
            self.lock = lock_file.read_lock(self.directory)
        if self.lock is None:
            error = lock_file.without_lock(self.directory)
            raise AnsibleError(f"{error.message}: {error.hint}")
        self.files = self.lock["files"]

    @property
    def name(self):
        """The tree's name in the journal of a node."""
        return hashlib.sha256((self.directory / LOCK).read_bytes()).hexdigest()[:16]

    def damage(self):
        """Damage since the tree was rendered: one text per file."""
        with _in_ansibles_words(), access.reading(self.directory):
            return list(self._damage())

    def _damage(self):
        for path, entry in self.files.items():
            try:
                content = regular_file.read(self.directory / path, FILE_LIMIT)
            except OSError as err:
                yield f"{path}: {regular_file.reason_of(err)}"
                continue
            if hashlib.sha256(content).hexdigest() != entry["sha256"]:
                yield f"{path} was edited by hand"
        present = {
            f.relative_to(self.directory).as_posix() for f in (self.directory / "overlays").rglob("*") if not f.is_dir()
        }
        for path in sorted(present - set(self.files)):
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
        try:
            return regular_file.read(self.directory / path, FILE_LIMIT)
        except OSError as err:
            raise AnsibleError(f"{self.directory / path}: {regular_file.reason_of(err)}") from None


@contextmanager
def _in_ansibles_words():
    try:
        yield
    except ClustergenError as err:
        raise AnsibleError(f"{err.message}: {err.hint}" if err.hint else err.message) from None


def settled(templar, variables):
    """The variables of a host, with those of its site as what their expressions come to on this host."""
    return {**variables, **{name: templar.template(variables[name]) for name in _OF_SITES if name in variables}}


def groups_of(variables):
    return {"all", *variables.get("group_names", ())}


def of_groups(table, variables):
    """The items of a table `group → list` for one host, each once, in the table's order."""
    groups = groups_of(variables)
    return list(dict.fromkeys(item for group, items in (table or {}).items() if group in groups for item in items))


def paths_of(variables):
    """Paths that roles make on a host and no overlay holds, except those that the host lacks."""
    without = variables.get("cluster_without_files") or []
    requested = of_groups(variables.get("cluster_paths"), variables)
    return [path for path in requested if not any(fnmatchcase(path, glob) for glob in without)]


def units_of(variables):
    """The units that are to run on a host, and those that files name but the host is without."""
    without = variables.get("cluster_without_units") or []
    requested = of_groups(variables.get("cluster_units"), variables)
    left = [unit for unit in requested if any(fnmatchcase(unit, glob) for glob in without)]
    return [unit for unit in requested if unit not in left], without


def purposes_of(variables):
    """Purpose → packages by name, for what a host is for."""
    without = variables.get("cluster_without_packages") or []
    names = variables.get("os_packages") or {}
    requested = of_groups(variables.get("cluster_packages"), variables)
    return {purpose: list(names.get(purpose, ())) for purpose in requested if purpose not in without}


def packages_of(variables):
    """Packages by name, with those that a site adds."""
    packages = [name for names in purposes_of(variables).values() for name in names]
    return list(dict.fromkeys([*packages, *(variables.get("packages_extra") or [])]))


def version():
    """The version of clustergen that is installed beside this ansible-playbook."""
    from clustergen import __version__

    return __version__
