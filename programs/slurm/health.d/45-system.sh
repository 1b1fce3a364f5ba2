#!/bin/bash
# The root file system can be written, memory returns what was stored, the services that jobs need run, and the clock agrees
# with its source. Processes of users outside of all jobs are only logged: the epilog ends them, and no user drains a node.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/health.sh
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/user-processes.sh
: "${services[*]?}" "${most_skew_s:?}" "${has_logins:?}" "${job_cgroup:?}"
bad=''
shopt -s nullglob

# That of a diskless node, which is read-only by design, is of another type.
awk '$2 == "/" { bad = $3 ~ /^(ext4|xfs|btrfs|zfs)$/ && "," $4 "," ~ /,ro,/ } END { exit bad }' /proc/mounts \
  || bad+="the root file system is read-only; "
for count in /sys/devices/system/edac/mc/mc*/ue_count; do
  read -r errors 2>/dev/null <"$count" || continue
  [ "$errors" = 0 ] || bad+="$errors uncorrected memory errors at $(basename "${count%/*}") since the boot; "
done
for service in "${services[@]}"; do
  state=$(timeout -k 1 5 systemctl show --property=LoadState --property=ActiveState "$service" 2>/dev/null)
  [[ $state == *LoadState=loaded* && $state =~ ActiveState=(inactive|failed) ]] || continue
  bad+="$service is ${BASH_REMATCH[1]}; "
done
# Without an answer, NodeClockUnsynchronised fires in time.
skew=$(timeout -k 1 5 chronyc -c -n tracking 2>/dev/null | cut -d , -f 5)
[[ $skew =~ ^-?([0-9]{1,12})\. ]] && ((10#${BASH_REMATCH[1]} >= most_skew_s)) && bad+="the clock is $skew s off; "

if [ "$has_logins" = false ] && printf '%s\0' /proc/[0-9]*/cgroup | xargs -0 grep -qsE -m 1 "$job_cgroup"; then
  outside=$(timeout -k 1 5 ps -eo pid=,uid=,user:32= | awk '$2 >= 1000 && ($2 < 61184 || $2 > 65535)' |
    while read -r pid _ user; do grep -qsE "$job_cgroup" "/proc/$pid/cgroup" || echo "$user"; done | sort | uniq -c |
    awk '{ printf "%s (%d) ", $2, $1 }')
  [ -z "$outside" ] || logger -t slurm-health -p daemon.warning -- "processes of users outside of all jobs: ${outside:0:300}"
fi
[ -z "$bad" ] || { echo "$bad"; exit 1; }
