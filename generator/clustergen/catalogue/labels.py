"""Words for the fields and sources of the catalogue's rows, for people who do not know the tables."""

from __future__ import annotations

from functools import cache
from typing import Any

from clustergen.catalogue.tables import rows

LABELS = {
    "airflow_cfm": "airflow",
    "arch": "architecture",
    "assumed_nics": "NICs",
    "bandwidth_gb_s": "memory bandwidth",
    "connector_options": "other connectors",
    "cpu": "CPU",
    "cpu.numa_per_socket": "NUMA nodes",
    "cpus": "CPUs",
    "depth_mm": "depth",
    "fp16_tflops": "FP16 rate",
    "gbit": "rate",
    "gi_id": "nvidia-smi profile id",
    "gpu": "GPU",
    "gpu_count": "GPU count",
    "gpu_options": "also sold with",
    "gpus": "GPU placement",
    "gres_type": "type in Gres=",
    "hca_type": "HCA type",
    "heat_btu_h": "heat",
    "inlet": "power inlet",
    "inlet_c": "inlet temperature",
    "layout": "GPU placement",
    "link": "shipped as",
    "link_label": "NVLink label",
    "links": "NVLinks",
    "liquid_share_pct": "heat to liquid",
    "managed": "managed",
    "max_count": "instances per GPU",
    "max_gbit": "fastest port",
    "max_sm_mhz": "highest SM clock",
    "memory_gb": "memory",
    "memory_gib": "memory",
    "memory_mib": "memory",
    "memory_seen_mib": "memory that Linux reports",
    "mig_family": "MIG profiles",
    "mig_max": "MIG instances",
    "netdev_eth": "Ethernet interface",
    "netdev_ib": "InfiniBand interface",
    "nic": "NIC",
    "nics": "ports",
    "numa": "NUMA node",
    "nvlink_by": "NVLink wiring",
    "nvlink_domain_nodes": "nodes per NVLink domain",
    "nvlink_gb_s": "NVLink bandwidth",
    "nvlink_gen": "NVLink generation",
    "nvlink_links": "NVLink links",
    "nvml_mib": "memory that NVML reports",
    "nvml_name": "driver's name",
    "os": "operating system",
    "pci": "PCI address",
    "pci_id": "PCI id",
    "pci_ids": "PCI device ids",
    "pcie_gen": "PCIe generation",
    "pcie_lanes": "PCIe lanes",
    "port_gbit": "port rate",
    "power_default_w": "power limit as shipped",
    "power_max_w": "maximum power",
    "power_min_w": "lowest power limit",
    "power_typ_w": "typical power",
    "power_w": "power",
    "psu": "power supplies",
    "psu.inlet": "power inlet",
    "psu.volts": "input voltage of the power supplies",
    "psu_count": "power supplies",
    "psu_watt": "power supply",
    "rack_units": "height",
    "rdma": "RDMA device",
    "rdma_prefix": "RDMA device prefix",
    "slurm_type": "type that Slurm detects",
    "sm": "compute capability",
    "sms": "SMs",
    "tdp_w": "maximum power",
    "uplink_cage": "cage of the uplinks",
    "uplink_gbit": "rate of the uplinks",
    "uplink_ports": "uplinks",
    "weight_kg": "weight",
}


def label(field: str) -> str:
    """The words for a field of a row, or for a part of one (`cpu.numa_per_socket`)."""
    return LABELS.get(field) or field.replace("_", " ")


def unconfirmed(row: Any) -> str:
    """The facts of a row that no source confirmed, as words."""
    return ", ".join(sorted({label(field) for field in row.unverified}, key=str.lower))


@cache
def sources() -> dict[str, tuple[str, str]]:
    """Source code → how the fact was obtained (`vendor`, `measured` …), and from where."""
    return {row["code"]: (row["kind"], row["what"]) for row in rows("sources.tsv")}
