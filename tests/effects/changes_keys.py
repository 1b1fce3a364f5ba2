"""Changes of single keys of slurm.conf."""

from __future__ import annotations

from effects.change import Change, by, config, loaded, option_of
from effects.changes_settings import plain
from effects.configuration import LATER, Configuration, file, option, partition

# Another machine has the name ctl2, a StateSaveLocation of its own, and what is copied from ctl.
_TO_CTL2 = (
    "scontrol shutdown slurmctld; while scontrol ping | grep -q ' is UP'; do sleep .3; done; sleep 1;"
    "cd /var/lib/slurm; mv slurmctld slurmctld.of-ctl; cp -a slurmctld.of-ctl slurmctld; hostname ctl2"
)
_AS_ALICE = "setpriv --reuid alice --regid alice --clear-groups"
_TWO_TIERS = partition("hi", Nodes="ALL", PriorityTier=10, MaxTime="INFINITE")
_NO_REQUEUE = option(PreemptType="preempt/partition_prio", PreemptMode="REQUEUE")


def _nodes_apart(to: Configuration) -> None:
    """Nodes and partitions in a file of their own."""
    lines = to.texts()["slurm.conf"].splitlines()
    to.files["nodes.conf"] = "".join(f"{text}\n" for text in lines if text.startswith(("NodeName", "PartitionName")))
    to.lines.append("Include /etc/slurm/nodes.conf")
    to.nodes.clear()
    to.partitions.clear()


PLUGINS = (
    Change(
        "cr_cpu",
        (option(SelectTypeParameters="CR_CPU_Memory"),),
        (config("SelectTypeParameters", "CR_CPU_MEMORY"),),
    ),
    Change(
        "cr_nomem",
        (option(SelectTypeParameters="CR_Core", DefMemPerCPU=None),),
        (config("SelectTypeParameters", "CR_CORE$"),),
    ),
    plain("cr_socket", ("SelectTypeParameters", "CR_SOCKET_MEMORY"), SelectTypeParameters="CR_Socket_Memory"),
    Change(
        "select_linear",
        (option(SelectType="select/linear", SelectTypeParameters="CR_Memory"),),
        (loaded("slurmctld", "select_linear"),),
    ),
    Change(
        "prio_basic",
        (option(PriorityType="priority/basic"),),
        (
            config("PriorityType", "priority/basic"),
            loaded("slurmctld", "priority_basic"),
            loaded("slurmctld", "priority_multifactor", "0"),
        ),
    ),
    Change(
        "prio_multi",
        (option(PriorityType="priority/multifactor", PriorityWeightAge=100),),
        (loaded("slurmctld", "priority_multifactor"), by("root", "sprio -h -o %i", r"\d")),
        old=(option(PriorityType="priority/basic"),),
    ),
    Change(
        "sched_builtin",
        (option(SchedulerType="sched/builtin"),),
        (loaded("slurmctld", "sched_builtin"), loaded("slurmctld", "sched_backfill", "0")),
    ),
    Change(
        "proctrack",
        (option(ProctrackType="proctrack/pgid"),),
        (
            config("ProctrackType", "proctrack/pgid"),
            by("alice", "sbatch -w n3 -n1 -t1 -o /dev/null --wrap 'sleep 9'; sleep 2", "Submitted"),
            loaded("slurmstepd", "proctrack_pgid"),
        ),
        jobs={"pending": None, "pending-srun": None, "pair": None},
    ),
    Change(
        "taskplugin",
        (option(TaskPlugin="task/affinity"),),
        (by("alice", "srun -w n3 -n1 -t1 --cpu-bind=v,cores true", r"(?i)cpu-bind\S* ?=?.*mask 0x[0-9a-f]*[1-9a-f]"),),
    ),
    Change(
        "jobacct_none",
        (option(JobAcctGatherType="jobacct_gather/none"),),
        (config("JobAcctGatherType", r"(jobacct_gather/none|\(null\))"), loaded("slurmd", "jobacct_gather_linux", "0")),
    ),
    Change(
        "jobacct_linux",
        (option(JobAcctGatherType="jobacct_gather/linux"),),
        (config("JobAcctGatherType", "jobacct_gather/linux"), loaded("slurmd", "jobacct_gather_linux", "4")),
        old=(option(JobAcctGatherType="jobacct_gather/none"),),
    ),
    Change(
        "preempt_type",
        (_NO_REQUEUE,),
        (loaded("slurmctld", "preempt_partition_prio"), config("PreemptMode", "REQUEUE")),
        old=(_TWO_TIERS,),
    ),
    Change(
        "preempt_mode",
        (option(PreemptMode="SUSPEND,GANG"),),
        (config("PreemptMode", ".*GANG"),),
        old=(_TWO_TIERS, _NO_REQUEUE),
    ),
    Change(
        "mcs",
        (option(MCSPlugin="mcs/user", MCSParameters="enforced,select"),),
        (loaded("slurmctld", "mcs_user"),),
        accepts="a node with jobs without a label accepts none with one",
    ),
    Change(
        "jobcomp",
        (option(JobCompType="jobcomp/filetxt", JobCompLoc="/var/log/slurm/jc.txt"),),
        (
            loaded("slurmctld", "jobcomp_filetxt"),
            by(
                "root",
                f"{_AS_ALICE} srun -w n3 -n1 -t1 hostname; sleep 2; cat /var/log/slurm/jc.txt",
                "JobState=COMPLETED",
            ),
        ),
    ),
    Change(
        "jobsubmit",
        (option(JobSubmitPlugins="require_timelimit"),),
        (
            loaded("slurmctld", "job_submit_require_timelimit"),
            by("alice", "sbatch -w n3 -n1 -o /dev/null --wrap true", "(?i)time"),
        ),
    ),
    Change(
        "profile_hdf5",
        (
            option(AcctGatherProfileType="acct_gather_profile/hdf5"),
            file("acct_gather.conf", "ProfileHDF5Dir=/tmp/prof\nProfileHDF5Default=none\n"),
        ),
        (loaded("slurmd", "acct_gather_profile_hdf5", "4"),),
        releases=("22.05", "24.11"),
        before="mkdir -p /tmp/prof; chmod 1777 /tmp/prof",
    ),
    Change(
        "acct_ic",
        (
            option(AcctGatherInterconnectType="acct_gather_interconnect/sysfs"),
            file("acct_gather.conf", "SysfsInterfaces=lo\n"),
        ),
        (loaded("slurmd", "acct_gather_interconnect_sysfs", "4"),),
    ),
    Change(
        "acct_energy",
        (option(AcctGatherEnergyType="acct_gather_energy/gpu"),),
        (loaded("slurmd", "acct_gather_energy_gpu", "4"),),
    ),
    Change(
        "bb_lua",
        (
            option(BurstBufferType="burst_buffer/lua"),
            file("burst_buffer.conf", "\n"),
            file(
                "burst_buffer.lua",
                "".join(
                    f"function slurm_bb_{name}(...) return slurm.SUCCESS, '' end\n"
                    for name in (
                        "job_process",
                        "pools",
                        "job_teardown",
                        "setup",
                        "data_in",
                        "test_data_in",
                        "real_size",
                        "paths",
                        "pre_run",
                        "post_run",
                        "data_out",
                        "test_data_out",
                        "get_status",
                    )
                ),
            ),
        ),
        (loaded("slurmctld", "burst_buffer_lua"),),
    ),
    Change(
        "nodefeatures",
        (
            option(NodeFeaturesPlugins="node_features/helpers"),
            file("helpers.conf", "Feature=foo Helper=/bin/true\n"),
        ),
        (loaded("slurmctld", "node_features_helpers"), loaded("slurmd", "node_features_helpers", "4")),
    ),
    Change(
        "clifilter",
        (option(CliFilterPlugins="cli_filter/user_defaults"),),
        (config("CliFilterPlugins", ".*user_defaults"),),
    ),
    Change(
        "auth_slurm",
        (option(AuthType="auth/slurm", CredType="cred/slurm"),),
        (loaded("slurmctld", "auth_slurm"),),
        releases=LATER,
    ),
    Change(
        "authalt_jwt",
        (option(AuthAltTypes="auth/jwt", AuthAltParameters="jwt_key=/etc/slurm/jwt.key"),),
        (loaded("slurmctld", "auth_jwt"), by("root", "scontrol token lifespan=60", "SLURM_JWT=ey")),
        before="cd /etc/slurm; head -c 32 /dev/urandom >jwt.key; chown slurm: jwt.key; chmod 600 jwt.key",
    ),
    Change(
        "cred_none",
        (option(CredType="cred/none"),),
        (loaded("slurmctld", "cred_none"), loaded("slurmd", "cred_none", "4")),
        releases=("22.05",),
    ),
    Change("hash_sha3", (option(HashPlugin="hash/sha3"),), (config("HashPlugin", "hash/sha3"),), releases=LATER),
    Change(
        "plugindir",
        (option(PluginDir="/opt/p:/usr/lib/x86_64-linux-gnu/slurm-wlm"),),
        (config("PluginDir", "/opt/p"),),
        old=(option(PluginDir="/usr/lib/x86_64-linux-gnu/slurm-wlm"),),
        before="mkdir -p /opt/p",
    ),
)
DAEMONS = (
    Change("ctldport_more", (option(SlurmctldPort="6817-6818"),), (option_of("SlurmctldPort", "6817-6818"),)),
    Change("ctldport", (option(SlurmctldPort=6827),), (option_of("SlurmctldPort", 6827),)),
    Change(
        "ctldport_long",
        (option(SlurmctldPort=6827),),
        (option_of("SlurmctldPort", 6827),),
        old=(option(SlurmdTimeout=40),),
        settle=60,
        finish=60,
    ),
    Change("slurmdport", (option(SlurmdPort=6828),), (option_of("SlurmdPort", 6828),)),
    Change(
        "ctldhost_addr",
        (option(SlurmctldHost="ctl(10.99.7.20)"),),
        (config(r"SlurmctldHost\[0\]", r"ctl\(10.99.7.20\)"),),
    ),
    Change(
        "ctldhost_addr_gone",
        (option(SlurmctldHost="ctl(10.99.7.20)"),),
        (config(r"SlurmctldHost\[0\]", r"ctl\(10.99.7.20\)"),),
        hand=("host", "controller"),
    ),
    Change(
        "ctldhost_moved",
        (option(SlurmctldHost="ctl2(10.99.7.20)"),),
        (config(r"SlurmctldHost\[0\]", r"ctl2\(10.99.7.20\)"), by("root", "squeue -h -a -o '%j %T'", "^batch RUNNING")),
        hand=("hand", _TO_CTL2),
    ),
    Change(
        "ctldhost_backup",
        (lambda to: to.options.update({"SlurmctldHost": "ctl(10.99.7.10)\nSlurmctldHost=ctl2(10.99.7.114)"}),),
        (config(r"SlurmctldHost\[1\]", "ctl2"),),
    ),
    Change(
        "statesave",
        (option(StateSaveLocation="/var/lib/slurm/other"),),
        (config("StateSaveLocation", "/var/lib/slurm/other"),),
        before="mkdir -p /var/lib/slurm/other; chown slurm: /var/lib/slurm/other",
    ),
    Change(
        "spooldir",
        (option(SlurmdSpoolDir="/var/lib/slurm/d2.%n"),),
        (by("root", "ls -d /var/lib/slurm/d2.n1", "^/var"),),
    ),
    Change("clustername", (option(ClusterName="dd"),), (config("ClusterName", "dd"),)),
    Change("slurmuser", (option(SlurmUser="root"),), (config("SlurmUser", "root"),)),
    Change(
        "ctldlog",
        (option(SlurmctldLogFile="/var/log/slurm/slurmctld2.log"),),
        (by("root", "ls -s /var/log/slurm/slurmctld2.log", r"^\s*[1-9]"),),
    ),
    Change(
        "slurmdlog",
        (option(SlurmdLogFile="/var/log/slurm/d2.%n.log"),),
        (
            by("alice", "srun -w n3 -n1 -t1 hostname", "n3"),
            by("root", "ls -s /var/log/slurm/d2.n3.log", r"^\s*[1-9]"),
        ),
    ),
    Change(
        "slurmdpid",
        (option(SlurmdPidFile="/run/d2.%n.pid", SlurmctldPidFile="/run/c2.pid"),),
        (config("SlurmdPidFile", "/run/d2"), config("SlurmctldPidFile", "/run/c2.pid")),
    ),
    Change(
        "debug",
        (option(SlurmctldDebug="debug2", SlurmdDebug="debug2"),),
        (
            config("SlurmctldDebug", "debug2"),
            by("alice", "srun -w n3 -n1 -t1 hostname", "n3"),
            by("root", "grep -c debug2: /var/log/slurm/slurmctld.log", "^[1-9]"),
            by("root", "grep -c debug2: /var/log/slurm/slurmd.n3.log", "^[1-9]"),
        ),
    ),
    Change(
        "configless",
        (option(SlurmctldParameters="enable_configless"),),
        (
            config("SlurmctldParameters", "enable_configless"),
            by(
                "root",
                # With a slurm.key beside it scontrol would ask by auth/slurm.
                "mkdir /tmp/aside; mv /etc/slurm/slurm.* /tmp/aside/;"
                "SLURM_CONF_SERVER=ctl:6817 scontrol ping; mv /tmp/aside/* /etc/slurm/",
                "is UP",
            ),
        ),
    ),
    Change(
        "overrides_off",
        (option(SlurmdParameters=None),),
        (config("SlurmdParameters", r"\(null\)"),),
        settle=5,
        new_job=None,
        accepts="these nodes are smaller than their lines say, which diff cannot know: slurmctld marks them invalid",
    ),
    Change(
        "ipv6",
        (option(CommunicationParameters="EnableIPv6"),),
        (config("CommunicationParameters", "EnableIPv6"), ("here", "/proc/net/tcp6", r"(?i):1AA1 ")),
    ),
    Change(
        "block_null_hash",
        (option(CommunicationParameters="block_null_hash"),),
        (config("CommunicationParameters", "block_null_hash"),),
    ),
    Change(
        "maxjobcount",
        (option(MaxJobCount=2),),
        (
            option_of("MaxJobCount", 2),
            by("alice", "sbatch -w n3 -n1 -t1 -o /dev/null --wrap true", "(?i)limit|temporarily"),
        ),
        new_job=None,
    ),
    Change("maxjobid", (option(MaxJobId=102),), (option_of("MaxJobId", 102),), old=(option(FirstJobId=100),)),
    Change("firstjobid_high", (option(FirstJobId=998),), (option_of("FirstJobId", 998),), old=(option(MaxJobId=1000),)),
    Change(
        "noctldinaddrany",
        (option(CommunicationParameters="NoCtldInAddrAny"),),
        (
            config("CommunicationParameters", "NoCtldInAddrAny"),
            ("here", "/proc/net/tcp", "0A07630A:1AA1 00000000:0000 0A"),
        ),
    ),
    Change(
        "noinaddrany",
        (option(CommunicationParameters="NoInAddrAny"),),
        (config("CommunicationParameters", "NoInAddrAny"), by("alice", "srun -w n3 -n1 -t1 hostname", "n3")),
    ),
    Change("maxjobcount_up", (option(MaxJobCount=9000),), (option_of("MaxJobCount", 9000),)),
    Change(
        "maxnodecount", (option(MaxNodeCount=20),), (option_of("MaxNodeCount", 20),), old=(option(MaxNodeCount=10),)
    ),
    Change(
        "maxarray",
        (option(MaxArraySize=10),),
        (
            option_of("MaxArraySize", 10),
            by("alice", "sbatch --array=0-20 -w n3 -n1 -t1 -o /dev/null --wrap hostname", "(?i)invalid"),
            by("root", "squeue -h -a -o %j", "tasks"),
        ),
        submit={"alice": "sbatch -J tasks --array=0-50 -w n1 --exclusive -t1 -o /dev/null --wrap true"},
        finish=25,
    ),
    Change(
        "suspend",
        (
            option(
                SuspendTime=60,
                SuspendProgram="/bin/true",
                ResumeProgram="/bin/true",
                SuspendTimeout=10,
                ResumeTimeout=20,
            ),
        ),
        (config("SuspendTime ", "60"),),
    ),
    Change(
        "firstjobid",
        (option(FirstJobId=1000),),
        (option_of("FirstJobId", 1000), by("alice", "sbatch -w n3 -n1 -t1 -o /dev/null --wrap true", r"job 1\d\d\d$")),
    ),
    Change(
        "healthcheck",
        (
            option(HealthCheckProgram="/etc/slurm/hc.sh", HealthCheckInterval=2, HealthCheckNodeState="ANY"),
            file("hc.sh", "#!/bin/sh\ndate >/tmp/hc.$(hostname)\n"),
        ),
        (config("HealthCheckProgram", "/etc/slurm/hc.sh"), by("root", "ls /tmp/hc.n4", "^/tmp/hc.n4")),
        settle=9,
    ),
    Change(
        "include",
        (_nodes_apart,),
        (by("root", "scontrol show node n1", "NodeName=n1"),),
    ),
)
CHANGES = PLUGINS + DAEMONS
