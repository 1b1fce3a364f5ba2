"""Alerts on local disks, whose health smartctl reads."""

from __future__ import annotations

from clustergen.features.disks.needs import TEXTFILE
from clustergen.features.disks.resolved import DiskHealth
from clustergen.render.alerts import DEVICE, Alert, Topic

_WORN = 0.9


def topic(_: DiskHealth) -> Topic:
    replace = "Copy what is on it, and replace it: model {{ $labels.model }}, serial number {{ $labels.serial }}."
    alerts = (
        Alert(
            "DiskFailing", "clustergen_disk_healthy == 0", "0s", "critical",
            summary=f"{DEVICE} predicts its own failure",
            meaning="The disk's own judgement (SMART health) is that it fails soon.",
            action=f"Drain the node. {replace}",
        ),
        Alert(
            "DiskSilent", "clustergen_disk_answers == 0", "0s", "critical",
            summary=f"{DEVICE} does not answer",
            meaning="smartctl waited a minute for it: the disk hangs, or its controller or cable does.",
            action="Drain the node. The kernel's log (`journalctl -k`) names the disk; replace it if it hangs again.",
        ),
        Alert(
            "DiskErrors", "increase(clustergen_disk_errors_total[1d]) > 0", "0s", "warning",
            summary=f"{DEVICE} could not read or write {{{{ $value | printf \"%.0f\" }}}} times in a day",
            meaning="Media errors: data of these blocks is lost unless a RAID has it. More usually follow.",
            action=f"`smartctl --xall {{{{ $labels.device }}}}` on the node shows the errors. {replace}",
        ),
        Alert(
            "DiskWorn", f"clustergen_disk_wear_ratio > {_WORN}", "1h", "warning",
            summary=f"{DEVICE} has used {{{{ $value | humanizePercentage }}}} of its rated writes",
            meaning="The manufacturer rates flash for a number of writes; beyond it, disks may become read-only.",
            action=replace,
        ),
        Alert(
            "DiskMetricsOld", f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 7200', "0s", "warning",
            summary="The disks of {{ $labels.instance }} were last read {{ $value | humanizeDuration }} ago",
            meaning="The script fails; alerts on disks cannot fire for this node.",
            action="On the node: `systemctl status clustergen-disk-metrics.timer clustergen-disk-metrics`.",
        ),
    )  # fmt: skip
    return Topic(
        "disks",
        "Local disks.",
        (),
        alerts,
        look="On the node: `smartctl --xall <device>`, and `journalctl -k` for errors of the device.",
        page="node",
        drains=True,
        works="all other disks; a mirror or pool goes on without this one",
        place=80,
    )
