"""NFS: mounts, exports and pools, as the programs that read them understand them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.features.storage.nfs.resolved import ZfsPool
from clustergen.features.storage.nfs.zfs import vdevs
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.file_systems import FABRIC, NFS, ON_FABRIC, SERVER, UNITS, options, stored
from strategies.trees import (
    COMPUTE,
    GPU,
    HEAD,
    calls,
    lay_out,
    manifest,
    node_files,
    run_script,
    runnable,
    text_of,
    tree_of,
)

ZFS = {
    "disks": [f"/dev/disk/by-id/d{i}" for i in range(8)],
    "vdev_width": 4,
    "log": ["/dev/l0", "/dev/l1"],
    "cache": ["/dev/c0"],
}


def test_rdma_replaces_tcp_and_its_port(tmp_path: Path) -> None:
    tree = stored(tmp_path, home={**NFS, "rdma": True})
    findings = options(text_of(tree, "c1", f"{UNITS}/home.mount"))
    assert {"proto=rdma", "port=20049"} <= set(findings)
    assert "proto=tcp" not in findings
    assert "rpcrdma" in text_of(tree, "c1", "/etc/modules-load.d/clustergen-nfs-client.conf").splitlines()


def test_an_ipv6_server_is_in_brackets(tmp_path: Path) -> None:
    text = text_of(stored(tmp_path, home={**NFS, "server": "fd00::1"}), "c1", f"{UNITS}/home.mount")
    assert "What=[fd00::1]:/export/home\n" in text
    assert "proto=tcp6" in options(text)


def served(directory: Path, **entries: Any) -> Any:
    return tree_of(manifest(nodes=[SERVER, COMPUTE], storage=entries), directory)


def nfs_box(tree: Any, directory: Path, host: str = "head") -> sandbox.Sandbox:
    root = root_with("exportfs")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    return sandbox.Sandbox(root, files=((lay_out(tree, host, directory / "node"), "/"),))


@pytest.mark.real
def test_exportfs_reads_the_export_as_meant(tmp_path: Path) -> None:
    export = {"networks": ["10.0.0.0/24", "fd00::/64"], "zfs": ZFS}
    tree = served(tmp_path, home={**NFS, "server": "head", "export": export})
    script = "mkdir -p /export/home /var/lib/nfs && exportfs -ra && cat /var/lib/nfs/etab"
    result = sandbox.run(nfs_box(tree, tmp_path), ["/bin/bash", "-c", script], timeout=300)
    assert result.code == 0, result
    assert "error" not in result.stderr.lower()
    lines = {line.partition("(")[0].split()[1]: line for line in result.stdout.splitlines()}
    assert set(lines) == {"10.0.0.0/24", "fd00::/64"}
    for line in lines.values():
        words = line.partition("(")[2].rstrip(")").split(",")
        assert {"rw", "root_squash", "no_subtree_check", "mountpoint", "sync"} <= set(words)


@pytest.mark.real
def test_exportfs_would_see_a_wrong_option(tmp_path: Path) -> None:
    tree = served(tmp_path, home={**NFS, "server": "head", "export": {"options": ["rw", "no_such_option"]}})
    script = "mkdir -p /export/home /var/lib/nfs && exportfs -ra"
    result = sandbox.run(nfs_box(tree, tmp_path), ["/bin/bash", "-c", script], timeout=300)
    assert result.code != 0
    assert 'unknown keyword "no_such_option"' in result.stderr


@pytest.mark.real
def test_nfs_conf_is_read_from_the_drop_in(tmp_path: Path) -> None:
    home = {**NFS, "server": "head", "rdma": True, "export": {"threads": 200}}
    data = {**NFS, "server": "head", "port": 2050, "path": "/export/data", "mount": "/data"}
    tree = tree_of(manifest(networks=FABRIC, nodes=ON_FABRIC, storage={"home": home, "data": data}), tmp_path)
    assert ",port=2050," in text_of(tree, "c1", f"{UNITS}/data.mount")
    keys = ("threads", "vers3", "port", "rdma", "rdma-port")
    script = "; ".join(f"nfsconf --get nfsd {key}" for key in keys) + "; nfsidmap -d"
    result = sandbox.run(nfs_box(tree, tmp_path), ["/bin/bash", "-c", script], timeout=300)
    assert result.stdout.split() == ["200", "n", "2050", "y", "20049", "cluster.local"], result


def test_the_server_sees_its_export_where_the_clients_do(tmp_path: Path) -> None:
    tree = served(tmp_path, home={**NFS, "server": "head.cluster.local", "export": {"zfs": ZFS}})
    text = text_of(tree, "head", f"{UNITS}/home.mount")
    assert "What=/export/home\n" in text
    assert "AssertPathIsMountPoint=/export/home\n" in text
    assert "Type=nfs\n" in text_of(tree, "c1", f"{UNITS}/home.mount")


def test_a_server_that_is_no_client_gets_no_mount(tmp_path: Path) -> None:
    nodes = [{**HEAD, "roles": [*HEAD["roles"], "nfs-server"]}, COMPUTE]
    tree = tree_of(manifest(nodes=nodes, storage={"home": {**NFS, "server": "10.0.0.1"}}), tmp_path)
    files = node_files(tree, "head")
    assert f"{UNITS}/home.mount" not in files
    assert "/etc/exports.d/clustergen-home.exports" in files


def test_each_server_exports_its_own(tmp_path: Path) -> None:
    nodes = [SERVER, {"name": "nfs2", "type": "service", "address": "10.0.0.2", "roles": ["nfs-server"]}, COMPUTE]
    entries = {
        "home": {**NFS, "server": "head"},
        "data": {**NFS, "server": "nfs2", "path": "/export/data", "mount": "/data"},
    }
    tree = tree_of(manifest(nodes=nodes, storage=entries), tmp_path)
    exports = {host: [path for path in node_files(tree, host) if "exports.d" in path] for host in ("head", "nfs2")}
    assert exports == {
        "head": ["/etc/exports.d/clustergen-home.exports"],
        "nfs2": ["/etc/exports.d/clustergen-data.exports"],
    }
    assert "Type=nfs\n" in text_of(tree, "head", f"{UNITS}/data.mount")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"rdma": True}, "head-ib0:/export/home"),
        ({}, "head:/export/home"),
        ({"server": "head.cluster.local"}, "head.cluster.local:/export/home"),
        ({"server": "head-ib0", "rdma": True}, "head-ib0:/export/home"),
        ({"server": "10.1.0.1", "rdma": True}, "10.1.0.1:/export/home"),
        ({"export": {"networks": ["10.1.0.0/24"]}}, "head-ib0:/export/home"),
        ({"rdma": True, "export": {"networks": ["10.1.0.0/16"]}}, "head-ib0:/export/home"),
    ],
)
def test_clients_mount_by_a_network_that_carries_the_transport_and_is_admitted(
    tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    home = {**NFS, "server": "head", **changes}
    tree = tree_of(manifest(networks=FABRIC, nodes=ON_FABRIC, storage={"home": home}), tmp_path)
    assert f"What={what}\n" in text_of(tree, "c1", f"{UNITS}/home.mount")
    export = text_of(tree, "head", "/etc/exports.d/clustergen-home.exports").splitlines()[-1].split()[2:]
    network = "10.0.0.0/24" if what.startswith(("head:", "head.")) else "10.1.0.0/24"
    assert changes.get("export", {}).get("networks") or network in export


def test_without_a_hosts_file_of_ours_the_server_is_named_by_its_address(tmp_path: Path) -> None:
    data = manifest(
        networks=FABRIC,
        nodes=ON_FABRIC,
        host={"hosts_file": False},
        storage={"home": {**NFS, "server": "head", "rdma": True}},
    )
    assert "What=10.1.0.1:/export/home\n" in text_of(tree_of(data, tmp_path), "c1", f"{UNITS}/home.mount")


@pytest.mark.slow
def test_rdma_prefers_storage_ports_that_are_known_to_have_it(tmp_path: Path) -> None:
    def port(device: str) -> dict[str, str]:
        return {"device": device, "interface": "ens9", "network": "storage"}

    seen = {}
    for device in ("mlx5_4", "ens9"):
        server = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": [port(device)]}
        nodes = [
            {**SERVER, "type": "filer", "addresses": {"fabric": "10.1.0.1", "storage": "10.2.0.1"}},
            {**COMPUTE, "addresses": {"fabric": "10.1.0.[11-14]", "storage": "10.2.0.[11-14]"}},
        ]
        data = manifest(
            networks={**FABRIC, "storage": {"cidr": "10.2.0.0/24"}},
            node_types={"gpu": GPU, "filer": server},
            nodes=nodes,
            storage={"home": {**NFS, "server": "head", "rdma": True}},
        )
        unit = text_of(tree_of(data, tmp_path), "c1", f"{UNITS}/home.mount")
        seen[device] = unit.partition("What=")[2].partition(":")[0]
    assert seen == {"mlx5_4": "head-st", "ens9": "head-ib0"}


def test_without_networks_the_clients_are_named(tmp_path: Path) -> None:
    networks = {"management": {"domain": "cluster.local"}}
    nodes = [{key: value for key, value in node.items() if key != "address"} for node in (SERVER, COMPUTE)]
    data = manifest(
        nodes=nodes, networks=networks, host={"hosts_file": False}, storage={"home": {**NFS, "server": "head"}}
    )
    tree = tree_of(data, tmp_path)
    line = text_of(tree, "head", "/etc/exports.d/clustergen-home.exports").splitlines()[-1]
    assert line.split()[2:] == ["c1", "c2", "c3", "c4"]


def run_zpool(
    directory: Path, programs: dict[str, str], *arguments: str, changes: dict[str, str] | None = None, **zfs: Any
) -> subprocess.CompletedProcess[str]:
    tree = served(directory, home={**NFS, "server": "head", "export": {"zfs": {**ZFS, **zfs}}})
    script = runnable(tree, "head", "/usr/local/sbin/clustergen-zpool", directory, changes)
    return run_script(script.read_text(), programs, directory, "home", *arguments)


# The look at the disks, which need to be block devices, is left out.
UNSEEN = {"command -v zpool": "empty_disks() { :; }\ncommand -v zpool"}
NEW_POOL = {"zpool": "[[ $1 == create ]]", "zfs": "[[ $1 == create ]]"}


@pytest.mark.slow
def test_the_pool_is_made_of_the_disks_in_order(tmp_path: Path) -> None:
    done = run_zpool(tmp_path, NEW_POOL, changes=UNSEEN)
    assert done.returncode == 0, done
    disks = ZFS["disks"]
    made = [call for call in calls(tmp_path) if " create " in call]
    assert made[0] == (
        "zpool create -o ashift=12 -O mountpoint=none -O canmount=off tank"
        f" raidz2 {' '.join(disks[:4])} raidz2 {' '.join(disks[4:])} log mirror /dev/l0 /dev/l1 cache /dev/c0"
    )
    assert made[1].startswith("zfs create -o mountpoint=/export/home -ocompression=lz4")
    assert made[1].endswith(" tank/home")


@pytest.mark.parametrize(
    ("zpool", "reason"),
    [
        ("[[ $1 == import ]] && echo '   pool: tank'", "not imported"),
        ("exit 1", "not a block device"),
    ],
)
def test_the_pool_is_refused(tmp_path: Path, zpool: str, reason: str) -> None:
    done = run_zpool(tmp_path, {"zpool": f"[[ $1 == list ]] && exit 1\n{zpool}", "zfs": ""})
    assert done.returncode == 1
    assert reason in done.stderr
    assert not any(" create " in call for call in calls(tmp_path))


def run_on_pool(
    directory: Path, disks: list[str], zfs: str, *arguments: str, changes: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The script where the pool is on these disks, as zpool shows them: by partition, one of multipath by its map."""
    lines = ["tank\t", "\traidz2-0\t"]
    for disk in disks:
        device = directory / "sys" / disk
        (device / f"{disk}1").mkdir(parents=True)
        if disk.startswith("dm-"):
            (device / f"{disk}1/dm").mkdir()
            (device / f"{disk}1/dm/uuid").write_text("part1-mpath-3600\n")
            (device / f"{disk}1/slaves/{disk}").mkdir(parents=True)
        else:
            (device / f"{disk}1/partition").write_text("1\n")
        (directory / f"sys/{disk}1").symlink_to(device / f"{disk}1")
        lines.append(f"\t/dev/{disk}1\t")
    changes = {**(changes or {}), "sys=/sys/class/block": f"sys={directory}/sys", "/dev/disk/by-id/": "/dev/"}
    zpool = "cat <<'EOF'\n" + "\n".join(lines) + "\nEOF"
    return run_zpool(directory, {"zpool": zpool, "zfs": zfs}, *arguments, changes=changes)


LISTED = [*(f"d{number}" for number in range(8)), "l0", "l1", "c0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disks", "code", "message"),
    [
        (["sda", "sdb"], 1, "refused: pool tank is on /dev/sda /dev/sdb, without /dev/d0: a pool of another export"),
        ([*LISTED[:-1], "sdb"], 1, "without /dev/c0: a pool of another export, or a failed disk"),
        ([*LISTED, "sdb"], 1, "differs: /dev/sdb of pool tank is not in the manifest"),
    ],
)
def test_a_pool_of_that_name_on_other_disks(tmp_path: Path, disks: list[str], code: int, message: str) -> None:
    done = run_on_pool(tmp_path, disks, "[[ $1 == create ]]")
    assert (done.returncode, message in done.stderr + done.stdout) == (code, True), done
    assert any(call.startswith("zfs create") for call in calls(tmp_path)) is message.startswith("differs")


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "code", "changed"), [((), 0, True), (("--check",), 1, False)])
def test_a_pool_that_is_there_only_gets_its_properties(
    tmp_path: Path, arguments: tuple[str, ...], code: int, changed: bool
) -> None:
    zfs = 'case "$1 $5" in "get atime") echo on;; "get mountpoint") echo /export/home;; "get xattr") echo sa;;'
    zfs += ' "get compression") echo lz4;; "get acltype") echo posixacl;; esac'
    disks = ["dm-7" if disk == "d7" else disk for disk in LISTED]
    done = run_on_pool(tmp_path, disks, zfs, *arguments, changes={"/by-id/d7": "/by-id/dm-7"})
    assert done.returncode == code, done
    changes = [call for call in calls(tmp_path) if " create " in call or " set " in call]
    assert changes == (["zfs set atime=off tank/home"] if changed else [])


@pytest.mark.slow
def test_a_property_stays_one_word(tmp_path: Path) -> None:
    properties = {"comment": 'x"; touch /tmp/hacked; $(id) #'}
    run_zpool(tmp_path, NEW_POOL, changes=UNSEEN, properties=properties)
    assert any('comment=x"; touch /tmp/hacked; $(id) #' in call for call in calls(tmp_path))
    assert not Path("/tmp/hacked").exists()


@pytest.mark.parametrize(
    ("layout", "width", "expected"),
    [
        ("mirror", 2, [("mirror", 0, 2), ("mirror", 2, 2), ("mirror", 4, 1)]),
        ("stripe", 5, [("", 0, 5)]),
        ("raidz1", 3, [("raidz1", 0, 3), ("raidz1", 3, 2)]),
    ],
)
def test_disks_are_dealt_out(layout: Any, width: int, expected: list[tuple[str, int, int]]) -> None:
    disks = tuple(f"/dev/d{i}" for i in range(5))
    pool = ZfsPool("tank", layout, None, disks, width, (), (), 12, {}, "never", None)
    assert [(vdev.words, vdev.start, vdev.count) for vdev in vdevs(pool)] == expected


@pytest.mark.parametrize(
    ("zfs", "timers"),
    [
        ({}, ["zfs-scrub-monthly@tank.timer"]),
        ({"scrub": "weekly", "name": "pool2"}, ["zfs-scrub-weekly@pool2.timer"]),
        ({"scrub": "never"}, []),
    ],
)
def test_pools_are_verified(zfs: dict[str, str], timers: list[str], tmp_path: Path) -> None:
    tree = served(tmp_path, home={**NFS, "server": "head", "export": {"zfs": {**ZFS, **zfs}}})
    variables = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)
    assert [unit for unit in variables["cluster_units"]["export_home"] if "zfs" in unit] == ["zfs-zed.service", *timers]


@pytest.mark.real
def test_modprobe_reads_the_limit_of_the_cache(tmp_path: Path) -> None:
    tree = served(tmp_path, home={**NFS, "server": "head", "export": {"zfs": {**ZFS, "arc_max": "16GiB"}}})
    result = sandbox.run(nfs_box(tree, tmp_path), ["modprobe", "--showconfig"], timeout=300)
    assert "options zfs zfs_arc_max=17179869184" in result.stdout.splitlines()
