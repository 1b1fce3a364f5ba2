"""systemd's configuration of Slurm's daemons: drop-ins, options, the account, directories, and log rotation."""

from __future__ import annotations

from functools import partial

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.system_paths import is_below
from clustergen.cluster.contributions import PrivateDirectories
from clustergen.cluster.directories import directory_of, of_slurm_user, own_directory, state_is_mounted
from clustergen.cluster.entry import Entry, is_needed_by_jobs
from clustergen.cluster.exports import serves
from clustergen.cluster.file_system import file_system
from clustergen.cluster.host import UserLimits
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.records import record
from clustergen.render.effects import CREATE, DAEMON_RELOAD, Effect, restart
from clustergen.render.file import Context, File, always
from clustergen.render.formats import CONF, Safe
from clustergen.render.slurm_files import DIRECTORIES, ROTATE, Directories, daemon_directories, drop_in, log_rotation
from clustergen.render.unit_names import mount_unit

_OF_PACKAGES = "/var/lib/slurm"
"""Debian's packages give it to SlurmUser with each release, although slurmd's spool directory is in it."""


@record
class Slurmd:
    munge: bool
    no_condition: bool
    """The unit of some packages waits for a slurm.conf, which a configless node never has."""
    nofile: int


@record
class Slurmctld:
    munge: bool
    state: str | None
    """A directory of the manifest's own, which may lie on a shared file system."""
    mounted: bool
    mount: str
    """Mount point of the file system that it lies on; empty: it is not awaited."""
    unit: Safe
    user: str
    slurmdbd: bool
    unsaved: str
    """State directory, if slurmctld does not start again before it has once saved the usage of associations."""


def _munge(cluster: Cluster) -> bool:
    return cluster.slurm.auth == "munge"


def slurmd(cluster: Cluster, os: OperatingSystem) -> Slurmd:
    stuck = cluster.slurm.configless and from_distribution(cluster, os) and os.yes("slurmd_unit_needs_conf")
    return Slurmd(_munge(cluster), stuck, cluster.of(UserLimits).nofile)


def slurmctld(cluster: Cluster) -> Slurmctld:
    slurm = cluster.slurm
    local = set(slurm.controllers) & set(slurm.accounting_hosts)
    state = slurm.state_location if slurm.state_location_at else None
    # A controller that exports the file system has the directory without a mount.
    mounts = [
        entry.mount
        for entry in cluster.storage.values()
        if is_below(slurm.state_location, entry.mount)
        and not any(serves(cluster, group, entry) for group in cluster.with_role("slurm-controller"))
    ]
    mount = max(mounts, key=len, default="")
    unit = mount_unit(mount) if mount else Safe("")
    needs_usage = bool(slurm.accounting_hosts) and slurm.release.has("usage-of-associations-required")
    return Slurmctld(
        munge=_munge(cluster),
        state=state,
        mounted=state_is_mounted(cluster),
        mount=mount,
        unit=unit,
        user=slurm.user,
        slurmdbd=bool(local),
        unsaved=slurm.state_location if needs_usage else "",
    )


def wait_for_mount(_: Cluster, entry: Entry) -> dict[str, Context]:
    """`unit`: the one that is active while the file system is mounted."""
    unit = Safe(file_system(entry.type).ready_unit.format(name=entry.name)) or mount_unit(entry.mount)
    return {entry.name: {"mount": entry.mount, "unit": unit}} if is_needed_by_jobs(entry) else {}


def options(cluster: Cluster, _: OperatingSystem) -> Context:
    """`servers`: controllers that hand out the configuration; empty where it lies in /etc/slurm."""
    slurmctld_port = cluster.slurm.daemons["slurmctld"].port
    hosts = cluster.slurm.controllers if cluster.slurm.configless else ()
    return {"servers": ",".join(f"{cluster.address.get(host, host)}:{slurmctld_port}" for host in hosts)}


def user(cluster: Cluster) -> Context | None:
    slurm = cluster.slurm
    return {"user": slurm.user, "uid": slurm.uid} if cluster.slurm.controllers else None


def controller_directories(cluster: Cluster) -> Directories:
    """A state directory on a mounted file system is not made here: at boot it would land below the mount."""
    state = "" if state_is_mounted(cluster) else own_directory(cluster.slurm.state_location)
    return daemon_directories("slurmctld", cluster, ((state, "0700", cluster.slurm.user),) if state else ())


def compute_directories(cluster: Cluster) -> Directories:
    """They belong to root, as slurmd and the prolog do: nobody else can put a link there before them."""
    slurm, scratch, of_user = cluster.slurm, cluster.of(Scripts).tmpdir, of_slurm_user(cluster)
    spool, slurmd = own_directory(slurm.spool_directory), slurm.daemons["slurmd"]
    paths = [directory_of(slurmd.log_file), directory_of(slurmd.pid_file) if slurmd.pid_file else None, spool, scratch]
    paths += (directories.store for directories in cluster.needs(PrivateDirectories))
    if spool and is_below(spool, _OF_PACKAGES) and _OF_PACKAGES not in of_user:
        paths.insert(0, _OF_PACKAGES)
    rows = dict.fromkeys(path.rstrip("/") for path in paths if path)
    directories = [(path, "0755", slurm.user if path in of_user else "root") for path in rows]
    if scratch:
        directories.append((f"{scratch.rstrip('/')}/.removing", "0700", "root"))  # for epilogs to empty
    return Directories(tuple(directories))


def rapl(cluster: Cluster) -> bool:
    return cluster.of(Accounting).energy == "rapl"


FILES: tuple[File, ...] = (
    File(drop_in("slurm_controller", "slurmctld"), slurmctld, Effect("restart-slurmctld")),
    File(drop_in("slurm_compute", "slurmd"), slurmd, Effect("restart-slurmd"), per="os"),
    File(drop_in("sackd_node", "sackd"), always, restart("sackd.service")),
    File("all/etc/systemd/system/clustergen-retry@.timer", always, DAEMON_RELOAD),
    File("slurm_compute/etc/modules-load.d/clustergen-rapl.conf", rapl, restart("systemd-modules-load.service")),
    File("mount/etc/systemd/system/slurmd.service.d/40-mount-{name}.conf", wait_for_mount, DAEMON_RELOAD),
    File(
        "slurm_compute/{os.slurm_env_dir}/slurmd",
        options,
        Effect("restart-slurmd"),
        per="os",
        format=CONF,
        source="slurm_compute/etc/default/slurmd",
    ),
    File(
        "sackd_node/{os.slurm_env_dir}/sackd",
        options,
        restart("sackd.service"),
        per="os",
        format=CONF,
        source="sackd_node/etc/default/sackd",
    ),
    File("all/etc/sysusers.d/clustergen-slurm.conf", user, CREATE),
    File(
        "slurm_controller/etc/tmpfiles.d/clustergen-slurmctld.conf", controller_directories, CREATE, source=DIRECTORIES
    ),
    File(DIRECTORIES, compute_directories, CREATE),
    File("slurm_controller/etc/logrotate.d/slurmctld", partial(log_rotation, "slurmctld"), source=ROTATE),
    File(ROTATE, partial(log_rotation, "slurmd")),
)
