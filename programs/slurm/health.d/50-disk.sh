#!/bin/bash
# The file systems of /tmp and of slurmd can be written, and would have free space without the files of users. What users fill
# drains no node: it is logged, and files of users without a job or process on the node are deleted where all users can write.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/health.sh
: "${spool:?}" "${min_free_kib:?}"
node=${SLURMD_NODENAME:-$(hostname -s)}
shared=(/tmp /var/tmp /dev/shm)
declare -A limits=([/tmp]=$min_free_kib [$spool]=$min_free_kib) # KiB that must be free; elsewhere 5 % are
of_any_user=(-uid +999 \( -uid -61184 -o -uid +65535 \)) # between them, systemd numbers its services
# Users make the system's files grow here, so that these count as theirs.
of_users=(/var/log /var/crash /var/lib/systemd/coredump)
bad='' notes='' present=''
began=$EPOCHREALTIME

bounded() { # bounded PARTS COMMAND…: in one of PARTS of what is left of 18 s, so that users' files do not end the check
  timeout -k 1 $((SECONDS < 17 ? (17 - SECONDS + $1) / $1 : 1)) "${@:2}"
}

is_short() { # is_short DIRECTORY: too little space or too few inodes are free; sets what the others use, in KiB
  local unit blocks unused available
  read -r unit blocks unused available all_inodes inodes < <(stat -f -c '%S %b %f %a %c %d' -- "$1" 2>/dev/null)
  free=$((${available:-0} * ${unit:-0} / 1024)) all=$(((${blocks:-0} - ${unused:-0} + ${available:-0}) * ${unit:-0} / 1024))
  least=${limits[$1]:-$((all / 20))}
  least_inodes=$((${all_inodes:-0} / 20))
  [ $least_inodes -lt 10000 ] || least_inodes=10000
  words="$1 has only $free KiB free"
  [ "${inodes:-0}" -ge "$least_inodes" ] || words="$1 has only ${inodes:-0} inodes free"
  [ $free -lt "$least" ] || [ "${inodes:-0}" -lt "$least_inodes" ]
}

is_shared_with_spool() { [ "$(stat -c %d -- "$1")" = "$(stat -c %d -- "$spool")" ]; }

clean() { # clean DIRECTORY: deletes what absent users had left there before this check; follows no links, enters no mounts
  local uids uid whose=(-true) deleted
  if [ -z "$present" ]; then
    present=$(timeout -k 1 5 squeue -h -w "$node" -o %U 2>/dev/null) || notes+="squeue does not respond; "
    present+=$'\n'$(printf '%s\0' /proc/[0-9]*/status | xargs -0 grep -sh ^Uid: | tr '\t' '\n') # real and effective
  fi
  [[ $notes != *squeue* ]] || return
  if grep -qE '[0-9]{4}' <<<"$present"; then
    # A number without a name is of a container, whose user may be here.
    uids=$(bounded 3 find "$1" -xdev -mindepth 1 "${of_any_user[@]}" -printf '%U\n' 2>/dev/null |
      awk 'NR == FNR { here[$1]; next } !($1 in here) && !seen[$1]++' <(echo "$present") - | sort -n)
    whose=(-false)
    for uid in $(bounded 3 xargs -r -n 100 getent passwd <<<"$uids" 2>/dev/null | cut -d: -f3 | head -n 1000); do
      whose+=(-o -uid "$uid")
    done
    [ "${whose[*]}" != -false ] || return
  fi
  deleted=$(bounded 1 find "$1" -xdev -depth -mindepth 1 "${of_any_user[@]}" \( "${whose[@]}" \) ! -newerct "@$began" \
    \( ! -type d -o -empty \) -delete -printf '%U %k\n' 2>/dev/null |
    awk -v place="$1" '{ files++; kib += $2; if (!seen[$1]++) uids = uids " " $1 } END { if (files)
      printf "deleted %d files (%d KiB) in %s of users without a job on this node:%s", files, kib, place, uids }')
  [ -z "$deleted" ] || logger -t slurm-health -p daemon.warning -- "$deleted"
}

is_full_by_system() { # is_full_by_system DIRECTORY, after is_short: too little would be free without the files of users
  local path skip=() used status
  for path in "${of_users[@]}"; do skip+=(-path "$path" -prune -o); done
  used=$(bounded 1 find "$(stat -c %m -- "$1")" -xdev "${skip[@]}" \( -uid -1000 -o -uid +61183 -uid -65536 \) \
    -printf '%n %i %k\n' 2>/dev/null |
    awk '$1 == 1 || !seen[$2]++ { kib += $3; files++ } END { printf "%d %d", kib, files }
    '; echo " ${PIPESTATUS[0]}")
  read -r used files status <<<"$used"
  [ "$status" -lt 124 ] || return 1 # more files than can be counted: users made them
  [ $((all - used)) -lt "$least" ] || [ $((all_inodes - files)) -lt "$least_inodes" ]
}

for directory in /tmp "$spool"; do
  if probe=$(mktemp "$directory/.clustergen-health.XXXXXXXX" 2>&1); then
    rm -f -- "$probe"
    continue
  fi
  words="$directory cannot be written (${probe##*: })"
  case $probe in
    # Users cause these, as with more names than a directory of ext4 holds. What is full by the system is found below.
    *'No space left'* | *'quota exceeded'* | *'Cannot allocate'* | *'temporarily unavailable'* | *'Too many open'*)
      notes+="$words; "
      ;;
    *) bad+="$words; " ;;
  esac
done
for directory in "${shared[@]}"; do
  [ -d "$directory" ] || continue
  is_short "$directory" || { is_shared_with_spool "$directory" && is_short "$spool"; } || continue
  clean "$directory"
done
for directory in /tmp "$spool" /var/tmp /dev/shm; do
  if ! [ -d "$directory" ] || ! is_short "$directory"; then
    continue
  fi
  if [ -n "${limits[$directory]:-}" ] && is_full_by_system "$directory"; then
    bad+="$words; "
  else
    notes+="$words, because of files of users; "
  fi
done
[ -z "$notes" ] || logger -t slurm-health -p daemon.warning -- "${notes%; }"
[ -z "$bad" ] || { echo "$bad"; exit 1; }
