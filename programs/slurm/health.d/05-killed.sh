#!/bin/bash
# Frees users' processes that SIGKILL does not end, with which Slurm drains a node after UnkillableStepTimeout: a program that
# waits for a FUSE file system that it serves itself, and one that its tracer holds. Never fails: a user did it.
set -u
if [ "${1:-}" != bounded ]; then # users can make all of it slow
  timeout -k 1 10 "$0" bounded
  exit 0
fi
connections=/sys/fs/fuse/connections
shopt -s nullglob

# shellcheck source=/dev/null
. /usr/local/lib/clustergen/user-processes.sh

is_mapped() { # is_mapped UID PID: the user, or a subordinate one in the user namespace of the process
  [ "$1" = "$(real_uid "$2")" ] || awk -v uid="$1" '$3 < 4294967295 && uid >= $2 && uid < $2 + $3 { found = 1 }
    END { exit !found }' "/proc/$2/uid_map" 2>/dev/null
}

abort_for() { # abort_for PID: connections of the process's user with requests that wait. Mount tables lack detached mounts
  local connection owner waiting
  for connection in "$connections"/[0-9]*; do
    waiting=0
    read -r waiting 2>/dev/null <"$connection/waiting"
    [ "${waiting:-0}" -gt 0 ] || continue
    owner=$(stat -c %u "$connection" 2>/dev/null)
    [ "${owner:-0}" -ge 1000 ] && is_mapped "$owner" "$1" && echo 1 >"$connection/abort" &&
      logger -t slurm-health -p daemon.warning -- "aborted FUSE connection ${connection##*/} of user $owner: process $1 waits"
  done
}

mapfile -t pids < <(dying /proc/[0-9]*/task/[0-9]*/status | awk '$4 >= 1000 && !seen[$1]++ { print $1 }')
[ -n "${pids[*]}" ] || exit 0
sleep 1 # most are about to end
said=$(end_tracers "${pids[@]}")
[ -z "$said" ] || logger -t slurm-health -p daemon.warning -- "$said"
for pid in "${pids[@]}"; do
  dying "/proc/$pid"/task/[0-9]*/status | grep -q ' D ' && abort_for "$pid"
done
exit 0
