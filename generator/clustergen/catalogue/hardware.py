"""GPUs, network adapters, switches and link rates."""

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.tables import NOTHING, marks, normal, number, rows, words


class Gpu(NamedTuple):
    """One GPU product. Empty text or None: not known. `unverified` names the fields that no source confirmed."""

    id: str
    nvml_name: str
    """What the driver calls it, as `nvidia-smi -L` prints it."""
    slurm_type: str
    """The type that Slurm detects: the driver's name, lower case, with `_` for blanks."""
    gres_type: str
    """The short type to write in Gres=: part of `slurm_type`, and never digits only."""
    aliases: tuple[str, ...] = ()
    architecture: str = ""
    sm: str = ""
    """CUDA compute capability, such as `9.0`."""
    form: str = ""
    memory_gb: int | None = None
    """Memory as sold, in GB."""
    memory_type: str = ""
    nvml_mib: int | None = None
    """Memory as the driver reports it, in MiB."""
    bandwidth_gb_s: int | None = None
    tdp_w: int | None = None
    """The highest power that it can be set to, in watts."""
    power_min_w: int | None = None
    power_default_w: int | None = None
    """Set point as shipped, where it is below `tdp_w`."""
    nvlink_gen: int | None = None
    nvlink_links: int | None = None
    nvlink_gb_s: float = 0.0
    """Both directions of all links together, in GB/s."""
    nvlink_by: tuple[str, ...] = ("none",)
    """Ways of wiring it: none, bridge-2, bridge-4, mesh, mesh-4, nvswitch, nvl72, system."""
    pcie_gen: int | None = None
    fp16_tflops: float | None = None
    """Dense FP16 or BF16 tensor rate."""
    max_sm_mhz: int | None = None
    """The highest clock that the driver lists, which is what `nvidia-smi -lgc` goes up to."""
    mig_max: int = 0
    """How many MIG instances fit; 0 when it cannot be divided."""
    mig_family: str = ""
    pci_ids: tuple[str, ...] = ()
    """PCI device numbers (vendor 10de), four hexadecimal digits."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


class Nic(NamedTuple):
    """One network adapter product."""

    id: str
    name: str
    max_gbit: int
    """The fastest single port, in Gb/s per direction."""
    aliases: tuple[str, ...] = ()
    vendor: str = ""
    pci_id: str = ""
    hca_type: str = ""
    port_layouts: tuple[str, ...] = ()
    """What a card may carry, as ports x Gb/s."""
    infiniband: str = ""
    """The fastest InfiniBand rate by name; empty for an adapter without InfiniBand."""
    ethernet: bool = True
    pcie_gen: int | None = None
    pcie_lanes: int | None = None
    drivers: tuple[str, ...] = ()
    power_w: int | None = None
    rdma_prefix: str = "mlx5_"
    """What the kernel puts before the number of its RDMA devices."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


class Switch(NamedTuple):
    """One switch product."""

    id: str
    model: str
    fabric: str
    """infiniband, ethernet or nvlink."""
    ports: int
    port_gbit: int | None
    aliases: tuple[str, ...] = ()
    rate: str = ""
    split_ports: int | None = None
    """Ports when every one is split by a cable, and their speed."""
    split_gbit: int | None = None
    managed: bool = True
    """Whether it has a processor of its own, which on InfiniBand can run the subnet manager."""
    rack_units: int | None = None
    psu_count: int | None = None
    psu_watt: int | None = None
    power_typ_w: int | None = None
    power_max_w: int | None = None
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    def ports_at(self, gbit: int) -> int | None:
        """How many ports of `gbit` Gb/s it offers, all alike; None when it has no such ports."""
        if gbit == self.port_gbit:
            return self.ports
        return self.split_ports if gbit == self.split_gbit else None


class LinkRate(NamedTuple):
    """A name for the speed of one port: `HDR` is 200 Gb/s in each direction."""

    name: str
    fabric: str
    gbit: int
    lanes: int
    aliases: tuple[str, ...] = ()
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


def _real(text: str) -> float | None:
    return float(text) if text else None


@cache
def gpus() -> dict[str, Gpu]:
    """All GPUs by id, in the order of the file."""
    return {
        r["id"]: Gpu(
            id=r["id"],
            nvml_name=r["nvml_name"],
            slurm_type=r["slurm_type"],
            gres_type=r["gres_type"],
            aliases=words(r["aliases"]),
            architecture=r["architecture"],
            sm=r["sm"],
            form=r["form"],
            memory_gb=number(r["memory_gb"]),
            memory_type=r["memory_type"],
            nvml_mib=number(r["nvml_mib"]),
            bandwidth_gb_s=number(r["bandwidth_gb_s"]),
            tdp_w=number(r["tdp_w"]),
            power_min_w=number(r["power_min_w"]),
            power_default_w=number(r["power_default_w"]),
            nvlink_gen=number(r["nvlink_gen"]),
            nvlink_links=number(r["nvlink_links"]),
            nvlink_gb_s=_real(r["nvlink_gb_s"]) or 0.0,
            nvlink_by=tuple(r["nvlink_by"].split("|")),
            pcie_gen=number(r["pcie_gen"]),
            fp16_tflops=_real(r["fp16_tflops"]),
            max_sm_mhz=number(r["max_sm_mhz"]),
            mig_max=number(r["mig_max"]) or 0,
            mig_family=r["mig_family"],
            pci_ids=words(r["pci_ids"]),
            note=r["note"],
            unverified=marks(r["unverified"]),
            source=words(r["source"]),
        )
        for r in rows("gpus.tsv")
    }


@cache
def gpu_names() -> dict[str, str]:
    """Every way to write a GPU, in its compared form, → id: ids, aliases, driver names and Slurm types."""
    found: dict[str, str] = {}
    for gpu in gpus().values():
        for name in (gpu.id, *gpu.aliases, gpu.slurm_type, gpu.slurm_type.removeprefix("nvidia_")):
            found.setdefault(normal(name), gpu.id)
    return found


def gpu(name: str) -> Gpu | None:
    """The GPU of that id, alias, driver name or Slurm type, in any case and with `-`, `_` or blanks."""
    found = gpu_names().get(normal(name))
    return gpus()[found] if found is not None else None


def gpu_of_type(slurm_type: str) -> Gpu | None:
    """The GPU that a Gres type of a hand-written file means: by full type, else by short type, else by substring.

    Slurm takes any substring of the detected type; where that leaves several GPUs the first in the file is given.
    """
    exact = gpu(slurm_type)
    if exact is not None:
        return exact
    wanted = slurm_type.lower()
    for found in gpus().values():
        if found.gres_type == wanted:
            return found
    return next((g for g in gpus().values() if wanted and wanted in g.slurm_type), None)


@cache
def nics() -> dict[str, Nic]:
    """All network adapters by id."""
    return {
        r["id"]: Nic(
            id=r["id"],
            name=r["name"],
            max_gbit=int(r["max_gbit"]),
            aliases=words(r["aliases"]),
            vendor=r["vendor"],
            pci_id=r["pci_id"],
            hca_type=r["hca_type"],
            port_layouts=words(r["port_layouts"]),
            infiniband=r["infiniband"],
            ethernet=r["ethernet"] == "yes",
            pcie_gen=number(r["pcie_gen"]),
            pcie_lanes=number(r["pcie_lanes"]),
            drivers=words(r["drivers"]),
            power_w=number(r["power_w"]),
            rdma_prefix=r["rdma_prefix"],
            note=r["note"],
            unverified=marks(r["unverified"]),
            source=words(r["source"]),
        )
        for r in rows("nics.tsv")
    }


@cache
def _nic_names() -> dict[str, str]:
    return {normal(name): nic.id for nic in nics().values() for name in (nic.id, nic.name, *nic.aliases)}


def nic(name: str) -> Nic | None:
    """The network adapter of that id, alias or product name."""
    found = _nic_names().get(normal(name))
    return nics()[found] if found is not None else None


@cache
def switches() -> dict[str, Switch]:
    """All switches by id."""
    return {
        r["id"]: Switch(
            id=r["id"],
            model=r["model"],
            fabric=r["fabric"],
            ports=int(r["ports"]),
            port_gbit=number(r["port_gbit"]),
            aliases=words(r["aliases"]),
            rate=r["rate"],
            split_ports=number(r["split_ports"]),
            split_gbit=number(r["split_gbit"]),
            managed=r["managed"] == "yes",
            rack_units=number(r["rack_units"]),
            psu_count=number(r["psu_count"]),
            psu_watt=number(r["psu_watt"]),
            power_typ_w=number(r["power_typ_w"]),
            power_max_w=number(r["power_max_w"]),
            note=r["note"],
            unverified=marks(r["unverified"]),
            source=words(r["source"]),
        )
        for r in rows("switches.tsv")
    }


@cache
def _switch_names() -> dict[str, str]:
    return {normal(name): s.id for s in switches().values() for name in (s.id, s.model, *s.aliases)}


def switch(name: str) -> Switch | None:
    """The switch of that id, alias or model."""
    found = _switch_names().get(normal(name))
    return switches()[found] if found is not None else None


@cache
def link_rates() -> dict[str, LinkRate]:
    """All link rates by name."""
    return {
        r["name"]: LinkRate(
            name=r["name"],
            fabric=r["fabric"],
            gbit=int(r["gbit"]),
            lanes=int(r["lanes"]),
            aliases=words(r["aliases"]),
            unverified=marks(r["unverified"]),
            source=words(r["source"]),
        )
        for r in rows("link_rates.tsv")
    }


def link_rate(name: str) -> LinkRate | None:
    """The rate of that name or alias, in any case: `NDR`, `400GbE`, `400g`."""
    wanted = name.strip().lower()
    return next((r for r in link_rates().values() if wanted in (r.name.lower(), *r.aliases)), None)
