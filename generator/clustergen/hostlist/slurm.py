"""Problems of a release of Slurm with a host list: it cannot read it, or reads it otherwise than it looks."""

from __future__ import annotations

import re

from clustergen.hostlist.errors import MAX_DIGITS, RANGE, HostlistError
from clustergen.hostlist.read import DIGITS, count, expand, items, ranges_of

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")


def is_node_name(text: str) -> bool:
    """True if slurmctld accepts a node of that name; host names are stricter."""
    return _NAME.fullmatch(text) is not None


def validate_for_slurm(text: str, release: str, suffixes_since: str) -> None:
    """HostlistError where slurmctld of that release (`24.11`) would not read the list as meant.

    `suffixes_since`: the first release that reads text after the last bracket.
    """
    suffixes = [int(part) for part in release.split(".")[:2]] >= [int(part) for part in suffixes_since.split(".")]
    widths: dict[str, tuple[int, int]] = {}
    for item, offset in items(text):
        if ":" in item:
            raise HostlistError("an address is not a host name", offset, len(item))
        suffix = item.rpartition("]")[2] if "]" in item else ""
        if suffix and not suffixes:
            names = ",".join(expand(item)[:2])
            hint = f"write the names one by one, as {names},…: Slurm reads such lists from {suffixes_since} on"
            raise HostlistError(
                f"text after the last bracket: Slurm {release} cannot read it",
                offset + len(item) - len(suffix),
                len(suffix),
                hint,
            )
        _refuse_mixed_padding(item, offset, widths)
    count(text)


def _refuse_mixed_padding(item: str, offset: int, seen: dict[str, tuple[int, int]]) -> None:
    """`seen` remembers, for the text before a last number, the narrowest number and the widest padding."""
    before, opened, body = item.rpartition("]")[0].rpartition("[")
    if not opened:
        before = item.rstrip(DIGITS)
        body = item[len(before) :]
    if not body or not re.match(RANGE, body) or (not opened and len(body) > MAX_DIGITS):
        return
    narrow, padded = seen.get(before, (MAX_DIGITS, 0))
    for low, _, width in ranges_of(body, offset + len(before) + len(opened)):
        narrow = min(narrow, width)
        if width > 1 and low < 10 ** (width - 1):
            padded = max(padded, width)
    if padded > narrow:
        message = f"numbers after '{before}' are padded to {padded} digits in some names only"
        raise HostlistError(message, offset, len(item), "use one width throughout: n1 and n01 are different hosts")
    seen[before] = narrow, padded
