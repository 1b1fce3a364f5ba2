"""Valid manifests of all kinds, as plain data: what hypothesis draws, the compiler must take."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

OSES = ("debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04", "rocky-9")
RELEASES = ("22.05", "24.11", "26.05")
SYSTEMS = {  # GPUs in a node
    "dgx-a100-40": 8, "dgx-h100": 8, "dgx-b200": 8, "hgx-h100-8": 8, "hgx-a100-8": 8, "dgx-station-a100": 4, "dgx1-v100": 8,
    "ws-4x3090": 4, "ws-2xa6000": 2,
}  # fmt: skip
NAMES = st.from_regex(r"\A[a-z][a-z0-9]{0,7}\Z").filter(lambda name: name not in ("service", "localhost", "all"))
PHRASES = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), exclude_characters="\"'`$\\\u0085\u2028\u2029"),
    min_size=1, max_size=40,
)  # fmt: skip
TIMES = st.sampled_from(["unlimited", "30", "4:00:00", "7-0", "1-12:30:00", "12h", "2d"])


def _addresses(network: int, first: int, count: int) -> str:
    last = first + count - 1
    return f"10.{network}.0.[{first}-{last}]" if count > 1 else f"10.{network}.0.{first}"


@st.composite
def manifests(draw: st.DrawFn, release: str | None = None) -> dict[str, Any]:
    """A manifest that `validate` must find without error; small, and of every feature sometimes."""
    version = release or draw(st.sampled_from(RELEASES))
    fabric = draw(st.sampled_from([None, "infiniband", "roce", "ethernet"]))
    types: dict[str, Any] = {}
    nodes: list[dict[str, Any]] = []
    networks: dict[str, Any] = {"management": {"cidr": "10.0.0.0/24", "domain": "cluster.test"}}
    if draw(st.booleans()):
        networks["management"] |= {"interface": "eno1", "gateway": "10.0.0.254", "configure": True}
    controllers = draw(st.integers(1, 2))
    head = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]}
    for role in ("slurm-accounting", "login", "monitoring"):
        if draw(st.booleans()):
            head["roles"].append(role)
    nodes.append(head)
    storage: dict[str, Any] = {}
    if controllers == 2:
        nodes.append({"name": "head2", "type": "service", "address": "10.0.0.2", "roles": ["slurm-controller"]})
        storage["state"] = {
            "type": "nfs",
            "server": "filer",
            "path": "/state",
            "mount": "/shared",
            "clients": ["slurm-controller"],
        }
    first = 10
    for number in range(draw(st.integers(1, 3))):
        system = draw(st.sampled_from(sorted(SYSTEMS)))
        kind: dict[str, Any] = {"system": system}
        if draw(st.booleans()):
            kind["reserved"] = {"cores": draw(st.integers(0, 4)), "memory": f"{draw(st.integers(1, 16))}GiB"}
        if draw(st.booleans()):
            kind["weight"] = draw(st.integers(1, 1000))
        if fabric == "infiniband" or fabric == "roce":
            kind["nics"] = [{"device": f"mlx5_{i}", "interface": f"ib{i}"} for i in range(draw(st.integers(1, 4)))]
        if draw(st.integers(0, 3)) == 0:
            kind["gpus"] = {"shards": draw(st.integers(1, 8))}
        types[f"t{number}"] = kind
        count = draw(st.integers(1, 12))
        nodes.append(
            {
                "name": f"n{number}x[01-{count:02d}]" if count > 1 else f"n{number}x01",
                "type": f"t{number}",
                "address": _addresses(0, first, count),
            }
        )
        first += count
    compute = [entry["name"] for entry in nodes if entry["type"] != "service"]
    if fabric:
        networks["fabric"] = {"type": fabric}
        if draw(st.booleans()):
            networks["fabric"]["switches"] = _switches(draw, compute)
    if draw(st.booleans()):
        networks["bmc"] = {"cidr": "10.9.0.0/24"}
        for position, entry in enumerate(nodes):
            if "[" not in entry["name"]:
                entry["addresses"] = {"bmc": f"10.9.0.{position + 1}"}
    slurm: dict[str, Any] = {"version": version, "build": "schedmd"}
    if controllers == 2:
        slurm["state_location"] = "/shared/slurm"
    if draw(st.booleans()):
        slurm["partitions"] = _partitions(draw, compute)
    if "slurm-accounting" in head["roles"] and draw(st.booleans()):
        slurm["accounts"] = {"lab": {"description": draw(PHRASES), "users": ["alice"]}}
        slurm["qos"] = {"high": {"priority": 10, "preempt": ["low"]}, "low": {"max_wall": draw(TIMES)}}
        slurm["preemption"] = {"by": "qos", "mode": draw(st.sampled_from(["requeue", "cancel"]))}
    slurm["configless"] = draw(st.booleans())
    if draw(st.booleans()):
        storage["home"] = {
            "type": "nfs",
            "server": "filer",
            "path": "/home",
            "mount": "/home",
            "nconnect": draw(st.integers(1, 16)),
        }
    if draw(st.booleans()):
        storage["scratch"] = {"type": "lustre", "mount": "/lustre", "mgs": ["10.1.0.1@tcp", "10.1.0.2@tcp"]}
    if draw(st.booleans()):
        storage["fast"] = {
            "type": "beegfs",
            "version": draw(st.sampled_from(["7.4", "8.1"])),
            "mgmtd": "10.1.0.9",
            "mount": "/fast",
        }
    manifest: dict[str, Any] = {
        "name": draw(NAMES), "os": draw(st.sampled_from(OSES)), "networks": networks, "node_types": types, "nodes": nodes,
        "slurm": slurm, "storage": storage, "nccl": {"version": "2.27"},
    }  # fmt: skip
    if draw(st.booleans()):
        manifest["description"] = draw(PHRASES)
    return manifest


def _switches(draw: st.DrawFn, compute: list[str]) -> list[dict[str, Any]]:
    if len(compute) == 1 or draw(st.booleans()):
        return [{"name": "leaf1", "nodes": ",".join(compute)}]
    leaves = [
        {"name": f"leaf{i}", "nodes": nodes, "uplinks": [{"to": "spine[1-2]"}]} for i, nodes in enumerate(compute)
    ]
    return [*leaves, {"name": "spine[1-2]"}]


def _partitions(draw: st.DrawFn, compute: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "main": {"nodes": ",".join(compute), "default": True, "max_time": draw(TIMES), "default_time": "30"}
    }
    if draw(st.booleans()):
        values["short"] = {"nodes": compute[0], "max_time": "30", "priority_tier": draw(st.integers(1, 100))}
    return values
