"""Local disks that get another file system: the tree mounts them, and formats none."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.diff.snapshot import Snapshot

_UNITS = "/etc/systemd/system/"
_BY_LABEL = "/dev/disk/by-label/"


def reformatted(old: Snapshot, new: Snapshot) -> Mapping[str, str]:
    """The path of a mount unit → what has to be done to its disk before the new unit can mount it."""
    before, after = _mounts(old), _mounts(new)
    texts: dict[str, str] = {}
    for target, (device, kind) in after.items():
        previous = before.get(target)
        if previous and device.startswith("/dev/") and previous[0] == device and previous[1] != kind:
            label = f" with the label {device.removeprefix(_BY_LABEL)}" if device.startswith(_BY_LABEL) else ""
            texts[target] = f"format {device}, which is {previous[1]}, as {kind}{label}: its files are lost"
    return texts


def _mounts(side: Snapshot) -> dict[str, tuple[str, str]]:
    """The path of each mount unit → its device and file system."""
    mounts: dict[str, tuple[str, str]] = {}
    for file in side.files.values():
        if file.target.startswith(_UNITS) and file.target.endswith(".mount"):
            pairs = dict(line.partition("=")[::2] for line in file.text.splitlines() if "=" in line)
            mounts[file.target] = pairs.get("What", ""), pairs.get("Type", "")
    return mounts
