"""File systems that move: which change is one, and what a plan makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clustergen.diff.steps import EMPTY, PUT, RESUME
from clustergen.diff.windows import moved
from strategies.diffs import diff, write

UNIT = "/etc/systemd/system/home.mount"


def unit(kind: str, what: str) -> str:
    return f"[Mount]\nWhat={what}\nWhere=/home\nType={kind}\n"


@pytest.mark.parametrize(
    ("kind", "old", "new", "is_moved"),
    [
        ("nfs", "10.0.0.1:/home", "10.0.0.2:/home", True),
        ("nfs", "10.0.0.1:/home", "10.0.0.1:/new", True),
        ("nfs", "10.0.0.1:/home", "10.0.0.1:/home", False),
        ("ceph", "10.0.0.1,10.0.0.2:/", "10.0.0.1,10.0.0.2,10.0.0.3:/", False),
        ("ceph", "10.0.0.1:/", "10.0.0.9:/", True),
        ("ceph", "10.0.0.1:/\nOptions=name=a,fs=one", "10.0.0.1:/\nOptions=name=a,fs=two", True),
        ("wekafs", "weka1,weka2/data", "weka2,weka3/data", False),
        ("wekafs", "weka1,weka2/data", "weka1,weka2/other", True),
        ("none", "/tank/home", "10.0.0.2:/home", True),
        ("none", "/tank/home", "/tank/home2", True),
        ("lustre", "10.1.0.1@o2ib:/fs", "10.1.0.1@o2ib:10.1.0.2@o2ib:/fs", False),
        ("lustre", "10.1.0.1@o2ib,10.0.0.1@tcp:/fs", "10.0.0.1@tcp:/fs", False),
        ("lustre", "10.1.0.1@o2ib:/fs", "10.1.0.1@o2ib:/other", True),
        ("lustre", "10.1.0.1@o2ib:/fs", "10.1.0.9@o2ib:/fs", True),
        ("xfs", "LABEL=a", "LABEL=b", False),
    ],
)
def test_a_move_is_another_place_of_the_data(kind: str, old: str, new: str, is_moved: bool) -> None:
    assert (moved(UNIT, unit(kind, old), unit(kind, new)) is not None) is is_moved


def test_the_management_server_of_beegfs() -> None:
    conf = "/etc/beegfs/beegfs-client.conf"
    assert moved(conf, "sysMgmtdHost = a\n", "sysMgmtdHost = b\n") == ("a", "b")
    assert moved(conf, "sysMgmtdHost = a\n", "sysMgmtdHost = a\nlogLevel = 1\n") is None
    assert moved("/etc/nccl.conf", "sysMgmtdHost = a\n", "sysMgmtdHost = b\n") is None


def test_clients_of_a_server_that_moves_are_emptied_together_and_the_data_is_copied_first(tmp_path: Path) -> None:
    sides = [
        write(
            tmp_path / host,
            ("slurm:", f"storage:\n  home: {{type: nfs, server: {host}, path: /h, mount: /home}}\nslurm:"),
        )
        for host in ("10.9.0.1", "10.9.0.2")
    ]
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    assert whole["verdict"].startswith("needs a maintenance window for home.mount; drains 4 nodes (c[1-4])")
    assert [(step["play"], step["text"]) for step in whole["steps"]] == [
        (None, "drain with clustergen.cluster.drain, stop home.mount, and copy 10.9.0.1:/h to 10.9.0.2:/h"),
        (EMPTY, "drain, and wait for their jobs"),
        (PUT, "install the changed files"),
        (PUT, "unmount and mount home.mount, on all hosts at once (cluster_window)"),
        (RESUME, "resume"),
    ]
