"""NFS failover pairs: what is rendered, rules, and the script on stand-ins and on Pacemaker's real tools."""

from __future__ import annotations

import cProfile
import json
import re
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.cluster.groups import membership
from clustergen.records import replace
from clustergen.rules import rules
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import (
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

SCRIPT = "/usr/local/sbin/clustergen-failover"
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_work_of_rules_grows_with_the_entries(tmp_path: Path) -> None:
    """In calls of functions, on which the machine's load has no influence."""
    counts = []
    own_rules = [rule for rule in rules() if ".nfs." in rule.__module__]
    for number in (4, 50, 100):  # the first fills caches
        more = {f"e{i}": {**DATA, "path": f"/srv/nfs/e{i}", "mount": f"/e/{i}"} for i in range(number)}
        more |= {f"f{i}": {**DATA, "server": f"10.0.0.{100 + i}", "mount": f"/f/{i}"} for i in range(number)}
        whole = data(**more)
        whole["nodes"] += [{"name": f"p{i}-[1-2]", "type": "cpu", "roles": []} for i in range(number)]
        pairs = {
            f"p{i}": {**HOME, "mount": f"/p/{i}", "failover": {**PAIR, "servers": f"p{i}-[1-2]"}} for i in range(number)
        }
        whole["storage"] |= {
            name: {**pair, "server": f"10.2.1.{i + 1}"} for i, (name, pair) in enumerate(pairs.items())
        }
        path = tmp_path / "manifest.yaml"
        path.write_text(json.dumps(whole), encoding="utf-8")
        cluster = compiler.validate(path).cluster
        assert cluster is not None
        profile = cProfile.Profile()
        fresh = replace(cluster)  # remembers nothing
        profile.runcall(lambda: [membership(fresh), *(list(rule(fresh)) for rule in own_rules)])  # noqa: B023
        counts.append(sum(entry.callcount for entry in profile.getstats()))
    assert counts[2] < 2.3 * counts[1]


# As the programs answer for a disk: label, signatures, size.
DISK = {
    "hostname": "echo nfs1",
    "blkid": "[[ $5 != TYPE ]] || { cat {0}/type 2>/dev/null || echo xfs; exit; }; cat {0}/label 2>/dev/null",
    "wipefs": "cat {0}/traces 2>/dev/null; true",
    "lsblk": "echo nfs",
    "blockdev": "cat {0}/size 2>/dev/null || echo 4000000000000",
    "mkfs.xfs": 'echo xfs >{0}/traces; echo "$2" >{0}/label',
    "mount": "[[ ! -e {0}/broken ]] && touch {0}/mounted",
    "mountpoint": "[[ -e {0}/mounted ]]",
    "install": '[[ ! -e {0}/cut ]] && /usr/bin/install "$@"',
    "umount": 'rm {0}/mounted; find "$2" -mindepth 1 -delete',
    "xfs_admin": 'echo "$2" >{0}/label',
}


def form(directory: Path) -> tuple[int, list[str]]:
    """`format` on a disk of stand-ins: the exit status, and what changed the disk."""
    changes = {"device='/dev/mapper/nfs'": f"device={directory}/disk", "[[ -b ": "[[ -f "}
    script = runnable(tree_of(data(data=DATA), directory), "nfs1", SCRIPT, directory, changes)
    (directory / "disk").touch()
    programs = {name: body.replace("{0}", str(directory)) for name, body in DISK.items()}
    (directory / "calls").unlink(missing_ok=True)
    done = run_script(script.read_text(), programs, directory, "home", "format")
    made = [call.split()[0] for call in calls(directory) if call.split()[0] in ("mkfs.xfs", "mount", "xfs_admin")]
    return done.returncode, made


@pytest.mark.slow
def test_a_cut_format_is_continued_and_its_label_comes_last(tmp_path: Path) -> None:
    (tmp_path / "cut").touch()
    assert form(tmp_path) == (1, ["mkfs.xfs", "mount"])
    assert not (tmp_path / "mounted").exists()
    assert (tmp_path / "label").read_text() == "new-home\n"
    (tmp_path / "cut").unlink()
    (tmp_path / "broken").touch()
    assert form(tmp_path) == (1, ["mount"])
    (tmp_path / "broken").unlink()
    (tmp_path / "size").write_text("3000000000000\n")
    assert form(tmp_path) == (1, [])
    (tmp_path / "size").unlink()
    assert form(tmp_path) == (0, ["mount", "xfs_admin"])
    assert (tmp_path / "label").read_text() == "nfs-home\n"
    assert form(tmp_path) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "text"), [("traces", "0x1 ext4"), ("size", "3000000000000"), ("label", "other"), ("type", "ext4")]
)
def test_a_disk_that_is_not_as_stated_is_not_formatted(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text + "\n")
    if file in ("label", "type"):
        (tmp_path / "traces").write_text("0x1 xfs\n")
    if file == "type":
        (tmp_path / "label").write_text("nfs-home\n")
    assert form(tmp_path) == (1, [])


STANDINS = """mkdir /tmp/bin; cd /tmp/bin
printf '#!/bin/sh\\necho nfs1\\n' >hostname; printf '#!/bin/sh\\n[ "$1" != is-enabled ]\\n' >systemctl
printf '#!/bin/sh\\necho "totem.cluster_name (str) = nfs-home"\\n' >corosync-cmapctl
printf '#!/bin/sh\\necho "1 nfs1 member"; echo "2 nfs2 member"\\n' >crm_node
printf '#!/bin/sh\\n[ "$5" = TYPE ] && echo xfs || cat /tmp/label\\n' >blkid; printf '#!/bin/sh\\necho 1\\n' >blockdev
printf '#!/bin/sh\\n' >wipefs; printf '#!/bin/sh\\necho nfs\\n' >lsblk; chmod +x *
sed '/^PATH=/s,=,=/tmp/bin:,; s/\\[\\[ -b /[[ -f /; s,/etc/corosync/authkey,/tmp/live.xml,
  s,^kept=.*,kept=/tmp/kept.xml,; s,/etc/clustergen/failover-,/tmp/failover-,' \\
  /usr/local/sbin/clustergen-failover >/tmp/script; pair() { bash /tmp/script home "$@"; }
sed 's,^device=.*,device=/tmp/live.xml,; s/4000000000000/1/' /etc/clustergen/failover-home.sh >/tmp/failover-home.sh
cp /run/clustergen/live /tmp/live.xml; export CIB_file=/tmp/live.xml; echo nfs-home >/tmp/label
"""
EMPTY = """<cib validate-with="pacemaker-3.0" crm_feature_set="3.19.0" admin_epoch="0" epoch="5" num_updates="2">
<configuration><crm_config><cluster_property_set id="cib-bootstrap-options">
<nvpair id="dc" name="dc-version" value="2.1"/>
<nvpair id="cib-bootstrap-options-priority-fencing-delay" name="priority-fencing-delay" value="0"/>
</cluster_property_set></crm_config>
<nodes><node id="1" uname="nfs1"/><node id="2" uname="nfs2"/></nodes>
<resources>{}</resources><constraints/></configuration><status/></cib>"""
OTHER = '<primitive id="web" class="ocf" provider="heartbeat" type="IPaddr2"/>'


def ask(directory: Path, script: str, live: str = EMPTY.format("")) -> tuple[int, str]:
    """Runs shell text beside the first server's script, with Pacemaker's real tools on a configuration in a file."""
    root = root_with("cibadmin")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    box = sandbox.Sandbox(root, files=((lay_out(tree_of(data(), directory), "nfs1", directory / "node"), "/"),))
    done = sandbox.run(box, ["/bin/bash", "-c", f"exec 2>&1; {STANDINS}{script}"], timeout=300, notes={"live": live})
    return done.code, done.stdout


@pytest.mark.real
def test_resources_are_loaded_once_and_only_where_there_are_none(tmp_path: Path) -> None:
    """By the real cibadmin and crm_verify."""
    code, output = ask(
        tmp_path,
        "pair apply || exit; cibadmin --query; pair apply; pair check; "
        "echo checked $?; crm_resource --resource nfs --move --node nfs2 >/dev/null; pair apply",
    )
    assert code == 1, output
    assert "loaded /etc/clustergen-failover/cib.xml" in output
    assert 'name="dc-version"' in output
    assert 'name="priority-fencing-delay" value="15s"' in output
    assert '<primitive id="nfs-address"' in output
    assert "the resources are those of" in output
    assert "checked 0" in output
    assert "< " in output.partition("checked 0")[2], "the difference is shown"
    assert "refused: Pacemaker has other resources" in output
    untouched = "pair apply; echo code $?; cmp /tmp/live.xml /run/clustergen/live && echo untouched"
    assert "code 1\nuntouched\n" in ask(tmp_path, untouched, EMPTY.format(OTHER))[1]


@pytest.mark.real
def test_nothing_is_loaded_for_an_empty_disk_or_while_fencing_is_off(tmp_path: Path) -> None:
    code, output = ask(tmp_path, "rm /tmp/label; pair apply")
    assert (code, output.splitlines()[-1].endswith("is empty: clustergen-failover home format")) == (1, True), output
    commands = ["pair apply; cp /tmp/live.xml /tmp/loaded.xml"]
    options = ["stonith-enabled=false", "startup-fencing=false", "maintenance-mode=true", "stop-all-resources=true"]
    options.append("no-quorum-policy=ignore")
    for option in options:
        name, value = option.split("=")
        commands.append(
            f"crm_attribute --name {name} --update {value}; pair check; echo check $?; "
            "pair apply; echo apply $?; cp /tmp/loaded.xml /tmp/live.xml"
        )
    output = ask(tmp_path, "; ".join([*commands, "pair check; echo end $?"]))[1]
    assert output.count("check 1\n") == output.count("apply 1\n") == len(options), output
    for option in options:
        assert f"options: {option}: crm_attribute --name" in output, output
        assert f"refused: {option}: crm_attribute --name" in output, output
    assert output.endswith("end 0\n"), output


STOPPED = """printf '#!/bin/sh\\n[ "$1" = is-active ] && exit 1; echo "systemctl $*"\\n' >/tmp/bin/systemctl
printf '#!/bin/sh\\n' >/tmp/bin/mkdir; chmod +x /tmp/bin/mkdir
"""


@pytest.mark.real
def test_start_refuses_the_kept_resources_of_another_cluster(tmp_path: Path) -> None:
    script = f"{STOPPED} cp /tmp/live.xml /tmp/kept.xml; pair start"
    code, output = ask(tmp_path, script, EMPTY.format(OTHER))
    assert (code, "refused: /tmp/kept.xml has other resources" in output) == (1, True), output
    assert "systemctl enable" not in output
    code, output = ask(tmp_path, script)
    assert (code, "systemctl disable --now nfs-server.service" in output) == (0, True), output
    ours = f"""{STOPPED} cp /etc/clustergen-failover/cib.xml /tmp/kept.xml; pair start >/tmp/log; echo $?
CIB_file=/tmp/kept.xml crm_attribute --name stonith-enabled --update false; pair start"""
    code, output = ask(tmp_path, ours)
    message = "refused: Pacemaker would start the resources of /tmp/kept.xml with stonith-enabled=false: crm_attribute"
    assert (code, output.startswith(f"0\n{message}")) == (1, True), output


@pytest.mark.real
def test_a_left_order_of_fencing_devices_and_unreadable_options_are_refused(tmp_path: Path) -> None:
    """The order names devices that do not exist, so that no server could be fenced."""
    level = '<fencing-level id="l" index="1" target="nfs1" devices="gone"/>'
    live = EMPTY.format("").replace("<constraints/>", f"<constraints/><fencing-topology>{level}</fencing-topology>")
    code, output = ask(tmp_path, "pair apply", live)
    assert (code, "refused: Pacemaker has other resources" in output, level in output) == (1, True, True), output
    broken = """printf '#!/bin/sh\ncase "$*" in *stonith-enabled*maintenance*) echo gone; exit 102 ;; esac
exec /usr/sbin/cibadmin "$@"\n' >/tmp/bin/cibadmin; chmod +x /tmp/bin/cibadmin; pair apply"""
    assert ask(tmp_path, broken) == (1, "refused: the options cannot be read: gone\n")


@pytest.mark.real
def test_a_pacemaker_that_does_not_answer_is_not_one_without_resources(tmp_path: Path) -> None:
    """No daemon runs here, so the real cibadmin fails."""
    code, output = ask(tmp_path, "unset CIB_file; pair apply")
    assert (code, output) == (1, "refused: Pacemaker does not answer: systemctl status pacemaker\n")


@pytest.mark.slow
def test_labels_differ_for_names_that_begin_alike(tmp_path: Path) -> None:
    labels = set()
    for name in ("projects-a", "projects-b", "projects", "projects2"):
        tree = tree_of(data() | {"storage": {name: HOME}}, tmp_path)
        text = text_of(tree, "nfs1", f"/etc/clustergen/failover-{name}.sh")
        labels |= set(re.findall(r"^label='(\S+)'$", text, re.MULTILINE))
    assert len(labels) == 4
    assert all(len(label) <= 12 for label in labels)


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


@pytest.mark.slow
def test_a_right_pair_has_no_findings_and_its_secrets_are_given(tmp_path: Path) -> None:
    assert codes_of(data(data=DATA), tmp_path) == []
    tree = tree_of(data(), tmp_path)
    secrets = next(file.content.decode() for file in tree if file.path == "inventory/group_vars/all.yml")
    assert "/etc/corosync/authkey" in secrets
    assert "/bin/cat /etc/clustergen-failover/bmc-password" in text_of(tree, "nfs1", CIB)
