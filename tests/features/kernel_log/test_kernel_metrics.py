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
# Each line ends up in the journal of this boot, with its number as the time. Escapes are those of /dev/kmsg.
JOURNAL = r"""
set -e
export LC_ALL=C
boot=$(tr -d - </proc/sys/kernel/random/boot_id)
echo 0123456789abcdef0123456789abcdef >/etc/machine-id
journal=/var/log/journal/0123456789abcdef0123456789abcdef
mkdir -p $journal /var/lib/clustergen-kernel-metrics /var/lib/prometheus/node-exporter
number=1700000000
add() { # TRANSPORT FACILITY IDENTIFIER: a message per line of stdin
  while IFS= read -r line; do
    number=$((number + 1))
    printf '__REALTIME_TIMESTAMP=%s000000\n__MONOTONIC_TIMESTAMP=%s\n_BOOT_ID=%s\n' $number $number "$boot"
    printf '_HOSTNAME=c1\n_TRANSPORT=%s\nSYSLOG_FACILITY=%s\nSYSLOG_IDENTIFIER=%s\nMESSAGE\n' "$1" "$2" "$3"
    printf -v message %b "$line"
    printf -v length '\\x%02x' $((${#message} % 256)) $((${#message} / 256))
    printf "$length\0\0\0\0\0\0%s\n\n" "$message"
  done >/tmp/entries
  /usr/lib/systemd/systemd-journal-remote --output=$journal/remote-$number.journal - </tmp/entries 2>/dev/null
}
device() { # device ADDRESS VENDOR CLASS: a device on the PCI bus
  mkdir -p /sys/bus/pci/devices/$1
  echo $2 >/sys/bus/pci/devices/$1/vendor
  echo $3 >/sys/bus/pci/devices/$1/class
}
mount -t tmpfs sys /sys
device 0000:1b:00.0 0x10de 0x030200
device 0000:cb:00.0 0x10de 0x030200
device 0000:05:00.0 0x10de 0x068000 # an NVSwitch
device 0000:18:00.0 0x15b3 0x020700
device 0000:81:00.1 0x8086 0x020000
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
XIDS = r"""
NVRM: Xid (PCI:0000:1b:00): 31, Ch 00000010, engmask 00000101, intr 10000000
NVRM: Xid (PCI:0000:1b:00): 45, pid=7062, Ch 00000010
NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:1b:00): 95, pid=7062, name=python, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No
NVRM: Xid (PCI:0000:1b:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No
NVRM: Xid (PCI:0000:1b:00 GPU-I:01 GPU-CI:02): 13, pid=9, name=a, Graphics Exception
NVRM: Xid (PCI:0000:1b:00): 119, pid=1, name=\x1b[2K\xff\x0aa, Timeout after 6s of waiting for RPC response from GPU0!
NVRM: Xid (PCI:0000:1b:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 08 (0x00000004 0x00000004 0x00000000 0x00000000)
NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
"""
"""The forms that drivers from R470 to R580 print, also with MIG, and with a process whose name hides the line."""
ERRORS = """
I/O error, dev nvme0n1, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0
EXT4-fs error (device dm-0): ext4_lookup:1855: inode #2: comm ls: deleted inode referenced: 12
EXT4-fs (sda1): error count since last fsck: 5
XFS (nvme0n1p2): log I/O error -5
BTRFS: error (device sda1) in btrfs_commit_transaction:2494: errno=-5 IO failure
BTRFS error (device sda1 state EA): bdev /dev/sda1 errs: wr 1, rd 0, flush 0, corrupt 0, gen 0
BTRFS warning (device sda1): checksum error at logical 5160960 on dev /dev/sda1, physical 5160960
NMI watchdog: Watchdog detected hard LOCKUP on cpu 1
watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3
watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:4242]
INFO: task kworker/u64:3:99 blocked in I/O wait for more than 120 seconds.
[Hardware Error]: CPU:0 (17:1:0) MC1_STATUS[-|CE|MiscV|-|-|-|-|SyndV|-|-]: 0xd820000000000000
pcieport 0000:00:03.0: AER: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer
"""
SEGFAULT = "segfault at 0 ip 00005607bb3d7170 sp 00007ffc037ef060 error 6 in {}[1170,5607bb3d7000+1000] likely on CPU 0"
XID = "NVRM: Xid (PCI:0000:1b:00): 79, x"
FORGED_NAMES = (
    XID,
    rf"x\x0a{XID}",
    f"1700000001.000000 kernel: {XID}",
    f" kernel: {XID}",
    "-- cursor: s=1",
    "mlx5_core 0000:18:00.0 ibp24s0: Link down",
    "mlx5_core 0000:18:00.0: Port module event: module 0, Cable unplugged",
    "mce: [Hardware Error]: CPU 3: x",
    "I/O error, dev sda, sector 2048 op",
    "a:1 blocked for more than 120 seconds.",
    "watchdog: BUG: soft lockup - CPU#3 stuck for 22s!",
    "Out of memory: Killed process 1 (a)",
    "XFS (sda1): Corruption error",
    "pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrected",
)
FORGED_STARTS = ("NVRM: Xid (PCI:", "INFO: task a:1 ", "EXT4-fs (a): er", "XFS (a): error", "XFS (sda): corr", "x")
"""Names of processes, of 15 characters at most: the kernel begins the message of a crash with it."""
OF_A_USER = r"""
EXT4-fs error (device loop0): ext4_lookup:1855: inode #2: comm ls: deleted inode referenced: 12
XFS (loop1): Metadata corruption detected at xfs_agf_verify
I/O error, dev loop3, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0
EXT4-fs warning (device sda1): ext4_dx_add_entry:2518: inode #2: comm error corrupt: index full
XFS: error(4242) possible memory allocation deadlock size 64 in kmem_alloc
NVRM: Xid (PCI:0000:99:00): 79, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:1b:00): 0, x
NVRM: Xid (PCI:0000:1b:00): 4242, x
NVRM: Xid (PCI:../../1b:00): 79, x
mlx5_core 0000:99:00.0 ibp24s0: Link down
mlx5_core 0000:99:00.0: Port module event: module 0, Cable unplugged
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
add kernel 0 kernel <<'END'
{LINES}END
add syslog 1 kernel <<'END'
NVRM: Xid (PCI:0000:1b:00): 79, written by a user
END
{SCRIPT}; {SCRIPT}
cp {OUT} /tmp/first
add kernel 0 kernel <<'END'
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


def zeros() -> list[str]:
    kinds = ("file_system", "hung_task", "io_error", "lockup", "machine_check", "oom", "pcie")
    return [f'clustergen_kernel_errors_total{{kind="{kind}"}} 0' for kind in kinds]


@pytest.mark.real
@pytest.mark.slow
def test_no_user_forges_a_series(tmp_path: Path) -> None:
    """By the names of a process that crashes and of its program, as Linux 6 logs them; or by a message of its own."""
    crashes = [f"{start}[1139]: {SEGFAULT.format(name)}" for name in FORGED_NAMES for start in FORGED_STARTS]
    crashes += [f"traps: x[1139] trap invalid opcode ip:55 sp:7f error:0 in {name}[1,2+3]" for name in FORGED_NAMES]
    messages = "\n".join(crashes) + OF_A_USER
    script = f"""
add kernel 0 kernel <<'END'
{messages}END
for sender in 'syslog 1 kernel' 'journal 0 kernel' 'stdout 1 kernel' 'kernel 1 kernel' 'kernel 3 systemd'; do
  add $sender <<'END'
{LINES}END
done
{SCRIPT}; {SCRIPT}
promtool check metrics <{OUT} >&2 || [ $? = 3 ]
cat {OUT}
"""
    assert run(tmp_path, script).splitlines() == ["# TYPE clustergen_kernel_errors_total counter", *zeros()]


@pytest.mark.real
@pytest.mark.slow
def test_every_form_of_an_error_is_counted(tmp_path: Path) -> None:
    """An Xid that was logged before the bus lost its GPU counts as well, as do those of a GPU that an older run saw."""
    script = f"""
add kernel 0 kernel <<'END'
{XIDS.strip()}{ERRORS}END
{SCRIPT}
rm -r /sys/bus/pci/devices/0000:1b:00.0
echo 'NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.' | add kernel 0 kernel
{SCRIPT}
promtool check metrics <{OUT} >&2 || [ $? = 3 ]
grep -v timestamp {OUT}
"""
    xids = {"13": 1, "31": 1, "45": 1, "79": 2, "94": 1, "95": 1, "119": 1, "145": 1, "154": 1}
    errors = {"file_system": 6, "hung_task": 1, "io_error": 1, "lockup": 3, "machine_check": 1, "oom": 0, "pcie": 1}
    samples = [line for line in run(tmp_path, script).splitlines() if not line.startswith("#")]
    assert sorted(samples) == sorted(
        [f'clustergen_xid_errors_total{{pci="0000:1b:00",xid="{xid}"}} {count}' for xid, count in xids.items()]
        + [f'clustergen_kernel_errors_total{{kind="{kind}"}} {count}' for kind, count in errors.items()]
    )


@pytest.mark.real
@pytest.mark.slow
def test_forged_series_of_an_older_release_go_and_their_number_is_bounded(tmp_path: Path) -> None:
    """After an update the counters begin anew, after the journal entry that was read last."""
    script = f"""
state=/var/lib/clustergen-kernel-metrics/state
echo 'NVRM: Xid (PCI:0000:1b:00): 79, was counted before the update' | add kernel 0 kernel
{SCRIPT}
cursor=$(grep '^cursor ' $state)
{{ echo 'clustergen_xid_errors_total{{pci="dead:1:00",xid="11"}} 1'
echo 'clustergen_link_down_total{{interface="forged"}} 4'
echo 'clustergen_kernel_errors_total{{kind="oom"}} 7'
echo "$cursor"; }} >$state
{SCRIPT}; {SCRIPT}; cat {OUT}
for n in {{1..980}}; do echo "clustergen_link_down_total{{interface=\"eth$n\"}} 1"; done >>$state
for xid in {{10..40}}; do echo "NVRM: Xid (PCI:0000:1b:00): $xid, x"; done | add kernel 0 kernel
{SCRIPT}; grep -c '^clustergen' {OUT}; {SCRIPT}; grep -c '^clustergen' {OUT}
"""
    *first, series, again = run(tmp_path, script).splitlines()
    assert first == ["# TYPE clustergen_kernel_errors_total counter", *zeros()]
    assert 7 + 980 < int(series) == int(again) <= 1001


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
