"""Local disks."""

from __future__ import annotations

from pathlib import Path

from strategies.file_systems import LOCAL, UNITS, stored
from strategies.trees import text_of


def test_local_disk_is_waited_for_by_its_path(tmp_path: Path) -> None:
    text = text_of(stored(tmp_path, disk=LOCAL), "c1", f"{UNITS}/scratch.mount")
    assert "What=/dev/disk/by-label/scratch\n" in text
    assert "_netdev" not in text
    assert "WantedBy=local-fs.target\n" in text
