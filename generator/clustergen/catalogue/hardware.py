"""GPUs, network adapters, switches and link rates."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue.tables import NOTHING, keyed, normal
from clustergen.records import record


@record
class Gpu:
    """One GPU product. Empty text or None: not known. `unverified` names the fields that no source confirmed."""

    id: str
    nvml_name: str
    """The driver's name, as `nvidia-smi -L` prints it."""
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

    @property
    def is_geforce(self) -> bool:
        return "geforce" in self.nvml_name.lower()

    @property
    def title(self) -> str:
        """The id with what tells variants apart: `h100-sxm (80 GB, 700 W)`."""
        return f"{self.id} ({self.memory_gb} GB, {self.tdp_w} W)"


@record
class Nic:
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
    """The ports that a card may have, as ports x Gb/s."""
    infiniband: str = ""
    """The fastest InfiniBand rate by name; empty for an adapter without InfiniBand."""
    ethernet: bool = True
    ethernet_gbit: int | None = None
    """The fastest single port as Ethernet, where that is slower than `max_gbit`."""
    pcie_gen: int | None = None
    pcie_lanes: int | None = None
    drivers: tuple[str, ...] = ()
    power_w: int | None = None
    connector: str = ""
    """Id in `cabling.connectors()`; empty for a virtual device."""
    connector_options: tuple[str, ...] = ()
    """Other connectors that the same adapter is sold with."""
    rdma_prefix: str = "mlx5_"
    """The kernel's prefix of the number of its RDMA devices."""
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


@record
class Switch:
    """One switch product."""

    id: str
    model: str
    fabric: str
    """infiniband, ethernet or nvlink."""
    ports: int
    port_gbit: int | None
    aliases: tuple[str, ...] = ()
    rate: str = ""
    one_rate: bool = False
    """True: its ports run at `rate` and no other."""
    splits: tuple[str, ...] = ()
    """Ports when every one is split by a cable, as ports x Gb/s: `128x400`."""
    managed: bool = True
    """True: it has a processor, which on InfiniBand can run the subnet manager."""
    cages: int | None = None
    """Openings for plugs; None: not known."""
    ports_per_cage: int | None = None
    """Ports of `port_gbit` in one cage: 2 where one module serves two."""
    cage: str = ""
    """Id in `cabling.connectors()`; empty where ports are not for cables."""
    uplink_ports: int | None = None
    """Faster ports beside `ports`, as the four of an SN2201."""
    uplink_gbit: int | None = None
    uplink_cage: str = ""
    rack_units: int | None = None
    depth_mm: int | None = None
    weight_kg: float | None = None
    psu_count: int | None = None
    psu_watt: int | None = None
    inlet: str = ""
    """Inlet of a power supply: C14 or C20."""
    power_typ_w: int | None = None
    """Typical draw with passive cables."""
    power_max_w: int | None = None
    """The most it draws, with a transceiver in every cage."""
    airflow_cfm: int | None = None
    note: str = ""
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()

    def ports_at(self, gbit: int) -> int | None:
        """How many ports of `gbit` Gb/s it offers, all alike; None when it has no such ports."""
        if gbit == self.port_gbit:
            return self.ports
        splits = (split.split("x") for split in self.splits)
        return next((int(ports) for ports, rate in splits if int(rate) == gbit), None)


@record
class LinkRate:
    """A name for the speed of one port: `HDR` is 200 Gb/s in each direction."""

    name: str
    fabric: str
    gbit: int
    lanes: int
    aliases: tuple[str, ...] = ()
    unverified: frozenset[str] = NOTHING
    source: tuple[str, ...] = ()


gpus = keyed("gpus.tsv", Gpu, lambda row: row.id, nvlink_by=lambda text: tuple(text.split("|")))
"""All GPUs by id, in the order of the file."""


@cache
def gpu_names() -> dict[str, str]:
    """Every way to write a GPU, in its compared form, → id: ids, aliases, driver names and Slurm types."""
    names: dict[str, str] = {}
    for gpu in gpus().values():
        for name in (gpu.id, *gpu.aliases, gpu.slurm_type, gpu.slurm_type.removeprefix("nvidia_")):
            names.setdefault(normal(name), gpu.id)
    return names


def gpu(name: str) -> Gpu | None:
    """The GPU of that id, alias, driver name or Slurm type, in any case and with `-`, `_` or blanks."""
    identifier = gpu_names().get(normal(name))
    return gpus()[identifier] if identifier is not None else None


def gpu_variants(name: str) -> list[Gpu]:
    """Other GPUs that a name may mean: for `H100` the PCIe card and the NVL. None for an id or a full name."""
    row = gpu(name)
    words = set(normal(name).split("-"))
    if row is None or normal(name) == row.id or normal(name) in map(normal, (row.nvml_name, row.slurm_type)):
        return []
    return [
        other
        for other in gpus().values()
        if other.id != row.id and words <= {*other.id.split("-"), f"{other.memory_gb}", f"{other.memory_gb}gb"}
    ]


nics = keyed("nics.tsv", Nic, lambda row: row.id)
"""All network adapters by id."""


@cache
def _nic_names() -> dict[str, str]:
    return {normal(name): nic.id for nic in nics().values() for name in (nic.id, nic.name, *nic.aliases)}


def nic(name: str) -> Nic | None:
    """The network adapter of that id, alias or product name."""
    identifier = _nic_names().get(normal(name))
    return nics()[identifier] if identifier is not None else None


switches = keyed("switches.tsv", Switch, lambda row: row.id)
"""All switches by id."""


@cache
def _switch_names() -> dict[str, str]:
    return {normal(name): s.id for s in switches().values() for name in (s.id, s.model, *s.aliases)}


def switch(name: str) -> Switch | None:
    """The switch of that id, alias or model."""
    identifier = _switch_names().get(normal(name))
    return switches()[identifier] if identifier is not None else None


link_rates = keyed("link_rates.tsv", LinkRate, lambda row: row.name)
"""All link rates by name."""


def link_rate(name: str) -> LinkRate | None:
    """The rate of that name or alias, in any case: `NDR`, `400GbE`, `400g`."""
    searched = name.strip().lower()
    return next((r for r in link_rates().values() if searched in (r.name.lower(), *r.aliases)), None)
