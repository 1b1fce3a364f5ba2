"""CephFS clients: keys, and files of each cluster."""

from __future__ import annotations

from pathlib import Path

import yaml

from strategies.file_systems import CEPH, UNITS, options, stored
from strategies.trees import text_of


def test_ceph_has_no_secret_in_the_tree(tmp_path: Path) -> None:
    tree = stored(tmp_path, ceph=CEPH)
    text = text_of(tree, "c1", f"{UNITS}/mnt-ceph\\x2dfs.mount")
    assert "What=10.0.0.60,10.0.0.61:6790:/\n" in text
    assert {"name=cluster", "secretfile=/etc/ceph/clustergen-ceph.secret", "fs=cephfs"} <= set(options(text))
    assert "secret=" not in text
    assert "mon_host = 10.0.0.60,10.0.0.61:6790" in text_of(tree, "c1", "/etc/ceph/ceph.conf")


def test_ceph_fuse_reads_monitors_and_key_from_the_file_of_its_cluster(tmp_path: Path) -> None:
    fuse = {**CEPH, "mount": "/mnt/b", "mounter": "fuse", "path": "/shared", "filesystem": "fast", "required": False}
    tree = stored(tmp_path, a=CEPH, b=fuse)
    text = text_of(tree, "c1", f"{UNITS}/mnt-b.mount")
    assert "What=none\n" in text
    assert "Type=fuse.ceph\n" in text
    passed = [option for option in options(text) if option.startswith("ceph.")]
    assert passed == [
        "ceph.id=cluster", "ceph.conf=/etc/ceph/b.conf", "ceph.client_fs=fast", "ceph.client_mountpoint=/shared",
    ]  # fmt: skip
    conf = text_of(tree, "c1", "/etc/ceph/b.conf")
    assert "mon_host = 10.0.0.60,10.0.0.61:6790\n" in conf
    assert "[client.cluster]\nkeyfile = /etc/ceph/clustergen-b.secret\n" in conf
    packages = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)["cluster_packages"]
    assert ("cephfs" in packages["mount_a"], "ceph_fuse" in packages["mount_b"]) == (True, True)
