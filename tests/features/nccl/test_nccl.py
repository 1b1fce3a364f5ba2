"""Files for jobs: nccl.conf as NCCL reads it, a topology file for its parser, UCX's and Open MPI's settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clustergen.catalogue.nccl import nccl_param
from clustergen.catalogue.versions import NcclVersion
from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

CONF = "/etc/nccl.conf"
XML = "/etc/nccl-topo.xml"
UCX = "/etc/ucx/ucx.conf"
MPI = "/etc/openmpi/openmpi-mca-params.conf"
MANAGEMENT = {"cidr": "10.0.0.0/24", "interface": "eno1"}


def read_by_nccl(text: str) -> dict[str, str]:
    """nccl.conf by NCCL's own rules: a comment begins the line, and all before the first sign is the name."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        assert len(line) < 4095
        name, sign, value = line.partition("=")
        if not line.startswith("#") and sign:
            assert len(value) <= 1023
            assert name not in values, f"{name} stands twice"
            values[name] = value
        elif sign:
            pytest.fail(f"NCCL before 2.19 takes a comment with a sign for a variable: {line}")
    return values


def tree(directory: Path, kind: dict[str, Any] = GPU, management: dict[str, Any] = MANAGEMENT, **sections: Any) -> Tree:
    """The small cluster with a fabric, or without one where `fabric` is None."""
    fabric = sections.pop("fabric", {})
    networks: dict[str, Any] = {"management": management}
    if fabric is not None:
        networks["fabric"] = {"type": "infiniband", "rate": "NDR"} | fabric
        if networks["fabric"]["type"] != "infiniband":
            networks["fabric"]["rate"] = fabric.get("rate", "400Gb/s")
    return tree_of(manifest(networks=networks, node_types={"gpu": kind}, **sections), directory)


def conf(directory: Path, **sections: Any) -> dict[str, str]:
    return read_by_nccl(text_of(tree(directory, **sections), "c1", CONF))


# --- nccl.conf --------------------------------------------------------------------------------------------------------


def test_infiniband(tmp_path: Path) -> None:
    assert conf(tmp_path) == {"NCCL_SOCKET_IFNAME": "=eno1", "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1"}


def test_infiniband_with_what_its_fabric_has(tmp_path: Path) -> None:
    fabric = {"service_level": 1, "sharp": True, "subnet_manager": {"where": "switch", "pkey": "0x8002"}}
    text = text_of(tree(tmp_path, fabric=fabric), "c1", CONF)
    values = read_by_nccl(text)
    assert values["NCCL_IB_SL"] == "1"
    assert values["NCCL_COLLNET_ENABLE"] == "1"
    assert "NCCL_IB_PKEY" not in values, "it is an index, which nobody but the subnet manager knows"
    assert "partition 0x8002" in text
    assert not {"NCCL_IB_TC", "NCCL_IB_GID_INDEX", "NCCL_IB_ROCE_VERSION_NUM"} & values.keys()


@pytest.mark.parametrize(
    ("roce", "expected"),
    [({}, {"NCCL_IB_TC": "106"}), ({"ecn": False}, {"NCCL_IB_TC": "104"}), ({"dscp": 40}, {"NCCL_IB_TC": "162"}),
     ({"trust": "pcp", "priority": 5}, {"NCCL_IB_SL": "5"})],
)  # fmt: skip
def test_roce_marks_its_packets(tmp_path: Path, roce: dict[str, Any], expected: dict[str, str]) -> None:
    lint_findings = conf(tmp_path, fabric={"type": "roce", "roce": roce})
    assert {name: lint_findings[name] for name in lint_findings.keys() & {"NCCL_IB_TC", "NCCL_IB_SL"}} == expected


@pytest.mark.slow
def test_the_gid_index_is_for_old_releases(tmp_path: Path) -> None:
    roce = {"type": "roce"}
    old = conf(tmp_path, fabric=roce, nccl={"version": "2.20", "gid_index": 3})
    assert old["NCCL_IB_GID_INDEX"] == "3"
    new = conf(tmp_path, fabric=roce, nccl={"version": "2.21", "gid_index": 3})
    assert "NCCL_IB_GID_INDEX" not in new


@pytest.mark.slow
def test_tcp_only(tmp_path: Path) -> None:
    slow = conf(tmp_path, fabric={"type": "ethernet", "rate": "25Gb/s"})
    assert slow == {"NCCL_SOCKET_IFNAME": "=ibp24s0,ibp64s0", "NCCL_NET": "Socket"}
    fast = conf(tmp_path, fabric={"type": "ethernet", "rate": "100Gb/s"})
    assert int(fast["NCCL_SOCKET_NTHREADS"]) * int(fast["NCCL_NSOCKS_PERTHREAD"]) <= 64
    plain = conf(tmp_path, fabric={"type": "ethernet"}, kind={**GPU, "nics": [{"device": "enp1s0"}]})
    assert plain["NCCL_SOCKET_IFNAME"] == "=enp1s0"
    assert "NCCL_NET" not in plain, "no card that could do RDMA"


def test_without_a_fabric(tmp_path: Path) -> None:
    kind = {key: value for key, value in GPU.items() if key != "nics"}
    assert conf(tmp_path, kind=kind, fabric=None) == {"NCCL_SOCKET_IFNAME": "=eno1"}


def test_a_node_type_may_have_another_interface(tmp_path: Path) -> None:
    nics = [*GPU["nics"], {"device": "ens9", "network": "management"}]
    assert conf(tmp_path, kind={**GPU, "nics": nics})["NCCL_SOCKET_IFNAME"] == "=ens9"


def test_an_unknown_interface_is_not_insisted_on(tmp_path: Path) -> None:
    value = conf(tmp_path, management={"cidr": "10.0.0.0/24"})["NCCL_SOCKET_IFNAME"]
    assert value.startswith("^lo,docker")
    assert "=" not in value


@pytest.mark.slow
def test_devices_that_the_catalogue_assumes_are_not_insisted_on(tmp_path: Path) -> None:
    text = text_of(tree(tmp_path, kind={"system": "hgx-h100-8"}), "c1", CONF)
    assert "NCCL_IB_HCA" not in read_by_nccl(text)
    assert "node_types.gpu.nics" in text
    assert UCX not in node_files(tree(tmp_path, kind={"system": "hgx-h100-8"}), "c1")
    confirmed = conf(tmp_path, kind={"system": "dgx-h100"})
    assert confirmed["NCCL_IB_HCA"] == "=" + ",".join(f"mlx5_{n}:1" for n in (0, 3, 4, 5, 6, 9, 10, 11)), (
        "no storage ports"
    )


@pytest.mark.slow
def test_a_single_machine_needs_nothing(tmp_path: Path) -> None:
    alone = {"name": "titan", "type": "gpu", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-compute"]}
    kind = {key: value for key, value in GPU.items() if key != "nics"}
    assert CONF not in node_files(tree(tmp_path, kind=kind, fabric=None, nodes=[alone]), "titan")
    asked = tree(tmp_path, kind=kind, fabric=None, nodes=[alone], nccl={"debug": "WARN"})
    assert read_by_nccl(text_of(asked, "titan", CONF)) == {"NCCL_DEBUG": "WARN"}


LEAF = {"model": "qm9700", "nodes": "c[1-4]"}
UP = [{"to": "top", "links": 8}]


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ([{**LEAF, "name": "one"}], "1"),
        ([{**LEAF, "name": name} for name in ("left", "right")], None),
        ([{**LEAF, "name": f"rail{rail}", "rail": rail} for rail in range(2)], "0"),
        (
            [{**LEAF, "name": f"rail{rail}", "rail": rail, "uplinks": UP} for rail in range(2)]
            + [{"name": "top", "model": "qm9700"}],
            None,
        ),
    ],
)
def test_nics_cross_rails_where_the_wiring_lets_them(
    tmp_path: Path, switches: list[dict[str, Any]], expected: str | None
) -> None:
    assert conf(tmp_path, fabric={"switches": switches}).get("NCCL_CROSS_NIC") == expected


def test_the_manifest_wins_in_place(tmp_path: Path) -> None:
    env = {
        "NCCL_IB_HCA": "=mlx5_1",
        "NCCL_IB_QPS_PER_CONNECTION": {"value": 4, "reason": "Spreads flows over equal paths."},
        "NCCL_IB_TIMEOUT": 22,
    }
    text = text_of(tree(tmp_path, nccl={"env": env}), "c1", CONF)
    values = read_by_nccl(text)
    assert values["NCCL_IB_HCA"] == "=mlx5_1"
    assert values["NCCL_IB_TIMEOUT"] == "22"
    assert "\n# Spreads flows over equal paths.\nNCCL_IB_QPS_PER_CONNECTION=4\n" in text


@pytest.mark.parametrize(
    ("value", "nodes", "codes"),
    [
        ("lo", 4, ["nccl-value-wrong"]),
        ("=lo,docker0", 4, ["nccl-value-wrong"]),
        ("docker0", 4, ["nccl-value-wrong"]),
        ("10.0.0.0/24", 1, ["nccl-value-wrong"]),
        ("lo", 1, []),
        ("^lo,docker", 4, []),
        ("=lo,eno1", 4, []),
    ],
)
def test_interfaces_that_no_two_nodes_share(value: str, nodes: int, codes: list[str], tmp_path: Path) -> None:
    compute = {**COMPUTE, "name": f"c[1-{nodes}]", "address": f"10.0.0.[11-{10 + nodes}]"}
    data = manifest(nodes=[HEAD, compute], nccl={"env": {"NCCL_SOCKET_IFNAME": value}})
    assert [code for code in codes_of(data, tmp_path) if code.startswith("nccl-")] == codes


@pytest.mark.parametrize("value", [" padded", '"quoted"', "x" * 1024])
def test_values_that_nccl_would_misread(tmp_path: Path, value: str) -> None:
    assert codes_of(manifest(nccl={"env": {"NCCL_DEBUG_FILE": value}}), tmp_path) == ["nccl-value-wrong"]


@pytest.mark.many
@pytest.mark.parametrize("version", ["2.8", "2.18", "2.21", "2.27", "2.30"])
@pytest.mark.parametrize("fabric", [{}, {"sharp": True, "service_level": 2}, {"type": "roce"}, {"type": "ethernet"}])
def test_each_release_knows_every_name(tmp_path: Path, version: str, fabric: dict[str, Any]) -> None:
    nccl: dict[str, Any] = {"version": version, "topology_file": "auto", "debug": "WARN"}
    if fabric.get("type") == "roce" and NcclVersion(version) < NcclVersion("2.21"):
        nccl["gid_index"] = 3
    lint_findings = conf(tmp_path, kind={"system": "dgx-h100"}, fabric=fabric, nccl=nccl)
    assert "NCCL_SOCKET_IFNAME" in lint_findings
    for name, value in lint_findings.items():
        param = nccl_param(name)
        assert param is not None
        assert param.known_in(NcclVersion(version)), f"{name} in {version}"
        assert param.use == "system", f"{name} must not stay in a production system"
        assert param.accepts(value), f"{name}={value}"


# --- topology file ----------------------------------------------------------------------------------------------------


def devices(text: str) -> dict[str, tuple[int, str]]:
    """PCI address of a GPU or NIC → NUMA node, and the switch that it hangs on."""
    top = ElementTree.fromstring(text)
    assert top.attrib == {"version": "1"}
    return {
        device.attrib["busid"]: (int(cpu.attrib["numaid"]), switch.attrib["busid"])
        for cpu in top
        for switch in cpu
        for device in switch
    }


def test_gpu_and_nic_share_a_switch(tmp_path: Path) -> None:
    made = tree(tmp_path, kind={"system": "dgx-h100"}, nccl={"topology_file": "auto"})
    assert read_by_nccl(text_of(made, "c1", CONF))["NCCL_TOPO_FILE"] == XML
    values = devices(text_of(made, "c1", XML))
    assert len(values) == 16
    assert values["0000:1b:00.0"] == values["0000:18:00.0"], "GPU 0 and mlx5_0"
    assert values["0000:df:00.0"] == values["0000:dc:00.0"]
    assert values["0000:df:00.0"][0] == 1
    assert len({switch for _, switch in values.values()}) == 8


def test_the_topology_file_is_read_by_its_parser(tmp_path: Path) -> None:
    """No declaration, one blank between attributes, nothing longer than 255, at most 128 children and 256 elements."""
    text = text_of(tree(tmp_path, kind={"system": "dgx-h100"}, nccl={"topology_file": "auto"}), "c1", XML)
    assert not text.startswith("<?xml")
    elements = [line.strip() for line in text.splitlines() if not line.startswith("<!--")]
    for element in elements:
        assert re.fullmatch(r'<(/\w+|\w+(?: \w+="[^"=]{1,255}")*/?)>', element), element
    assert sum(not element.startswith("</") for element in elements) <= 256
    assert all(len(parent) <= 128 for parent in ElementTree.fromstring(text).iter())


def test_addresses_of_a_virtual_machine(tmp_path: Path) -> None:
    nics = [{"device": f"mlx5_{i}", "pci": f"0101:00:0{i}.0", "numa": i, "model": "cx6-vpi"} for i in range(2)]
    gpus = {"model": "h100-sxm", "count": 2, "numa": [1, 0], "pci": ["0001:00:00.0", "0002:00:00.0"]}
    kind = {**GPU, "gpus": gpus, "nics": nics}
    text = text_of(tree(tmp_path, kind=kind, fabric={"rate": "HDR"}, nccl={"topology_file": "auto"}), "c1", XML)
    values = devices(text)
    assert values["0001:00:00.0"] == values["0101:00:01.0"], "GPU 0 and mlx5_1 are of NUMA node 1"
    assert values["0002:00:00.0"] == values["0101:00:00.0"]
    assert 'busid="0101:00:00.0" class="0x020700" link_speed="16.0 GT/s PCIe"' in text, (
        "an older card than the GPU's slot"
    )


@pytest.mark.slow
def test_unknown_places_are_not_made_up(tmp_path: Path) -> None:
    assert XML not in node_files(tree(tmp_path, nccl={"topology_file": "auto"}), "c1"), "no PCI addresses"
    assert XML not in node_files(tree(tmp_path, kind={"system": "dgx-h100"}), "c1"), "not asked for"


# --- UCX, Open MPI, containers ----------------------------------------------------------------------------------------


@pytest.mark.real
def test_ucx_takes_its_settings(tmp_path: Path) -> None:
    root = root_with("ucx_info")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"

    def effective(name: str, **sections: Any) -> dict[str, str]:
        directory = lay_out(tree(tmp_path, **sections), "c1", tmp_path / name)
        done = sandbox.run(sandbox.Sandbox(root, files=((directory / "etc", "/etc"),)), ["ucx_info", "-c"], timeout=300)
        assert done.code == 0, done.stderr
        assert "UCX  WARN" not in done.stdout + done.stderr, done.stdout
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("UCX_"))

    roce = effective("roce", fabric={"type": "roce"}, ucx={"env": {"UCX_MAX_RNDV_RAILS": 4}})
    assert roce["UCX_NET_DEVICES"] == "mlx5_0:1,mlx5_1:1"
    assert roce["UCX_RC_VERBS_TRAFFIC_CLASS"] == "106"
    assert roce["UCX_MAX_RNDV_RAILS"] == "4"
    fabric = {"service_level": 3, "subnet_manager": {"where": "switch", "pkey": "0x0002"}}
    infiniband = effective("infiniband", fabric=fabric)
    assert infiniband["UCX_RC_VERBS_SL"] == "3"
    assert infiniband["UCX_RC_VERBS_PKEY"] == "0x8002", "as a full member"
    assert infiniband["UCX_RC_VERBS_TRAFFIC_CLASS"] == "auto"


def mca(text: str) -> dict[str, str]:
    rows = [line.split(" = ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row[1] for row in rows}


@pytest.mark.slow
def test_open_mpi_follows_the_fabric(tmp_path: Path) -> None:
    rdma = mca(text_of(tree(tmp_path, ucx={"mca": {"osc": "^ucx", "opal_cuda_support": 1}}), "c1", MPI))
    assert rdma["pml"] == "ucx"
    assert rdma["osc"] == "^ucx", "the manifest's"
    assert rdma["opal_cuda_support"] == "1"
    assert rdma["btl_tcp_if_include"] == "10.0.0.0/24"
    tcp = mca(text_of(tree(tmp_path, fabric={"type": "ethernet", "cidr": "10.1.0.0/24"}), "c1", MPI))
    assert tcp["pml"] == "^ucx"
    assert tcp["btl_tcp_if_include"] == "10.1.0.0/24"
    assert tcp["oob_tcp_if_include"] == "10.0.0.0/24"
    off = node_files(tree(tmp_path, ucx={"enabled": False}), "c1")
    assert not {MPI, UCX} & off.keys()


def test_grace_keeps_the_tuning_of_its_package(tmp_path: Path) -> None:
    files = node_files(tree(tmp_path, kind={"system": "gb200-nvl72-tray"}), "c1")
    assert UCX not in files
    assert MPI in files


def test_containers_see_the_settings(tmp_path: Path) -> None:
    target = "/etc/enroot/mounts.d/50-clustergen.fstab"
    slurm = {"version": "24.11", "pyxis": {"enabled": True}}
    made = tree(tmp_path, kind={"system": "dgx-h100"}, slurm=slurm, nccl={"topology_file": "auto"})
    rows = [line.split() for line in text_of(made, "c1", target).splitlines() if not line.startswith("#")]
    assert [row[:3] for row in rows] == [[path, path, "none"] for path in (CONF, XML)]
    assert all({"bind", "ro", "x-create=file"} <= set(row[3].split(",")) for row in rows)
    assert all(path in node_files(made, "c1") for path in (CONF, XML))
    assert target not in node_files(tree(tmp_path), "c1")


# --- ACS --------------------------------------------------------------------------------------------------------------

SETPCI = """#!/bin/bash
# Two bridges: one obeys, the other is asked in vain; a third has no such capability.
address=$2 what=$3
[ "$address" != 0000:02:00.0 ] || exit 1
case $what in
  *=*) [ "$address" = 0000:01:00.0 ] && [ ! -e /tmp/stubborn ] && echo 0000 >/tmp/acs; exit 0 ;;
  *) cat /tmp/acs ;;
esac
"""


@pytest.mark.real
@pytest.mark.parametrize("stubborn", [False, True])
def test_access_control_is_turned_off_or_reported(tmp_path: Path, stubborn: bool) -> None:
    root = root_with("udevadm")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    directory = lay_out(tree(tmp_path, gpu={"acs": "off"}), "c1", tmp_path / "node")
    setpci = directory / "usr/bin/setpci"
    setpci.parent.mkdir(parents=True)
    setpci.write_text(SETPCI)
    setpci.chmod(0o755)
    run = f"""
        mount -t sysfs sysfs /sys; mount -t tmpfs none /sys/bus
        mkdir -p /sys/bus/pci/devices/0000:0{{1,2,3}}:00.0; echo 001d >/tmp/acs
        for i in 1 2; do echo 0x060400 >/sys/bus/pci/devices/0000:0$i:00.0/class; done
        echo 0x030200 >/sys/bus/pci/devices/0000:03:00.0/class
        {"touch /tmp/stubborn" if stubborn else ""}
        /usr/local/sbin/clustergen-acs-off; echo "status $? acs $(cat /tmp/acs)"
    """
    done = sandbox.run(
        sandbox.Sandbox(root, files=((directory / "usr", "/usr"),)), ["/bin/bash", "-c", run], timeout=300
    )
    if stubborn:
        assert "status 1 acs 001d" in done.stdout, done.stdout + done.stderr
        assert "0000:01:00.0 keeps access control on" in done.stderr
    else:
        assert "status 0 acs 0000" in done.stdout, done.stdout + done.stderr
    assert "clustergen-acs-off" not in str(node_files(tree(tmp_path), "c1").keys()), "only where asked for"


@pytest.mark.real
def test_its_script_and_unit_are_sound(tmp_path: Path) -> None:
    root = root_with("shellcheck")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    directory = lay_out(tree(tmp_path, gpu={"acs": "off"}), "c1", tmp_path / "node")
    box = sandbox.Sandbox(root, files=((directory / "usr", "/usr"), (directory / "etc", "/etc")))
    checked = sandbox.run(box, ["shellcheck", "/usr/local/sbin/clustergen-acs-off"], timeout=300)
    assert checked.code == 0, checked.stdout
    unit = "/etc/systemd/system/clustergen-acs-off.service"
    verified = sandbox.run(box, ["systemd-analyze", "verify", "--man=no", unit], timeout=300)
    assert verified.code == 0, verified.stderr
    assert "clustergen-acs" not in verified.stderr, verified.stderr


@pytest.mark.slow
def test_ipv6_on_roce(tmp_path: Path) -> None:
    nodes = [HEAD, {**COMPUTE, "addresses": {"fabric": "fd00::[11-14]"}}]
    lint_findings = conf(tmp_path, fabric={"type": "roce", "cidr": "fd00::/64"}, nodes=nodes)
    assert lint_findings["NCCL_IB_ADDR_FAMILY"] == "AF_INET6"
    assert "NCCL_IB_ADDR_FAMILY" not in conf(tmp_path, fabric={"type": "roce"})
