"""Settings that the switches of a RoCE fabric must share with its hosts, for the people who configure them.

No program here reads the configuration of a switch, so the examples are for SONiC and Cumulus Linux as their manuals
describe them, and the page says that nothing has confirmed them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Network

from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import Fabric, Roce
from clustergen.facility.leaf_networks import leaf_address, rail_leaves
from clustergen.hostlist import compress
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.formats import Safe
from clustergen.render.views.tables import Table, table_of

_FRAME = 22  # bytes around the IP packet: Ethernet header, VLAN tag, checksum
_SWITCH_MTU = 9216
_NS_PER_METRE = 5  # light in fibre and signals in copper
_NAME = "clustergen"
_LEAF_NETWORKS = (
    "Each leaf is the router of its nodes, and announces these networks to the other switches, by BGP or OSPF."
)
_NVUE_CLASS = 3


@record
class Page:
    name: str
    tables: tuple[Table, ...]
    sonic: Safe
    nvue: tuple[str, ...]


def page(cluster: Cluster) -> Page | None:
    fabric = cluster.networks.fabric
    if fabric is None or not cluster.has(Roce):
        return None
    roce = cluster.of(Roce)
    tables = [
        table_of(
            "What must match", "Hosts: what clustergen-roce-qos.service sets and reads back.", _rows(fabric, roce)
        ),
        table_of("Where", "", _places(cluster)),
    ]
    if fabric.leaf_prefix:
        tables.append(table_of("Networks of leaves", _LEAF_NETWORKS, _leaf_rows(cluster, fabric.leaf_prefix)))
    return Page(cluster.name, tuple(tables), Safe(_sonic(roce, _port_mtu(fabric))), tuple(_nvue(roce)))


def _port_mtu(fabric: Fabric) -> int:
    return max(_SWITCH_MTU, (fabric.port_mtu or 0) + _FRAME)


def _rows(fabric: Fabric, roce: Roce) -> Iterator[dict[str, str]]:
    rate = fabric.rate_gbit
    rows = [
        ("Trust", roce.trust.upper(), f"trust {roce.trust.upper()} on all ports; keep the DSCP between networks"),
        ("RDMA packets", f"DSCP {roce.dscp}, priority {roce.priority}", f"queue and priority group {roce.priority}"),
        (
            "Congestion notifications",
            f"DSCP {roce.cnp_dscp}, priority {roce.cnp_priority}",
            f"queue {roce.cnp_priority} with strict priority",
        ),
        (
            "PFC",
            f"priority {roce.priority} only" if roce.pfc else "off",
            f"priority {roce.priority} only, with a watchdog, on ports of hosts and between switches"
            if roce.pfc
            else "off on all ports",
        ),
        ("Global pause", "off", "off"),
        ("DCBX", "host mode: the switch's offers are ignored", "off, or not willing"),
        (
            "ECN",
            "DCQCN reacts and notifies" if roce.ecn else "off",
            f"mark on queue {roce.priority} before PFC starts" if roce.ecn else "off",
        ),
        *([("Rails", "one network each", "extend each over all of its leaves")] if fabric.routing == "bridged" else ()),
        ("MTU", f"{fabric.port_mtu} bytes of IP", f"frames of {_port_mtu(fabric)} bytes"),
    ]
    if rate:
        flight = round(2 * 10 * _NS_PER_METRE * rate / 8)
        rows.append(
            (
                "Buffer for PFC",
                "of the firmware; mlnx_qos --cable_len for long cables",
                f"{flight:,} bytes are on the way for every 10 m of cable at {rate:g} Gb/s; add two frames and the"
                " reaction time of the devices, or state the cable length and let the switch calculate",
            )
        )
    for setting, host, switch in rows:
        yield {"Setting": setting, "Hosts": host, "Switches": switch}


def _places(cluster: Cluster) -> Iterator[dict[str, str]]:
    for switch in cluster.switches:
        yield {
            "Switch": switch.name,
            "Model": switch.model or "",
            "Ports to nodes": compress(switch.nodes) if switch.nodes else "",
            "Ports to switches": ", ".join(f"{count} to {name}" for name, count in switch.uplinks.items()),
        }


def _leaf_rows(cluster: Cluster, prefix: int) -> Iterator[dict[str, str]]:
    """Networks in which a leaf is the router, in the order of its ports."""
    for rail, leaves in rail_leaves(cluster).items():
        for leaf, ports in leaves.items():
            networks: dict[IPv4Network, list[str]] = {}
            addresses: dict[IPv4Network, str] = {}
            for port in ports:
                if port.address and (network := port.network(prefix)):
                    networks.setdefault(network, []).append(port.host)
                    addresses[network] = str(leaf_address(network, port.address))
            for network, hosts in networks.items():
                row = {"Switch": leaf, "Rail": str(rail), "Network": str(network)}
                yield {**row, "Address of the switch": addresses[network], "Nodes": compress(hosts)}


def _sonic(roce: Roce, port_mtu: int) -> str:
    """A part of config_db.json for one port, Ethernet0."""
    numbers = [str(number) for number in range(8)]
    lossless = str(roce.priority)
    codes = {str(code): "0" for code in range(64)} | {
        str(roce.dscp): lossless,
        str(roce.cnp_dscp): str(roce.cnp_priority),
    }
    classes = "dscp_to_tc_map" if roce.trust == "dscp" else "dot1p_to_tc_map"
    port_map = dict.fromkeys((classes, "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"), _NAME)
    tables: dict[str, dict[str, dict[str, str]]] = {
        "PORT": {"Ethernet0": {"mtu": str(port_mtu)}},
        "DSCP_TO_TC_MAP" if roce.trust == "dscp" else "DOT1P_TO_TC_MAP": {
            _NAME: codes if roce.trust == "dscp" else {number: number for number in numbers}
        },
        "TC_TO_QUEUE_MAP": {_NAME: {number: number for number in numbers}},
        "TC_TO_PRIORITY_GROUP_MAP": {_NAME: {number: number if number == lossless else "0" for number in numbers}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {_NAME: {number: number for number in numbers}},
        "PORT_QOS_MAP": {"Ethernet0": port_map | ({"pfc_enable": lossless} if roce.pfc else {})},
        "SCHEDULER": {f"{_NAME}-strict": {"type": "STRICT"}},
        "QUEUE": {f"Ethernet0|{roce.cnp_priority}": {"scheduler": f"{_NAME}-strict"}},
    }
    if roce.ecn:
        tables["WRED_PROFILE"] = {_NAME: {"ecn": "ecn_all", "wred_green_enable": "true"}}
        tables["QUEUE"][f"Ethernet0|{lossless}"] = {"wred_profile": _NAME}
    if roce.pfc:
        tables["BUFFER_PG"] = {f"Ethernet0|{lossless}": {"profile": "NULL"}}
        tables["PFC_WD"] = {"Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "200"}}
    lines = [f"  {json.dumps(name)}: {json.dumps(table)}" for name, table in tables.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _nvue(roce: Roce) -> Iterator[str]:
    """Commands. Cumulus Linux itself maps DSCP 8 n to 8 n + 7 to priority n, and RoCE to priority and class 3."""
    yield f"nv set qos roce mode {'lossless' if roce.pfc else 'lossy'}"
    if roce.trust == "pcp":
        yield "nv set qos mapping default-global trust l2"
    else:
        for code, priority in ((roce.dscp, roce.priority), (roce.cnp_dscp, roce.cnp_priority)):
            if code // 8 != priority:
                yield f"nv set qos mapping default-global dscp {code} switch-priority {priority}"
    if roce.priority != _NVUE_CLASS:
        if roce.pfc:
            yield f"nv set qos pfc default-global switch-priority {roce.priority}"
        for priority, number in ((roce.priority, _NVUE_CLASS), (_NVUE_CLASS, 0)):
            yield f"nv set qos egress-queue-mapping default-global switch-priority {priority} traffic-class {number}"
    yield "nv config apply"


FILES: tuple[File, ...] = (File("tree/facility/roce-switches.md", page),)
