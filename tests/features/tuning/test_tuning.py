"""Tuning of a node type: the script on a stand-in /sys, options of the kernel as the boot loader gets them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import GPU, lay_out, manifest, node_files, text_of, tree_of

SCRIPT = "/usr/local/sbin/clustergen-tuning"
GRUB = "/etc/default/grub.d/90-clustergen.cfg"
TO_GRUBBY = (
    Path(__file__).resolve().parents[3]
    / "playbooks/ansible_collections/clustergen/cluster/roles/boot/files/kernel-options.sh"
)
ALL = {
    "governor": "performance",
    "idle_latency": 10,
    "transparent_hugepages": "never",
    "interrupts": "local",
    "rings": "max",
    "channels": 4,
    "max_read_request": 4096,
    "relaxed_ordering": True,
}
# A node with two CPUs that have a slow idle state, and an Ethernet adapter next to CPU 1.
NODE = """
set -e
mount -t tmpfs none /sys; mount -t tmpfs none /proc/irq
cd /sys; mkdir -p kernel/mm/transparent_hugepage
mkdir -p devices/pci/0000:0a:00.0 class/infiniband/mlx5_0 class/infiniband/mlx5_1
echo 'always madvise [never]' >kernel/mm/transparent_hugepage/enabled
for cpu in 0 1; do
  mkdir -p devices/system/cpu/cpufreq/policy$cpu
  echo powersave >devices/system/cpu/cpufreq/policy$cpu/scaling_governor
  for state in 0:0 1:2 2:133; do
    directory=devices/system/cpu/cpu$cpu/cpuidle/state${state%:*}; mkdir -p $directory
    echo ${state#*:} >$directory/latency; echo 0 >$directory/disable
  done
done
adapter=/sys/devices/pci/0000:0a:00.0
mkdir -p $adapter/net/eth0 $adapter/net/ib0 $adapter/msi_irqs
echo 1 >$adapter/net/eth0/type; echo 32 >$adapter/net/ib0/type
echo 1,3-4 >$adapter/local_cpulist
for irq in 40 41 42 43; do
  mkdir /proc/irq/$irq; echo 0-63 >/proc/irq/$irq/smp_affinity_list; touch $adapter/msi_irqs/$irq
done
for device in mlx5_0 mlx5_1; do ln -s $adapter class/infiniband/$device/device; done
set +e
"""
SHOW = """
echo governor $(cat /sys/devices/system/cpu/cpufreq/policy*/scaling_governor)
echo idle $(cat /sys/devices/system/cpu/cpu*/cpuidle/state*/disable)
echo pages $(cat /sys/kernel/mm/transparent_hugepage/enabled)
echo irqs $(cat /proc/irq/*/smp_affinity_list)
echo ethtool $(cat /tmp/set)
echo register $(cat /tmp/register)
"""
ETHTOOL = """
case "$1 $3" in
  '-g ') printf 'Pre-set maximums:\\nRX: 8192\\nRX Mini: n/a\\nTX: 4096\\nCurrent:\\n'
         printf 'RX: %s\\nTX: %s\\n' $(cat /tmp/rings || echo 1024 1024) ;;
  '-l ') printf 'Maximums:\\nCombined: 63\\nCurrent:\\nCombined: %s\\n' $(cat /tmp/channels || echo 63) ;;
  '-G rx') [ -e /tmp/stubborn ] || echo $(cat /tmp/rounded || echo $4 1024) >/tmp/rings; echo "$*" >>/tmp/set ;;
  '-G tx') [ -e /tmp/stubborn ] || echo $(cat /tmp/rounded || echo 8192 $4) >/tmp/rings; echo "$*" >>/tmp/set ;;
  '-L combined') echo $4 >/tmp/channels; echo "$*" >>/tmp/set ;;
esac 2>/dev/null
"""
SETPCI = """
now=$(cat /tmp/register 2>/dev/null || echo 2930)
case $3 in
  *=*) change=${3#*=}
       mask=$((0x${change#*:}))
       printf '%04x\\n' $(((0x$now & ~mask) | 0x${change%:*})) >/tmp/register ;;
  *) echo $now ;;
esac
"""


def tuned(directory: Path, os: str = "debian-13", **tuning: Any) -> Tree:
    data = manifest(os=os, node_types={"gpu": {**GPU, "tuning": tuning}})
    data["networks"]["fabric"] = {"type": "roce", "rate": "400Gb/s"}  # an Ethernet port has rings
    return tree_of(data, directory)


def run(tree: Tree, directory: Path, script: str) -> sandbox.Outcome:
    node = lay_out(tree, "c1", directory / "node")
    for name, text in (("ethtool", ETHTOOL), ("setpci", SETPCI)):
        place = node / "usr/sbin" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("#!/bin/bash\n" + text)
        place.chmod(0o755)
    root = root_with("udevadm")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    box = sandbox.Sandbox(root, files=((node / "usr", "/usr"), (node / "etc/clustergen", "/etc/clustergen")))
    return sandbox.run(box, ["/bin/bash", "-c", NODE + "export CLUSTERGEN_WAIT=0\n" + script], timeout=300)


@pytest.mark.real
def test_everything_is_set_once(tmp_path: Path) -> None:
    done = run(tuned(tmp_path, **ALL), tmp_path, f"{SCRIPT}; {SCRIPT}; echo status $?\n{SHOW}")
    assert done.stdout.splitlines() == [
        "status 0",
        "governor performance performance",
        "idle 0 0 1 0 0 1",
        "pages always madvise [never]",
        # Both ports are functions of one adapter: the second takes its turn after the first.
        "irqs 3 4 1 3",
        "ethtool -L eth0 combined 4 -G eth0 rx 8192 -G eth0 tx 4096",
        "register 5930",
    ], done.stdout + done.stderr


@pytest.mark.real
def test_a_size_that_the_driver_rounds_up_is_no_failure_and_is_set_once(tmp_path: Path) -> None:
    script = f"echo 128 128 >/tmp/rounded; {SCRIPT}; {SCRIPT}; echo status $?; cat /tmp/set"
    done = run(tuned(tmp_path, rings=65), tmp_path, script)
    assert done.stdout.splitlines() == ["status 0", "-G eth0 rx 65"], done.stdout + done.stderr


@pytest.mark.real
@pytest.mark.parametrize(
    ("tuning", "breaking", "message"),
    [
        ({"governor": "performance"}, "rm -r /sys/devices/system/cpu/cpufreq", "no driver for CPU frequencies"),
        ({"interrupts": "local"}, "rm -r /sys/class/infiniband/mlx5_1", "mlx5_1 does not exist"),
        (
            {"rings": 65536},
            "touch /tmp/stubborn",
            "eth0: its RX ring has 1024 descriptors, not 65536; the adapter has up to 8192",
        ),
        ({"transparent_hugepages": "madvise"}, "", "/sys/kernel/mm/transparent_hugepage/enabled is madvise, not"),
        ({"interrupts": "local"}, "rm -r /proc/irq/42", "/proc/irq/42/smp_affinity_list is missing, not"),
    ],
)
def test_parameters_that_cannot_be_set_are_named(
    tmp_path: Path, tuning: dict[str, Any], breaking: str, message: str
) -> None:
    done = run(tuned(tmp_path, **tuning), tmp_path, f"{breaking}\n{SCRIPT}; echo status $?")
    assert "status 1" in done.stdout, done.stdout
    assert f"ERROR: {message}" in done.stderr


@pytest.mark.slow
def test_nothing_is_set_unasked(tmp_path: Path) -> None:
    files = node_files(tuned(tmp_path), "c1")
    assert not {SCRIPT, GRUB, "/etc/clustergen/kernel-options"} & files.keys()


@pytest.mark.slow
def test_kernel_options_go_where_the_boot_loader_reads_them(tmp_path: Path) -> None:
    options = {"iommu": "pt", "hugepages_1gib": 2, "kernel_options": ["nmi_watchdog=0"]}
    for system in ("debian", "rocky"):
        (tmp_path / system).mkdir()
    text = text_of(tuned(tmp_path / "debian", **options), "c1", GRUB)
    shown = subprocess.run(
        ["sh", "-c", f'GRUB_CMDLINE_LINUX=quiet\n{text}\nprintf %s "$GRUB_CMDLINE_LINUX"'],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert shown.stdout == "quiet iommu=pt hugepagesz=1G hugepages=2 nmi_watchdog=0"
    rocky = tuned(tmp_path / "rocky", "rocky-9", **options)
    assert GRUB not in node_files(rocky, "c1")
    lines = text_of(rocky, "c1", "/etc/clustergen/kernel-options").splitlines()
    assert [line for line in lines if line and line[0] != "#"] == shown.stdout.split()[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("os", "packages", "order"),
    [
        ("ubuntu-24.04", {"linux-nvidia-64k", "linux-headers-nvidia-64k"}, "nvidia-64k"),
        ("rocky-9", {"kernel-64k", "kernel-64k-devel-matched"}, ""),
        ("debian-13", set(), ""),
    ],
)
def test_a_kernel_of_64_kib_comes_with_its_headers_and_boots(
    tmp_path: Path, os: str, packages: set[str], order: str
) -> None:
    grace = {"system": "mgx-gh200", "gpus": {"model": "gh200-96"}, "tuning": {"page_size": "64k", "iommu": "pt"}}
    tree = tree_of(manifest(os=os, node_types={"gpu": grace}), tmp_path)
    system = yaml.safe_load(
        tree.files[f"inventory/group_vars/os_{os.replace('-', '_').replace('.', '_')}_aarch64.yml"].content
    )
    purposes = yaml.safe_load(tree.files["inventory/group_vars/all.yml"].content)["cluster_packages"]["type_gpu"]
    assert ("kernel_64k" in purposes) == bool(packages)
    assert set(system["os_packages"]["kernel_64k"]) == packages
    text = "".join(
        file.content.decode() for path, file in node_files(tree, "c1").items() if "kernel-opt" in path or path == GRUB
    )
    assert "iommu.passthrough=1" in text
    assert "iommu=pt" not in text
    assert ("GRUB_FLAVOUR_ORDER" in text) == bool(order)
    assert order in text


@pytest.mark.real
def test_grubby_gives_back_what_it_got(tmp_path: Path) -> None:
    """Changed, cut off and removed: what an earlier run passed is taken back each time."""
    root = root_with("udevadm")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    (tmp_path / "grubby").write_text('#!/bin/bash\necho "$@"\n[ ! -e /tmp/cut ] || exit 1\n')
    (tmp_path / "grubby").chmod(0o755)
    (tmp_path / "boot.sh").write_bytes(TO_GRUBBY.read_bytes())
    box = sandbox.Sandbox(root, files=((tmp_path, "/trial"),))
    steps = """
        mount -t tmpfs none /var/lib; mkdir -p /etc/clustergen; export PATH=/trial:$PATH
        printf '# why\\niommu=pt\\n\\nquiet\\n' >/etc/clustergen/kernel-options; bash /trial/boot.sh
        echo iommu=pt >/etc/clustergen/kernel-options; touch /tmp/cut; bash /trial/boot.sh || echo cut
        rm /tmp/cut; bash /trial/boot.sh; rm /etc/clustergen/kernel-options; bash /trial/boot.sh; bash /trial/boot.sh
    """
    done = sandbox.run(box, ["/bin/bash", "-c", steps], timeout=300)
    change = "--update-kernel=ALL"
    assert done.stdout.splitlines() == [
        f"{change} --args=iommu=pt quiet",
        f"{change} --remove-args=iommu=pt quiet",
        "cut",
        f"{change} --remove-args=iommu=pt quiet",
        f"{change} --args=iommu=pt",
        f"{change} --remove-args=iommu=pt",
    ], done.stdout + done.stderr
