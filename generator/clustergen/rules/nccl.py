"""NCCL and UCX: names and values that the stated release reads, and nothing that NVIDIA says to leave alone."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.nccl import nccl_param, nccl_params, ucx_params
from clustergen.catalogue.versions import NcclVersion
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.accelerators import Override

_ROCE_FINDS_GID = NcclVersion("2.21")


def nccl_env(cluster: Cluster) -> Iterator[Finding]:
    version = NcclVersion(cluster.manifest.nccl.version)
    for name, given in cluster.manifest.nccl.env.items():
        path: ManifestPath = ("nccl", "env", name)
        value = str(given.value if isinstance(given, Override) else given)
        if any(ord(char) < 32 for char in value):
            yield Finding("nccl-value-wrong", path, "a value of nccl.conf stands on one line")
            continue
        if not name.startswith("NCCL_"):
            yield Finding(
                "nccl-name-unknown", path, f"'{name}' is no variable of NCCL's", "UCX's belong in ucx.env", key=True
            )
            continue
        known = nccl_param(name)
        if known is None:
            near = did_you_mean(name, nccl_params())
            yield Finding("nccl-name-unknown", path, f"no NCCL reads '{name}'", near, key=True)
            continue
        if not known.known_in(version):
            when = f"from {known.since} on" if known.since and version < known.since else f"before {known.removed}"
            hint = f"write {known.instead}" if known.instead else None
            yield Finding(
                "nccl-name-unknown",
                path,
                f"NCCL {version} does not read '{name}': only those {when} do",
                hint,
                key=True,
            )
            continue
        if known.use == "debugging" and not isinstance(given, Override):
            yield Finding(
                "nccl-name-debugging",
                path,
                f"NVIDIA says that '{name}' is for debugging and must not stay in a production system",
                f'where it must, say why: {name}: {{value: {value}, reason: "…"}}',
                key=True,
            )
        if not known.accepts(value):
            wanted = "a number" if known.numeric and not known.values else " or ".join(known.values)
            why = "; NCCL would take it for 0" if known.numeric else ""
            yield Finding("nccl-value-wrong", path, f"'{name}' takes {wanted}, not '{value}'{why}")


def nccl_gid(cluster: Cluster) -> Iterator[Finding]:
    """The GID index: needed on RoCE before 2.21, obsolete from there on, without meaning on InfiniBand."""
    written = cluster.manifest.nccl
    fabric = cluster.manifest.networks.fabric
    version = NcclVersion(written.version)
    path: ManifestPath = ("nccl", "gid_index")
    if written.gid_index is None:
        if fabric and fabric.type == "roce" and version < _ROCE_FINDS_GID and "NCCL_IB_GID_INDEX" not in written.env:
            yield Finding(
                "nccl-gid-missing",
                ("nccl", "version"),
                f"on RoCE NCCL {version} has to be told the GID index; only 2.21 and newer find it",
                "read it off show_gids (often 3) and say nccl: {gid_index: 3}",
            )
    elif fabric is None or fabric.type != "roce":
        yield Finding("nccl-gid-useless", path, "the GID index has a meaning on RoCE only")
    elif version >= _ROCE_FINDS_GID:
        yield Finding("nccl-gid-useless", path, f"NCCL {version} finds the GID itself, and NVIDIA says not to set it")


def nccl_hcas(cluster: Cluster) -> Iterator[Finding]:
    """A list of HCAs must name devices that the GPU nodes have, and whole names."""
    given = cluster.manifest.nccl.env.get("NCCL_IB_HCA")
    if given is None:
        return
    path: ManifestPath = ("nccl", "env", "NCCL_IB_HCA")
    text = str(given.value if isinstance(given, Override) else given)
    if not text.startswith(("=", "^=")) and not text.startswith("^"):
        yield Finding(
            "nccl-hca-prefix",
            path,
            f"'{text}' matches every device whose name begins so: mlx5_1 takes mlx5_10 too",
            f"write ={text}",
        )
    for kind in cluster.gpu_types:
        devices = {port.device for port in kind.ports}
        for item in text.lstrip("^=").split(","):
            name = item.partition(":")[0]
            if (
                name
                and not text.startswith("^")
                and name not in devices
                and not any(d.startswith(name) for d in devices)
            ):
                yield Finding(
                    "nccl-hca-unknown",
                    path,
                    f"nodes of type '{kind.name}' have no device '{name}'",
                    did_you_mean(name, devices),
                )


def fabric_without_ports(cluster: Cluster) -> Iterator[Finding]:
    """GPU nodes in a fabric need a port of it, or NCCL falls back to TCP over the management network."""
    fabric = cluster.manifest.networks.fabric
    if fabric is None:
        return
    for kind in cluster.gpu_types:
        if kind.known and not kind.fabric_ports():
            yield Finding(
                "fabric-without-port",
                ("node_types", kind.name),
                f"nodes of type '{kind.name}' have no port in the fabric, so NCCL would use the management network",
                "say nics: [{device: mlx5_0, interface: …}]",
                key=True,
            )


def ucx_env(cluster: Cluster) -> Iterator[Finding]:
    for name, value in cluster.manifest.ucx.env.items():
        path: ManifestPath = ("ucx", "env", name)
        if not name.startswith("UCX_"):
            yield Finding(
                "ucx-name-unknown",
                path,
                f"'{name}' is no variable of UCX's",
                did_you_mean(name, ucx_params()),
                key=True,
            )
        if any(ord(char) < 32 for char in str(value)):
            yield Finding("ucx-value-wrong", path, "a value of ucx.conf stands on one line")
    for name, value in cluster.manifest.ucx.mca.items():
        if any(ord(char) < 32 for char in str(value)):
            yield Finding(
                "ucx-value-wrong", ("ucx", "mca", name), "a value of Open MPI's parameter file stands on one line"
            )


RULES = (nccl_env, nccl_gid, nccl_hcas, fabric_without_ports, ucx_env)
