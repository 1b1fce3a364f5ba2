"""A node or a controller with a wrong clock, as docs/outage.md describes it: real munged, slurmd and slurmctld."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import CPU, cluster, roles
from strategies.trees import lay_out

OUTAGE = Path(__file__).parents[2] / "docs/outage.md"
# A program with this library sees the time of day CLOCK_OFFSET seconds later, and waits as long as it would otherwise.
CLOCK = r"""
struct time { long s, part; };
long syscall(long, ...); char *getenv(const char *); long atol(const char *); void *dlsym(void *, const char *);
#ifdef __aarch64__
#define GETTIME 113
#else
#define GETTIME 228
#endif
static long offset(void) { char *text = getenv("CLOCK_OFFSET"); return text ? atol(text) : 0; }
int clock_gettime(int clock, struct time *t) {
  int failed = syscall(GETTIME, clock, t);
  if (!failed && (clock == 0 || clock == 5)) t->s += offset();
  return failed;
}
int gettimeofday(struct time *t, void *zone) { clock_gettime(0, t); t->part /= 1000; return 0; }
long time(long *result) { struct time t; clock_gettime(0, &t); if (result) *result = t.s; return t.s; }
int pthread_cond_timedwait(void *condition, void *mutex, const struct time *until) {
  int (*real)(void *, void *, const struct time *) = dlsym((void *)-1L, "pthread_cond_timedwait");
  struct time t = { until->s - offset(), until->part };
  return real(condition, mutex, &t);
}
"""
SCRIPT = r"""
tcc -nostdlib -shared -o /run/clock.so /run/clustergen/clock.c; export GLIBC_TUNABLES=glibc.rtld.execstack=2
off() { CLOCK_OFFSET=$1 LD_PRELOAD=/run/clock.so "${@:2}"; }
other_munged() { # other_munged SECONDS
  mkdir -p /run/other; rm -f /run/other/*; chown munge /run/other
  off $1 setpriv --reuid "$(id -u munge)" --clear-groups munged -S /run/other/socket --pid-file /run/other/pid \
    --log-file /run/other/log --seed-file /run/other/seed
}
end() { # it removes its socket in the end, also one of its successor
  local pid; pid=$(cat /run/other/pid); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.02; done
}
for seconds in 240 600 -600; do
  other_munged $seconds; munge -n -S /run/other/socket | unmunge | grep -o 'STATUS.*'; end
done

cd /etc/slurm
sed -i -E 's#^ProctrackType=.*#ProctrackType=proctrack/linuxproc#; s#^TaskPlugin=.*#TaskPlugin=task/none#
  s#^JobAcctGatherType=.*#JobAcctGatherType=jobacct_gather/none#; s/^(TaskProlog|Prolog|Epilog|Health).*//' slurm.conf
echo SlurmdParameters=config_overrides >>slurm.conf; echo CgroupPlugin=disabled >cgroup.conf
mkdir -p /var/lib/slurm/slurmd; cp -r /etc/slurm /run/node
echo AuthInfo=socket=/run/other/socket >>/run/node/slurm.conf
state() { for _ in {1..600}; do sinfo -h -n n1 -o %T | grep -qx "$1" && break; sleep 0.1; done; sinfo -h -n n1 -o %T; }
controller; other_munged -600; slurmd -D -N n1 -f /run/node/slurm.conf >/run/clustergen/slurmd.log 2>&1 &
until_log 'Expired credential' /run/clustergen/slurmctld.log; sinfo -h -n n1 -o %t | tr -d '*'
until_log 'Rewound credential' /run/clustergen/slurmd.log
end; other_munged 0; state idle # chronyc makestep
kill %slurmd

jobs() { squeue -h -o %i | sort | paste -sd ' '; }
job() { sbatch --parsable --begin now+1hour --output /dev/null --wrap true >/dev/null; }
restart() { # restart SECONDS
  kill %slurmctld; wait %slurmctld; off $1 slurmctld -D >/run/clustergen/slurmctld$1.log 2>&1 &
  until_log 'Running as primary controller|fatal' /run/clustergen/slurmctld$1.log
}
job; restart 172800; job; echo ahead $(jobs); restart -172800; job; echo behind $(jobs); restart 0; echo right $(jobs)
"""


@pytest.mark.real
@pytest.mark.slow
def test_munge_refuses_a_wrong_clock_and_the_queue_survives_one(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    head = roles("slurm-controller", "slurm-accounting", name="head", address="10.0.0.1")
    node = {"name": "n1", "type": "cpu", "address": "10.0.0.11"}
    tree = cluster(tmp_path, node_types={"cpu": CPU}, nodes=[head, node], slurm={"mpi_default": "none"})
    box = sandbox.Sandbox(
        current_slurm.path,
        files=((lay_out(tree, "head", tmp_path / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n10.0.0.11 n1\n",
        hostname="head",
        addresses=("10.0.0.1", "10.0.0.11"),
    )
    notes = {"script": DAEMONS + SCRIPT, "clock.c": CLOCK}
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes=notes)
    refused = {"Rewound credential": 16, "Expired credential": 15}
    states = [line.split(": ", 1)[-1].strip() for line in done.stdout.splitlines()]
    assert states == [
        *("Success (0)", *(f"{words} ({number})" for words, number in refused.items())),
        *("unk", "idle", "ahead 1 2", "behind 1 2 3", "right 1 2 3"),
    ], done
    section = OUTAGE.read_text(encoding="utf-8").partition("## The time is wrong")[2].partition("\n## ")[0]
    assert all(f"`{words}`" in section for words in refused)
