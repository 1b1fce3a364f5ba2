"""A cluster whose clocks nobody corrects is a warning, if its times are compared with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strategies.trees import COMPUTE, HEAD, MANIFEST, codes_of, manifest

CODE = "time-without-upstream"
MANAGEMENT = {**MANIFEST["networks"]["management"], "ntp": []}


@pytest.mark.parametrize(
    ("roles", "changes", "is_reported"),
    [
        (["login"], {}, True),
        (["monitoring"], {}, True),
        (["log-collector"], {"logs": {}}, True),
        ([], {}, False),
        (["login"], {"host": {"chrony": False}}, False),
        (["login"], {"networks": {"management": {**MANAGEMENT, "ntp": ["pool.ntp.org"]}}}, False),
    ],
)
def test_a_clock_without_upstream(tmp_path: Path, roles: list[str], changes: dict[str, Any], is_reported: bool) -> None:
    changes = {"networks": {"management": MANAGEMENT}, **changes}
    data = manifest(nodes=[{**HEAD, "roles": [*HEAD["roles"], *roles]}, COMPUTE], **changes)
    assert (CODE in codes_of(data, tmp_path)) == is_reported


def test_a_cluster_without_slurm_keeps_the_distributions_servers(tmp_path: Path) -> None:
    data = manifest(nodes=[{**HEAD, "roles": ["login"]}, COMPUTE], networks={"management": MANAGEMENT})
    del data["slurm"]
    assert CODE not in codes_of(data, tmp_path)
