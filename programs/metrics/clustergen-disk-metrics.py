#!/usr/bin/python3
"""Health of the local disks for Prometheus, as smartctl reads it: SATA, SAS and NVMe."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

METRICS: str = json.loads(Path("/etc/clustergen/disk-metrics.json").read_text(encoding="utf-8"))["metrics_file"]

ATA_ERRORS = (187, 197, 198)  # uncorrectable reads, sectors that wait for remapping, sectors that cannot be read
PATIENCE = 60  # seconds for an answer of smartctl
TYPES = {
    "answers": "gauge", "healthy": "gauge", "temperature_celsius": "gauge", "wear_ratio": "gauge",
    "spare_ratio": "gauge", "errors_total": "counter",
}  # fmt: skip


def asked(*arguments: str) -> dict[str, Any]:
    """smartctl's answer. Its exit status is a set of bits, some of which describe the disk; JSON is there with each."""
    process = subprocess.Popen(
        ["/usr/sbin/smartctl", "--json=c", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        answer: dict[str, Any] = json.loads(process.communicate(timeout=PATIENCE)[0])
        return answer
    except subprocess.TimeoutExpired:
        process.kill()  # and not waited for: the kernel may hold it until the disk answers
        raise
    except ValueError:
        return {}


def values(disk: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Metric without its prefix → value, of what the disk reports."""
    passed = disk.get("smart_status", {}).get("passed")
    if passed is not None:
        yield "healthy", int(passed)
    degrees = disk.get("temperature", {}).get("current")
    if degrees:
        yield "temperature_celsius", degrees
    nvme = disk.get("nvme_smart_health_information_log")
    if nvme:
        for name, field in (("wear_ratio", "percentage_used"), ("spare_ratio", "available_spare")):
            if field in nvme:
                yield name, nvme[field] / 100
        yield "errors_total", nvme.get("media_errors", 0)
    table = disk.get("ata_smart_attributes", {}).get("table")
    if table:
        yield "errors_total", sum(row["raw"]["value"] for row in table if row["id"] in ATA_ERRORS)
    log = disk.get("scsi_error_counter_log")
    if log:
        yield "errors_total", sum(part.get("total_uncorrected_errors", 0) for part in log.values())


def label(text: object) -> str:
    return str(text).replace("\\", "").replace('"', "").replace("\n", " ")


def main() -> None:
    samples: dict[str, list[str]] = {name: [] for name in TYPES}
    for device in asked("--scan").get("devices", []):
        name, kind = device["name"], device["type"]
        try:
            disk = asked(
                "--nocheck=standby", "--info", "--health", "--attributes", "--log=error", f"--device={kind}", name
            )
            answers = 1
        except subprocess.TimeoutExpired:
            disk, answers = {}, 0
        labels = f'device="{label(name)}",type="{label(kind)}"'
        samples["answers"].append(f"clustergen_disk_answers{{{labels}}} {answers}")
        model = disk.get("model_name") or disk.get("scsi_model_name", "")
        labels += f',model="{label(model)}",serial="{label(disk.get("serial_number", ""))}"'
        for metric, value in values(disk):
            samples[metric].append(f"clustergen_disk_{metric}{{{labels}}} {value}")
    lines = []
    for metric, rows in samples.items():
        if rows:
            lines += [f"# TYPE clustergen_disk_{metric} {TYPES[metric]}", *rows]
    text = "".join(f"{line}\n" for line in lines)
    subprocess.run(["/usr/local/sbin/clustergen-write", METRICS], input=text.encode(), timeout=PATIENCE, check=True)


if __name__ == "__main__":
    main()
