"""Lustre clients: LNet, parameters and layouts of directories."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.render.formats import RenderError
from strategies.file_systems import FABRIC, LUSTRE, ON_FABRIC, UNITS, stored
from strategies.findings import diagnosed
from strategies.trees import COMPUTE, GPU, HEAD, calls, manifest, node_files, run_script, runnable, text_of, tree_of


def test_all_nids_are_in_the_device(tmp_path: Path) -> None:
    tree = stored(tmp_path, lus={**LUSTRE, "subdirectory": "/projects/"})
    text = text_of(tree, "c1", f"{UNITS}/mnt-lustre.mount")
    assert "What=10.1.0.1@o2ib,10.0.0.201@tcp:10.1.0.2@o2ib:/lus/projects\n" in text


def lnet(tree: Any, host: str = "c1") -> dict[str, list[str]]:
    document = yaml.safe_load(text_of(tree, host, "/etc/lnet.conf"))
    return {net["net type"]: [ni["interfaces"][0] for ni in net["local NI(s)"]] for net in document["net"]}


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


def test_lnet_uses_no_port_without_an_address(tmp_path: Path) -> None:
    """A DGX has five ports that could be in the management network, and one address there."""
    data = manifest(
        node_types={"gpu": {"system": "dgx-h100"}},
        networks=FABRIC,
        nodes=[HEAD, {**COMPUTE, "addresses": {"fabric": "10.1.0.[11-14]"}}],
        storage={"lus": {**LUSTRE, "mgs": ["10.1.0.1@o2ib,10.0.0.201@tcp"]}},
    )
    assert lnet(tree_of(data, tmp_path)) == {"o2ib": ["ibp24s0"]}


ROUTED = {
    **LUSTRE,
    "mgs": ["10.99.0.1@tcp,10.99.1.1@tcp1"],
    "lnet": [{"name": "o2ib", "interfaces": ["ibp24s0"]}],
    "routes": [{"net": "tcp", "gateways": ["10.1.0.91@o2ib", "10.1.0.92@o2ib"], "priority": 1}],
    "peers": ["10.99.0.1@tcp,10.99.1.1@tcp1"],
}


def test_lnet_has_routes_and_peers(tmp_path: Path) -> None:
    tree = stored(tmp_path, lus=ROUTED)
    document = yaml.safe_load(text_of(tree, "c1", "/etc/lnet.conf"))
    assert document["route"] == [
        {"net": "tcp", "gateway": "10.1.0.91@o2ib", "priority": 1},
        {"net": "tcp", "gateway": "10.1.0.92@o2ib", "priority": 1},
    ]
    nids = [{"nid": "10.99.0.1@tcp"}, {"nid": "10.99.1.1@tcp1"}]
    assert document["peer"] == [{"primary nid": "10.99.0.1@tcp", "Multi-Rail": True, "peer ni": nids}]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        (
            {"routes": []},
            "clients of 'lus' have LNet network o2ib, and the MGS 10.99.0.1@tcp,10.99.1.1@tcp1 is in none",
        ),
        ({"routes": [], "lnet": [{"name": "tcp0", "interfaces": ["eno1"]}]}, None),
        (
            {"routes": [{"net": "tcp1", "gateways": ["10.2.0.91@o2ib1"]}]},
            "clients of 'lus' have no interface in the network of the router 10.2.0.91@o2ib1",
        ),
    ],
)
def test_a_client_has_a_way_to_the_mgs(changes: dict[str, Any], words: str | None) -> None:
    data = manifest(networks=FABRIC, storage={"lus": {**ROUTED, **changes}})
    messages = [item.message for item in diagnosed(json.dumps(data)) if item.code == "lnet-interface-missing"]
    assert messages == ([words] if words else [])


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


@pytest.mark.slow
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
