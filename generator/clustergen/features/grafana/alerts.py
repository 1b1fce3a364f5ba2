"""Recorded sums of the whole cluster: dashboards read one series instead of those of all GPUs and nodes."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.dcgm import BUSY_PERCENT, Dcgm, dcgm_types, gpus_in_jobs, maps_jobs
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.monitoring import NodeExporter, own_endpoint
from clustergen.features.grafana.resolved import Grafana
from clustergen.render.alerts import BLANK_COUNT, Recording, Topic, window

_GPU = "instance, node_type, gpu"


def topic(cluster: Cluster, _: Grafana) -> Topic | None:
    recordings = tuple(_recordings(cluster))
    return (
        Topic("cluster", "Sums of the whole cluster, for dashboards.", recordings, (), place=10) if recordings else None
    )


def utilisation(cluster: Cluster, kinds: tuple[NodeType, ...]) -> str:
    """Percent by GPU. MIG leaves DCGM_FI_DEV_GPU_UTIL out; then the graphics engine's share of time is read."""
    terms = [f"max by ({_GPU}) (DCGM_FI_DEV_GPU_UTIL < 101)"]
    if any(kind.gpus and any(kind.gpus.mig) for kind in kinds) and cluster.of(Dcgm).profiling:
        terms.append(f"100 * max by ({_GPU}) (DCGM_FI_PROF_GR_ENGINE_ACTIVE < 2)")
    return "\nor ".join(terms)


def _allocated(cluster: Cluster) -> str | None:
    """GPUs that jobs have: Slurm's own count, or those with a job in the metrics."""
    if own_endpoint(cluster) and cluster.slurm.controllers:
        return "sum(max by (node) (slurm_node_gpus_alloc))"
    if maps_jobs(cluster):
        return f"count(count by (instance, gpu) ({gpus_in_jobs(cluster)})) or vector(0)"
    return None


def _recordings(cluster: Cluster) -> Iterator[Recording]:
    yield Recording("job:targets:count", "count by (job) (up)")
    yield Recording("job:targets_down:count", "count by (job) (up == 0)")
    yield Recording("job:scrape_seconds:max", "max by (job) (scrape_duration_seconds)")
    if cluster.has(NodeExporter):
        yield Recording("cluster:nodes_up:count", 'sum(up{job="node"})')
    if kinds := tuple(dcgm_types(cluster).values()):
        by_gpu = utilisation(cluster, kinds)
        yield Recording("cluster:gpus:count", f"count(count by ({_GPU}) (DCGM_FI_DEV_GPU_TEMP))")
        yield Recording("node:gpu_utilisation:avg", f"avg by (instance, node_type) (\n{by_gpu}\n)")
        yield Recording("cluster:gpu_utilisation:avg", f"avg(\n{by_gpu}\n)")
        yield Recording("cluster:gpus_busy:count", f"count((\n{by_gpu}\n) >= {BUSY_PERCENT}) or vector(0)")
        if allocated := _allocated(cluster):
            yield Recording("cluster:gpus_allocated:count", allocated)
        power = f"max by ({_GPU}) (DCGM_FI_DEV_POWER_USAGE < {BLANK_COUNT})"
        yield Recording("node:gpu_power_watts:sum", f"sum by (instance, node_type) ({power})")
        yield Recording("cluster:gpu_power_watts:sum", "sum(node:gpu_power_watts:sum)")
        temperature = f"max by ({_GPU}) (DCGM_FI_DEV_GPU_TEMP < 200)"
        yield Recording("node:gpu_temperature_celsius:max", f"max by (instance, node_type) ({temperature})")
    if cluster.has(NodeExporter):
        minutes = window(cluster, 5)
        yield Recording(
            "node:cpu_busy:ratio",
            f'1 - avg by (instance, node_type) (rate(node_cpu_seconds_total{{mode="idle"}}[{minutes}]))',
        )
        yield Recording(
            "node:memory_used:ratio",
            "1 - max by (instance, node_type) (node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes)",
        )
        busy = f"rate(node_disk_io_time_seconds_total[{minutes}])"
        yield Recording("node:disk_busy:max", f"max by (instance, node_type) ({busy})")
        yield Recording(
            "cluster:kernel_errors:increase5m", "sum by (kind) (increase(clustergen_kernel_errors_total[5m])) > 0"
        )
        fabric = cluster.networks.fabric
        if fabric is not None and fabric.type != "ethernet":
            yield Recording("cluster:fabric_ports:count", "count(node_infiniband_state_id)")
            yield Recording("cluster:fabric_ports_down:count", "count(node_infiniband_state_id != 4) or vector(0)")
            yield Recording(
                "cluster:fabric_links_lost:increase5m", "sum(increase(node_infiniband_link_downed_total[5m]))"
            )
            for direction in ("received", "transmitted"):
                counter = f"node_infiniband_port_data_{direction}_bytes_total"
                yield Recording(
                    f"node:fabric_{direction}_bytes:rate", f"sum by (instance, node_type) (rate({counter}[{minutes}]))"
                )
