"""The whole way: a directory of Slurm's files → a manifest, its site files, and what is to be said of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import ClustergenError, Diagnostic
from clustergen.diagnostics.redaction import Redactions
from clustergen.diagnostics.words import listed
from clustergen.hostlist import MAX_HOSTS
from clustergen.importer.accounting import import_slurmdbd
from clustergen.importer.accounts import import_accounts
from clustergen.importer.comments import Comments
from clustergen.importer.comparing import Comparison, with_reasons
from clustergen.importer.controllers import import_accounting, import_controllers
from clustergen.importer.doubts import mark_doubts
from clustergen.importer.draft import Draft, Note
from clustergen.importer.files import import_files
from clustergen.importer.fitting import fit
from clustergen.importer.forms import fits
from clustergen.importer.machines import Machines
from clustergen.importer.originals import Originals, read_originals
from clustergen.importer.partitions import import_partitions
from clustergen.importer.refusals import Refusal, rejected, unregistered
from clustergen.importer.settings import import_settings
from clustergen.importer.todo import import_todo
from clustergen.lint.run import lint
from clustergen.manifest.base import AnyName
from clustergen.records import record

_USUAL_OS = "rocky-9"
_SHOWN = 12  # keys of one line
CHECK = "CHECK"
"""Marks a guess in a comment of the manifest."""


@record
class ImportResult:
    """The result of an import."""

    text: str
    """The manifest."""
    files: dict[str, bytes]
    """Files of the site by their path beside the manifest, and which of them are programs."""
    programs: frozenset[str]
    release: SlurmRelease
    guessed: bool
    """True: the release is a guess."""
    rejected: tuple[Refusal, ...]
    """Why Slurm does not start with the original files."""
    notes: tuple[Note, ...]
    errors: tuple[Diagnostic, ...]
    """Why the manifest is not valid yet; nothing was compared then."""
    compared: tuple[Comparison, ...]
    redactions: Redactions
    """Parts of the original files that the report does not repeat."""
    refused: tuple[Refusal, ...] = ()
    """Errors of Slurm about the rendered files."""
    unregistered: tuple[Refusal, ...] = ()
    """Nodes of the original files that slurmctld refuses, and remarks on those that were asked."""
    remarks: tuple[str, ...] = ()
    source: str = ""
    """The path that was imported."""

    @property
    def exit_code(self) -> int:
        """0: the same meaning, of files that Slurm reads; 1: not so; 2: the manifest is not valid yet."""
        if self.errors:
            return 2
        return 0 if self.same and not (self.refused or self.rejected or self.unregistered) else 1

    @property
    def same(self) -> bool:
        """True if the manifest renders to files of the same meaning."""
        return not self.errors and all(item.meant for item in self.compared)


def _not_too_many(originals: Originals, path: Path) -> None:
    """Raises ClustergenError where there are more nodes than any slurmctld starts with."""
    total = sum(entry.size() for entry in originals.conf.entries("NodeName"))
    if total > MAX_HOSTS:
        hint = f"run clustergen lint {path} to find the line"
        raise ClustergenError(f"{path}: {total:,} nodes; Slurm manages at most {MAX_HOSTS:,}", hint, 2)


def _take_comments(draft: Draft, file: str, comments: Comments) -> None:
    draft.expect(file, dict(comments.above))
    draft.head += comments.head
    if comments.switched_off:
        several, them = ("settings", "them are") if comments.switched_off > 1 else ("setting", "it are")
        words = f"{comments.switched_off} commented-out {several} and the comments above {them} not imported"
        draft.note("choice", words, file)
    for line in comments.secrets:
        draft.note("secret", "a comment that looks like a secret is not imported", f"{file}:{line}")


def import_directory(
    path: Path,
    *,
    version: str | None = None,
    os: str | None = None,
    hosts: Path | None = None,
    accounts: Sequence[Path] = (),
    register: bool = False,
) -> ImportResult:
    """Reads the directory or slurm.conf at `path`. ClustergenError where it cannot be read; nothing is written.

    `version` is the release of Slurm, else guessed from the keys; `os` that of the nodes; `hosts` a hosts file with the
    addresses that slurm.conf lacks; `accounts` what sacctmgr writes of accounts and QOS; with `register`, a node
    of each NodeName line registers with a real slurmctld.
    """
    originals = read_originals(path, version, hosts)
    _not_too_many(originals, path)
    draft = Draft()
    comments = originals.comments()
    for file, lines_of_file in comments.items():
        _take_comments(draft, file, lines_of_file)
    for place, problem in originals.unread():
        if problem.kind != "key-unknown":  # which the check of the manifest tells, with what was meant
            draft.note("left-out", f"Slurm cannot read this line: {problem.message}", place)
    for place, block, keys in originals.unknown_defaults():  # which come to no node or partition
        words = f"{block}=DEFAULT: Slurm {originals.release} has no key {listed(keys, _SHOWN)}"
        draft.note("left-out", words, place)
    _begin(draft, originals, path, os, accounts)
    import_settings(draft, originals)
    machines = Machines(draft, originals)
    machines.take()
    import_controllers(draft, originals, machines)
    import_accounting(draft, originals, machines)
    import_partitions(draft, originals, machines)
    machines.write()
    mark_doubts(draft, originals, CHECK)
    import_slurmdbd(draft, originals)
    if accounts:
        import_accounts(draft, originals, accounts)
    import_files(draft, originals, machines, accounts)
    for lines_of_file in comments.values():
        draft.tail += lines_of_file.tail
    import_todo(draft)
    fitted = fit(draft, originals)
    checked = lint(originals.directory.path / originals.directory.main, originals.release)
    remarks: tuple[str, ...] = ()
    if register:
        from clustergen.lint.registration import registered

        checked, remarks = registered(checked)
    return ImportResult(
        text=fitted.text,
        files=draft.files,
        programs=frozenset(draft.programs),
        release=originals.release,
        guessed=originals.guessed,
        rejected=rejected(originals, checked),
        notes=tuple(draft.notes),
        errors=fitted.errors,
        compared=with_reasons(fitted.compared, originals.release),
        redactions=checked.redactions,
        refused=fitted.refused,
        unregistered=unregistered(originals, checked),
        remarks=remarks,
        source=str(path),
    )


def _begin(draft: Draft, originals: Originals, path: Path, os: str | None, accounts: Sequence[Path]) -> None:
    """The start of every manifest, and the settings that keep this one to the contents of Slurm's files."""
    release = originals.release
    named = originals.conf.value("ClusterName")
    origins = [originals.origin(named)] if named else []
    cluster = named.text if named else "cluster"
    name = re.sub(r"[^a-z0-9_-]", "-", cluster.lower()).strip("-_")[:63]
    name = name if re.match(r"[a-z]", name) else f"cluster-{name}".strip("-")[:63]
    files = ", ".join([*originals.configs, *map(str, accounts)])
    head = [
        "yaml-language-server: $schema=./clustergen.schema.json",
        f"Created by `clustergen import {path}` from {files}: it renders to Slurm files with the same meaning.",
        f"Lines with {CHECK} are assumptions or choices to check.",
    ]
    draft.head = [*head, *dict.fromkeys(draft.head)]
    draft.set(("name",), name, origins, needed=True)
    draft.set(
        ("os",), os or _os(release), needed=True, comments=[] if os else [f"{CHECK}: Slurm's files do not contain it."]
    )
    if os is None:
        draft.note("choice", f"os: {_os(release)} is an assumption; pass --os to change it")
    words = "What clustergen configures; `clustergen adopt --next` shows what else it can, and what each step changes."
    managed = ("slurm", "accounting") if accounts else ("slurm",)
    draft.set(("manage",), managed, needed=True, comments=[words])
    draft.set(("networks", "management"), {}, needed=True)
    guess = [f"{CHECK}: assumed, {originals.release_why}."] if originals.guessed else []
    if originals.guessed:
        draft.note(
            "choice", f"Slurm {release} is an assumption: {originals.release_why}; pass --slurm-version to change it"
        )
    draft.set(("slurm", "version"), str(release), comments=guess, needed=True)
    words = (
        "Keys that this section does not set keep Slurm's defaults; without this line, clustergen's recommendations"
        " apply."
    )
    draft.set(("slurm", "defaults"), "slurm", needed=True, comments=[words])
    if cluster != name and fits(cluster, AnyName):
        draft.set(("slurm", "cluster_name"), cluster, origins, needed=True)
    elif named is None:
        words = f"slurm.conf has no ClusterName, which slurmctld requires: clustergen writes {name}"
        draft.note("choice", words, key="ClusterName")
    elif cluster != name:
        draft.note("left-out", f"ClusterName={cluster} is not valid in a manifest", key="ClusterName")
    if originals.conf.value("SlurmUser") is None:
        draft.set(("slurm", "user"), "root", comments=["Slurm's default, as slurm.conf has no SlurmUser."])
    controller = (originals.conf.text("SlurmctldParameters") or "").lower().split(",")
    if "enable_configless" in controller:
        draft.set(("slurm", "configless"), True)
    off = ["Slurm's scripts, health check and ssh stay unchanged; remove a line to use clustergen's."]
    for index, field in enumerate(("prolog", "epilog", "task_prolog")):
        draft.set(("slurm", "scripts", field), False, comments=off if index == 0 else ())
    draft.set(("health", "enabled"), False)
    draft.set(("host", "ssh_adopt"), False)


def _os(release: SlurmRelease) -> str:
    """The system whose own packages have that release, else a usual one."""
    return next(
        (ident for ident, system in operating_systems().items() if SlurmRelease(system.fact("slurm")) == release),
        _USUAL_OS,
    )
