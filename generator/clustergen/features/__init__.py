"""All that clustergen can configure beside the ground: a package per feature (see `clustergen.feature`)."""

from __future__ import annotations

ORDER = (
    "nvidia_driver", "slurmdbd", "job_scripts", "health", "private_tmp", "power_saving", "containers", "user_guide",
    "tuning", "boot_options", "interfaces", "fabric", "roce", "nccl", "ucx", "node_exporter", "ipmi", "kernel_log",
    "disks", "dcgm", "slurm_metrics", "prometheus", "alertmanager", "blackbox", "snmp", "grafana", "logs", "backups",
    "drift", "pull", "reports",
)  # fmt: skip
"""Of those whose contributions follow each other in a file; others follow by name."""
