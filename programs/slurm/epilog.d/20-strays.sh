#!/bin/bash
# Ends processes of the job's user that belong to no job. Slurm itself ends the processes in the job's cgroup; this script
# covers processes that never joined one. Processes in the cgroup of any job are left alone, so other jobs of the same user
# are safe. Does nothing where Slurm does not track jobs by cgroup. Never fails: what still exists is the user's doing.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/job-scripts.sh
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/user-processes.sh
: "${admin_group?}" "${job_cgroup:?}" "${slurm_scope:?}"
uid=${SLURM_JOB_UID:?} user=${SLURM_JOB_USER:-}
[ "$uid" -ge 1000 ] || exit 0
[[ -z $admin_group || " $(id -nG -- "$user" 2>/dev/null) " != *" $admin_group "* ]] || exit 0

printf '%s\0' /proc/[0-9]*/cgroup | xargs -0 grep -shE -m 1 "$job_cgroup|$slurm_scope\$" | grep -q . || exit 0

strays() { # pids; a process that ended in the meantime has no cgroup to read
  pgrep -U "$uid" | sed 's|.*|/proc/&/cgroup|' | xargs -r grep -sLE "$job_cgroup" | cut -d / -f 3
}

mapfile -t pids < <(strays)
[ -n "${pids[*]}" ] || exit 0
echo "TERM to processes of $user outside of all jobs: $(ps -o pid=,comm= -p "${pids[*]:0:100}" | tr '\n' ';')"
kill -TERM "${pids[@]}" 2>/dev/null
for _ in {1..10}; do
  sleep 0.2
  mapfile -t pids < <(strays)
  [ -n "${pids[*]}" ] || exit 0
done
# The kernel ends a whole session at once; processes that fork faster than they are killed are stopped first.
slice=/sys/fs/cgroup/user.slice/user-$uid.slice/cgroup.kill
[ ! -w "$slice" ] || echo 1 >"$slice"
for _ in {1..20}; do
  mapfile -t pids < <(strays)
  [ -n "${pids[*]}" ] || exit 0
  kill -STOP "${pids[@]}" 2>/dev/null
  kill -KILL "${pids[@]}" 2>/dev/null
  sleep 0.1
done
echo "processes of $user still exist outside of all jobs: ${pids[*]:0:20}"
exit 0
