"""Which DCGM fields and metric names each release has."""

import csv
import io

import pytest

from clustergen.catalogue import dcgm, metrics
from clustergen.catalogue.versions import DcgmVersion


def test_a_counter_list_of_all_fields_is_read_as_three_columns() -> None:
    lines = "".join(f"{field.field}, {field.kind}, {field.help}\n" for field in dcgm.dcgm_fields().values())
    read = list(csv.reader(io.StringIO(lines)))
    assert {len(row) for row in read} == {3}
    assert [row[0] for row in read] == list(dcgm.dcgm_fields())


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("DCGM_FI_DEV_GPU_TEMP", 150),
        ("DCGM_FI_DEV_POWER_USAGE", 155),
        ("DCGM_FI_DEV_GPU_UTIL", 203),
        ("DCGM_FI_DEV_FB_USED", 252),
        ("DCGM_FI_DEV_XID_ERRORS", 230),
        ("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", 112),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", 449),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1001),
        ("DCGM_FI_PROF_DRAM_ACTIVE", 1005),
        ("DCGM_FI_PROF_PCIE_TX_BYTES", 1009),
    ],
)
def test_numbers(name: str, ident: int) -> None:
    field = dcgm.dcgm_fields().get(name)
    assert field is not None
    assert field.id == ident


def test_every_field_is_a_name_of_dcgm_or_of_the_exporter() -> None:
    for name, field in dcgm.dcgm_fields().items():
        assert name.startswith("DCGM_EXP_") == (field.id is None)
        assert field.kind in {"gauge", "counter", "label"}
        assert name in dcgm.dcgm_names() or field.id is None
        assert not field.newer or field.newer in dcgm.dcgm_names()
        assert field.profiling == name.startswith("DCGM_FI_PROF_")


def test_the_exporters_list_lacks_fields_of_alerts() -> None:
    for name in ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_EXP_XID_ERRORS_COUNT", "DCGM_FI_DEV_ROW_REMAP_PENDING"):
        field = dcgm.dcgm_fields().get(name)
        assert field is not None
        assert not field.default_on
    for name in ("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_GPU_TEMP"):
        field = dcgm.dcgm_fields().get(name)
        assert field is not None
        assert field.default_on


@pytest.mark.parametrize(
    ("name", "version", "is_known"),
    [
        ("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "3.3", False),
        ("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "4.0", True),
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "3.1", True),
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "4.6", True),
        ("DCGM_FI_DEV_BOARD_POWER_WATTS", "4.5", False),
        ("DCGM_FI_DEV_BOARD_POWER_WATTS", "4.6", True),
        ("DCGM_FI_DEV_GPU_TEMPERATURE", "4.5", False),
        ("DCGM_EXP_XID_ERRORS_COUNT", "4.5", True),
    ],
)
def test_releases_that_have_a_name(name: str, version: str, is_known: bool) -> None:
    assert dcgm.dcgm_name_known(name, DcgmVersion(version)) is is_known


def test_slurms_own_metrics() -> None:
    assert len(metrics.slurm_metrics()) == 259
    assert {metric.endpoint for metric in metrics.slurm_metrics().values()} == {
        "/metrics/jobs",
        "/metrics/jobs-users-accts",
        "/metrics/nodes",
        "/metrics/partitions",
        "/metrics/scheduler",
    }
    assert metrics.slurm_metrics()["slurm_jobs_completed"].labels == ()


def test_metrics_of_nodes() -> None:
    assert metrics.node_metrics()["node_systemd_unit_state"].collector == "systemd"
    for metric in metrics.node_metrics().values():
        assert metric.metric.startswith("node_") or metric.metric == "up"
        assert metric.kind == ("counter" if metric.metric.endswith(("_total", "_kill")) else "gauge")
