"""NFS failover pairs: what is rendered, rules, and the script on stand-ins and on Pacemaker's real tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import HEAD, calls, codes_of, lay_out, manifest, node_files, run_script, text_of, tree_of

SCRIPT = "/usr/local/sbin/clustergen-failover-home"
CIB = "/etc/clustergen-failover/cib.xml"
PAIR = {"servers": "nfs[1-2]", "device": "/dev/mapper/nfs", "directory": "/srv/nfs", "size": "4TB"}
SERVERS = {"name": "nfs[1-2]", "type": "cpu", "address": "10.0.0.[21-22]", "roles": []}
SERVERS |= {"addresses": {"bmc": "10.0.9.[21-22]", "storage": "10.2.0.[21-22]"}}
HOME = {"type": "nfs", "server": "10.0.0.30", "path": "/srv/nfs/home", "mount": "/home", "failover": PAIR}
DATA = {"type": "nfs", "server": "10.0.0.30", "path": "/srv/nfs/data", "mount": "/data"}


def data(servers: dict[str, Any] = SERVERS, home: dict[str, Any] = HOME, **storage: Any) -> dict[str, Any]:
    return manifest(
        networks={
            "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
            "storage": {"cidr": "10.2.0.0/24"},
            "bmc": {"cidr": "10.0.9.0/24", "protocol": "ipmi"},
        },
        node_types={"cpu": {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB"}},
        nodes=[HEAD, {"name": "c1", "type": "cpu", "address": "10.0.0.11"}, servers],
        storage={"home": home, **storage},
    )


def test_clients_mount_the_moving_address_and_only_the_pair_exports(tmp_path: Path) -> None:
    tree = tree_of(data(data=DATA), tmp_path)
    assert "What=10.0.0.30:/srv/nfs/home\n" in text_of(tree, "c1", "/etc/systemd/system/home.mount")
    for name in ("home", "data"):
        line = text_of(tree, "nfs2", f"/etc/exports.d/clustergen-{name}.exports").splitlines()[-1]
        assert line.startswith(f"/srv/nfs/{name} -rw,")
        assert line.endswith(",mountpoint=/srv/nfs 10.0.0.0/24 10.2.0.0/24")
    assert not [path for host in ("c1", "head") for path in node_files(tree, host) if "/exports.d/" in path]
    text = text_of(tree, "nfs1", "/etc/corosync/corosync.conf")
    assert "ring0_addr: 10.0.0.22\n        ring1_addr: 10.2.0.22\n" in text


# As the programs answer for a disk: label, signatures, size.
DISK = {
    "hostname": "echo nfs1",
    "blkid": "cat {0}/label 2>/dev/null",
    "wipefs": "cat {0}/traces 2>/dev/null; true",
    "lsblk": "echo nfs",
    "blockdev": "cat {0}/size 2>/dev/null || echo 4000000000000",
    "mkfs.xfs": "touch {0}/traces; echo xfs >{0}/traces",
    "mount": "",
    "umount": '[[ ! -e {0}/cut ]] && find "$2" -mindepth 1 -delete',
    "xfs_admin": 'echo "$2" >{0}/label',
}


def form(folder: Path) -> tuple[int, list[str]]:
    """`format` on a disk of stand-ins: the exit status, and what changed the disk."""
    text = text_of(tree_of(data(data=DATA), folder), "nfs1", SCRIPT)
    (folder / "disk").touch()
    text = text.replace("device=/dev/mapper/nfs", f"device={folder}/disk").replace("[[ -b ", "[[ -f ")
    programs = {name: body.replace("{0}", str(folder)) for name, body in DISK.items()}
    (folder / "calls").unlink(missing_ok=True)
    done = run_script(text, programs, folder, "format")
    changes = [call.split()[0] for call in calls(folder) if call.split()[0] in ("mkfs.xfs", "mount", "xfs_admin")]
    return done.returncode, changes


def test_the_label_comes_last_so_that_a_cut_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cut").touch()
    assert form(tmp_path) == (1, ["mkfs.xfs", "mount"])
    (tmp_path / "cut").unlink()
    assert form(tmp_path) == (1, [])
    (tmp_path / "traces").unlink()
    assert form(tmp_path) == (0, ["mkfs.xfs", "mount", "xfs_admin"])
    assert form(tmp_path) == (0, [])


@pytest.mark.parametrize(("file", "text"), [("traces", "0x1 ext4"), ("size", "3000000000000"), ("label", "other")])
def test_a_disk_that_is_not_as_stated_is_not_formatted(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text + "\n")
    if file == "label":
        (tmp_path / "traces").write_text("0x1 xfs\n")
    assert form(tmp_path) == (1, [])


STANDINS = """mkdir /tmp/bin; cd /tmp/bin
printf '#!/bin/sh\\necho nfs1\\n' >hostname; printf '#!/bin/sh\\nexit 0\\n' >systemctl
printf '#!/bin/sh\\necho "totem.cluster_name (str) = nfs-home"\\n' >corosync-cmapctl
printf '#!/bin/sh\\necho "1 nfs1 member"; echo "2 nfs2 member"\\n' >crm_node; chmod +x *
sed '/^PATH=/s,=,=/tmp/bin:,' /usr/local/sbin/clustergen-failover-home >/tmp/script
cp /run/clustergen/live /tmp/live.xml; export CIB_file=/tmp/live.xml
"""
EMPTY = """<cib validate-with="pacemaker-3.0" crm_feature_set="3.19.0" admin_epoch="0" epoch="5" num_updates="2">
<configuration><crm_config><cluster_property_set id="cib-bootstrap-options">
<nvpair id="dc" name="dc-version" value="2.1"/></cluster_property_set></crm_config>
<nodes><node id="1" uname="nfs1"/><node id="2" uname="nfs2"/></nodes>
<resources>{}</resources><constraints/></configuration><status/></cib>"""
OTHER = '<primitive id="web" class="ocf" provider="heartbeat" type="IPaddr2"/>'


@pytest.mark.real
def test_resources_are_loaded_once_and_only_where_there_are_none(tmp_path: Path) -> None:
    """By the real cibadmin and crm_verify, on a configuration in a file."""
    root = root_with("cibadmin")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    files = ((lay_out(tree_of(data(), tmp_path), "nfs1", tmp_path / "node"), "/"),)
    script = STANDINS + (
        "bash /tmp/script apply || exit; cibadmin --query; bash /tmp/script apply; "
        'cibadmin --query --scope resources | grep -q "<resources/>" && exit 3; '
        "crm_resource --resource nfs --move --node nfs2 >/dev/null; bash /tmp/script apply; echo code $?"
    )
    box = sandbox.Sandbox(root, files=files)
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=60, notes={"live": EMPTY.format("")})
    assert "loaded /etc/clustergen-failover/cib.xml" in done.stdout, done
    assert 'name="dc-version"' in done.stdout
    assert '<primitive id="nfs-address"' in done.stdout
    assert "the resources are those of" in done.stdout
    assert "refused: Pacemaker has other resources" in done.stderr
    assert done.stdout.endswith("code 1\n")
    script = STANDINS + "bash /tmp/script apply; echo code $?; cmp /tmp/live.xml /run/clustergen/live && echo untouched"
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=60, notes={"live": EMPTY.format(OTHER)})
    assert "code 1\nuntouched\n" in done.stdout, done


BMC = {"bmc": "10.0.9.[21-22]"}
BAD: dict[str, dict[str, Any]] = {
    "one server": data(home={**HOME, "failover": {**PAIR, "servers": "nfs1"}}),
    "no node": data(home={**HOME, "failover": {**PAIR, "servers": "nfs1,nfs9"}}),
    "no BMC": data({**SERVERS, "addresses": {}}),
    "the role": data({**SERVERS, "roles": ["nfs-server"]}),
    "a client": data({**SERVERS, "roles": ["login"]}),
    "a node's address": data(home={**HOME, "server": "10.0.0.21"}),
    "a name": data(home={**HOME, "server": "nfs"}),
    "no network": data(home={**HOME, "server": "192.0.2.1"}),
    "not on the network": data({**SERVERS, "addresses": BMC}, {**HOME, "server": "10.2.0.30"}),
    "not on the disk": data(home={**HOME, "path": "/export/home"}),
    "the mount point": data(home={**HOME, "path": "/srv/nfs"}),
    "version 3": data(home={**HOME, "version": "3"}),
    "ZFS": data(home={**HOME, "export": {"zfs": {"disks": ["/dev/disk/by-id/a"], "layout": "stripe"}}}),
    "two pairs": data(data={**DATA, "failover": PAIR}),
}


@pytest.mark.parametrize("case", BAD)
def test_pairs_that_cannot_work_are_errors(case: str, tmp_path: Path) -> None:
    assert "nfs-failover" in codes_of(BAD[case], tmp_path)


def test_a_right_pair_has_no_findings_and_its_secrets_are_given(tmp_path: Path) -> None:
    assert codes_of(data(data=DATA), tmp_path) == []
    tree = tree_of(data(), tmp_path)
    secrets = next(file.content.decode() for file in tree if file.path == "inventory/group_vars/all.yml")
    assert "/etc/corosync/authkey" in secrets
    assert "/bin/cat /etc/clustergen-failover/bmc-password" in text_of(tree, "nfs1", CIB)
