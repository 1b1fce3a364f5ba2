"""GPU metrics."""

from typing import Annotated, ClassVar

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import AbsolutePath, Celsius, PortNumber, Section, field, section, text
from clustergen.units import Bare

MetricName = Annotated[str, text(r"^DCGM_[A-Z0-9_]+$", "write the name of a DCGM field: DCGM_FI_DEV_GPU_TEMP", 100)]


class Dcgm(Section):
    """DCGM and dcgm-exporter."""

    NEEDS_PROMETHEUS: ClassVar = False  # the health check asks DCGM, too
    enabled: bool | None = field(None, "Default: on nodes with data-centre or workstation GPUs.")
    version: Annotated[str, text(r"^[34]\.[0-9]+$", 'write major and minor release: "4.5"')] = field(
        "4.5", "Release of DCGM."
    )
    port: PortNumber = field(ports()["dcgm-exporter"].port, "Port of the exporter.")
    interval: Annotated[int, Field(ge=1000, le=600000), Bare("millisecond")] = field(15000, "Time between samples.")
    profiling: bool = field(
        True, "Profiling counters: tensor and DRAM activity. Turn off if users profile their own jobs."
    )
    counters: tuple[MetricName, ...] = field((), "More fields to export.")
    job_map: AbsolutePath = field(
        "/run/dcgm-job-mapping", "Directory in which the prolog records which job uses which GPU."
    )
    job_label_limit: Annotated[int, Field(ge=0, le=1_000_000)] = field(
        1024, "GPUs of the cluster up to which samples carry the job's ID as a label; above, one series per GPU does."
    )


PLACES = {
    "monitoring.dcgm": (Dcgm, section(Dcgm, "GPU metrics.")),
    "monitoring.thresholds.gpu_hot": (
        Celsius | None,
        field(None, "°C, warning after 5 minutes; default: 5 °C below the limit of the model, or of the GPU itself."),
    ),
    "monitoring.thresholds.gpu_very_hot": (
        Celsius | None,
        field(None, "°C, critical after 1 minute; default: at that limit."),
    ),
    "monitoring.thresholds.throttled": (
        Annotated[float, Field(gt=0, le=1)],
        field(0.1, "Share of time throttled."),
    ),
}
