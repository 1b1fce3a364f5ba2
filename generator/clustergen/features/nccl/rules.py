"""NCCL: names and values that the stated release reads, and nothing that NVIDIA says to leave alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.nccl import FINDS_GID, LAST, NcclParam, nccl_param, nccl_params, never_there
from clustergen.catalogue.versions import NcclVersion
from clustergen.cluster.environment import unprintable
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, quote
from clustergen.features.nccl.resolved import Nccl, Variable
from clustergen.manifest.networks import Fabric
from clustergen.rules.fabric import not_infiniband, unused_of_fabric

_MOST_SOCKETS = 64  # threads times sockets of each
_ROCE_ONLY = (
    "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_IB_FIFO_TC", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE",
    "NCCL_IB_ROCE_VERSION_NUM",
)  # fmt: skip
_BY_NAME = "write the interface of the management network, as =eno1, or remove it to exclude local interfaces"
_LOCAL = re.compile(r"(lo$|docker|podman|cni|veth|virbr|br-|tunl|flannel|cali|lxc|dummy)")
"""Interfaces that a node has for itself and its containers."""
_INTERFACE_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME")


def sharp(_: Cluster, section: Fabric) -> Iterator[Finding]:
    yield from unused_of_fabric(section, ("sharp",), not_infiniband(section))


def sharp_unserved(_: Cluster, section: Fabric) -> Iterator[Finding]:
    """The aggregation manager runs beside the master subnet manager, on a host."""
    if section.sharp and section.type == "infiniband" and section.subnet_manager.where == "switch":
        yield Finding(
            "sharp-unserved",
            ("networks", "fabric", "sharp"),
            "no aggregation manager runs on a switch, so that NCCL finds no SHARP",
            "set subnet_manager: {where: ufm}, or {where: node} with NVIDIA's opensm and sharp_am, and turn off the"
            " subnet manager of the switches",
        )


def nccl_env(cluster: Cluster) -> Iterator[Finding]:
    nccl = cluster.of(Nccl)
    version = nccl.version
    for name, variable in nccl.env.items():
        path: ManifestPath = ("nccl", "env", name)
        param = nccl_param(name)
        if param is None or not param.known_in(version):
            if not (version > LAST and variable.reason and name.startswith("NCCL_")):
                yield _unknown_name(path, name, param, version)
            continue
        if param.use == "debugging" and not variable.reason:
            yield Finding(
                "nccl-name-debugging",
                path,
                f"NVIDIA documents '{name}' as a debugging variable, not for production",
                f'to keep it, give a reason: {name}: {{value: {variable.value}, reason: "…"}}',
                key=True,
            )
        where: ManifestPath = (*path, "value") if variable.reason else path
        text = variable.value
        if wrong := unprintable(text):
            yield Finding("nccl-value-wrong", where, wrong)
        elif not param.accepts(text):
            why = "; NCCL silently reads other text as 0" if param.numeric and not _is_number(text) else ""
            yield Finding("nccl-value-wrong", where, f"'{name}' must be {_expected(param)}, not '{text}'{why}")


def _unknown_name(path: ManifestPath, name: str, param: NcclParam | None, version: NcclVersion) -> Finding:
    if param is None and not name.startswith("NCCL_"):
        hint = "set UCX variables in ucx.env" if name.startswith("UCX_") else None
        return Finding("nccl-name-unknown", path, f"'{name}' is not an NCCL variable", hint, key=True)
    if param is None:
        hint = never_there(name) or did_you_mean(name, nccl_params())
        message = f"no NCCL release reads '{name}'"
        if hint is None and version > LAST:
            message = f"'{name}' is not in the catalogue, which covers NCCL up to {LAST}"
            hint = f'if NCCL {version} has it, give a reason: {name}: {{value: …, reason: "…"}}'
        return Finding("nccl-name-unknown", path, message, hint, key=True)
    since = param.since
    when = f"since {since}" if since and version < since else f"only before {param.removed}"
    hint = f"write {param.instead}" if param.instead else None
    if hint is None and since and version < since:
        hint = f'set nccl: {{version: "{since}"}} if all jobs use NCCL {since} or newer'
    return Finding("nccl-name-unknown", path, f"NCCL reads '{name}' {when}; this is {version}", hint, key=True)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def _expected(param: NcclParam) -> str:
    spans = [value.replace("..", " to ") for value in param.values]
    return " or ".join(spans) if spans else "a number"


def nccl_sockets(cluster: Cluster) -> Iterator[Finding]:
    """Threads and sockets of each multiply."""
    env = cluster.of(Nccl).env
    names = ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD")
    texts = [env[name].value for name in names if name in env]
    if len(texts) == 2 and all(text.isdigit() for text in texts) and int(texts[0]) * int(texts[1]) > _MOST_SOCKETS:
        yield Finding(
            "nccl-value-wrong",
            ("nccl", "env", names[1]),
            f"{texts[0]} threads with {texts[1]} sockets each exceed the {_MOST_SOCKETS} sockets that NCCL opens",
            "use 4 and 4, which is usual for 100 Gb/s",
        )


def nccl_gid(cluster: Cluster) -> Iterator[Finding]:
    """The GID index: needed on RoCE before 2.21, and harmful from there on. What else only RoCE knows."""
    spec = cluster.of(Nccl)
    fabric = cluster.networks.fabric
    roce = fabric is not None and fabric.type == "roce"
    version = spec.version
    stated: list[ManifestPath] = []
    if spec.gid_index is not None:
        stated.append(("nccl", "gid_index"))
    if "NCCL_IB_GID_INDEX" in spec.env:
        stated.append(("nccl", "env", "NCCL_IB_GID_INDEX"))
    if roce and not stated and version < FINDS_GID:
        yield Finding(
            "nccl-gid-missing",
            ("nccl", "version"),
            f"NCCL {version} requires the GID index on RoCE; only {FINDS_GID} and newer detect it",
            "run show_gids on a node and set nccl: {gid_index: 3} (3 is usual)",
        )
    for path in stated if roce and version >= FINDS_GID else ():
        yield Finding(
            "nccl-gid-useless",
            path,
            f"NCCL {version} detects the GID index itself; a fixed one breaks when an address is added",
            "remove it",
            key=True,
        )
    if fabric is None or roce:
        return
    speaks = {"infiniband": "InfiniBand", "ethernet": "TCP"}[fabric.type]
    names = [name for name in _ROCE_ONLY if name in spec.env and name != "NCCL_IB_GID_INDEX"]
    for path in (*stated, *(("nccl", "env", name) for name in names)):
        yield Finding(
            "nccl-gid-useless",
            path,
            f"'{path[-1]}' has an effect on RoCE only; this fabric uses {speaks}",
            "remove it",
            key=True,
        )


def nccl_local_interfaces(cluster: Cluster) -> Iterator[Finding]:
    """Interfaces by which no two nodes reach each other, and what is no name of an interface."""
    env, nodes = cluster.of(Nccl).env, sum(len(group.hosts) for group in cluster.compute if group.type.gpus)
    for name in _INTERFACE_LISTS:
        text = env[name].value if name in env else ""
        items = [item.strip() for item in text.removeprefix("=").split(",")]
        network = next((item for item in items if "/" in item), None)
        message = hint = None
        if network is not None:
            message, hint = f"'{network}' is a network; NCCL compares this list with names of interfaces", _BY_NAME
        elif text and nodes > 1 and all(_LOCAL.match(item) for item in items):
            message, hint = (
                f"no two of {nodes} nodes with GPUs reach each other by {' or '.join(map(quote, items))}",
                _BY_NAME,
            )
        if message:
            yield Finding("nccl-value-wrong", _value_path(env[name], name), message, hint)


def nccl_prefix_match(cluster: Cluster) -> Iterator[Finding]:
    """Lists of devices and interfaces match by prefix, unless they begin with an equals sign."""
    env = cluster.of(Nccl).env
    for name in ("NCCL_IB_HCA", *_INTERFACE_LISTS):
        text = env[name].value if name in env else ""
        names = text.removeprefix("^")
        if not names or names.startswith("="):
            continue
        # Nothing begins with mlx5_0 but itself; a name that ends in a letter is meant as a prefix.
        one, longer = (r".*_[1-9]\d*", "0") if name == "NCCL_IB_HCA" else (r".*\d", ".100")
        items = [item.partition(":")[0] for item in names.split(",")]
        meant = next((item for item in items if re.fullmatch(one, item)), None)
        if meant is not None:
            yield Finding(
                "nccl-prefix-match",
                _value_path(env[name], name),
                f"'{meant}' matches every device whose name starts with it, such as {meant}{longer}",
                f"write {'^=' if text.startswith('^') else '='}{names} to match exactly these devices",
                at=(text.index(meant), len(meant)),
            )
        elif name == "NCCL_IB_HCA" and not text.startswith("^"):
            yield from _other_networks(cluster, _value_path(env[name], name), items)


def _other_networks(cluster: Cluster, path: ManifestPath, prefixes: list[str]) -> Iterator[Finding]:
    """A prefix that also matches ports of the storage network: NCCL would use them for jobs."""
    for node_type in cluster.gpu_types:
        matches = [port for port in node_type.ports if any(port.device.startswith(item) for item in prefixes if item)]
        outside = [port for port in matches if port.network != "fabric"]
        if outside and len(outside) < len(matches):
            inside = ",".join(port.device for port in matches if port.network == "fabric")
            yield Finding(
                "nccl-prefix-match",
                path,
                f"the list also matches {outside[0].device} of '{node_type.name}', a port of the {outside[0].network}"
                " network",
                f"remove the variable, which clustergen sets to all ports of the fabric, or write ={inside}",
            )
            return


def _value_path(variable: Variable, name: str) -> ManifestPath:
    return ("nccl", "env", name, "value") if variable.reason else ("nccl", "env", name)


def nccl_hca_unknown(cluster: Cluster) -> Iterator[Finding]:
    """A list of HCAs must name devices that the GPU nodes have."""
    variable = cluster.of(Nccl).env.get("NCCL_IB_HCA")
    if variable is None or variable.value.startswith("^"):
        return
    text = variable.value
    exact = text.startswith("=")
    start = 1 if exact else 0
    for item in text[start:].split(","):
        name = item.partition(":")[0]
        lacking = {}
        for node_type in cluster.gpu_types:
            devices = [port.device for port in node_type.ports]
            is_present = name in devices if exact else any(device.startswith(name) for device in devices)
            if devices and name and not is_present and not are_guessed(cluster, node_type):
                lacking[node_type.name] = devices
        for kind_name, devices in list(lacking.items())[:1]:
            yield Finding(
                "nccl-hca-unknown",
                _value_path(variable, "NCCL_IB_HCA"),
                f"node type '{kind_name}' has no device '{name}'",
                did_you_mean(name, devices) or f"use one of {', '.join(devices)}",
                at=(start, len(name)),
            )
        start += len(item) + 1


def fabric_without_port(cluster: Cluster) -> Iterator[Finding]:
    """GPU nodes in a fabric need a port of it, or NCCL falls back to TCP over the management network."""
    if cluster.networks.fabric is None:
        return
    device = "enp1s0f0" if cluster.networks.fabric.type == "ethernet" else "mlx5_0, interface: …"
    for node_type in cluster.gpu_types:
        if node_type.is_resolved and not node_type.fabric_ports():
            yield Finding(
                "fabric-without-port",
                ("node_types", node_type.name),
                f"node type '{node_type.name}' has no fabric port, so NCCL would use the management network",
                f"add node_types.{node_type.name}.nics: [{{device: {device}}}]",
                key=True,
            )
