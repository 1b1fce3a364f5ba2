"""Storage: mount units that systemd accepts, and files that the programs which read them understand as meant."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from clustergen.catalogue.storage import beegfs_keys, mount_option
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.features.storage.nfs.resolved import ZfsPool
from clustergen.features.storage.nfs.zfs import vdevs
from clustergen.render.formats import RenderError
from clustergen.render.mounts import merged
from clustergen.render.unit_names import escape_path, mount_unit
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import (
    COMPUTE,
    GPU,
    HEAD,
    calls,
    codes_of,
    lay_out,
    manifest,
    node_files,
    run_script,
    runnable,
    text_of,
    tree_of,
)

UNITS = "/etc/systemd/system"
LUSTRE = {"type": "lustre", "mount": "/mnt/lustre", "mgs": ["10.1.0.1@o2ib,10.0.0.201@tcp", "10.1.0.2@o2ib"]}
NFS = {"type": "nfs", "server": "filer", "path": "/export/home", "mount": "/home"}
WEKA = {"type": "weka", "mount": "/mnt/weka", "backends": ["w1", "w2"], "filesystem": "fs"}
BEEGFS = {"type": "beegfs", "version": "8.3", "mount": "/mnt/bee", "mgmtd": "10.0.0.50"}
CEPH = {
    "type": "cephfs",
    "mount": "/mnt/ceph-fs",
    "monitors": ["10.0.0.60", "10.0.0.61:6790"],
    "fsid": "0e5b8f0c-7d0e-4a55-9f1c-0123456789ab",
    "user": "cluster",
}
LOCAL = {"type": "local", "mount": "/scratch", "device": "LABEL=scratch"}
ZFS = {
    "disks": [f"/dev/disk/by-id/d{i}" for i in range(8)],
    "vdev_width": 4,
    "log": ["/dev/l0", "/dev/l1"],
    "cache": ["/dev/c0"],
}


def stored(directory: Path, **entries: Any) -> Any:
    """A tree with these storage entries; the nodes have addresses in the fabric, as LNet requires."""
    return tree_of(manifest(storage=entries, nodes=[HEAD, ON_FABRIC[1]], networks=FABRIC), directory)


def options(text: str) -> list[str]:
    match = re.search(r"^Options=(.*)$", text, re.MULTILINE)
    assert match
    return match[1].split(",")


# --- names of units ---------------------------------------------------------------------------------------------------

PATHS = st.lists(st.text("abzAZ019-_.:@+,%", min_size=1, max_size=8), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(part for part in parts if set(part) != {"."}) or "/x"
)


@pytest.mark.real
@settings(max_examples=10, deadline=None)
@given(st.lists(PATHS.filter(lambda path: path.strip("/.")), min_size=30, max_size=30))
def test_unit_names_are_systemds(paths: list[str]) -> None:
    root = root_with("systemd-escape")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    result = sandbox.run(sandbox.Sandbox(root), ["systemd-escape", "-p", "--suffix=mount", "--", *paths], timeout=20)
    assert result.code == 0, result.stderr
    assert result.stdout.split() == [str(mount_unit(path)) for path in paths]


@pytest.mark.parametrize("path", ["relative", "/a/../b", "/.."])
def test_paths_that_name_no_unit(path: str) -> None:
    with pytest.raises(ValueError, match="no plain absolute path"):
        escape_path(path)


def test_unit_of_the_root_and_of_a_trailing_slash() -> None:
    assert escape_path("/") == "-"
    assert mount_unit("/mnt/x/") == "mnt-x.mount"


# --- mount options ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs", "result"),
    [
        (["hard", "nosuid"], ["soft"], ["nosuid", "soft"]),
        (["noatime"], ["relatime"], ["relatime"]),
        (["flock"], ["localflock"], ["localflock"]),
        (["vers=4.2"], ["nfsvers=3"], ["nfsvers=3"]),
        (["net=ib0", "net=ib1"], ["net=eth0"], ["net=eth0"]),
        (["nosuid", "nodev"], ["suid"], ["nodev", "suid"]),
        (["num_cores=2"], ["core=3", "core=5"], ["core=3", "core=5"]),
        (["nconnect=8"], ["noac"], ["nconnect=8", "noac"]),
        (["ro"], ["ro"], ["ro"]),
    ],
)
def test_the_manifests_options_win(ours: list[str], theirs: list[str], result: list[str]) -> None:
    assert merged(ours, theirs) == result


def test_options_reach_the_unit_once(tmp_path: Path) -> None:
    tree = stored(
        tmp_path, home={**NFS, "nconnect": 8, "options": ["nconnect=2", "suid"], "required": False, "read_only": True}
    )
    findings = options(text_of(tree, "c1", f"{UNITS}/home.mount"))
    assert [word for word in findings if word.startswith("nconnect")] == ["nconnect=2"]
    assert {"suid", "nofail", "ro", "_netdev", "vers=4.2", "hard"} <= set(findings)
    assert "nosuid" not in findings


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


def test_our_options_are_known_to_the_catalogue(tmp_path: Path) -> None:
    entries = {
        "lus": LUSTRE,
        "home": NFS,
        "weka": WEKA,
        "bee": BEEGFS,
        "ceph": CEPH,
        "more": {**NFS, "mount": "/more", "rdma": True},
    }
    tree = stored(tmp_path, **entries)
    kinds = set()
    for target, file in node_files(tree, "c1").items():
        if target.endswith(".mount"):
            text = file.content.decode()
            kind = re.findall(r"^Type=(\w+)$", text, re.MULTILINE)[0]
            kinds.add(kind)
            for option in options(text):
                row = mount_option(kind, option)
                assert row is not None, (kind, option)
                assert row.takes_value == ("=" in option), (kind, option)
                assert not row.ignored, (kind, option)
    assert kinds == {"lustre", "nfs", "wekafs", "beegfs", "ceph"}


@pytest.mark.parametrize("option", ["a,b", "a b", 'a"', "a\nb", "a=%i\n", "a=$(x)", "{{x}}"])
def test_options_that_break_out_are_refused(tmp_path: Path, option: str) -> None:
    assert codes_of(manifest(storage={"home": {**NFS, "options": [option]}}), tmp_path)


# --- units before systemd ---------------------------------------------------------------------------------------------

PACKAGES = ("lnet", "weka-agent", "beegfs-client", "beegfs-helperd", "openibd", "zfs-mount")


def verify_units(directory: Path, root_directory: Path) -> str:
    """What systemd says of all units below a directory; units and programs that packages bring are stood in for."""
    root = root_with("systemd-analyze")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    stands = root_directory / "stands"
    (stands / "usr/lib/systemd/system").mkdir(parents=True)
    (stands / "usr/sbin").mkdir()
    for name in PACKAGES:
        text = "[Service]\nType=oneshot\nExecStart=/usr/bin/true\n"
        (stands / f"usr/lib/systemd/system/{name}.service").write_text(text, encoding="utf-8")
    (stands / "usr/sbin/lctl").write_text("#!/bin/sh\n", encoding="utf-8")
    (stands / "usr/sbin/lctl").chmod(0o755)
    units = sorted(f"{UNITS}/{path.name}" for path in (directory / UNITS.lstrip("/")).iterdir() if path.is_file())
    assert units
    box = sandbox.Sandbox(root, files=((stands, "/"), (directory, "/")))
    result = sandbox.run(box, ["systemd-analyze", "verify", "--man=no", *units], timeout=60)
    lines = [
        line for line in result.stderr.splitlines() if not line.startswith("/usr/lib/systemd/")
    ]  # of systemd's own
    return "\n".join([str(result.code), *lines])


@pytest.mark.real
def test_systemd_accepts_every_unit(tmp_path: Path) -> None:
    tree = stored(
        tmp_path,
        lus={**LUSTRE, "parameters": {"osc.*.max_rpcs_in_flight": 32, "jobid_name": "%e.$u x"}},
        home=NFS,
        weka=WEKA,
        bee={**BEEGFS, "version": "7.4"},
        ceph=CEPH,
        disk=LOCAL,
    )
    assert verify_units(lay_out(tree, "c1", tmp_path / "node"), tmp_path) == "0"


@pytest.mark.real
def test_systemd_would_see_a_wrong_unit(tmp_path: Path) -> None:
    """The check above can fail: a unit whose name does not fit its path."""
    directory = lay_out(stored(tmp_path, disk=LOCAL), "c1", tmp_path / "node")
    unit = directory / "etc/systemd/system/scratch.mount"
    unit.rename(unit.with_name("other.mount"))
    assert "doesn't match unit name" in verify_units(directory, tmp_path)


def test_local_disk_is_waited_for_by_its_path(tmp_path: Path) -> None:
    text = text_of(stored(tmp_path, disk=LOCAL), "c1", f"{UNITS}/scratch.mount")
    assert "What=/dev/disk/by-label/scratch\n" in text
    assert "_netdev" not in text
    assert "WantedBy=local-fs.target\n" in text


# --- Lustre -----------------------------------------------------------------------------------------------------------


def test_all_nids_are_in_the_device(tmp_path: Path) -> None:
    tree = stored(tmp_path, lus={**LUSTRE, "subdirectory": "/projects/"})
    text = text_of(tree, "c1", f"{UNITS}/mnt-lustre.mount")
    assert "What=10.1.0.1@o2ib,10.0.0.201@tcp:10.1.0.2@o2ib:/lus/projects\n" in text


def lnet(tree: Any, host: str = "c1") -> dict[str, list[str]]:
    document = yaml.safe_load(text_of(tree, host, "/etc/lnet.conf"))
    return {net["net type"]: [ni["interfaces"][0] for ni in net["local NI(s)"]] for net in document["net"]}


def test_the_host_of_slurmdbd_mounts_the_directory_of_backups(tmp_path: Path) -> None:
    books = {"name": "db", "type": "service", "address": "10.0.0.2", "roles": ["slurm-accounting"]}
    nodes = [{**HEAD, "roles": ["slurm-controller"]}, books, COMPUTE]
    entry = {**NFS, "mount": "/backup", "clients": ["slurm-controller"]}
    more = {"nodes": nodes, "backups": {"directory": "/backup/slurm"}}
    assert codes_of(manifest(storage={"backup": entry}, **more), tmp_path) == ["path-not-mounted"]
    entry["clients"] = ["slurm-controller", "slurm-accounting"]
    tree = tree_of(manifest(storage={"backup": entry}, **more), tmp_path)
    assert "What=filer:/export/home\n" in text_of(tree, "db", f"{UNITS}/backup.mount")


def test_lnet_has_the_net_that_the_node_can_reach(tmp_path: Path) -> None:
    """The MGS has NIDs on two networks; these nodes have RDMA ports, and no interface for TCP that anybody named."""
    assert lnet(stored(tmp_path, lus=LUSTRE)) == {"o2ib": ["ibp24s0"]}


RAILS = {"rails": ["10.1.0.0/24", "10.1.1.0/24"]}


def on_rails(kind: str, mgs: list[str], **fabric: Any) -> dict[str, Any]:
    nodes = [HEAD, {**COMPUTE, "addresses": {"fabric": ["10.1.0.[11-14]", "10.1.1.[11-14]"]}}]
    networks = {**manifest()["networks"], "fabric": {"type": kind, "rate": "400Gb/s", **fabric}}
    return manifest(nodes=nodes, networks=networks, storage={"lus": {**LUSTRE, "mgs": mgs}})


@pytest.mark.parametrize(
    ("mgs", "fabric", "nets"),
    [
        (["10.1.0.1@o2ib", "10.1.0.2@o2ib"], RAILS, {"o2ib": ["ibp24s0"]}),
        (["10.1.1.1@o2ib"], RAILS, {"o2ib": ["ibp64s0"]}),
        (["10.1.0.1@tcp"], RAILS, {"tcp": ["ibp24s0"]}),
        (["10.1.0.1@o2ib,10.1.1.1@o2ib"], RAILS, {"o2ib": ["ibp24s0", "ibp64s0"]}),
        (["10.1.0.1@o2ib,10.1.1.1@o2ib1"], RAILS, {"o2ib": ["ibp24s0"], "o2ib1": ["ibp64s0"]}),
        (["10.1.0.1@o2ib"], {"cidr": "10.1.0.0/16"}, {"o2ib": ["ibp24s0", "ibp64s0"]}),
        (["10.1.0.1@o2ib"], {**RAILS, "gateways": ["10.1.0.254", "10.1.1.254"]}, {"o2ib": ["ibp24s0", "ibp64s0"]}),
        (["mgs.example.org@o2ib"], RAILS, {"o2ib": ["ibp24s0", "ibp64s0"]}),  # of which only DNS knows the rail
    ],
)
def test_lnet_uses_the_rails_with_a_route_to_the_mgs(
    tmp_path: Path, mgs: list[str], fabric: dict[str, Any], nets: dict[str, list[str]]
) -> None:
    tree = tree_of(on_rails("roce", mgs, **fabric), tmp_path)
    assert lnet(tree) == nets
    sysctl = "/etc/sysctl.d/60-clustergen-lnet.conf"
    if any(len(interfaces) > 1 for interfaces in nets.values()):
        assert "net/ipv4/conf/ibp64s0/arp_ignore = 1" in text_of(tree, "c1", sysctl)
    else:
        assert sysctl not in node_files(tree, "c1")


def test_lnet_prefers_the_storage_ports(tmp_path: Path) -> None:
    nics = [*GPU["nics"], {"device": "mlx5_4", "interface": "ens9", "network": "storage"}]
    networks = {**manifest()["networks"], "storage": {"cidr": "10.9.0.0/24"}}
    data = manifest(
        node_types={"gpu": {**GPU, "nics": nics}},
        networks=networks,
        storage={"lus": {**LUSTRE, "mgs": ["10.9.0.1@o2ib0", "10.9.0.1@tcp1"]}},
    )
    tree = tree_of(data, tmp_path)
    assert lnet(tree) == {"o2ib": ["ens9"], "tcp1": ["ens9"]}
    assert "/etc/sysctl.d/60-clustergen-lnet.conf" not in node_files(tree, "c1")


@pytest.mark.parametrize(
    ("nid", "ports"),
    [
        ("10.1.0.200@o2ib", ["ibp24s0"]),
        ("10.1.0.200@tcp", ["ibp24s0"]),  # IPoIB
        ("10.9.0.200@o2ib", ["ens9"]),
        ("10.9.0.200@tcp", ["ens9"]),
        ("10.0.0.200@tcp", ["eno1"]),
        ("203.0.113.9@o2ib", ["ens9"]),  # elsewhere: through the router
    ],
)
def test_lnet_uses_the_network_that_contains_the_mgs(tmp_path: Path, nid: str, ports: list[str]) -> None:
    nics = [*GPU["nics"], {"device": "mlx5_4", "interface": "ens9", "network": "storage"}]
    management = {**FABRIC["management"], "interface": "eno1"}
    node = {**ON_FABRIC[1], "addresses": {**ON_FABRIC[1]["addresses"], "storage": "10.9.0.[11-14]"}}
    data = manifest(
        node_types={"gpu": {**GPU, "nics": nics}},
        networks={**FABRIC, "management": management, "storage": {"cidr": "10.9.0.0/24", "gateway": "10.9.0.254"}},
        nodes=[HEAD, node],
        storage={"lus": {**LUSTRE, "mgs": [nid]}},
    )
    assert list(lnet(tree_of(data, tmp_path)).values()) == [ports]


@pytest.mark.parametrize(
    ("system", "fabric", "ports"),
    [
        ("dgx-h100", "infiniband", ["ibp41s0f0", "ibp170s0f0"]),
        ("dgx-h100", "roce", ["enp41s0f0np0", "enp170s0f0np0"]),
        ("dgx-a100", "infiniband", ["enp97s0f0", "enp97s0f1", "enp225s0f0", "enp225s0f1"]),  # shipped as Ethernet
    ],
)
def test_lnet_takes_storage_ports_of_a_system_as_they_are_shipped(
    tmp_path: Path, system: str, fabric: str, ports: list[str]
) -> None:
    networks = {**FABRIC, "storage": {"cidr": "10.9.0.0/24"}}
    networks["fabric"] = {"type": fabric, "rate": "NDR" if fabric == "infiniband" else "400GbE"}
    data = manifest(
        node_types={"gpu": {"system": system}},
        networks=networks,
        storage={"lus": {**LUSTRE, "mgs": ["10.9.0.1@o2ib0"]}},
    )
    assert lnet(tree_of(data, tmp_path)) == {"o2ib": ports}


def test_lnet_of_the_manifest_holds(tmp_path: Path) -> None:
    tree = stored(tmp_path, lus={**LUSTRE, "lnet": [{"name": "o2ib", "interfaces": ["ibp64s0"]}]})
    assert lnet(tree) == {"o2ib": ["ibp64s0"]}


def test_max_mod_rpcs_are_set_after_the_limit_above_them(tmp_path: Path) -> None:
    tree = stored(
        tmp_path, lus={**LUSTRE, "parameters": {"mdc.*.max_mod_rpcs_in_flight": 60, "mdc.*.max_rpcs_in_flight": 64}}
    )
    text = text_of(tree, "c1", f"{UNITS}/clustergen-lustre-lus.service")
    assert re.findall(r"set_param (\S+)", text) == ["mdc.*.max_rpcs_in_flight=64", "mdc.*.max_mod_rpcs_in_flight=60"]


@pytest.mark.parametrize("value", ["1\nExecStart=/bin/sh", "1\x00", "1\u2028"])
def test_a_parameter_stays_in_its_line(tmp_path: Path, value: str) -> None:
    data = manifest(storage={"lus": {**LUSTRE, "parameters": {"a.b": value}}})
    try:
        text = text_of(tree_of(data, tmp_path), "c1", f"{UNITS}/clustergen-lustre-lus.service")
    except (RenderError, AssertionError):
        return
    pytest.fail(f"it was printed: {text}")


STRIPING = {
    "directory": "/mnt/lustre/data",
    "components": [
        {"end": "4MiB", "stripes": 1},
        {"end": "rest", "stripes": -1, "stripe_size": "4MiB", "pool": "flash"},
    ],
}
SHOWN = (
    "  lcm_layout_gen:    0\n  lcm_mirror_count:  1\n  lcm_entry_count:   2\n    lcme_id:             N/A\n"
    "    lcme_extent.e_start: 0\n    lcme_extent.e_end:   4194304\n"
    "      stripe_count:  1       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1\n\n"
    "    lcme_id:             N/A\n    lcme_extent.e_start: 4194304\n    lcme_extent.e_end:   EOF\n"
    "      stripe_count:  -1       stripe_size:   4194304       pattern:       raid0       stripe_offset: -1"
    "       pool: flash\n"
)


@pytest.mark.parametrize(
    ("shown", "arguments", "code", "changed"),
    [
        (SHOWN, (), 0, False),
        (SHOWN.replace("e_end:   EOF", "e_end:   8388608"), ("--check",), 1, False),
        (SHOWN.replace("pool: flash", ""), (), 1, True),
        (SHOWN.replace("stripe_count:  -1", "stripe_count:  4"), (), 1, True),
        ("stripe_count:  1 stripe_size: 1048576 pattern: raid0 stripe_offset: -1\n", (), 1, True),
        (SHOWN, ("--force",), 1, False),
    ],
)
def test_striping_is_set_only_where_it_differs(
    tmp_path: Path, shown: str, arguments: tuple[str, ...], code: int, changed: bool
) -> None:
    """The stand-in for lfs always shows the same layout, so that setting it is never believed."""
    directory = tmp_path / "data"
    directory.mkdir()
    tree = stored(tmp_path, lus={**LUSTRE, "striping": [STRIPING]})
    changes = {"/mnt/lustre/data": str(directory)}
    script = runnable(tree, "c1", "/usr/local/sbin/clustergen-striping", tmp_path, changes)
    (tmp_path / "shown").write_text(shown, encoding="utf-8")
    lfs = f'[[ $1 == getstripe ]] && cat "{tmp_path}/shown"\nexit 0'
    done = run_script(script.read_text(), {"lfs": lfs, "mountpoint": ""}, tmp_path, "lus", *arguments)
    assert done.returncode == code, done
    sets = [call for call in calls(tmp_path) if call.startswith("lfs setstripe")]
    assert sets == ([f"lfs setstripe -E 4M -c 1 -E -1 -c -1 -S 4M -p flash {directory}"] if changed else [])


def test_striping_without_the_mount_does_nothing(tmp_path: Path) -> None:
    tree = stored(tmp_path, lus={**LUSTRE, "striping": [STRIPING]})
    script = runnable(tree, "c1", "/usr/local/sbin/clustergen-striping", tmp_path)
    done = run_script(script.read_text(), {"lfs": "", "mountpoint": "exit 32"}, tmp_path, "lus")
    assert done.returncode == 1
    assert "not mounted" in done.stderr
    assert not any("setstripe" in call for call in calls(tmp_path))


# --- BeeGFS -----------------------------------------------------------------------------------------------------------


def beegfs_conf(text: str) -> dict[str, str]:
    """As the client reads it: comments only where a line begins, the last of several values holds."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    assert len({key.strip() for key, _, _ in pairs}) == len(pairs), "a key stands twice"
    return {key.strip(): value.strip() for key, _, value in pairs}


def test_each_release_has_its_own_port_keys(tmp_path: Path) -> None:
    entry = {**BEEGFS, "mgmtd": "mgmt1:9008"}
    new = beegfs_conf(text_of(stored(tmp_path, bee=entry), "c1", "/etc/beegfs/beegfs-client.conf"))
    assert new["connMgmtdPort"] == "9008"
    assert not {"connMgmtdPortTCP", "connClientPortUDP"} & set(new)
    tree = stored(tmp_path, bee={**entry, "version": "7.4"})
    old = beegfs_conf(text_of(tree, "c1", "/etc/beegfs/beegfs-client.conf"))
    assert old["connMgmtdPortTCP"] == old["connMgmtdPortUDP"] == "9008"
    assert not {"connMgmtdPort", "connClientPort"} & set(old)
    assert "/etc/beegfs/beegfs-helperd.conf" in node_files(tree, "c1")


@pytest.mark.parametrize("version", ["7.4", "8.0", "8.1", "8.2", "8.3"])
def test_every_release_knows_its_keys(tmp_path: Path, version: str) -> None:
    entry = {**BEEGFS, "version": version, "interfaces": ["ibp24s0"], "net_filter": ["10.0.0.0/8"], "quota": True}
    files = node_files(stored(tmp_path, bee=entry), "c1")
    for name in ("beegfs-client.conf", "beegfs-helperd.conf"):
        if (file := files.get(f"/etc/beegfs/{name}")) is not None:
            keys = {key.key for key in beegfs_keys(name, BeegfsVersion(version))}
            assert keys >= set(beegfs_conf(file.content.decode())), name


def test_mount_helper_finds_the_management_host(tmp_path: Path) -> None:
    """mount.beegfs of BeeGFS 8 takes exactly one line of this shape."""
    text = text_of(stored(tmp_path, bee={**BEEGFS, "mgmtd": "mgmt1"}), "c1", "/etc/beegfs/beegfs-client.conf")
    assert re.findall(r"^\s*sysMgmtdHost\s*=\s*(\S+)\s*$", text, re.MULTILINE) == ["mgmt1"]


def test_an_option_takes_the_place_of_ours(tmp_path: Path) -> None:
    entry = {
        **BEEGFS,
        "client_options": {"connUseRDMA": "false", "tuneFileCacheType": "native"},
        "authentication": False,
    }
    conf = beegfs_conf(text_of(stored(tmp_path, bee=entry), "c1", "/etc/beegfs/beegfs-client.conf"))
    assert conf["connUseRDMA"] == "false"
    assert conf["tuneFileCacheType"] == "native"
    assert conf["connDisableAuthentication"] == "true"
    assert "connAuthFile" not in conf


@pytest.mark.parametrize("value", ["native\nsysMgmtdHost = evil", "a\rb", "a\u2028b"])
def test_a_beegfs_value_stays_in_its_line(tmp_path: Path, value: str) -> None:
    data = manifest(storage={"bee": {**BEEGFS, "client_options": {"tuneFileCacheType": value}}})
    with pytest.raises((RenderError, AssertionError)):
        tree_of(data, tmp_path)


AUTOBUILD = "/etc/beegfs/beegfs-client-autobuild.conf"
# As the client's AutoRebuild.mk takes the arguments from the file, and hands them to make.
BUILD = """ARGS = $(shell grep "^\\s*buildArgs\\s*=" "{conf}" | cut --delimiter="=" --fields="2-")
all:
\t@$(MAKE) -s $(ARGS) module
module:
\t@echo "[$(OFED_INCLUDE_PATH)]"
"""


@pytest.mark.parametrize("installed", [True, False])
def test_the_module_is_built_against_the_headers_of_the_installed_ofed(tmp_path: Path, installed: bool) -> None:
    text = text_of(stored(tmp_path, bee=BEEGFS), "c1", AUTOBUILD)
    headers = tmp_path / "ofa_kernel/default/include"
    conf = tmp_path / "autobuild.conf"
    conf.write_text(text.replace("/usr/src/ofa_kernel/default/include", str(headers)), encoding="utf-8")
    if installed:
        headers.mkdir(parents=True)
    (tmp_path / "Makefile").write_text(BUILD.format(conf=conf), encoding="utf-8")
    done = subprocess.run(
        ["make", "--no-print-directory", "-C", str(tmp_path)], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout.splitlines()[-1] == (f"[{headers}]" if installed else "[]"), done.stderr


def test_without_rdma_the_module_is_built_as_the_package_has_it(tmp_path: Path) -> None:
    assert AUTOBUILD not in node_files(stored(tmp_path, bee={**BEEGFS, "rdma": False}), "c1")


def test_two_file_systems_share_no_port_file_or_secret(tmp_path: Path) -> None:
    tree = stored(
        tmp_path,
        bee=BEEGFS,
        more={**BEEGFS, "mount": "/mnt/more", "interfaces": ["ibp64s0", "ibp24s0"], "net_filter": ["10.0.0.0/8"]},
    )
    one = beegfs_conf(text_of(tree, "c1", "/etc/beegfs/beegfs-client.conf"))
    two = beegfs_conf(text_of(tree, "c1", "/etc/beegfs/beegfs-client-more.conf"))
    for key in ("connClientPort", "connAuthFile"):
        assert one[key] != two[key]
    assert "cfgFile=/etc/beegfs/beegfs-client-more.conf" in options(text_of(tree, "c1", f"{UNITS}/mnt-more.mount"))
    lines = text_of(tree, "c1", two["connInterfacesFile"]).splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["ibp64s0", "ibp24s0"]


# --- NFS servers ------------------------------------------------------------------------------------------------------

SERVER = {**HEAD, "roles": ["slurm-controller", "slurm-accounting", "login", "nfs-server"]}


FABRIC = {**manifest()["networks"], "fabric": {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/24"}}
ON_FABRIC = [
    {**SERVER, "addresses": {"fabric": "10.1.0.1"}},
    {**COMPUTE, "addresses": {"fabric": "10.1.0.[11-14]"}},
]


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
    result = sandbox.run(nfs_box(tree, tmp_path), ["/bin/bash", "-c", script], timeout=30)
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
    result = sandbox.run(nfs_box(tree, tmp_path), ["/bin/bash", "-c", script], timeout=30)
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
    result = sandbox.run(nfs_box(tree, tmp_path), ["/bin/bash", "-c", script], timeout=30)
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


# --- ZFS --------------------------------------------------------------------------------------------------------------


def run_zpool(
    directory: Path, programs: dict[str, str], *arguments: str, changes: dict[str, str] | None = None, **zfs: Any
) -> subprocess.CompletedProcess[str]:
    tree = served(directory, home={**NFS, "server": "head", "export": {"zfs": {**ZFS, **zfs}}})
    script = runnable(tree, "head", "/usr/local/sbin/clustergen-zpool", directory, changes)
    return run_script(script.read_text(), programs, directory, "home", *arguments)


# The look at the disks, which need to be block devices, is left out.
UNSEEN = {"command -v zpool": "empty_disks() { :; }\ncommand -v zpool"}
NEW_POOL = {"zpool": "[[ $1 == create ]]", "zfs": "[[ $1 == create ]]"}


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
    pool = ZfsPool("tank", layout, None, disks, width, (), (), 12, {}, None)
    assert [(vdev.words, vdev.start, vdev.count) for vdev in vdevs(pool)] == expected


@pytest.mark.real
def test_modprobe_reads_the_limit_of_the_cache(tmp_path: Path) -> None:
    tree = served(tmp_path, home={**NFS, "server": "head", "export": {"zfs": {**ZFS, "arc_max": "16GiB"}}})
    result = sandbox.run(nfs_box(tree, tmp_path), ["modprobe", "--showconfig"], timeout=30)
    assert "options zfs zfs_arc_max=17179869184" in result.stdout.splitlines()


# --- Weka, CephFS -----------------------------------------------------------------------------------------------------


def test_weka_takes_the_ports_of_each_node_type(tmp_path: Path) -> None:
    other = {**GPU, "nics": [{"device": "eno9", "interface": "eno9", "network": "storage"}]}
    nodes = [
        {**HEAD, "roles": [*HEAD["roles"], "login"]},
        COMPUTE,
        {**COMPUTE, "name": "d[1-2]", "type": "other", "address": "10.0.0.[21-22]"},
    ]
    tree = tree_of(manifest(node_types={"gpu": GPU, "other": other}, nodes=nodes, storage={"weka": WEKA}), tmp_path)
    nets = {
        host: [
            word for word in options(text_of(tree, host, f"{UNITS}/mnt-weka.mount")) if "net=" in word or "core" in word
        ]
        for host in ("c1", "d1", "head")
    }
    assert nets == {
        "c1": ["core=30", "core=31", "core=94", "core=95", "net=ibp24s0"],
        "d1": ["core=30", "core=31", "core=94", "core=95", "net=eno9"],
        "head": ["num_cores=0", "net=udp"],
    }
    drop_in = f"{UNITS}/weka-agent.service.d/50-clustergen.conf"
    assert drop_in in node_files(tree, "c1")
    assert drop_in not in node_files(tree, "head")


# The kernel's number of a CPU, by core as Slurm counts it and thread, on two sockets of 32 cores with two threads.
NUMBERINGS = {
    "sockets": lambda core, thread: core + 64 * thread,
    "alternating": lambda core, thread: core % 32 * 2 + core // 32 + 64 * thread,
    "siblings": lambda core, thread: core * 2 + thread,
}


def lscpu(numbering: str) -> str:
    rows = [(NUMBERINGS[numbering](core, thread), core, core // 32) for core in range(64) for thread in range(2)]
    return "# CPU,Core,Node\n" + "\n".join(",".join(map(str, row)) for row in sorted(rows))


@pytest.mark.parametrize(("cores", "too_many"), [(3, False), (4, True)])
def test_weka_never_polls_on_core_0(cores: int, too_many: bool, tmp_path: Path) -> None:
    kind = {**GPU, "cpu": {"sockets": 2, "cores_per_socket": 4}}
    data = manifest(node_types={"gpu": kind}, storage={"weka": {**WEKA, "cores": cores}})
    assert ("weka-cores" in codes_of(data, tmp_path)) == too_many


def test_weka_polls_on_the_numa_node_of_its_port(tmp_path: Path) -> None:
    """Four NUMA nodes of 8 cores in a socket: the port of node 1 is next to cores 8 to 15."""
    kind = {**GPU, "cpu": {"sockets": 1, "cores_per_socket": 32, "numa_per_socket": 4}}
    kind["gpus"] = {**GPU["gpus"], "numa": [0, 0, 1, 1, 2, 2, 3, 3]}
    entry = {**WEKA, "cores": 2, "interfaces": ["ibp64s0"]}
    text = text_of(
        tree_of(manifest(node_types={"gpu": kind}, storage={"weka": entry}), tmp_path), "c1", f"{UNITS}/mnt-weka.mount"
    )
    assert [word for word in options(text) if "core=" in word] == ["core=14", "core=15"]


@pytest.mark.slow
@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_weka_polls_where_slurm_gives_out_nothing(tmp_path: Path, numbering: str) -> None:
    gpu = {**GPU, "cpu": {**GPU["cpu"], "numbering": numbering}, "reserved": {"cores": 3}}
    entry = {**WEKA, "cores": 3, "interfaces": ["ibp24s0", "ibp64s0"], "clients": ["slurm-compute"]}
    tree = tree_of(manifest(node_types={"gpu": gpu}, storage={"weka": entry}), tmp_path)
    cores = {NUMBERINGS[numbering](core, thread): core for core in range(64) for thread in range(2)}
    mounted = [int(word[5:]) for word in options(text_of(tree, "c1", f"{UNITS}/mnt-weka.mount")) if "core=" in word]
    # Both threads of the last cores of both NUMA nodes, in turn; then the system's, by Slurm's own order.
    assert sorted(cores[cpu] for cpu in mounted) == [30, 30, 31, 31, 63, 63]
    line = re.search(r"^NodeName=.*", text_of(tree, "c1", "/etc/slurm/slurm.conf"), re.MULTILINE)
    assert line
    assert "CPUSpecList=58-63,122-127 " in line[0]
    assert "CoreSpecCount" not in line[0]
    check = runnable(tree, "c1", "/usr/local/sbin/clustergen-weka-cpus", tmp_path).read_text()
    for machine in NUMBERINGS:
        done = run_script(check, {"lscpu": f"cat <<'EOF'\n{lscpu(machine)}\nEOF"}, tmp_path)
        assert (done.returncode == 0) == (machine == numbering), (machine, done.stderr)
        assert ("numbering" in done.stderr) == (machine != numbering)


def test_the_agents_setting_is_really_changed(tmp_path: Path) -> None:
    """The drop-in's own command, on a file such as the agent has."""
    text = text_of(stored(tmp_path, weka=WEKA), "c1", f"{UNITS}/weka-agent.service.d/50-clustergen.conf")
    match = re.search(r"^ExecStartPre=(.*sed.*)$", text, re.MULTILINE)
    assert match
    conf = tmp_path / "service.conf"
    conf.write_text("[os_resources]\nisolate_cpusets=true\nother = true\n", encoding="utf-8")
    done = run_script(
        f"#!/bin/bash\nPATH=/usr/sbin:/usr/bin\n{match[1].replace('/etc/wekaio/service.conf', str(conf))}\n",
        {},
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert conf.read_text(encoding="utf-8") == "[os_resources]\nisolate_cpusets=false\nother = true\n"


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
