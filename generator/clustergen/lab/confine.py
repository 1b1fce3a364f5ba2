"""Rights of a container and the start of its systemd: the same node with podman and docker.

Enough for systemd, Slurm's control groups and job containers, but not --privileged: that shows a node the disks of this
machine, and lets it set the clock and the kernel's settings for everybody.
"""

from __future__ import annotations

import re
from pathlib import Path

from clustergen.lab.engine import Engine

_FORBIDDEN = ("SYS_TIME", "SYS_MODULE", "SYS_RAWIO")
# In the kernel's order, linux/capability.h.
_CAPABILITIES = (
    "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
    "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
    "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
    "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
    "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
    "CHECKPOINT_RESTORE",
)  # fmt: skip
_RULES = (
    "--security-opt=seccomp=unconfined", "--security-opt=apparmor=unconfined", "--security-opt=label=disable",
    # NVIDIA's device numbers: the GPUs, unified memory, capabilities.
    "--device-cgroup-rule=c 195:* rwm", "--device-cgroup-rule=c 510:* rwm",
)  # fmt: skip
_FILES = Path(__file__).parent / "files"


def confined(engine: Engine) -> list[str]:
    """Options of `run` that give a node its rights."""
    forbidden = [*_FORBIDDEN, *(absent() if engine.name == "docker" else ())]
    options = ["--cap-add=ALL", *(f"--cap-drop={name}" for name in forbidden), *_RULES, "--stop-signal=SIGRTMIN+3"]
    if engine.name == "podman":
        return [*options, "--no-hosts", "--systemd=always"]
    tmpfs = ("/run:exec", "/run/lock", "/tmp:exec")
    return [*options, "--cgroupns=private", "--env=container=docker", *(f"--tmpfs={place}" for place in tmpfs)]


def boot(engine: Engine) -> list[str]:
    """The first process of a node. podman prepares its control groups and files, docker leaves that to the node."""
    if engine.name == "podman":
        return ["/sbin/init"]
    return ["/bin/sh", "-c", (_FILES / "boot.sh").read_text(encoding="utf-8")]


def absent() -> list[str]:
    """Rights that this machine gives nobody: podman's ALL leaves them out, docker's fails on them."""
    match = re.search(r"(?m)^CapBnd:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text(encoding="utf-8"))
    have = int(match[1], 16) if match else -1
    return [name for bit, name in enumerate(_CAPABILITIES) if not have >> bit & 1 and name not in _FORBIDDEN]
