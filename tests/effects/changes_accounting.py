"""Changes of accounting, of slurmdbd.conf and of what the database holds; and of cgroups where the machine has some."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from effects.change import GPU_JOBS, Change, by, config, loaded, option_of
from effects.configuration import ACCOUNTING, LATER, dbd, file, option

_OFF = option(**dict.fromkeys(ACCOUNTING))
_ON = option(**ACCOUNTING)
_ENFORCE = option(AccountingStorageEnforce="associations,limits,qos")
_REGISTERED = (
    loaded("slurmctld", "accounting_storage_slurmdbd"),
    by("root", "sacct -n -a -X -o jobname,state", "batch +RUNNING"),
)
_TOUCHED = (file("slurm.comment", "by the manifest\n"),)

# Another machine has a MariaDB of its own, with what is copied from ctl, whose files are gone.
_DATABASE = "/var/lib/database"
_TO_CTL2 = (
    "sacctmgr -i shutdown 2>/dev/null; sleep 1; mariadb -e shutdown;"
    "while mariadb -e 'select 1' >/dev/null 2>&1; do sleep .3; done; sleep 1;"
    f"cp -a {_DATABASE} {_DATABASE}.of-ctl2; mv {_DATABASE} {_DATABASE}.of-ctl;"
    f"setsid mariadbd --user=mysql --datadir={_DATABASE}.of-ctl2 --skip-networking --skip-log-bin"
    " >/dev/null 2>&1 </dev/null &"
    "until mariadb -e 'select 1' >/dev/null 2>&1; do sleep .3; done"
)

_DBD_MOVED = Change(
    "dbd_moved",
    (option(AccountingStorageHost="ctl2"),),
    (
        config("AccountingStorageHost", "ctl2"),
        by("root", "sacctmgr -n show assoc format=account,user", "phys +alice"),
        by("root", "sacct -n -a -X -o jobname,state", "batch +RUNNING"),
        by("root", "mariadb -e 'select @@datadir'", r"of-ctl2"),
    ),
    releases=LATER,
    database=True,
    instead=(("hand", _TO_CTL2), ("put", ""), ("slurmdbd", ""), ("reconfigure", "")),
    settle=8,
)
ACCOUNTS = (
    _DBD_MOVED,
    replace(
        _DBD_MOVED,
        name="dbd_moved_restart",
        releases=("22.05",),
        instead=(*_DBD_MOVED.instead[:-1], ("slurmctld", "")),
    ),
    Change(
        "dbd_host",
        (option(AccountingStorageHost="ctl2"),),
        (config("AccountingStorageHost", "ctl2"), ("here", "/proc/net/tcp", "1407630A:1AA3 01")),
        database=True,
        settle=8,
    ),
    Change(
        "enforce_off",
        (option(AccountingStorageEnforce=None),),
        (config("AccountingStorageEnforce", "none"),),
        old=(option(AccountingStorageEnforce="associations,limits,qos"),),
        database=True,
    ),
    Change(
        "enforce_nojobs",
        (option(AccountingStorageEnforce="associations,nojobs,nosteps"),),
        (config("AccountingStorageEnforce", ".*nojobs"),),
        old=(option(AccountingStorageEnforce="associations"),),
        database=True,
    ),
    Change(
        "jwt_key",
        (option(AuthAltParameters="jwt_key=/etc/slurm/jwt2.key"),),
        # A token of the old key.
        (by("root", "env $(cat /tmp/token) scontrol show partition batch", r"\A(?!PartitionName)"),),
        old=(option(AuthAltTypes="auth/jwt", AuthAltParameters="jwt_key=/etc/slurm/jwt1.key"),),
        before="cd /etc/slurm; for n in 1 2; do head -c 32 /dev/urandom >jwt$n.key; done;"
        "chown slurm: jwt?.key; chmod 600 jwt?.key",
        submit={"alice": "scontrol token lifespan=600 >/tmp/token"},
    ),
    Change(
        "enforce_assoc",
        (option(AccountingStorageEnforce="associations,limits"),),
        (
            config("AccountingStorageEnforce", "associations,limits"),
            by("bob", "sbatch -w n3 -n1 -t1 -o /dev/null --wrap true", "(?i)invalid account"),
        ),
        database=True,
        submit={"bob": "sbatch -J other -w n1 --exclusive -t1 -o /dev/null --wrap hostname"},
    ),
    Change(
        "storage_tres",
        (option(AccountingStorageTRES="gres/gpu,gres/gpu:h100"),),
        (config("AccountingStorageTRES", ".*gres/gpu:h100"), by("root", "sacctmgr -n show tres", "gpu:h100")),
        database=True,
        jobs=GPU_JOBS,
    ),
    Change(
        "storeflags",
        (option(AccountingStoreFlags="job_script"),),
        (config("AccountingStoreFlags", "job_script"),),
        database=True,
    ),
    Change("storage_type", (_ON,), _REGISTERED, old=(_OFF,), database=True, settle=6),
    Change(
        "storage_type_new",
        (_ON,),
        _REGISTERED,
        old=(_OFF, option(ClusterName="fresh")),
        database=True,
        settle=6,
        after_database="sacctmgr -i delete cluster dc >/dev/null",
    ),
    Change(
        "storage_off",
        (_OFF,),
        (
            config("AccountingStorageType", r"(accounting_storage/none|\(null\))"),
            loaded("slurmctld", "accounting_storage_slurmdbd", "0"),
        ),
        database=True,
    ),
    Change("trackwckey", (option(TrackWCKey="yes"),), (config("TrackWCKey", "(Yes|1)"),), database=True),
    Change(
        "dbd_commitdelay",
        (dbd(CommitDelay=1),),
        (by("root", "sacctmgr show config | grep CommitDelay", "(?i)= (Yes|1)"),),
        database=True,
    ),
    Change(
        "dbd_debug",
        (dbd(DebugLevel="debug2"),),
        (by("root", "sacctmgr show config | grep DebugLevel", "= debug2"),),
        database=True,
    ),
    Change(
        "dbd_purge",
        (dbd(PurgeJobAfter="12months"),),
        (by("root", "sacctmgr show config | grep PurgeJobAfter", "= 12"),),
        database=True,
    ),
    Change(
        "dbd_privatedata",
        (dbd(PrivateData="accounts"),),
        (by("root", "sacctmgr show config | grep PrivateData", "= accounts"),),
        releases=("22.05", "24.11"),
        database=True,
    ),
    Change(
        "dbd_port",
        (dbd(DbdPort=6829), option(AccountingStoragePort=6829)),
        (
            option_of("AccountingStoragePort", 6829),
            by("root", "sacctmgr -n show cluster format=cluster,controlhost", "dc +10"),
        ),
        database=True,
        settle=6,
    ),
    Change(
        "qos_removed",
        _TOUCHED,
        (by("root", "sacctmgr -n show qos format=name | tr -d ' ' | paste -sd,", "^(?!.*silver)"),),
        old=(_ENFORCE,),
        database=True,
        jobs={"batch": "-w n1 -n1 -t 60 --qos=silver", "pending": "-w n1 --exclusive -t 5 --qos=silver"},
        instead=(
            (
                "hand",
                "sacctmgr -iQ modify user alice where account=phys set qos=normal,gold;"
                "sacctmgr -iQ delete qos name=silver",
            ),
        ),
        accepts="pending jobs of the QOS wait: InvalidQOS; the step by hand says so",
        settle=6,
    ),
    Change(
        "account_removed",
        _TOUCHED,
        (by("root", "sacctmgr -n show assoc format=account | tr -d ' ' | paste -sd,", "chem"),),
        old=(_ENFORCE,),
        database=True,
        jobs={"batch": "-w n1 -n1 -t 60 -A chem", "pending": "-w n1 --exclusive -t 5 -A chem"},
        instead=(("hand", "sacctmgr -iQ delete account name=chem cluster=dc >/dev/null"),),
        accepts="sacctmgr refuses it while the account has jobs",
        settle=6,
    ),
    Change(
        "qos_limit",
        _TOUCHED,
        (by("root", "sacctmgr -nP show qos gold format=MaxWall", "00:10:00"),),
        old=(_ENFORCE,),
        database=True,
        jobs={"pending": "-w n1 --exclusive -t 30 --qos=gold"},
        instead=(("hand", "sacctmgr -iQ modify qos gold set MaxWall=10 Flags=DenyOnLimit >/dev/null"),),
        accepts="the pending job is above the limit of its QOS, which the diff of the two manifests reports",
        settle=6,
    ),
    Change(
        "qos_minimum",
        _TOUCHED,
        (by("root", "sacctmgr -nP show qos gold format=MinTRESPerJob", "cpu=4"),),
        old=(_ENFORCE,),
        database=True,
        jobs={"pending": "-w n1 -n1 -t 30 --qos=gold --hold", "pending-srun": None},
        instead=(
            ("hand", "sacctmgr -iQ modify qos gold set MinTRESPerJob=cpu=4 >/dev/null"),
            ("hand", "sleep 2; scontrol release jobname=pending"),
        ),
        accepts="the pending job is below the minimum of its QOS, which the diff of the two manifests reports",
    ),
    Change(
        "qos_tres",
        _TOUCHED,
        (by("root", "sacctmgr -nP show qos gold format=MaxTRESPerJob", "cpu=2"),),
        old=(_ENFORCE,),
        database=True,
        jobs={"pending": "-w n1 --exclusive -t 30 --qos=gold"},
        instead=(("hand", "sacctmgr -iQ modify qos gold set MaxTRESPerJob=cpu=2 >/dev/null"),),
        accepts="the pending job is above the limit of its QOS, which the diff of the two manifests reports",
        settle=6,
    ),
)
_LIMIT = "memory/slurm*/uid_1001/job_$SLURM_JOB_ID/memory.limit_in_bytes"


def _cgroup(name: str, key: str, command: str, pattern: str) -> Change:
    """A word of cgroup.conf that limits what a job may use, with cgroup v1 on one node."""
    base = "CgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\n"
    return Change(
        name,
        (file("cgroup.conf", f"{base}{key}=yes\n"),),
        (by("alice", f"srun -w n1 -n1 -t1 --mem=64 bash -c '{command}'", pattern),),
        old=(
            option(ProctrackType="proctrack/cgroup", TaskPlugin="task/cgroup"),
            file("cgroup.conf", f"{base}{key}=no\n"),
        ),
        **_ON_ONE_NODE,
    )


_ON_ONE_NODE: dict[str, Any] = {
    "cgroups": True,
    "nodes": ("n1",),
    "jobs": dict.fromkeys(("pair", "srun", "pending", "pending-srun")),
    "new_job": "-w n1 -n1 -t1 --mem=64",
}
CGROUPS = (
    Change(
        "cg_plugin",
        (file("cgroup.conf", "CgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\n"),),
        (by("alice", "srun -w n1 -n1 -t1 hostname", "^n1"),),
        old=(option(ProctrackType="proctrack/linuxproc"),),
        releases=LATER,
        **_ON_ONE_NODE,
    ),
    _cgroup("cg_ram", "ConstrainRAMSpace", f"cat /sys/fs/cgroup/{_LIMIT}", "67108864"),
    _cgroup("cg_dev", "ConstrainDevices", "dd if=/dev/nvidia0 of=/dev/null count=1", "not permitted"),
    _cgroup("cg_cores", "ConstrainCores", "grep cpuset: /proc/self/cgroup", "slurm.*job_"),
    Change(
        "cg_proctrack",
        (option(ProctrackType="proctrack/cgroup"),),
        (
            by("alice", "sbatch -w n1 -n1 -t1 -o /dev/null --wrap 'sleep 9'; sleep 2", "Submitted"),
            loaded("slurmstepd", "proctrack_cgroup"),
        ),
        old=(file("cgroup.conf", "CgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\n"),),
        **_ON_ONE_NODE,
    ),
)
CHANGES = ACCOUNTS + CGROUPS
