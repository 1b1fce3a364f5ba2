"""Counters of the kernel's log, read from a journal that systemd-journal-remote wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, node_files, tree_of

SCRIPT = "/usr/local/sbin/clustergen-kernel-metrics"
OUT = "/var/lib/prometheus/node-exporter/kernel.prom"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
# Each line ends up in the journal of this boot, with its number as the time.
JOURNAL = r"""
set -e
boot=$(tr -d - </proc/sys/kernel/random/boot_id)
echo 0123456789abcdef0123456789abcdef >/etc/machine-id
journal=/var/log/journal/0123456789abcdef0123456789abcdef
mkdir -p $journal /var/lib/clustergen-kernel-metrics /var/lib/prometheus/node-exporter
number=1700000000
add() { # TRANSPORT: a message per line of stdin
  while IFS= read -r message; do
    number=$((number + 1))
    printf '__REALTIME_TIMESTAMP=%s000000\n__MONOTONIC_TIMESTAMP=%s\n_BOOT_ID=%s\n' $number $number "$boot"
    printf '_HOSTNAME=c1\n_TRANSPORT=%s\nMESSAGE=%s\n\n' "$1" "$message"
  done >/tmp/entries
  /usr/lib/systemd/systemd-journal-remote --output=$journal/remote-$number.journal - </tmp/entries 2>/dev/null
}
"""
LINES = """\
NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python, Ch 00000008
NVRM: Xid (PCI:0000:cb:00): 94, pid=77, Contained: SM (0x1)
mlx5_core 0000:18:00.0 ibp24s0: Link down
mlx5_core 0000:18:00.0 ibp24s0: Link up
ixgbe 0000:81:00.1 eno2: NIC Link is Down
mlx5_core 0000:18:00.0: Port module event: module 0, Cable unplugged
mce: [Hardware Error]: Machine check events logged
mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: 9c00000000010091
blk_update_request: I/O error, dev sda, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0
INFO: task python:4242 blocked for more than 120 seconds.
Out of memory: Killed process 4242 (python) total-vm:1kB
XFS (sda1): Metadata corruption detected at xfs_agf_verify
pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer
usb 1-1: new high-speed USB device
"""


def run(directory: Path, script: str, **changes: Any) -> str:
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = lay_out(
        tree_of(manifest(**{"nodes": [HEAD, MONITOR, COMPUTE], **changes}), directory), "c1", directory / "node"
    )
    box = sandbox.Sandbox(root, files=((place, "/"),), is_one_user=True)
    done = sandbox.run(box, ["/bin/bash", "-c", JOURNAL + script], timeout=120)
    assert done.code == 0, done
    return done.stdout


@pytest.mark.real
@pytest.mark.slow
def test_errors_are_counted_once_and_the_counters_survive_a_restart(tmp_path: Path) -> None:
    script = f"""
add kernel <<'END'
{LINES}END
add syslog <<'END'
NVRM: Xid (PCI:0000:1b:00): 79, written by a user
END
{SCRIPT}; {SCRIPT}
cp {OUT} /tmp/first
add kernel <<'END'
NVRM: Xid (PCI:0000:1b:00): 79, pid=1, again
mlx5_core 0000:18:00.0 "}} 1: Link down
END
rm {OUT}
{SCRIPT}; {SCRIPT}
promtool check metrics <{OUT} >&2 || [ $? = 3 ]
diff /tmp/first {OUT} || true
cat /tmp/first
"""
    changed, _, first = run(tmp_path, script).partition("# TYPE clustergen_cable")
    assert ("# TYPE clustergen_cable" + first).splitlines() == [
        "# TYPE clustergen_cable_events_total counter",
        'clustergen_cable_events_total{pci="0000:18:00.0",module="0"} 1',
        "# TYPE clustergen_kernel_errors_total counter",
        'clustergen_kernel_errors_total{kind="file_system"} 1',
        'clustergen_kernel_errors_total{kind="hung_task"} 1',
        'clustergen_kernel_errors_total{kind="io_error"} 1',
        'clustergen_kernel_errors_total{kind="lockup"} 0',
        'clustergen_kernel_errors_total{kind="machine_check"} 2',
        'clustergen_kernel_errors_total{kind="oom"} 1',
        'clustergen_kernel_errors_total{kind="pcie"} 1',
        "# TYPE clustergen_link_down_total counter",
        'clustergen_link_down_total{interface="eno2"} 1',
        'clustergen_link_down_total{interface="ibp24s0"} 1',
        "# TYPE clustergen_xid_errors_total counter",
        'clustergen_xid_errors_total{pci="0000:1b:00",xid="79"} 2',
        'clustergen_xid_errors_total{pci="0000:cb:00",xid="94"} 1',
        "# TYPE clustergen_xid_last_timestamp_seconds gauge",
        'clustergen_xid_last_timestamp_seconds{pci="0000:1b:00",xid="79"} 1700000002',
        'clustergen_xid_last_timestamp_seconds{pci="0000:cb:00",xid="94"} 1700000003',
    ]
    assert [line for line in changed.splitlines() if line.startswith(">")] == [
        '> clustergen_xid_errors_total{pci="0000:1b:00",xid="79"} 3',
        '> clustergen_xid_last_timestamp_seconds{pci="0000:1b:00",xid="79"} 1700000017',
    ]


@pytest.mark.real
def test_the_last_change_and_the_end_of_certificates_are_exported(tmp_path: Path) -> None:
    """Of files that exist: the playbook has not changed the node, or a certificate is not installed, at first."""
    tls = {"ca": "/etc/ssl/ca.pem", "certificate": "/etc/ssl/node.pem", "key": "/etc/ssl/private/node.key"}
    collector = {**MONITOR, "roles": ["monitoring", "log-collector"]}
    changes = {"nodes": [HEAD, collector, COMPUTE], "logs": {"tls": tls}}
    script = f"""
{SCRIPT}; grep -c 'apply\\|certificate' {OUT} || true
mkdir -p /etc/ssl /var/lib/clustergen && touch -d @1700000000 /var/lib/clustergen/state.json
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=c1 -days 30 \
  -keyout /dev/null -out /etc/ssl/node.pem 2>/dev/null
echo nonsense >/etc/ssl/ca.pem
{SCRIPT} 2>/dev/null; grep 'apply\\|certificate' {OUT}; date +%s
promtool check metrics <{OUT} >&2 || [ $? = 3 ]
"""
    before, *lines, seconds = run(tmp_path, script, **changes).splitlines()
    assert before == "0"
    end = lines.pop()
    assert lines == [
        "# TYPE clustergen_apply_time_seconds gauge",
        "clustergen_apply_time_seconds 1700000000",
        "# TYPE clustergen_certificate_expiry_timestamp_seconds gauge",
    ]
    name, _, value = end.rpartition(" ")
    assert name == 'clustergen_certificate_expiry_timestamp_seconds{file="/etc/ssl/node.pem"}'
    assert abs(int(value) - int(seconds) - 30 * 86400) < 60


@pytest.mark.real
def test_a_node_without_kernel_messages_exports_zeros(tmp_path: Path) -> None:
    lines = run(tmp_path, f"{SCRIPT}; {SCRIPT}; cat {OUT}").splitlines()
    assert {line.rpartition(" ")[2] for line in lines[1:]} == {"0"}


def test_kernel_metrics_only_where_nodes_export_metrics(tmp_path: Path) -> None:
    assert SCRIPT not in node_files(tree_of(manifest(), tmp_path), "c1")
    without_exporter = manifest(nodes=[HEAD, MONITOR, COMPUTE], monitoring={"node_exporter": {"enabled": False}})
    assert SCRIPT not in node_files(tree_of(without_exporter, tmp_path), "c1")
