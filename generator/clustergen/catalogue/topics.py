"""The catalogue by topic, as `clustergen catalogue`, the guides and editors list it: rows, columns and labels.

A `Topic` holds rows of one kind that a manifest names; its `columns` are the facts to choose by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from clustergen.catalogue import hardware, mig
from clustergen.catalogue.operating_systems import OperatingSystem, operating_system, operating_systems
from clustergen.catalogue.systems import System, system, system_ids
from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record

_DESCRIBED_BY_THE_MANIFEST = ("custom",)


@record
class Column:
    """One fact of each row, made of `fields`. `is_code`: its text can be pasted into a manifest."""

    title: str
    text: Callable[[Any], str]
    fields: tuple[str, ...] = ()
    is_code: bool = False

    def is_unconfirmed(self, row: Any) -> bool:
        """True if no source confirmed one of the fields."""
        return not row.unverified.isdisjoint(self.fields)


@record
class Topic:
    """Rows of one kind."""

    name: str
    summary: str
    field: str
    """Where a manifest names a row."""
    rows: Callable[[], Iterable[Any]]
    find: Callable[[str], Any]
    """The row of a name or alias; None for an unknown one."""
    columns: tuple[Column, ...]
    id: Callable[[Any], str] = lambda row: str(row.id)
    title: Callable[[Any], str] = lambda row: str(row.name)
    aliases: Callable[[Any], tuple[str, ...]] = lambda row: tuple(row.aliases)

    def ids(self) -> list[str]:
        return [self.id(row) for row in self.rows()]

    def names(self) -> list[str]:
        """Ids and aliases, for guesses at what was meant."""
        return [name for row in self.rows() for name in (self.id(row), *self.aliases(row))]


def _count(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:g} {unit}"


def _height(row: System | hardware.Switch) -> str:
    return _count(row.rack_units, "U")


def _cpu(row: System) -> str:
    return f"{row.cpu.sockets} × {row.cpu.cores_per_socket}"


def _ports(row: System) -> str:
    """The fabric's ports, alike ones together: `8 × 400 Gb/s`."""
    rates: dict[int | None, int] = {}
    for port in row.nics_of("compute"):
        rates[port.gbit] = rates.get(port.gbit, 0) + 1
    return ", ".join(f"{count} × {rate} Gb/s" if rate else f"{count} ports" for rate, count in rates.items())


def _switch_ports(row: hardware.Switch) -> str:
    splits = "".join(f", or {split.replace('x', ' × ')}" for split in row.splits)
    return f"{row.ports} × {row.port_gbit} Gb/s{splits}"


def _cages(row: hardware.Switch) -> str:
    """The openings for plugs: `32 × osfp-twin`."""
    uplinks = f", {row.uplink_ports} × {row.uplink_cage}" if row.uplink_ports else ""
    return f"{row.cages} × {row.cage}{uplinks}" if row.cages else ""


def _nic_fabrics(row: hardware.Nic) -> str:
    fabrics = [f"InfiniBand {row.infiniband}"] if row.infiniband else []
    return ", ".join([*fabrics, "Ethernet"] if row.ethernet else fabrics)


def _systems() -> Iterable[System]:
    return [row for name in system_ids() if (row := _system(name)) is not None]


def _system(name: str) -> System | None:
    row = system(name)
    return None if row is None or row.id in _DESCRIBED_BY_THE_MANIFEST else row


def _fabric_switches() -> Iterable[hardware.Switch]:
    """A manifest lists no NVLink switches: they come with their systems."""
    return (switch for switch in hardware.switches().values() if switch.fabric in ("infiniband", "ethernet"))


@record
class SlurmReleaseRow:
    """One release of Slurm that a manifest may name."""

    id: str
    accepts: tuple[str, ...]
    """Older releases that its daemons talk to."""
    status: str
    """`read`, or `announced` for a release whose keys nobody has read yet."""
    distributions: tuple[str, ...]
    """Operating systems that ship it."""
    unverified: frozenset[str] = frozenset()
    source: tuple[str, ...] = ()


@cache
def _releases() -> tuple[SlurmReleaseRow, ...]:
    shipped = [(os.id, os.fact("slurm")) for os in operating_systems().values()]
    return tuple(
        SlurmReleaseRow(
            row["release"],
            tuple(row["accepts"].split()),
            row["status"],
            tuple(os for os, version in shipped if version.startswith(f"{row['release']}.")),
            source=tuple(row["source"].split()),
        )
        for row in rows("slurm_releases.tsv")
        if SlurmRelease(row["release"]).has("cgroup-v2")  # a manifest cannot name older ones
    )


def _release(name: str) -> SlurmReleaseRow | None:
    short = ".".join(name.strip().split(".")[:2])
    return next((row for row in _releases() if row.id == short), None)


def _mig_id(row: mig.MigProfile) -> str:
    return f"{row.family}:{row.profile}"


def _mig_rows() -> Iterable[mig.MigProfile]:
    return (profile for family in mig.mig_families() for profile in mig.mig_profiles(family))


def _mig_row(name: str) -> mig.MigProfile | None:
    family, _, profile = name.partition(":")
    return mig.mig_profile(family, profile)


def _os_packages(row: OperatingSystem) -> str:
    return f"{row.fact('slurm')} ({row.fact('slurm_archive')})"


TOPICS = {
    topic.name: topic
    for topic in (
        Topic(
            name="systems",
            summary="servers with their GPUs",
            field="node_types.NAME.system",
            rows=_systems,
            find=_system,
            columns=(
                Column("system", lambda row: row.id, is_code=True),
                Column("product", lambda row: row.name),
                Column(
                    "GPUs", lambda row: f"{row.gpu_count} × {row.gpu}" if row.gpu_count else "", ("gpu", "gpu_count")
                ),
                Column("cores", _cpu, ("cpu",)),
                Column("memory", lambda row: f"{row.memory_mib // 1024} GiB", ("memory_mib",)),
                Column("NICs", _ports, ("assumed_nics",)),
                Column("height", _height, ("rack_units",)),
                Column("power", lambda row: _count(row.power_max_w, "W"), ("power_max_w",)),
            ),
        ),
        Topic(
            name="gpus",
            summary="GPUs",
            field="node_types.NAME.gpus.model",
            rows=lambda: hardware.gpus().values(),
            find=hardware.gpu,
            columns=(
                Column("GPU", lambda row: row.id, is_code=True),
                Column("driver's name", lambda row: row.nvml_name, ("nvml_name",)),
                Column("Slurm type", lambda row: row.gres_type, is_code=True),
                Column("memory", lambda row: _count(row.memory_gb, "GB"), ("memory_gb",)),
                Column("power", lambda row: _count(row.tdp_w, "W"), ("tdp_w",)),
                Column("MIG", lambda row: str(row.mig_max or ""), ("mig_max", "mig_family")),
            ),
            title=lambda row: row.nvml_name,
        ),
        Topic(
            name="nics",
            summary="network adapters",
            field="node_types.NAME.nics[].model",
            rows=lambda: hardware.nics().values(),
            find=hardware.nic,
            columns=(
                Column("NIC", lambda row: row.id, is_code=True),
                Column("product", lambda row: row.name),
                Column("fastest port", lambda row: _count(row.max_gbit, "Gb/s"), ("max_gbit",)),
                Column("fabrics", _nic_fabrics, ("infiniband", "ethernet")),
                Column("also called", lambda row: ", ".join(row.aliases)),
            ),
        ),
        Topic(
            name="switches",
            summary="switches of the fabric",
            field="networks.fabric.switches[].model",
            rows=_fabric_switches,
            find=hardware.switch,
            columns=(
                Column("switch", lambda row: row.id, is_code=True),
                Column("fabric", lambda row: row.fabric),
                Column("ports", _switch_ports, ("ports", "port_gbit", "splits")),
                Column("cages", _cages, ("cages", "cage")),
                Column("managed", lambda row: "yes" if row.managed else "no", ("managed",)),
                Column("height", _height, ("rack_units",)),
                Column("power", lambda row: _count(row.power_max_w, "W"), ("power_max_w",)),
            ),
            title=lambda row: row.model,
        ),
        Topic(
            name="rates",
            summary="names of link rates",
            field="networks.fabric.rate",
            rows=lambda: hardware.link_rates().values(),
            find=hardware.link_rate,
            columns=(
                Column("rate", lambda row: row.name, is_code=True),
                Column("fabric", lambda row: row.fabric),
                Column("per direction", lambda row: _count(row.gbit, "Gb/s"), ("gbit",)),
                Column("lanes", lambda row: str(row.lanes), ("lanes",)),
            ),
            id=lambda row: str(row.name),
            title=lambda row: f"{row.gbit} Gb/s per direction",
        ),
        Topic(
            name="mig",
            summary="MIG profiles by family of GPUs",
            field="gpu.mig_plans.NAME",
            rows=_mig_rows,
            find=_mig_row,
            columns=(
                Column("family:profile", _mig_id, is_code=True),
                Column("per GPU", lambda row: str(row.max_count), ("max_count",)),
                Column("compute slices", lambda row: str(row.compute), ("compute",)),
                Column("memory slots", lambda row: str(row.width), ("width",)),
                Column("memory", lambda row: _count(row.memory_gib, "GiB"), ("memory_gib",)),
            ),
            id=_mig_id,
            title=lambda row: f"MIG profile {row.profile} of {row.family}",
            aliases=lambda row: (),
        ),
        Topic(
            name="os",
            summary="operating systems of the nodes",
            field="os",
            rows=lambda: operating_systems().values(),
            find=operating_system,
            columns=(
                Column("os", lambda row: row.id, is_code=True),
                Column("codename", lambda row: row.fact("codename"), ("codename",)),
                Column("Slurm", _os_packages, ("slurm", "slurm_archive")),
                Column("Python", lambda row: row.fact("python"), ("python",)),
                Column("packages", lambda row: row.fact("package_manager"), ("package_manager",)),
            ),
            title=lambda row: row.fact("codename"),
            aliases=lambda row: (),
        ),
        Topic(
            name="slurm",
            summary="releases of Slurm",
            field="slurm.version",
            rows=_releases,
            find=_release,
            columns=(
                Column("release", lambda row: row.id, is_code=True),
                Column("talks to", lambda row: ", ".join(row.accepts)),
                Column("shipped by", lambda row: ", ".join(row.distributions)),
                Column("status", lambda row: row.status),
            ),
            title=lambda row: f"Slurm {row.id}",
            aliases=lambda row: (),
        ),
    )
}
