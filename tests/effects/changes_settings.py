"""Changes of settings of slurm.conf: of jobs, their scripts and limits, timeouts and logs."""

from __future__ import annotations

from effects.change import Change, by, config, loaded, option_of
from effects.configuration import LATER, dbd, file, option, partition

_AS_ALICE = "setpriv --reuid alice --regid alice --clear-groups"


def plain(name: str, *shown: tuple[str, str], database: bool = False, **values: object) -> Change:
    """Options whose values scontrol shows as they are."""
    checks = [option_of(key, value) for key, value in values.items()]
    return Change(name, (option(**values),), tuple(config(*pair) for pair in shown) or tuple(checks), database=database)


def several(name: str, **values: tuple[str, str]) -> Change:
    """Many keys at once, each with its value and the pattern that scontrol shows it by."""
    checks = tuple(config(key, f".*{pattern}") for key, (_, pattern) in values.items())
    return Change(name, (option(**{key: value for key, (value, _) in values.items()}),), checks)


JOB_SETTINGS = (
    Change(
        "prologflags",
        (option(PrologFlags="Alloc,Contain"),),
        (
            config("PrologFlags", "Alloc,Contain"),
            by("alice", "srun -w n3 -n1 -t1 bash -c 'sleep .7; squeue -h -s -j $SLURM_JOB_ID -o %i'", "extern"),
        ),
    ),
    Change(
        "mpidefault",
        (option(MpiDefault="pmi2"),),
        (option_of("MpiDefault", "pmi2"), by("alice", "srun -w n3 -n1 -t1 env", "PMI_RANK")),
    ),
    Change(
        "enforcepart",
        (option(EnforcePartLimits="ALL"),),
        (
            option_of("EnforcePartLimits", "ALL"),
            by("alice", "sbatch -w n3 -n1 -t5:00:00 -o /dev/null --wrap true", "(?i)time limit"),
        ),
        old=(partition(MaxTime="01:30:00"),),
    ),
    Change(
        "licenses_removed",
        (option(Licenses=None),),
        (by("root", "scontrol show lic; echo end", r"^(?!LicenseName=fluent)(No licenses|end)"),),
        old=(option(Licenses="fluent:4"),),
        jobs={"batch": "-w n1 -n1 -t 60 -L fluent:2", "pending": "-w n1 --exclusive -t 5 -L fluent:3"},
    ),
    Change(
        "epilog",
        (option(Epilog="/etc/slurm/e2.sh"), file("e2.sh", "#!/bin/sh\ndate >>/tmp/e2.$(hostname)\n")),
        (by("root", f"{_AS_ALICE} srun -w n3 -n1 -t1 hostname; sleep 1.5; ls /tmp/e2.n3", "^/tmp/e2.n3"),),
        old=(option(Epilog="/etc/slurm/e1.sh"), file("e1.sh", "#!/bin/sh\ndate >>/tmp/e1.$(hostname)\n")),
    ),
    Change(
        "epilog_text",
        (file("e1.sh", "#!/bin/sh\ndate >>/tmp/e2.$(hostname)\n"),),
        (by("root", f"{_AS_ALICE} srun -w n3 -n1 -t1 hostname; sleep 1.5; ls /tmp/e2.n3", "^/tmp/e2.n3"),),
        old=(option(Epilog="/etc/slurm/e1.sh"), file("e1.sh", "#!/bin/sh\ndate >>/tmp/e1.$(hostname)\n")),
    ),
    Change(
        "taskprolog",
        (option(TaskProlog="/etc/slurm/tp.sh"), file("tp.sh", "#!/bin/sh\necho export TPX=1\n")),
        (by("alice", "srun -w n3 -n1 -t1 bash -c 'echo T=$TPX'", "T=1"),),
    ),
    Change(
        "prolog",
        (option(Prolog="/etc/slurm/pp.sh"), file("pp.sh", "#!/bin/sh\ndate >/tmp/pp.$(hostname)\n")),
        (by("alice", "srun -w n3 -n1 -t1 ls /tmp/pp.n3", "^/tmp/pp.n3"),),
    ),
    several(
        "keys_of_priority",
        PriorityCalcPeriod=("7", "00:07:00"),
        PriorityDecayHalfLife=("3-0", "3-00:00:00"),
        PriorityMaxAge=("5-0", "5-00:00:00"),
        PriorityUsageResetPeriod=("MONTHLY", "MONTHLY"),
        PriorityWeightAssoc=("11", "11"),
        PriorityWeightFairshare=("12", "12"),
        PriorityWeightPartition=("13", "13"),
        PriorityWeightQOS=("14", "14"),
        PriorityWeightTRES=("CPU=15", "[Cc][Pp][Uu]=15"),
        FairShareDampeningFactor=("3", "3"),
    ),
    several(
        "keys_of_power",
        SuspendRate=("7", "7"),
        ResumeRate=("8", "8"),
        SuspendExcNodes=("n1", "n1"),
        SuspendExcParts=("batch", "batch"),
        ResumeFailProgram=("/bin/true", "/bin/true"),
    ),
    several(
        "keys_of_jobs",
        JobFileAppend=("1", "1"),
        KillOnBadExit=("1", "1"),
        EioTimeout=("70", "70"),
        EpilogMsgTime=("3000", "3000"),
        ResvOverRun=("3", "3"),
        SchedulerTimeSlice=("20", "20"),
        GroupUpdateForce=("0", "0"),
        InteractiveStepOptions=("--pty", "--pty"),
        MailDomain=("example.org", "example.org"),
        DependencyParameters=("kill_invalid_depend", "kill_invalid_depend"),
        BcastExclude=("/opt", "/opt"),
        PropagatePrioProcess=("1", "1"),
        RequeueExitHold=("9", "9"),
        MaxMemPerCPU=("4000", "4000"),
        MpiParams=("ports=12000-12999", "ports=12000-12999"),
    ),
    several(
        "keys_of_programs",
        SrunEpilog=("/bin/true", "/bin/true"),
        TaskEpilog=("/bin/true", "/bin/true"),
        ResvProlog=("/bin/true", "/bin/true"),
        ResvEpilog=("/bin/true", "/bin/true"),
        UnkillableStepProgram=("/bin/true", "/bin/true"),
        SlurmctldPrimaryOnProg=("/bin/true", "/bin/true"),
        SlurmctldPrimaryOffProg=("/bin/true", "/bin/true"),
        HealthCheckNodeState=("IDLE", "IDLE"),
    ),
    several(
        "keys_of_logs",
        LogTimeFormat=("rfc5424", "rfc5424"),
        SlurmSchedLogFile=("/var/log/slurm/sched.log", "/var/log/slurm/sched.log"),
        SlurmSchedLogLevel=("1", "1"),
        SlurmctldSyslogDebug=("error", "error"),
        SlurmdSyslogDebug=("error", "error"),
        MaxDBDMsgs=("20000", "20000"),
        AcctGatherNodeFreq=("10", "10"),
        ScronParameters=("enable", "enable"),
        FederationParameters=("fed_display", "fed_display"),
        ReconfigFlags=("KeepPartState", "KeepPartState"),
    ),
    plain("launchparams", LaunchParameters="use_interactive_step"),
    plain("unkillable", ("UnkillableStepTimeout", "240"), UnkillableStepTimeout=240),
    plain("treewidth", TreeWidth=3),
    plain("jobacct_freq", JobAcctGatherFrequency=5),
    plain("returntoservice", ReturnToService=2),
    plain("defmem", DefMemPerCPU=200),
    Change("defmem_more", (option(DefMemPerCPU=9000),), (config("DefMemPerCPU", "9000"),), new_job=None),
    plain("propagate", ("PropagateResourceLimits ", "NONE"), PropagateResourceLimits="NONE"),
    plain("srunports", SrunPortRange="50000-51000"),
    plain("killwait", ("KillWait", "40"), KillWait=40),
    plain("inactivelimit", ("InactiveLimit", "120"), InactiveLimit=120),
    plain("slurmdtimeout", ("SlurmdTimeout", "30"), SlurmdTimeout=30),
    plain("bcast", BcastParameters="DestDir=/tmp"),
    plain(
        "sitefactor",
        ("PriorityFlags", ".*DEPTH_OBLIVIOUS"),
        PriorityFlags="DEPTH_OBLIVIOUS",
        PriorityWeightAge=500,
        database=True,
    ),
    plain("prioparams", ("PriorityWeightJobSize", "700"), PriorityWeightJobSize=700, PriorityFavorSmall="YES"),
)
MORE = (
    plain("authinfo", AuthInfo="ttl=60"),
    plain(
        "no_backup_scheduling",
        ("SchedulerParameters", ".*no_backup_scheduling"),
        SchedulerParameters="bf_interval=3,sched_interval=5,no_backup_scheduling",
    ),
    Change(
        "cons_res_to_cons_tres",
        (option(SelectType="select/cons_tres"),),
        (loaded("slurmctld", "select_cons_tres"),),
        old=(option(SelectType="select/cons_res"),),
        releases=("22.05",),
    ),
    Change(
        "auth_slurm_database",
        (option(AuthType="auth/slurm", CredType="cred/slurm"), dbd(AuthType="auth/slurm")),
        (loaded("slurmctld", "auth_slurm"),),
        releases=LATER,
        database=True,
    ),
    Change(
        "hash_sha3_database",
        (option(HashPlugin="hash/sha3"), dbd(HashPlugin="hash/sha3")),
        (config("HashPlugin", "hash/sha3"), by("root", "sacctmgr -n show cluster format=cluster", "dc")),
        releases=LATER,
        database=True,
    ),
    Change(
        "mpi_conf",
        (file("mpi.conf", "PMIxDebug=1\n"),),
        (config("PMIxDebug", "1"),),
        old=(file("mpi.conf", "PMIxDebug=0\n"),),
        releases=("22.05", "24.11"),
    ),
    Change(
        "oci_conf",
        (file("oci.conf", "IgnoreFileConfigJson=true\nCreateEnvFile=null\n"),),
        (by("root", "scontrol ping", "is UP"),),
        old=(file("oci.conf", "IgnoreFileConfigJson=true\n"),),
    ),
    plain("waittime", ("WaitTime", "50"), WaitTime=50),
    plain("batchstarttimeout", ("BatchStartTimeout", "33"), BatchStartTimeout=33),
    plain("completewait", ("CompleteWait", "7"), CompleteWait=7),
    plain("messagetimeout", ("MessageTimeout", "20"), MessageTimeout=20),
    plain("tcptimeout", ("TCPTimeout", "5"), TCPTimeout=5),
    plain("maxstepcount", MaxStepCount=500),
    plain("maxtasks", MaxTasksPerNode=64),
    plain("overtimelimit", ("OverTimeLimit", "9"), OverTimeLimit=9),
    plain("privatedata", PrivateData="jobs"),
    plain(
        "schedparams",
        ("SchedulerParameters", ".*bf_max_job_test=50"),
        SchedulerParameters="bf_interval=3,sched_interval=5,bf_max_job_test=50",
    ),
    plain("disablerootjobs", ("DisableRootJobs", "Yes"), DisableRootJobs="YES"),
    plain("requeueexit", ("RequeueExit ", "99"), RequeueExit=99),
    plain("tmpfs", TmpFS="/var/tmp"),
    plain("debugflags", ("DebugFlags", "NodeFeatures"), DebugFlags="NodeFeatures"),
    plain("minjobage", ("MinJobAge", "250"), MinJobAge=250),
    plain("vsizefactor", ("VSizeFactor", "120"), VSizeFactor=120),
    plain("jobrequeue", JobRequeue=0),
    plain("mailprog", MailProg="/bin/true"),
    plain("srunprolog", SrunProlog="/bin/true"),
    plain("rebootprogram", RebootProgram="/bin/true"),
    plain("cpufreqdef", ("CpuFreqDef", "Performance"), CpuFreqDef="Performance"),
    plain("x11", X11Parameters="home_xauthority"),
    plain("jobacctparams", JobAcctGatherParams="UsePss"),
    plain("maxmempernode", ("MaxMemPerNode", "6000"), MaxMemPerNode=6000),
    plain("groupupdate", ("GroupUpdateTime", "300"), GroupUpdateTime=300),
    plain("epilogslurmctld", (r"EpilogSlurmctld(\[0\])?", ".*/bin/true"), EpilogSlurmctld="/bin/true"),
    plain("prologslurmctld", (r"PrologSlurmctld(\[0\])?", ".*/bin/true"), PrologSlurmctld="/bin/true"),
    plain("defcpupergpu", ("JobDefaults", "DefCpuPerGPU=2"), DefCpuPerGPU=2),
    plain("slurmctldtimeout", ("SlurmctldTimeout", "90"), SlurmctldTimeout=90),
)
CHANGES = JOB_SETTINGS + MORE
