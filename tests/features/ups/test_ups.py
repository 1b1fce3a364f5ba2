"""Shutdown by UPS: the order is in NUT's files, and clustergen-ups completes them on each node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from strategies.trees import COMPUTE, HEAD, lay_out, manifest, node_files, text_of, tree_of

SERVICE = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
DEVICES = {
    "ups-a": {"address": "10.0.9.201", "feeds": "head,mon,c[1-2]"},
    "ups-b": {"driver": "usbhid-ups", "feeds": "head"},
}
UPS = manifest(nodes=[HEAD, SERVICE, COMPUTE], ups={"grace": 40, "devices": DEVICES})


def test_compute_nodes_stop_before_services_and_these_before_the_server(tmp_path: Path) -> None:
    tree = tree_of(UPS, tmp_path)
    texts = {
        host: text_of(tree, host, "/etc/clustergen/nut/upsmon.conf").splitlines() for host in ("c1", "mon", "head")
    }
    assert "FINALDELAY 40" in texts["c1"]
    assert "FINALDELAY 160" in texts["mon"]
    assert {"HOSTSYNC 280", "FINALDELAY 120", "RUN_AS_USER root"} <= {*texts["head"]}
    assert "/etc/clustergen/nut/upsd.users" not in node_files(tree, "c1")


@pytest.mark.parametrize(
    ("host", "lines"),
    [
        (
            "head",
            [
                'MONITOR ups-a@localhost:3493 1 primary "p1" primary',
                'MONITOR ups-b@localhost:3493 1 primary "p1" primary',
            ],
        ),
        ("c2", ['MONITOR ups-a@head:3493 1 secondary "s1" secondary']),
        ("c3", []),  # of an entry of which others are fed
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
    assert [line for line in monitor.splitlines() if line.startswith("MONITOR")] == lines
    assert "@LOGIN@" not in monitor
    assert (root / "etc/nut/upsmon.conf").stat().st_mode & 0o777 == 0o640
    if host == "head":
        users = (root / "etc/nut/upsd.users").read_text(encoding="utf-8")
        assert 'password = "p1"' in users
        assert 'community = "public"' in (root / "etc/nut/ups.conf").read_text(encoding="utf-8")
    fed = subprocess.run([sys.executable, program, "is-fed"], check=False).returncode == 0
    assert fed == bool(lines)


def test_passwords_are_in_no_file_of_the_tree(tmp_path: Path) -> None:
    tree = tree_of(UPS, tmp_path)
    assert '"@PRIMARY@"' in text_of(tree, "head", "/etc/clustergen/nut/upsd.users")
    assert not {f"/etc/clustergen/nut/{name}" for name in ("primary", "secondary", "community")} & {
        *node_files(tree, "head")
    }
