"""Shutdown by UPS: the order is in NUT's files, and clustergen-ups completes them on each node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clustergen.cluster.contributions import Secret
from strategies.trees import COMPUTE, GPU, HEAD, cluster_of, codes_of, lay_out, manifest, node_files, text_of, tree_of

SERVICE = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
DEVICES = {
    "ups-a": {"address": "10.0.9.201", "feeds": "head,mon,c[1-2]"},
    "ups-b": {"driver": "usbhid-ups", "feeds": "head,c1"},
}
TYPES = {"gpu": {**GPU, "power": {"psus": 6, "redundant": 2}}}
UPS = manifest(nodes=[HEAD, SERVICE, COMPUTE], node_types=TYPES, ups={"grace": 40, "devices": DEVICES})


def test_compute_nodes_stop_before_services_and_these_before_the_server(tmp_path: Path) -> None:
    tree = tree_of(UPS, tmp_path)
    texts = {
        host: text_of(tree, host, "/etc/clustergen/nut/upsmon.conf").splitlines() for host in ("c1", "mon", "head")
    }
    assert "FINALDELAY 40" in texts["c1"]
    assert "FINALDELAY 160" in texts["mon"]
    assert {"HOSTSYNC 280", "FINALDELAY 120", "RUN_AS_USER root"} <= {*texts["head"]}
    assert "/etc/clustergen/nut/upsd.users" not in node_files(tree, "c1")
    exporter = text_of(tree, "c1", "/etc/default/prometheus-node-exporter")  # for NodeServiceStopped
    assert "|nut-server|nut-monitor)[.]" in exporter


@pytest.mark.parametrize(
    ("host", "lines"),
    [
        (
            "head",
            [
                'MONITOR ups-a@localhost:3493 1 primary "p1" primary',
                'MONITOR ups-b@localhost:3493 1 primary "p1" primary',
                "MINSUPPLIES 1",
            ],
        ),
        (
            "c1",  # four of six power supplies carry it, and each UPS feeds three
            [
                'MONITOR ups-a@head:3493 1 secondary "s1" secondary',
                'MONITOR ups-b@head:3493 1 secondary "s1" secondary',
                "MINSUPPLIES 2",
            ],
        ),
        ("c2", ['MONITOR ups-a@head:3493 1 secondary "s1" secondary', "MINSUPPLIES 1"]),
        ("c3", ["MINSUPPLIES 1"]),  # of an entry of which others are fed
    ],
)
def test_a_node_asks_the_ups_that_feed_it(host: str, lines: list[str], tmp_path: Path) -> None:
    root = tmp_path / "root"
    lay_out(tree_of(UPS, tmp_path), host, root)
    (root / "etc/nut").mkdir()
    secrets = {"primary": "p1", "secondary": "s1", "community": "public"} if host == "head" else {"secondary": "s1"}
    for name, text in secrets.items():
        (root / "etc/clustergen/nut" / name).write_text(f"{text}\n", encoding="utf-8")
    program = root / "usr/local/sbin/clustergen-ups"
    settings = root / "etc/clustergen/ups.json"
    values = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps(values | {"directory": str(root / "etc/nut")}), encoding="utf-8")
    text = program.read_text(encoding="utf-8").replace("/etc/clustergen", str(root / "etc/clustergen"))
    text = text.replace("socket.gethostname()", repr(host)).replace(
        'shutil.chown(draft, "root", directory.group())', ""
    )
    program.chmod(0o755)
    program.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, program, "configure"], check=True)
    monitor = (root / "etc/nut/upsmon.conf").read_text(encoding="utf-8")
    assert [line for line in monitor.splitlines() if line.startswith(("MONITOR", "MINSUPPLIES"))] == lines
    assert "@LOGIN@" not in monitor
    assert (root / "etc/nut/upsmon.conf").stat().st_mode & 0o777 == 0o640
    if host == "head":
        users = (root / "etc/nut/upsd.users").read_text(encoding="utf-8")
        assert 'password = "p1"' in users
        assert 'community = "public"' in (root / "etc/nut/ups.conf").read_text(encoding="utf-8")
    fed = subprocess.run([sys.executable, program, "is-fed"], check=False).returncode == 0
    assert fed == (len(lines) > 1)


def test_two_ups_may_both_feed_every_node(tmp_path: Path) -> None:
    every = {"address": "10.0.9.201", "feeds": "head,mon,c[1-4]"}
    for feeds, codes in ((every["feeds"], []), ("head", ["ups-feeds-everything"])):
        devices = {"ups-a": every, "ups-b": {"address": "10.0.9.202", "feeds": feeds}}
        assert codes_of({**UPS, "ups": {"devices": devices}}, tmp_path) == codes


def test_a_node_may_have_power_supplies_of_unknown_number(tmp_path: Path) -> None:
    types = {"gpu": {**GPU, "power": {"redundant": 1}}}
    data = {**UPS, "node_types": types, "ups": {"devices": {"ups-a": {"address": "10.0.9.201", "feeds": "head"}}}}
    assert '"minimum": {}' in text_of(tree_of(data, tmp_path), "head", "/etc/clustergen/ups.json")


def test_passwords_are_in_no_file_of_the_tree(tmp_path: Path) -> None:
    tree = tree_of(UPS, tmp_path)
    assert '"@PRIMARY@"' in text_of(tree, "head", "/etc/clustergen/nut/upsd.users")
    assert not {f"/etc/clustergen/nut/{name}" for name in ("primary", "secondary", "community")} & {
        *node_files(tree, "head")
    }


def test_snmp_version_3_has_an_account_in_place_of_the_community(tmp_path: Path) -> None:
    devices = {"ups-a": {"address": "10.0.9.201", "feeds": "head", "snmp": {"user": "nut", "privacy": "AES256"}}}
    data = manifest(ups={"devices": devices})
    text = text_of(tree_of(data, tmp_path), "head", "/etc/clustergen/nut/ups.conf")
    assert "  privProtocol = AES256\n" in text
    assert "community" not in text
    secrets = {secret.name for secret in cluster_of(data, tmp_path).needs(Secret)}
    assert {"ups-snmp-authentication", "ups-snmp-privacy"} <= secrets
    assert "ups-snmp" not in secrets


@pytest.mark.parametrize(
    ("changes", "device", "codes"),
    [
        ({"os": "ubuntu-22.04"}, {}, ["ups-nut-release"]),
        ({}, {"driver": "usbhid-ups", "snmp": {"user": "nut"}}, ["setting-unused"] * 2),
        ({}, {"feeds": ""}, ["value-out-of-range"]),
        ({}, {"feeds": "head,x[1-9]"}, ["node-unknown"]),
    ],
    ids=["release", "usb", "nothing", "unknown"],
)
def test_a_ups_that_cannot_work_is_named(
    changes: dict[str, str], device: dict[str, object], codes: list[str], tmp_path: Path
) -> None:
    one = {"address": "10.0.9.201", "feeds": "head", **device}
    data = manifest(slurm={"version": "24.11", "build": "schedmd"}, ups={"devices": {"ups-a": one}}, **changes)
    assert codes_of(data, tmp_path) == codes
