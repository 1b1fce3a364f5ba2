"""The fabric on the hosts: interfaces set up by the real `ip`, a stand-in RoCE card, opensm in a simulated fabric."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

TABLE = "/etc/clustergen/fabric-interfaces"
GUARD = "/etc/systemd/system/opensm.service.d/50-clustergen.conf"
RAILS = {"rails": ["10.1.0.0/24", "10.1.1.0/24"], "gateways": ["10.1.0.254", "10.1.1.254"]}
TWO_RAILS = {**COMPUTE, "addresses": {"fabric": ["10.1.0.[11-14]", "10.1.1.[11-14]"]}}


def root(program: str) -> Path:
    path = root_with(program)
    assert path is not None, f"clustergen setup parsers makes the root with {program}"
    return path


def fabric_tree(directory: Path, nodes: dict[str, Any] = COMPUTE, kind: dict[str, Any] = GPU, **fabric: Any) -> Tree:
    networks = {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "infiniband", "rate": "NDR", **fabric}}
    if networks["fabric"]["type"] != "infiniband":
        networks["fabric"]["rate"] = "400Gb/s"
    return tree_of(manifest(networks=networks, nodes=[HEAD, nodes], node_types={"gpu": kind}), directory)


def rows(tree: Tree, host: str = "c1") -> list[list[str]]:
    return [line.split() for line in text_of(tree, host, TABLE).splitlines() if line and not line.startswith("#")]


def in_sandbox(
    tree: Tree, host: str, directory: Path, script: str, programs: dict[str, str] | None = None
) -> sandbox.Outcome:
    """Runs a script on a node: its files in place, its /etc/hosts, interfaces of its own."""
    node = lay_out(tree, host, directory / "node")
    for name, text in (programs or {}).items():
        place = node / "usr/sbin" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("#!/bin/bash\n" + text)
        place.chmod(0o755)
    box = sandbox.Sandbox(
        root("udevadm"),
        files=tuple((node / part, f"/{part}") for part in ("etc", "usr")),
        hosts=(node / "etc/hosts").read_text(),
        hostname=host,
    )
    head = "mount -t sysfs sysfs /sys; export CLUSTERGEN_WAIT=1\n"
    done = sandbox.run(box, ["/bin/bash", "-c", head + script], timeout=300)
    assert done.code is not None, done.stdout + done.stderr
    return done


# --- the table of ports -----------------------------------------------------------------------------------------------


def test_infiniband_without_addresses_needs_nothing(tmp_path: Path) -> None:
    files = node_files(fabric_tree(tmp_path), "c1")
    assert TABLE not in files
    assert "/etc/systemd/system/clustergen-fabric-interfaces.service" not in files
    modules = files["/etc/modules-load.d/clustergen-rdma.conf"].content.decode()
    assert "\nib_umad\n" in modules
    assert "ib_ipoib" not in modules


def test_rails_of_one_network_get_tables(tmp_path: Path) -> None:
    tree = fabric_tree(tmp_path, TWO_RAILS, cidr="10.1.0.0/16")
    assert rows(tree) == [
        ["0", "mlx5_0", "ibp24s0", "-ib0", "10.1.0.0/16", "-", "100"],
        ["1", "mlx5_1", "ibp64s0", "-ib1", "10.1.0.0/16", "-", "101"],
    ]
    assert "\nib_ipoib\n" in text_of(tree, "c1", "/etc/modules-load.d/clustergen-rdma.conf")


def test_rails_apart_need_none(tmp_path: Path) -> None:
    assert [row[4:] for row in rows(fabric_tree(tmp_path, TWO_RAILS, rails=RAILS["rails"]))] == [
        ["10.1.0.0/24", "-", "-"],
        ["10.1.1.0/24", "-", "-"],
    ]


def test_routed_rails_leave_by_their_own_router(tmp_path: Path) -> None:
    assert [row[4:] for row in rows(fabric_tree(tmp_path, TWO_RAILS, **RAILS))] == [
        ["10.1.0.0/24", "10.1.0.254", "100"],
        ["10.1.1.0/24", "10.1.1.254", "101"],
    ]


def test_a_port_known_by_its_device_only(tmp_path: Path) -> None:
    kind = {**GPU, "nics": [{"device": "mlx5_0"}, {"device": "mlx5_1"}]}
    assert [row[1:3] for row in rows(fabric_tree(tmp_path, kind=kind, type="roce"))] == [
        ["mlx5_0", "-"],
        ["mlx5_1", "-"],
    ]


def test_tcp_ports_have_no_rdma_device(tmp_path: Path) -> None:
    kind = {**GPU, "nics": [{"device": "enp1s0"}, {"device": "mlx5_1", "interface": "enp2s0"}]}
    tree = fabric_tree(tmp_path, kind=kind, type="ethernet", mtu=9000)
    assert [row[1:3] for row in rows(tree)] == [["-", "enp1s0"], ["mlx5_1", "enp2s0"]]
    assert "/etc/modules-load.d/clustergen-rdma.conf" not in node_files(tree, "c1")


@pytest.mark.parametrize(
    ("fabric", "mtu", "mode"),
    [
        ({"type": "roce"}, "9000", ""),
        ({"type": "roce", "mtu": 4200}, "4200", ""),
        ({"cidr": "10.1.0.0/16"}, "", "datagram"),
        ({"cidr": "10.1.0.0/16", "ipoib_mode": "connected"}, "65520", "connected"),
        ({"cidr": "10.1.0.0/16", "mtu": 4092}, "4092", "datagram"),
    ],
)
def test_mtu(tmp_path: Path, fabric: dict[str, Any], mtu: str, mode: str) -> None:
    nodes = COMPUTE if fabric.get("type") == "roce" else TWO_RAILS
    values = text_of(fabric_tree(tmp_path, nodes, **fabric), "c1", "/etc/clustergen/fabric-interfaces.sh")
    assert f"\nmtu='{mtu}'\nipoib_mode='{mode}'\n" in values


@pytest.mark.slow
def test_others_leave_our_interfaces_alone(tmp_path: Path) -> None:
    networks = {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "roce", "rate": "400Gb/s", **RAILS}}
    data = manifest(networks=networks, nodes=[HEAD, TWO_RAILS], slurm={"version": "24.11", "build": "schedmd"})
    rocky = node_files(tree_of({**data, "os": "rocky-9"}, tmp_path), "c1")
    text = rocky["/etc/NetworkManager/conf.d/50-clustergen-fabric.conf"].content.decode()
    assert "\nunmanaged-devices=interface-name:ibp24s0;interface-name:ibp64s0\n" in text
    ubuntu = node_files(tree_of({**data, "os": "ubuntu-24.04"}, tmp_path), "c1")
    assert b"ManageForeignRoutingPolicyRules=no" in ubuntu["/etc/systemd/networkd.conf.d/50-clustergen.conf"].content
    debian = node_files(tree_of({**data, "os": "debian-13"}, tmp_path), "c1")
    assert not any("NetworkManager" in path or "networkd" in path for path in debian)


@pytest.mark.slow
def test_devices_get_the_names_of_the_manifest(tmp_path: Path) -> None:
    rules = "/etc/udev/rules.d/60-rdma-persistent-naming.rules"
    assert b"NAME_KERNEL" in node_files(fabric_tree(tmp_path), "c1")[rules].content
    tray = node_files(fabric_tree(tmp_path, kind={"system": "gb200-nvl72-tray"}), "c1")
    assert b"rdma_rename %k NAME_FALLBACK" in tray[rules].content, "MLNX_OFED would keep mlx5_0"
    assert b"=ibp3s0:1,ibP2p3s0:1,ibP16p3s0:1,ibP18p3s0:1" in tray["/etc/nccl.conf"].content
    renamed = {**GPU, "nics": [{"device": "rail0", "interface": "rail0"}]}
    assert rules not in node_files(fabric_tree(tmp_path, kind=renamed), "c1")


# --- interfaces -------------------------------------------------------------------------------------------------------

LINKS = """
for name in ibp24s0 ibp64s0; do
  ip link add $name type veth peer name peer-$name; ip link set peer-$name mtu 9000 up
done
"""
STATE = """
ip -o address show scope global; ip link show | grep -o 'ibp.*mtu [0-9]*'
ip rule; ip route show table 100; ip route show table 101
"""
SCRIPT = "/usr/local/sbin/clustergen-fabric-interfaces"


@pytest.mark.real
@pytest.mark.parametrize(
    ("routing", "leaf", "other"), [("/26", "10.1.0.62", "10.1.1.62"), ("/31", "10.1.0.12", "10.1.1.12")]
)
def test_a_leaf_is_the_router_to_the_others(tmp_path: Path, routing: str, leaf: str, other: str) -> None:
    tree = fabric_tree(tmp_path, TWO_RAILS, type="roce", routing=routing, **RAILS)
    run = f"{LINKS} {SCRIPT} || echo FAILED; ip -o address show scope global; ip route; ip route show table 101"
    done = in_sandbox(tree, "c3", tmp_path, run)
    assert "FAILED" not in done.stdout, done.stdout + done.stderr
    assert f"10.1.0.13{routing}" in done.stdout
    assert f"10.1.0.0/24 via {leaf} dev ibp24s0 src 10.1.0.13" in done.stdout
    assert done.stdout.count(f"10.1.1.0/24 via {other} dev ibp64s0 src 10.1.1.13") == 2
    assert f"default via {other} dev ibp64s0" in done.stdout


@pytest.mark.real
def test_a_node_gets_its_own_addresses(tmp_path: Path) -> None:
    tree = fabric_tree(tmp_path, TWO_RAILS, type="roce", **RAILS)
    run = f"""{LINKS}
        ip address add 10.1.0.99/24 dev ibp24s0      # of an earlier life
        ip address add 192.168.7.7/24 dev ibp24s0    # not ours
        ip rule add from 10.1.0.99 table 100
        {SCRIPT} || echo FAILED
        {STATE} | tee /tmp/first
        {SCRIPT} >/dev/null || echo FAILED AGAIN
        {{ {STATE} }} | diff /tmp/first - && echo UNCHANGED
    """
    done = in_sandbox(tree, "c3", tmp_path, run.replace(f"{STATE} |", f"{{ {STATE} }} |"))
    assert "FAILED" not in done.stdout, done.stdout + done.stderr
    assert "UNCHANGED" in done.stdout, done.stdout
    assert "10.1.0.13/24" in done.stdout
    assert "10.1.1.13/24" in done.stdout
    assert "10.1.0.99" not in done.stdout, "an address of the same network that is not the node's goes"
    assert "192.168.7.7/24" in done.stdout, "and others stay"
    assert len(re.findall(r"ibp\d+s0@peer.*mtu 9000", done.stdout)) == 2
    assert "from 10.1.1.13 lookup 101" in done.stdout
    assert "default via 10.1.1.254 dev ibp64s0" in done.stdout


@pytest.mark.real
def test_settings_that_fail_are_reported(tmp_path: Path) -> None:
    tree = fabric_tree(tmp_path, TWO_RAILS, type="roce", **RAILS)
    only_one = LINKS.replace(" ibp64s0", "")
    done = in_sandbox(tree, "c3", tmp_path, f"{only_one} {SCRIPT}; echo status $?")
    assert "status 1" in done.stdout
    assert "ERROR: rail 1: interface ibp64s0 does not exist, and RDMA device mlx5_1 has none" in done.stdout
    assert "rail 0: ibp24s0 has 10.1.0.13" in done.stdout, "the other rail is set up"
    nobody = in_sandbox(tree, "c3", tmp_path, f"{LINKS} hostname stranger; {SCRIPT}; echo status $?")
    assert "stranger-r0 does not resolve to an address" in nobody.stdout
    assert "status 1" in nobody.stdout


@pytest.mark.real
def test_an_interface_is_found_by_its_rdma_device(tmp_path: Path) -> None:
    kind = {**GPU, "nics": [{"device": "mlx5_0"}, {"device": "mlx5_1"}]}
    tree = fabric_tree(tmp_path, TWO_RAILS, kind, type="roce", **RAILS)
    # mlx5_0 as RoCE shows it, mlx5_1 as InfiniBand does.
    devices = """
        mount -t tmpfs none /sys/class
        mkdir -p /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs /sys/class/net/ibp{24,64}s0
        mkdir -p /sys/class/infiniband/mlx5_1/device/net/{ibp64s0.8001,ibp64s0}
        echo ibp24s0 >/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0
        for name in ibp24s0 ibp64s0; do echo 9000 >/sys/class/net/$name/mtu; done
    """
    done = in_sandbox(tree, "c1", tmp_path, f"{LINKS} {devices} {SCRIPT}; echo status $?")
    assert "rail 0: ibp24s0 has 10.1.0.11" in done.stdout, done.stdout + done.stderr
    assert "rail 1: ibp64s0 has 10.1.1.11" in done.stdout
    assert "status 0" in done.stdout


# --- lossless Ethernet ------------------------------------------------------------------------------------------------

# A card as its tools show it, with its settings in /tmp/card. `dcb` and `mlnx_qos` print as the real ones do.
ETHTOOL = """
case $1 in
  -a)
    now=$(cat /tmp/card/pause)
    printf 'Pause parameters for %s:\\nAutonegotiate:\\toff\\nRX:\\t\\t%s\\nTX:\\t\\t%s\\n' "$2" "$now" "$now"
    ;;
  -A) echo off >/tmp/card/pause ;;
esac
"""
DCB = """
echo "dcb $*" >>/tmp/card/calls
case $* in
  'dcbx set dev '*' host ieee') ;;
  'app replace dev '*) printf '%s\\n' "${@:6}" >/tmp/card/dscp ;;
  'app flush dev '*) : >/tmp/card/dscp ;;
  '-N app show dev '*) echo "dscp-prio $(tr '\\n' ' ' </tmp/card/dscp)" ;;
  'pfc set dev '*) [ -e /tmp/card/stubborn ] || echo "${*:6}" >/tmp/card/pfc ;;
  'pfc show dev '*) echo "prio-pfc $(cat /tmp/card/pfc)" ;;
  *) echo "dcb cannot: $*" >&2; exit 1 ;;
esac
"""
MLNX_QOS = """
echo "mlnx_qos $*" >>/tmp/card/calls
while [ $# -gt 0 ]; do
  case $1 in
    -i | -d) shift ;;
    --trust) shift; echo "$1" >/tmp/card/trust ;;
    --pfc) shift; echo "$1" >/tmp/card/mpfc ;;
    --dscp2prio) shift; IFS=, read -r _ dscp priority <<<"$1"; echo "$dscp $priority" >>/tmp/card/map ;;
  esac
  shift
done
printf 'DCBX mode: OS controlled\\nPriority trust state: %s\\ndscp2prio mapping:\\n' "$(cat /tmp/card/trust)"
while read -r dscp priority; do printf '\\tprio:%d dscp:%02d,\\n' "$priority" "$dscp"; done </tmp/card/map
echo 'PFC configuration:'
printf '\\tpriority    0   1   2   3   4   5   6   7\\n\\tenabled     %s   \\n' "$(sed 's/,/   /g' /tmp/card/mpfc)"
"""
CARD = """
mkdir /tmp/card; echo on >/tmp/card/pause; echo 0:off >/tmp/card/pfc; : >/tmp/card/dscp
echo pcp >/tmp/card/trust; echo 0,0,0,0,0,0,0,0 >/tmp/card/mpfc; : >/tmp/card/map
mount -t tmpfs none /sys/class; mkdir -p /sys/class/net /sys/class/infiniband
mount -t tmpfs none /sys/kernel
for port in 0:ibp24s0 1:ibp64s0; do
  device=/sys/class/infiniband/mlx5_${port%%:*} interface=/sys/class/net/${port##*:}
  mkdir -p $device/ports/1 $interface/device/infiniband $interface/ecn/roce_{np,rp}/enable
  echo 9000 >$interface/mtu
  for side in np rp; do for i in 0 1 2 3 4 5 6 7; do echo 0 >$interface/ecn/roce_$side/enable/$i; done; done
  echo 0 >$interface/ecn/roce_np/cnp_dscp; echo 0 >$interface/ecn/roce_np/cnp_802p_prio
  mkdir -p /sys/kernel/config/rdma_cm/mlx5_${port%%:*}/ports/1
  echo 'IB/RoCE v1' >/sys/kernel/config/rdma_cm/mlx5_${port%%:*}/ports/1/default_roce_mode
  echo 0 >/sys/kernel/config/rdma_cm/mlx5_${port%%:*}/ports/1/default_roce_tos
done
"""
QOS = "/usr/local/sbin/clustergen-roce-qos"
SHOW = """
cat /tmp/card/pause; cd /sys/class/net/ibp64s0/ecn
echo "np $(cat roce_np/enable/5) rp $(cat roce_rp/enable/5) other $(cat roce_np/enable/3)"
echo "cnp $(cat roce_np/cnp_dscp) $(cat roce_np/cnp_802p_prio)"
cat /sys/kernel/config/rdma_cm/mlx5_1/ports/1/*
"""


@pytest.mark.real
@pytest.mark.parametrize("tool", ["dcb", "mlnx_qos"])
def test_a_card_is_made_lossless(tmp_path: Path, tool: str) -> None:
    roce = {"dscp": 40, "priority": 5, "cnp_dscp": 56, "cnp_priority": 7}
    tree = fabric_tree(tmp_path, type="roce", roce=roce)
    programs = {"ethtool": ETHTOOL, "dcb": DCB} | ({"mlnx_qos": MLNX_QOS} if tool == "mlnx_qos" else {})
    done = in_sandbox(tree, "c1", tmp_path, f"{CARD} {QOS}; echo status $?; cat /tmp/card/calls; {SHOW}", programs)
    assert "status 0" in done.stdout, done.stdout + done.stderr
    assert f"\n{tool} " in done.stdout
    if tool == "dcb":
        assert "dcb app replace dev ibp64s0 dscp-prio 40:5 56:7" in done.stdout
        assert "dcb pfc set dev ibp64s0 prio-pfc 0:off 1:off 2:off 3:off 4:off 5:on 6:off 7:off" in done.stdout
    else:
        assert "mlnx_qos -i ibp64s0 --pfc 0,0,0,0,0,1,0,0" in done.stdout
        assert "\ndcb " not in done.stdout
    assert "\noff\n" in done.stdout, "global pause"
    assert "np 1 rp 1 other 0\ncnp 56 7\n" in done.stdout
    assert "RoCE v2\n162\n" in done.stdout, "40 << 2 and ECN-capable"


@pytest.mark.real
def test_a_card_that_does_not_obey_is_an_error(tmp_path: Path) -> None:
    tree = fabric_tree(tmp_path, type="roce")
    run = f"{CARD} touch /tmp/card/stubborn; {QOS}; echo status $?"
    done = in_sandbox(tree, "c1", tmp_path, run, {"ethtool": ETHTOOL, "dcb": DCB})
    assert "ERROR: ibp24s0: PFC is 0:off, not 0:off 1:off 2:off 3:on" in done.stdout
    assert "status 1" in done.stdout


@pytest.mark.real
def test_without_its_tools_it_fails(tmp_path: Path) -> None:
    done = in_sandbox(
        fabric_tree(tmp_path, type="roce"),
        "c1",
        tmp_path,
        f"{CARD} rm /usr/sbin/dcb /usr/bin/dcb; {QOS}; echo status $?",
    )
    assert "neither mlnx_qos nor dcb" in done.stdout
    assert "status 1" in done.stdout


@pytest.mark.real
def test_priority_by_vlan_tag(tmp_path: Path) -> None:
    tree = fabric_tree(tmp_path, type="roce", roce={"trust": "pcp", "pfc": False, "ecn": False})
    run = f"{CARD} echo 26:3 >/tmp/card/dscp; {QOS}; echo status $?; cat /tmp/card/calls"
    done = in_sandbox(tree, "c1", tmp_path, run, {"ethtool": ETHTOOL, "dcb": DCB})
    assert "status 0" in done.stdout, done.stdout + done.stderr
    assert "dcb app flush dev ibp24s0 dscp-prio" in done.stdout
    assert "3:on" not in done.stdout


def test_rdma_ports_of_the_storage_network_are_lossless_as_well(tmp_path: Path) -> None:
    storage = [
        {"device": "mlx5_4", "interface": "ens9np0", "network": "storage"},
        {"device": "eno5", "interface": "eno5", "network": "storage"},
    ]
    tree = fabric_tree(tmp_path, kind={**GPU, "nics": [*GPU["nics"], *storage]}, type="roce")
    lines = text_of(tree, "c1", "/etc/clustergen/roce-ports").splitlines()
    assert [line.split() for line in lines if not line.startswith("#")] == [
        ["rail-0", "mlx5_0", "ibp24s0"],
        ["rail-1", "mlx5_1", "ibp64s0"],
        ["storage-0", "mlx5_4", "ens9np0"],
    ]
    assert len(rows(tree)) == 2, "addresses and the MTU are the fabric's alone"


# --- scripts and units ------------------------------------------------------------------------------------------------


@pytest.mark.real
@pytest.mark.parametrize("kind", ["infiniband", "roce"])
def test_shellcheck_finds_nothing(tmp_path: Path, kind: str) -> None:
    directory = lay_out(fabric_tree(tmp_path, TWO_RAILS, type=kind, cidr="10.1.0.0/16"), "c1", tmp_path / "node")
    scripts = sorted(
        str(place.relative_to(directory))
        for place in (directory / "usr/local").rglob("*")
        if place.is_file() and b"python" not in place.read_bytes().partition(b"\n")[0] and place.suffix != ".py"
    )
    assert len(scripts) >= (3 if kind == "roce" else 2)
    box = sandbox.Sandbox(root("shellcheck"), files=((directory / "usr", "/usr"),))
    done = sandbox.run(box, ["shellcheck", "-s", "bash", *(f"/{script}" for script in scripts)], timeout=300)
    assert done.code == 0, done.stdout


@pytest.mark.real
def test_systemd_and_udev_accept_it(tmp_path: Path) -> None:
    directory = lay_out(fabric_tree(tmp_path, TWO_RAILS, type="roce", cidr="10.1.0.0/16"), "c1", tmp_path / "node")
    box = sandbox.Sandbox(root("udevadm"), files=((directory / "etc", "/etc"), (directory / "usr", "/usr")))
    units = [f"/etc/systemd/system/clustergen-{name}.service" for name in ("fabric-interfaces", "roce-qos")]
    done = sandbox.run(box, ["systemd-analyze", "verify", "--man=no", *units], timeout=300)
    assert done.code == 0, done.stderr
    assert "clustergen" not in done.stderr, done.stderr
    rules = "/etc/udev/rules.d/60-rdma-persistent-naming.rules"
    verified = sandbox.run(box, ["udevadm", "verify", "--no-style", rules], timeout=300)
    assert verified.code == 0, verified.stdout + verified.stderr


# --- subnet manager ---------------------------------------------------------------------------------------------------

MANAGER = {"name": "sm1", "type": "service", "address": "10.0.0.2", "roles": ["subnet-manager"]}
SWITCHES: list[dict[str, Any]] = [
    {"name": "leaf[1-2]", "model": "qm9700", "nodes": "c[1-4]", "uplinks": [{"to": "spine[1-2]", "links": 8}]},
    {"name": "spine[1-2]", "model": "qm9700"},
]
# What ibnetdiscover would say of it, in short.
NET = """
Switch 8 "Leaf1"
[1] "Hca1"[1]
[2] "Hca2"[1]
[3] "Spine1"[1]
[4] "Spine2"[1]

Switch 8 "Leaf2"
[1] "Hca3"[1]
[2] "Hca4"[1]
[3] "Spine1"[2]
[4] "Spine2"[2]

Switch 8 "Spine1"
[1] "Leaf1"[3]
[2] "Leaf2"[3]

Switch 8 "Spine2"
[1] "Leaf1"[4]
[2] "Leaf2"[4]

Hca 1 "Hca1"
[1] "Leaf1"[1]

Hca 1 "Hca2"
[1] "Leaf1"[2]

Hca 1 "Hca3"
[1] "Leaf2"[1]

Hca 1 "Hca4"
[1] "Leaf2"[2]
"""


def managed(directory: Path, switches: list[dict[str, Any]] = SWITCHES, **fabric: Any) -> Tree:
    described = {
        "type": "infiniband",
        "rate": "NDR",
        "subnet_manager": {"where": "node", **fabric.pop("subnet_manager", {})},
        "switches": switches,
        **fabric,
    }
    networks = {"management": {"cidr": "10.0.0.0/24"}, "fabric": described}
    return tree_of(manifest(networks=networks, nodes=[HEAD, MANAGER, COMPUTE]), directory)


def opensm(tree: Tree, directory: Path, script: str) -> sandbox.Outcome:
    node = lay_out(tree, "sm1", directory / "sm1")
    box = sandbox.Sandbox(root("opensm"), files=((node / "etc", "/etc"),))
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=300, notes={"net": NET})
    assert done.code is not None, done.stdout + done.stderr
    return done


@pytest.mark.real
def test_opensm_knows_every_key(tmp_path: Path) -> None:
    options = {"sm_priority": 3, "max_wire_smps": 16}
    tree = managed(tmp_path, opensm_options=options, service_level=1)
    done = opensm(tree, tmp_path, "opensm -F /etc/opensm/opensm.conf -c /run/clustergen/all; echo status $?")
    assert "status 0" in done.stdout
    assert "Unrecognized" not in done.stdout, done.stdout
    effective = dict(
        line.split(None, 1) for line in done.files["all"].splitlines() if line and line[0] not in "#(" and " " in line
    )
    assert effective["routing_engine"] == "ftree,updn"
    assert effective["sm_priority"] == "3", "the manifest's, and only once"
    assert effective["max_wire_smps"] == "16"
    assert effective["qos"] == "TRUE"
    assert effective["partition_config_file"] == "/etc/opensm/partitions.conf"


@pytest.mark.real
@pytest.mark.slow
def test_a_simulated_fabric_comes_up(tmp_path: Path) -> None:
    """Fat-tree routes, and the jobs' partition first in every port's table, where NCCL takes it from."""
    tree = managed(tmp_path, subnet_manager={"pkey": "0x8002"})
    script = """
        export OSM_TMP_DIR=/tmp OSM_CACHE_DIR=/tmp SIM_HOST=Hca1
        sleep 400 | ibsim -s /run/clustergen/net >/tmp/ibsim.log 2>&1 &
        for _ in {1..300}; do grep -q 'simulator ready' /tmp/ibsim.log && break; sleep 0.1; done
        timeout -k 2 200 ibsim-run opensm -F /etc/opensm/opensm.conf -o -f /run/clustergen/log -D 0x3 2>&1
        for guid in $(ibsim-run ibnetdiscover -p 2>/dev/null | awk '$1 == "CA" { print $2 }' | sort -u); do
          echo "pkeys $(ibsim-run smpquery pkeys "$guid" 2>&1 | head -1)"
        done
        kill %1
    """
    done = opensm(tree, tmp_path, script)
    log = done.files["log"]
    assert "ftree tables configured on all switches" in log, log[-2000:]
    assert not re.search(r"\bERR\b", log), log
    tables = re.findall(r"pkeys\s+0: (0x\w+)", done.stdout)
    assert tables, done.stdout
    assert set(tables) == {"0x8002"}


@pytest.mark.parametrize("manager", [{}, {"pkey": "0xffff"}, {"pkey": "0x7fff"}])
def test_jobs_use_the_default_partition_unless_told(manager: dict[str, str], tmp_path: Path) -> None:
    text = text_of(managed(tmp_path, subnet_manager=manager), "sm1", "/etc/opensm/partitions.conf")
    assert "jobs" not in text
    assert "Default=0x7fff, ipoib, mtu=5 : ALL=full ;" in text


@pytest.mark.parametrize("key", ["0x8002", "0x0002"])
def test_a_key_of_full_and_of_limited_members_is_one_partition(key: str, tmp_path: Path) -> None:
    text = text_of(managed(tmp_path, subnet_manager={"pkey": key}), "sm1", "/etc/opensm/partitions.conf")
    assert "jobs=0x0002, indx0, ipoib, mtu=5 : ALL=full ;" in text


@pytest.mark.parametrize(
    ("switches", "engine"),
    [
        (SWITCHES, "ftree,updn"),
        ([{"name": "one", "model": "qm9700", "nodes": "c[1-4]"}], "updn"),
    ],
)
def test_routing_follows_the_switches(tmp_path: Path, switches: list[dict[str, Any]], engine: str) -> None:
    text = text_of(managed(tmp_path, switches), "sm1", "/etc/opensm/opensm.conf")
    assert re.search(rf"^routing_engine +{engine}$", text, re.MULTILINE)


def test_opensm_starts_on_its_nodes_only(tmp_path: Path) -> None:
    tree = managed(tmp_path)
    marker = "/etc/clustergen/subnet-manager"
    assert f"ConditionPathExists={marker}" in text_of(tree, "c1", GUARD)
    assert marker not in node_files(tree, "c1")
    assert marker in node_files(tree, "sm1")
    elsewhere = fabric_tree(tmp_path, subnet_manager={"where": "switch"})
    assert GUARD in node_files(elsewhere, "c1")
    assert not any(marker in node_files(elsewhere, host) for host in ("c1", "head"))
    assert GUARD not in node_files(fabric_tree(tmp_path, type="roce"), "c1")


@pytest.mark.parametrize("value", ["a\nb 1", "x # y", " lead", ""])
def test_options_that_opensm_cannot_read(tmp_path: Path, value: str) -> None:
    networks = {
        "management": {"cidr": "10.0.0.0/24"},
        "fabric": {"type": "infiniband", "opensm_options": {"event_plugin_name": value}},
    }
    texts = codes_of(manifest(networks=networks), tmp_path)
    assert {"value-unprintable", "text-malformed", "value-out-of-range"} & set(texts)


# --- names that nobody has confirmed ----------------------------------------------------------------------------------

ASSUMED = {"system": "hgx-h100-8"}  # a board in a server of unknown make: the catalogue assumes eight cards
MONITOR = {**HEAD, "roles": [*HEAD["roles"], "monitoring"]}
INFINIBAND = {
    "management": {"cidr": "10.0.0.0/24", "ntp": ["ntp.example.org"]},
    "fabric": {"type": "infiniband", "rate": "NDR"},
}


@pytest.mark.slow
def test_an_assumed_device_drains_no_node_and_raises_no_alert(tmp_path: Path) -> None:
    def tree(kind: dict[str, Any]) -> Tree:
        return tree_of(manifest(networks=INFINIBAND, nodes=[MONITOR, COMPUTE], node_types={"gpu": kind}), tmp_path)

    check, rules = "/etc/slurm/health.d/40-fabric", "/etc/prometheus/rules/fabric.yml"
    assumed = tree(ASSUMED)
    assert check not in node_files(assumed, "c1")
    assert "mlx5_" not in text_of(assumed, "head", rules).replace("grep mlx5", "")
    assert "FabricPortFlaps" in text_of(assumed, "head", rules)  # which goes by no name
    for system in ("hgx-h100-8", "hgx-h200-8", "hgx-b200-8", "dgx-b200"):
        unnamed = manifest(networks=INFINIBAND, nodes=[MONITOR, COMPUTE], node_types={"gpu": {"system": system}})
        assert codes_of(unnamed, tmp_path) == ["fabric-ports-unknown"]
    named = tree({**ASSUMED, "nics": [{"device": "mlx5_0", "model": "cx7"}]})
    assert "\nfabric_devices=(mlx5_0)\n" in text_of(named, "c1", "/etc/clustergen/health.sh")
    assert check in node_files(named, "c1")
    assert 'device="mlx5_0"' in text_of(named, "head", rules)


@pytest.mark.parametrize(("device", "is_listed"), [("ibp24s0", True), ("ibP2p3s0", True), ("ib0", False)])
def test_on_infiniband_rdma_core_calls_a_device_as_its_interface(device: str, is_listed: bool, tmp_path: Path) -> None:
    nics = [{"device": device, "interface": device, "model": "cx7"}]
    tree = fabric_tree(tmp_path, kind={**GPU, "nics": nics})
    assert (f"NCCL_IB_HCA=={device}:1" in text_of(tree, "c1", "/etc/nccl.conf")) == is_listed


# --- the switches of RoCE ---------------------------------------------------------------------------------------------


def switch_page(directory: Path, **roce: Any) -> str:
    tree = fabric_tree(directory, type="roce", rails=RAILS["rails"], roce=roce)
    return next(file for file in tree if file.path == "facility/roce-switches.md").content.decode()


def test_networks_of_leaves_are_listed_for_the_switches(tmp_path: Path) -> None:
    nodes = {**COMPUTE, "addresses": {"fabric": ["10.1.0.[1-2],10.1.0.[65-66]", "10.1.1.[1-2],10.1.1.[65-66]"]}}
    switches = [
        {"name": f"leaf{unit}-r[0-1]", "rail": "0-1", "nodes": hosts, "uplinks": [{"to": "spine1"}]}
        for unit, hosts in enumerate(("c[1-2]", "c[3-4]"))
    ]
    tree = fabric_tree(
        tmp_path, nodes, type="roce", routing="/26", rails=RAILS["rails"], switches=[*switches, {"name": "spine1"}]
    )
    text = tree.files["facility/roce-switches.md"].content.decode()
    lines = [re.sub(r" +", " ", line) for line in text.splitlines()]
    assert "| leaf1-r1 | 1 | 10.1.1.64/26 | 10.1.1.126 | `c[3-4]` |" in lines


def test_switches_have_the_values_of_the_hosts(tmp_path: Path) -> None:
    text = switch_page(tmp_path, dscp=24, priority=4)
    example = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert example
    tables = json.loads(example[1])
    assert tables["DSCP_TO_TC_MAP"]["clustergen"]["24"] == "4"
    assert tables["DSCP_TO_TC_MAP"]["clustergen"]["48"] == "6"
    assert tables["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "4"
    assert tables["QUEUE"]["Ethernet0|4"] == {"wred_profile": "clustergen"}
    assert "nv set qos mapping default-global dscp 24 switch-priority 4\n" in text
    assert "DSCP 24, priority 4" in text
    assert "not confirmed" in text


@pytest.mark.slow
@pytest.mark.parametrize(("key", "table"), [("pfc", "PFC_WD"), ("ecn", "WRED_PROFILE")])
def test_switches_have_nothing_that_the_hosts_have_off(tmp_path: Path, key: str, table: str) -> None:
    assert table in switch_page(tmp_path)
    assert table not in switch_page(tmp_path, **{key: False})
