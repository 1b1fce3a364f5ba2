"""File systems that move: which change is one, and what a plan makes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clustergen.diff.steps import EMPTY, PUT, RESUME
from clustergen.diff.windows import effect_inside, moved
from clustergen.render.effects import read
from strategies.diffs import diff, rendered, write

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


MOUNTED = unit("nfs", "10.0.0.1:/home\nOptions=_netdev,vers=4.2,hard")


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("[Mount]", "# by hand\n[Mount]", "none"),
        ("[Mount]", "OnFailure=clustergen-retry@%n.timer\n[Mount]\nTimeoutSec=5min", "daemon-reload"),
        ("_netdev,vers=4.2,hard", "hard,nofail,vers=4.2,x-systemd.idle-timeout=9", "daemon-reload"),
        ("hard", "soft", "remount:home.mount"),
        ("Type=nfs", "Type=nfs4", "remount:home.mount"),
        ("10.0.0.1:", "10.0.0.2:", "window:home.mount"),
    ],
)
def test_a_mount_unit_is_compared_by_what_it_mounts(old: str, new: str, effect: str) -> None:
    changed = MOUNTED.replace(old, new)
    assert changed != MOUNTED
    assert str(effect_inside(UNIT, read("remount:home.mount"), MOUNTED, changed)) == effect
    assert str(effect_inside("/etc/nccl.conf", read("reboot"), MOUNTED, changed)) in ("none", "reboot")


def test_the_management_server_of_beegfs() -> None:
    conf = "/etc/beegfs/beegfs-client.conf"
    assert moved(conf, "sysMgmtdHost = a\n", "sysMgmtdHost = b\n") == ("a", "b")
    assert moved(conf, "sysMgmtdHost = a\n", "sysMgmtdHost = a\nlogLevel = 1\n") is None
    assert moved("/etc/nccl.conf", "sysMgmtdHost = a\n", "sysMgmtdHost = b\n") is None


def test_a_mount_unit_of_an_earlier_clustergen_takes_no_drain(tmp_path: Path) -> None:
    sides = []
    for name in ("old", "new"):
        entry = "storage:\n  home: {type: nfs, server: 10.9.0.1, path: /h, mount: /home}\nslurm:"
        sides.append(rendered(write(tmp_path / name, ("slurm:", entry))))
    for file in sides[0].rglob("home.mount"):
        file.write_text(re.sub("OnFailure=.*\n", "", file.read_text()))
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    assert [(change["effects"][0]["kind"], change["file"]) for change in whole["changes"]] == [("daemon-reload", UNIT)]
    assert [step["text"] for step in whole["steps"]] == ["install the changed files", "systemctl daemon-reload"]


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
