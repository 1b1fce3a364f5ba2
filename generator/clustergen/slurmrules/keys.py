"""Is there such a key, and what does the release make of it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.slurmrules.remarks import Outcome, Remark


def unknown(file: str, block: str, name: str, hint: str | None) -> Remark:
    """A key that no release has."""
    what = f"a {block} line of {file}" if block else file
    return Remark(
        "slurm-key-unknown",
        f"{what} has no key '{name}' in any release, and {readers(file)}",
        hint,
        on_key=True,
    )


def readers(file: str) -> str:
    """Who stops on a file with an unknown key, for a message."""
    return {
        "slurm.conf": "no daemon or command of Slurm starts with it",
        "slurmdbd.conf": "slurmdbd does not start with it",
        "gres.conf": "slurmd does not start with it",
    }.get(file, "no daemon or command of Slurm starts with it")


def state(known: slurm.SlurmKey, release: SlurmRelease) -> Iterator[Remark]:
    """A key that the release does not read, or reads without effect."""
    now = known.state(release)
    if now == "too-new":
        yield Remark(
            "slurm-key-too-new",
            f"'{known.key}' exists from Slurm {known.since} on; {release} does not start with it",
            on_key=True,
        )
    elif now == "defunct":
        yield Remark(
            "slurm-key-defunct",
            f"'{known.key}' has had no effect since Slurm {known.defunct}; {release} logs an error for it",
            _without(known),
            Outcome.LOGS,
            on_key=True,
        )
    elif now != "known":
        since = known.refused if now == "refused" else known.removed
        yield Remark(
            "slurm-key-removed",
            f"'{known.key}' was removed in Slurm {since}; {release} does not start with it",
            instead_of(known),
            on_key=True,
        )


def _without(known: slurm.SlurmKey) -> str:
    """What to do with a key that has no effect."""
    if not known.note or known.note == "delete it":
        return "delete it"
    return instead_of(known) if "=" in known.note else f"delete it; {known.note}"


def instead_of(known: slurm.SlurmKey) -> str:
    """What took the place of a key that is gone."""
    if known.note and "=" in known.note:
        return f"write {known.note}"
    if known.instead:
        return f"write {known.instead}"
    return known.note or "delete it"
