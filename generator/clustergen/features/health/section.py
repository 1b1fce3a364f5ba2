"""Health checks of compute nodes, which slurmd runs."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Celsius, Section, field, section
from clustergen.units import Bare, Bytes


class Health(Section):
    """The health check that slurmd runs: it drains nodes with a reason, and resumes only nodes that it drained."""

    enabled: bool = field(True, "Whether to run the health check.")
    interval: Annotated[int, Field(ge=30, le=65533), Bare("second")] = field(300, "Time between two checks.")
    states: tuple[Literal["ANY", "ALLOC", "CYCLE", "IDLE", "NONDRAINED_IDLE", "MIXED", "START_ONLY"], ...] = field(
        ("ANY", "CYCLE"), "Node states in which it runs; CYCLE spreads the nodes over the interval."
    )
    gpu_count: bool = field(True, "Check that all GPUs respond.")
    gpu_settings: bool = field(
        True, "Power limit, highest clock and PCIe width of GPUs reach the floors of acceptance; slowdowns are logged."
    )
    ecc: bool = field(
        True, "The driver requests no recovery, no row remapping failed; before R570: no uncorrected errors."
    )
    nvlink: bool | None = field(None, "All NVLinks are up; default: on nodes with NVLink.")
    fabric: bool = field(True, "Fabric ports are up at full rate.")
    mounts: bool = field(True, "Required file systems are mounted and respond.")
    min_free: Bytes | None = field(None, "Free space of /tmp and the spool directory; default 1 GiB.")
    max_temperature: Celsius | None = field(None, "°C above which an idle GPU drains the node.")
    nhc: bool = field(False, "Render /etc/nhc/clustergen.conf, the same checks for sites that run LBNL NHC.")
    dcgm: Literal["drain", "warn", "off"] | None = field(
        None, "Faults that DCGM's health watches report; default: drain where DCGM runs. warn: to the journal only."
    )


PLACES = {"health": (Health, section(Health, "Node health check."))}
