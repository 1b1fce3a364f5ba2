"""Changes that end running jobs earlier from then on: preemption, and times of grace."""

from __future__ import annotations

from effects.change import Change, by, config
from effects.configuration import LATER, file, option, partition

_URGENT = partition("urgent", Nodes="ALL", PriorityTier=10)
_BY_TIER = "preempt/partition_prio"
_TAKES_N1 = "-p urgent -w n1 --exclusive -t1"
_WAIT = "until [ -e /tmp/go.all ]; do sleep .3; done"
_DEAF = "trap '' TERM; while :; do sleep 1; done"

CHANGES = (
    Change(
        "preempt_on",
        (option(PreemptType=_BY_TIER, PreemptMode="CANCEL"),),
        (config("PreemptMode", "CANCEL"),),
        old=(_URGENT,),
        new_job=_TAKES_N1,
    ),
    Change(
        "preempt_cancel",
        (option(PreemptMode="CANCEL"),),
        (config("PreemptMode", "CANCEL"),),
        old=(_URGENT, option(PreemptType=_BY_TIER, PreemptMode="REQUEUE")),
        new_job=_TAKES_N1,
    ),
    Change(
        "preempt_exempt",
        (option(PreemptExemptTime=None),),
        (config("PreemptExemptTime", "00:00:00"),),
        old=(_URGENT, option(PreemptType=_BY_TIER, PreemptMode="CANCEL", PreemptExemptTime="01:00:00")),
        new_job=_TAKES_N1,
    ),
    Change(
        "gang_off",
        (option(PreemptType=None, PreemptMode=None),),
        (config("PreemptMode", "OFF"), by("root", "squeue -h -n batch -o %T", "SUSPENDED")),
        old=(
            partition("urgent", Nodes="ALL", PriorityTier=10, OverSubscribe="FORCE:1"),
            partition(OverSubscribe="FORCE:1"),
            option(PreemptType=_BY_TIER, PreemptMode="SUSPEND,GANG"),
        ),
        jobs={"batch": "-w n1 -n16 -t 60", "pending": None},
        submit={"alice": f"sbatch -J urgent {_TAKES_N1} -o /dev/null --wrap '{_WAIT}'; sleep 6"},
        releases=LATER,
        finish=60,
    ),
    Change("steps_less", (option(MaxStepCount=1),), (config("MaxStepCount", "1"),)),
    Change(
        "overtime_less",
        (option(OverTimeLimit=None),),
        (config("OverTimeLimit", "0"),),
        old=(option(OverTimeLimit=10),),
        jobs={"batch": "-w n1 -n1 -t 1"},
        settle=85,
    ),
    Change(
        "inactive_on",
        (option(InactiveLimit=10),),
        (
            config("InactiveLimit", "10"),
            by(
                "root",
                "pkill -9 -x -f 'srun -J srun .*'; sleep 21; scontrol -o show job | grep JobName=srun",
                "JobState=TIMEOUT",
            ),
        ),
        jobs={"pending-srun": None},
    ),
    Change(
        "killwait_less",
        (option(KillWait=2),),
        (
            config("KillWait", "2"),
            by(
                "alice",
                f'id=$(sbatch --parsable -w n3 -n1 -t5 -o /dev/null --wrap "{_DEAF}"); sleep 3; scancel $id; sleep 9;'
                "squeue -h -j $id -o %T; echo end",
                r"\Aend",
            ),
        ),
        old=(option(KillWait=60),),
    ),
    Change(
        "slurmdtimeout_less",
        (option(SlurmdTimeout=5),),
        (
            config("SlurmdTimeout", "5"),
            by("root", "kill -STOP $(cat /run/slurmd.n1.pid); sleep 22; echo silent", "silent"),
            by(
                "root",
                "sleep 18; kill -CONT $(cat /run/slurmd.n1.pid); scontrol -o show job | grep JobName=batch",
                "JobState=NODE_FAIL",
            ),
        ),
        jobs={"batch": "-w n1 -n1 -t 60 --no-requeue"},
    ),
    Change(
        "prologtimeout_less",
        (option(PrologEpilogTimeout=3),),
        (
            config("PrologEpilogTimeout", "3"),
            by(
                "alice",
                "id=$(sbatch --parsable -w n3 -n1 -t1 -o /dev/null --wrap true); sleep 14; sinfo -h -n n3 -o %T;"
                "squeue -h -j $id -o %T",
                r"(?s)drain.*PENDING",
            ),
        ),
        old=(option(Prolog="/etc/slurm/pp.sh", PrologEpilogTimeout=60), file("pp.sh", "#!/bin/sh\nsleep 7\n")),
        new_job=None,
    ),
)
