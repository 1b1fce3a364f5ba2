"""Is there such a key, and what does the release make of it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.slurmrules.remarks import Outcome, Remark

IGNORANT = ("mpi.conf",)
"""Files of which Slurm skips what it cannot read."""


def unread(release: SlurmRelease) -> Remark | None:
    """The consequence of a release of which only the announcement is in the catalogue, for every check of keys."""
    read = slurm.read_releases()
    if release not in slurm.releases() or release in read:
        return None
    message = f"the keys of Slurm {release} are not in the catalogue yet, so clustergen checks it as {max(read)}"
    hint = "check its release notes for removed keys, and run `clustergen verify` with its slurmctld"
    return Remark("slurm-release-unread", message, hint, Outcome.ADVICE)


def unknown(file: str, block: str, name: str, hint: str | None) -> Remark:
    """A key that no release has."""
    what = f"a {block} line of {file}" if block else file
    message = f"'{name}' is not a key of {what} in any release"
    if file in IGNORANT:
        return Remark("slurm-key-unknown", f"{message}; Slurm ignores it", hint, Outcome.SILENT, on_key=True)
    return Remark("slurm-key-unknown", f"{message}, and {readers(file)}", hint, on_key=True)


def readers(file: str) -> str:
    """Who stops on a file with an unknown key, for a message."""
    return {
        "slurm.conf": "no daemon or command of Slurm starts with it",
        "slurmdbd.conf": "slurmdbd does not start with it",
        "gres.conf": "slurmd does not start with it",
    }.get(file, "no daemon or command of Slurm starts with it")


def state(row: slurm.SlurmKey, release: SlurmRelease) -> Iterator[Remark]:
    """A key that the release does not read, or reads without effect."""
    current = row.state(release)
    if current == "too-new":
        yield Remark(
            "slurm-key-too-new",
            f"'{row.key}' requires Slurm {row.since} or newer; {release} does not start with it",
            on_key=True,
        )
    elif current == "defunct":
        yield Remark(
            "slurm-key-defunct",
            f"'{row.key}' has had no effect since Slurm {row.defunct}; {release} logs an error for it",
            _without(row),
            Outcome.LOGS,
            on_key=True,
        )
    elif current != "known":
        since = row.refused if current == "refused" else row.removed
        yield Remark(
            "slurm-key-removed",
            f"'{row.key}' was removed in Slurm {since}; {release} does not start with it",
            instead_of(row),
            on_key=True,
        )


def _without(row: slurm.SlurmKey) -> str:
    """The hint for a key that has no effect."""
    if not row.note or row.note == "delete it":
        return "delete it"
    return instead_of(row) if "=" in row.note else f"delete it; {row.note}"


def instead_of(row: slurm.SlurmKey) -> str:
    """The successor of a key that was removed."""
    if row.note and "=" in row.note:
        return f"write {row.note}"
    if row.instead:
        return f"write {row.instead}"
    return row.note or "delete it"
