"""Root file systems with the programs that `clustergen verify` runs: one per Debian release, entered by chroot.

A root is never booted, so no service starts on this machine. It is complete or absent; one that is still what this
module would build is left untouched.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from clustergen import child_process
from clustergen.diagnostics import ClustergenError
from clustergen.setup import packages
from clustergen.verify import namespaces
from clustergen.verify.slurm_roots import parsers_directory

Report = Callable[[str, str], None]
"""Gets the name of a root and what happens to it."""

_SLURM = (
    "slurmctld,slurmd,slurmdbd,slurm-client,slurm-wlm-plugins,slurm-wlm-jwt-plugin,munge,"
    "mariadb-server-core,mariadb-client-core"
)
SUITES = {
    "trixie": "sackd,slurm-wlm-kafka-plugin,promtool,prometheus-alertmanager,chrony,openssh-server,sudo,systemd,udev,"
    "logrotate,kmod,nftables,nfs-kernel-server,shellcheck,opensm,ibsim-utils,infiniband-diags,ucx-utils,mount,prometheus,"
    "prometheus-node-exporter,network-manager,pamtester,libpam-slurm-adopt,ceph-common,openmpi-bin,python3-firewall,"
    "librsvg2-bin,systemd-journal-remote,rsyslog,rsyslog-relp,rsyslog-elasticsearch,prometheus-blackbox-exporter,prometheus-ipmi-exporter,"
    "prometheus-snmp-exporter,ipmitool,openipmi,netplan.io,ifupdown,ifenslave,iputils-ping,podman,crun,"
    "corosync,pacemaker-cli-utils,resource-agents,fence-agents-ipmilan,fence-agents-redfish,tcc,sssd-ldap,sssd-dbus,"
    "sssd-tools,libnss-sss,libpam-sss,slapd,ldap-utils,openssl,uidmap,dbus,lmod,haproxy,cachefilesd,nut-client,"
    "nut-server,nut-snmp,rsync",
    # Slurm 22.05 opens PMIx by the name that only the -dev package has. Nodes have Python for Ansible.
    "bookworm": "libpmix-dev,python3,prometheus,prometheus-alertmanager,prometheus-node-exporter,chrony,"
    "systemd,udev,kmod,openmpi-bin,rsyslog,rsyslog-relp,rsyslog-elasticsearch,tcc",
    "forky": "sackd,slurm-wlm-kafka-plugin,python3,docker.io,cloud-init",
}
"""Debian release → packages of its root beside Slurm 24.11, 22.05 and 26.05."""

# slurmd's NVML plugin, unpacked because bookworm's depends on NVIDIA's driver and on another build of Slurm; it exists
# for amd64 alone. `verify` compiles the library that it needs with tcc.
_NVML = r"""set -e; export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG; cd "$1/var/cache/apt"
if apt-cache show slurm-wlm-nvml-plugin >/dev/null 2>&1; then
  apt-get -q download slurm-wlm-nvml-plugin && dpkg-deb -x slurm-wlm-nvml-plugin_*.deb "$1"
fi"""
_WITH_NVML = ("bookworm", "trixie")

# An empty system database, so that slurmdbd has a server to talk to; small, because every check copies it.
_FINISH = r"""set -e; d=$1/var/lib/clustergen; mkdir -p "$d"
chroot "$1" mariadb-install-db --no-defaults --user=root --datadir=/var/lib/clustergen/mariadb --skip-test-db --force \
  --auth-root-authentication-method=socket --innodb-data-file-path=ibdata1:10M:autoextend --innodb-log-file-size=4M \
  --innodb-undo-tablespaces=0 --innodb-temp-data-file-path=ibtmp1:1M:autoextend
chroot "$1" slurmctld -V | sed "s/.* //" >"$d/slurm-version"
rm -rf "$1"/var/lib/mysql "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/*.log"""

_REQUIRED: packages.Needs = {"mmdebstrap": "mmdebstrap", "debian-archive-keyring": packages.DEBIAN_KEYS}
_USEFUL: packages.Needs = {"arch-test": "arch-test", "shellcheck": "shellcheck"}
_SECONDS = 900


def lacks() -> list[namespaces.Lack]:
    """Programs that this machine lacks for building and running roots."""
    lacking = packages.missing(_REQUIRED)
    return [namespaces.Lack(f"{name} is not installed", package=name) for name in lacking] + namespaces.lacks()


def set_up(suites: Sequence[str], report: Report, others: Sequence[Callable[[], None]] = ()) -> None:
    """Builds the roots of `suites` that are missing or outdated, beside `others`.

    As root, packages that the machine lacks are installed first. Raises ClustergenError when all that can be done is
    done: with each failure, or with the command for an administrator.
    """
    directory = parsers_directory()
    directory.mkdir(parents=True, exist_ok=True)
    with _alone(directory):
        report("parsers", str(directory))
        outdated = [suite for suite in suites if not _is_current(directory, suite)]
        for suite in suites:
            if suite not in outdated:
                report(suite, f"Slurm {_version(directory / suite)}: ready")
        jobs, failures = list(others), []
        try:
            _prepare(report, builds=bool(outdated))
            jobs += [partial(_build, directory, suite, report) for suite in outdated]
        except ClustergenError as error:
            failures.append(error)
        with ThreadPoolExecutor(max_workers=4) as pool:
            for result in [pool.submit(job) for job in jobs]:
                try:
                    result.result()
                except ClustergenError as error:
                    failures.append(error)
                except KeyboardInterrupt:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
    if failures:
        hints = dict.fromkeys(failure.hint for failure in failures if failure.hint)
        raise ClustergenError("\n".join(failure.message for failure in failures), hint="\n".join(hints) or None)


def _prepare(report: Report, *, builds: bool) -> None:
    """Installs what is missing as root; raises ClustergenError where roots cannot be built or entered."""
    if os.geteuid() == 0:
        if lacking := packages.missing({**_REQUIRED, **_USEFUL, "util-linux": "unshare"}):
            packages.install(lacking)
            report("machine", f"installed {' '.join(lacking)}")
    elif missing := lacks() if builds else namespaces.lacks():
        raise packages.refuse(missing)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _packages_of(suite: str) -> str:
    return f"iproute2,procps,{_SLURM},{SUITES[suite]}"


def recipe(suite: str) -> str:
    """The recipe of a root, as 16 hexadecimal digits; another recipe is another root."""
    parts = [suite, _packages_of(suite), _FINISH, *([_NVML] if suite in _WITH_NVML else [])]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def _is_current(directory: Path, suite: str) -> bool:
    mark = directory / suite / "var/lib/clustergen/recipe"
    return mark.is_file() and mark.read_text(encoding="ascii").strip() == recipe(suite)


def _version(root: Path) -> str:
    return (root / "var/lib/clustergen/slurm-version").read_text(encoding="ascii").strip()


def mirror(etc: Path = Path("/etc")) -> str:
    """The Debian mirror that this machine's own apt uses; empty on another distribution, for mmdebstrap's default."""
    if named := os.environ.get("CLUSTERGEN_MIRROR"):
        return named
    release = etc / "os-release"
    if not release.is_file() or "ID=debian" not in release.read_text(encoding="utf-8").splitlines():
        return ""
    apt = etc / "apt"
    urls: list[str] = []
    for path in sorted(apt.glob("sources.list.d/*.sources")):
        urls += re.findall(r"^URIs:\s*(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    for path in (apt / "sources.list", *sorted(apt.glob("sources.list.d/*.list"))):
        if path.is_file():
            urls += re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s", path.read_text(encoding="utf-8"), re.MULTILINE)
    return next((url for url in urls if re.fullmatch(r"(https?|mirror[^:]*|file)://?.*/debian/?", url)), "")


def _command(suite: str, target: str, is_root: bool) -> list[str]:
    command = [
        *("mmdebstrap", "--quiet", f"--mode={'root' if is_root else 'unshare'}"),
        *("--variant=essential", f"--format={'directory' if is_root else 'tar'}", f"--include={_packages_of(suite)}"),
        *(("--components=main,contrib", f"--customize-hook={_NVML}") if suite in _WITH_NVML else ()),
        f'--customize-hook={_FINISH}; echo {recipe(suite)} >"$d/recipe"',
        # A mirror may be a frozen copy, or this machine's clock wrong; the signatures are still checked.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        '--aptopt=Acquire::Check-Date "false"',
        '--aptopt=Acquire::Retries "3"',
    ]
    for path in ("doc", "man", "locale", "javascript"):
        command.append(f"--dpkgopt=path-exclude=/usr/share/{path}/*")
    return [*command, suite, target, *filter(None, [mirror()])]


def _build(directory: Path, suite: str, report: Report) -> None:
    """Builds a root beside its place and renames it; raises ClustergenError with apt's first error."""
    report(suite, "building, one to two minutes")
    began = time.monotonic()
    work, log = directory / f".{suite}.new", directory / f"{suite}.log"
    _remove(work)
    is_root = os.geteuid() == 0
    with log.open("w", encoding="utf-8") as errors:
        if is_root:
            command = _command(suite, str(work), is_root)
            status = child_process.run_limited(command, _SECONDS, stdout=errors, stderr=errors).returncode
        else:
            status = _build_as_user(_command(suite, "-", is_root), work, errors.fileno())
    if status:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        reason = next((line for line in lines if line.startswith("E: ")), lines[-1] if lines else f"status {status}")
        _remove(work)
        raise ClustergenError(f"{suite} could not be built: {reason}", hint=f"read {log}")
    log.unlink()
    _remove(directory / suite)
    work.rename(directory / suite)
    report(suite, f"Slurm {_version(directory / suite)}: built in {time.monotonic() - began:.0f} s")


def _build_as_user(command: Sequence[str], work: Path, errors: int) -> int:
    """The files come back as an archive, so that they belong to this user."""
    work.mkdir()
    unpack = ["tar", "-x", "-C", str(work), "--no-same-owner", "--exclude=./dev/*"]
    limited = child_process.limited(command, _SECONDS)
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    with child_process.start(limited, is_apart=True, stdin=null, stdout=pipe, stderr=errors) as built:
        unpacked = subprocess.run(unpack, stdin=built.stdout, stderr=errors, check=False)
    if built.returncode == 0 and unpacked.returncode == 0:
        subprocess.run(["chmod", "-R", "u+rwX", str(work)], check=True)
    return built.returncode or unpacked.returncode


def _remove(path: Path) -> None:
    """Removes a root, whose directories may be closed to their owner."""
    if path.exists():
        subprocess.run(["chmod", "-R", "u+rwX", str(path)], check=False, capture_output=True)
        shutil.rmtree(path)
