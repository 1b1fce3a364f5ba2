"""File systems that move: which change is one, and what a plan makes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clustergen.diff.steps import EMPTY, PUT, RESUME, TURNS, WITHDRAW
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
        (
            None,
            "drain with clustergen.cluster.drain, stop home.mount, and copy 10.9.0.1:/h to 10.9.0.2:/h,"
            " unless both are one server",
        ),
        (EMPTY, "drain, and wait for their jobs"),
        (PUT, "install the changed files"),
        (PUT, "unmount and mount home.mount, on all hosts at once (cluster_window)"),
        (RESUME, "resume"),
    ]


def nfs(path: Path, server: str, directory: str = "/h", mount: str = "/home", heads: str = "254") -> Path:
    nodes = f'nodes:\n  - {{name: "nfs[1-2]", type: service, address: "10.0.{heads}.[1-2]", roles: [nfs-server]}}\n'
    entry = f"storage:\n  home: {{type: nfs, server: {server}, path: {directory}, mount: {mount}}}\nslurm:\n"
    return write(path, ("nodes:\n", nodes), ("slurm:\n", entry))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "key", "manual"),
    [
        (
            {"server": "10.0.254.1"},
            {"server": "10.0.253.1", "heads": "253"},
            "address",
            "change the servers' addresses: 10.0.254.1:/h becomes 10.0.253.1:/h",
        ),
        ({"server": "10.0.254.1"}, {"server": "10.0.254.2"}, "source", "copy 10.0.254.1:/h to 10.0.254.2:/h"),
        (
            {"server": "nfs1"},
            {"server": "nfs2", "directory": "/other", "mount": "/users"},
            "source and mount point",
            "copy nfs1:/h to nfs2:/other",
        ),
    ],
)
def test_a_window_names_what_moves(
    tmp_path: Path, old: dict[str, str], new: dict[str, str], key: str, manual: str
) -> None:
    sides = [nfs(tmp_path / str(number), **side) for number, side in enumerate((old, new))]
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    (window,) = [change for change in whole["changes"] if change["effects"][0]["kind"] == "window"]
    assert (window["key"], window["file"], window["nodes"]) == (key, UNIT, "c[1-4]")
    steps = [step["text"] for step in whole["steps"]]
    assert f"drain with clustergen.cluster.drain, stop home.mount, and {manual}" in steps
    renamed = key == "source and mount point"
    assert [text for text in steps if "users.mount" in text or text.startswith("unmount home.mount")] == [
        "unmount home.mount, on all hosts at once (cluster_window)",
        "mount users.mount",
    ] * renamed
    assert bool(window.get("waiting", whole.get("pending"))) is renamed


LUSTRE = """storage:
  big-data:
    type: lustre
    version: "2.15"
    mgs: [10.0.254.1@tcp]
    fsname: big
    mount: /big
    targets:
      - {kind: MGT, server: oss1, device: /dev/mapper/mgt}
      - {kind: MDT, index: 0, server: oss1, device: /dev/mapper/mdt0}
      - {kind: OST, index: 0, server: oss1, device: /dev/mapper/ost0}
      - {kind: OST, index: 1, server: oss2, device: /dev/mapper/ost1}
"""
OST = "      - {kind: OST, index: 1, server: oss2, device: /dev/mapper/ost1}\n"
SERVERS = ("nodes:\n", 'nodes:\n  - {name: "oss[1-2]", type: service, address: "10.0.254.[1-2]"}\n')
ROCKY = ("debian-13", "rocky-9")


@pytest.fixture(scope="module")
def lustre(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("lustre"), SERVERS, ROCKY, ("slurm:\n", LUSTRE + "slurm:\n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "is_window", "expected"),
    [
        (
            (OST, ""),
            True,
            [
                "1: drain with clustergen.cluster.drain, unmount big-data, and empty and deactivate big-OST0001",
                f"{EMPTY}: drain, and wait for their jobs",
                f"{PUT}: install the changed files",
                f"{PUT}: stop srv-lustre-big-OST0001.mount",
                f"{RESUME}: resume",
            ],
        ),
        (
            (OST, OST.replace("oss2", "oss1")),
            True,
            [
                "1: drain with clustergen.cluster.drain, unmount big-data, and move big-OST0001 from oss2 to oss1",
                f"{EMPTY}: drain, and wait for their jobs",
                f"{PUT}: install the changed files",
                f"{PUT}: run clustergen-lustre-targets-big-data.service",
                f"{RESUME}: resume",
            ],
        ),
        (
            (OST, OST + OST.replace("1", "2")),
            False,
            [
                f"{PUT}: install the changed files",
                f"{PUT}: systemctl daemon-reload",
                "3: run clustergen-lustre big-data check on the servers of new targets, then format, mount and pools",
            ],
        ),
        ((OST, OST.replace("oss2,", "oss2, standby: [oss1],")), False, None),
        (
            (LUSTRE, ""),
            False,
            [
                f"{PUT}: install the changed files",
                f"{PUT}: systemctl daemon-reload",
                f"{TURNS}: node by node: drain, unmount big.mount, resume",
                f"{WITHDRAW}: stop srv-lustre-MGS.mount, srv-lustre-big-MDT0000.mount, srv-lustre-big-OST0000.mount,"
                " srv-lustre-big-OST0001.mount: no host mounts it any more",
            ],
        ),
    ],
)
def test_targets_of_lustre_stop_in_a_window_or_after_their_last_client(
    lustre: Path, tmp_path: Path, edit: tuple[str, str], is_window: bool, expected: list[str] | None
) -> None:
    other = write(tmp_path, edit, text=lustre.read_text())
    whole = json.loads(diff("--format", "json", lustre, other).stdout)["clusters"][0]
    assert whole["verdict"].startswith("needs a maintenance window for big-data; drains 4 nodes") is is_window
    steps = [f"{step['play'] or number}: {step['text']}" for number, step in enumerate(whole["steps"], 1)]
    if expected is not None:
        assert steps == expected
    windows = [change for change in whole["changes"] if change["effects"][0]["kind"] == "window"]
    assert [change["nodes"] for change in windows] == ["c[1-4]"] * is_window


@pytest.mark.slow
def test_lnet_of_servers_restarts_in_a_window_of_their_clients(lustre: Path, tmp_path: Path) -> None:
    net = ("    fsname: big\n", "    fsname: big\n    lnet: [{name: tcp, interfaces: [eno3]}]\n")
    sides = [write(tmp_path / name, net, text=lustre.read_text()) for name in ("old", "new")]
    sides[1].write_text(sides[1].read_text().replace("eno3", "eno4"))
    whole = json.loads(diff("--format", "json", *sides).stdout)["clusters"][0]
    assert whole["verdict"].startswith("needs a maintenance window for lnet.service; drains 4 nodes (c[1-4])")
    steps = [(step["play"], step["text"], step["hosts"]) for step in whole["steps"]]
    assert steps[0] == (None, "drain with clustergen.cluster.drain, unmount what the servers offer", "c[1-4]")
    assert (PUT, "restart lnet.service", "oss[1-2]") in steps


@pytest.mark.slow
def test_a_new_mount_of_lustre_waits_for_the_restart_of_lnet(lustre: Path, tmp_path: Path) -> None:
    net = ("    fsname: big\n", "    fsname: big\n    lnet: [{name: tcp, interfaces: [eno3]}]\n")
    fast = "  fast: {type: lustre, mgs: [10.9.9.9@tcp5], mount: /fast, lnet: [{name: tcp5, interfaces: [eno4]}]}\n"
    one = write(tmp_path / "one", net, text=lustre.read_text())
    two = write(tmp_path / "two", ("slurm:\n", fast + "slurm:\n"), text=one.read_text())
    whole = json.loads(diff("--format", "json", one, two).stdout)["clusters"][0]
    steps = [f"{step['play']}: {step['text']}" for step in whole["steps"]]
    assert steps[-1] == f"{TURNS}: node by node: drain, restart lnet.service, mount fast.mount, resume"
    assert f"{PUT}: mount fast.mount" not in steps
