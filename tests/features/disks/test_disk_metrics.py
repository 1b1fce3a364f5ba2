"""Metrics of disks from what smartctl prints for NVMe, SATA and SAS, and for a disk that does not answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, node_files, tree_of

SCRIPT = "/usr/local/sbin/clustergen-disk-metrics"
OUT = "/var/lib/prometheus/node-exporter/disks.prom"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
DEVICES = [
    {"name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"},
    {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
    {"name": "/dev/sdb", "type": "scsi", "protocol": "SCSI"},
    {"name": "/dev/sdc", "type": "sat", "protocol": "ATA"},
    {"name": "/dev/sdd", "type": "sat", "protocol": "ATA"},
]
ANSWERS = {
    "scan": {"devices": DEVICES},
    "nvme0": {
        "model_name": "FLASH 1T9",
        "serial_number": 'N"1',
        "smart_status": {"passed": False, "nvme": {"value": 4}},
        "temperature": {"current": 61},
        "nvme_smart_health_information_log": {"available_spare": 9, "percentage_used": 103, "media_errors": 12},
    },
    "sda": {
        "model_name": "SPIN 20T",
        "serial_number": "A1",
        "smart_status": {"passed": True},
        "temperature": {"current": 31},
        "ata_smart_attributes": {
            "table": [{"id": number, "raw": {"value": number}} for number in (5, 187, 197, 198, 199)],
        },
    },
    "sdb": {
        "scsi_model_name": "SAS 600G",
        "serial_number": "S1",
        "smart_status": {"passed": True},
        "scsi_error_counter_log": {"read": {"total_uncorrected_errors": 3}, "write": {"total_uncorrected_errors": 4}},
    },
}


def tree(directory: Path, **monitoring: object) -> object:
    return tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], monitoring=monitoring), directory)


@pytest.mark.real
def test_each_kind_of_disk_reports_what_it_has(tmp_path: Path) -> None:
    """The recorded program ends with status 2, as for a disk in standby. /dev/sdc prints nothing, /dev/sdd hangs."""
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = lay_out(tree(tmp_path, smart=True), "c1", tmp_path / "node")
    notes = {f"{name}.json": json.dumps(answer) for name, answer in ANSWERS.items()}
    script = f"""
mkdir -p $(dirname {OUT})
cat >/usr/sbin/smartctl <<'END'
#!/bin/bash
[ "$2" = --scan ] && exec cat /run/clustergen/scan.json
[[ "${{@: -1}}" != /dev/sdd ]] || exec sleep 300
cat "/run/clustergen/$(basename "${{@: -1}}").json" 2>/dev/null
exit 2
END
chmod 755 /usr/sbin/smartctl
sed 's/^PATIENCE = 60/PATIENCE = 4/' {SCRIPT} >/run/metrics
python3 /run/metrics && cat {OUT} && promtool check metrics <{OUT} >&2 || [ $? = 3 ]
"""
    box = sandbox.Sandbox(root, files=((place, "/"),), is_one_user=True)
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=300, notes=notes)
    assert done.code == 0, done
    flash = '{device="/dev/nvme0",type="nvme",model="FLASH 1T9",serial="N1"}'
    spinning = '{device="/dev/sda",type="sat",model="SPIN 20T",serial="A1"}'
    sas = '{device="/dev/sdb",type="scsi",model="SAS 600G",serial="S1"}'
    assert [line.removeprefix("clustergen_disk_") for line in done.stdout.splitlines() if line[0] != "#"] == [
        'answers{device="/dev/nvme0",type="nvme"} 1',
        'answers{device="/dev/sda",type="sat"} 1',
        'answers{device="/dev/sdb",type="scsi"} 1',
        'answers{device="/dev/sdc",type="sat"} 1',
        'answers{device="/dev/sdd",type="sat"} 0',
        f"healthy{flash} 0",
        f"healthy{spinning} 1",
        f"healthy{sas} 1",
        f"temperature_celsius{flash} 61",
        f"temperature_celsius{spinning} 31",
        f"wear_ratio{flash} 1.03",
        f"spare_ratio{flash} 0.09",
        f"errors_total{flash} 12",
        f"errors_total{spinning} {187 + 197 + 198}",
        f"errors_total{sas} 7",
    ]


@pytest.mark.slow
def test_disks_are_read_only_where_the_manifest_wants_it(tmp_path: Path) -> None:
    assert SCRIPT not in node_files(tree(tmp_path), "c1")
    assert SCRIPT in node_files(tree(tmp_path, smart=True), "c1")
