# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: lib/user-processes.sh
# shellcheck shell=bash
# Processes of users: who started them, and ending those that SIGKILL alone does not end. Sourced by programs around jobs.

# Cgroups of jobs, from the start of the path: below their own cgroup, users choose names. With several slurmds, the node's
# name comes first.
slurm_scope='^0::/[^/]+\.slice/([^/]+_)?slurmstepd\.scope'
# shellcheck disable=SC2034 # of programs that source this
job_cgroup="$slurm_scope/|^[0-9]+:[^:]*:/slurm[^/]*/uid_"

real_uid() { # real_uid PID: who started it; the owner of /proc/PID is the effective user, whom a set-user-ID program changes
  sed -nE 's/^Uid:\t([0-9]+)\t.*/\1/p' "/proc/$1/status" 2>/dev/null
}

dying() { # dying FILE…, of /proc/PID/task/TID/status: process, thread, state, user and tracer of those that are killed or exit
  local process thread state user tracer pending
  printf '%s\0' "$@" | xargs -0 grep -shE '^(State|Tgid|Pid|TracerPid|Uid|SigPnd|ShdPnd):' |
    awk '$1 == "State:" { state = $2; pending = 0 } $1 == "Tgid:" { process = $2 } $1 == "Pid:" { thread = $2 }
      $1 == "TracerPid:" { tracer = $2 } $1 == "Uid:" { user = $2 } /Pnd:.*[13579bdf]..$/ { pending = 1 }
      $1 == "ShdPnd:" && (pending || state == "t") { print process, thread, state, user, tracer, pending }' |
    while read -r process thread state user tracer pending; do
      # SIGKILL is not pending for a thread that began to exit before.
      [ "$pending" = 1 ] || grep -sq do_exit "/proc/$process/task/$thread/stack" || continue
      echo "$process $thread $state $user $tracer"
    done
}

# With PTRACE_O_TRACEEXIT, a thread stops before it exits until its tracer lets it go on, in spite of SIGKILL.
end_tracers() { # end_tracers PID…: kills the users' programs that hold threads of these processes so, and what traces them
  local state tracer user ended=' '
  while read -r _ _ state _ tracer; do
    [ "$state" = t ] || continue
    while [ "${tracer:-0}" -gt 0 ] && [[ $ended != *" $tracer "* ]]; do
      user=$(real_uid "$tracer")
      [ "${user:-0}" -ge 1000 ] || break
      kill -9 "$tracer" 2>/dev/null
      ended+="$tracer "
      tracer=$(sed -nE 's/^TracerPid:\t//p' "/proc/$tracer/status" 2>/dev/null)
    done
  done < <(for pid in "$@"; do dying "/proc/$pid"/task/[0-9]*/status; done)
  [ "$ended" = ' ' ] || echo "killed what traces exiting processes of users: ${ended:1:200}"
}
