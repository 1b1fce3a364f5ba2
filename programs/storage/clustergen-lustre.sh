#!/bin/bash
# clustergen-lustre NAME [check | format | mount [TARGET] | pools]
#   check   compares the targets of this server with their devices; changes nothing (default)
#   format  creates the targets of this server whose device is empty; never forces, and refuses all else
#   mount   mounts the targets that no other server can have; with TARGET, this one, which no other server may have mounted
#   pools   on the MGS: creates missing OST pools and adds their OSTs; removes nothing
# Each step can be repeated.    exit 0 as it should be, 1 differs or refused
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

usage() {
  local names=(/etc/clustergen/lustre-*.sh)
  names=("${names[@]##*/lustre-}")
  echo "usage: clustergen-lustre NAME [check | format | mount [TARGET] | pools]; NAME is one of: ${names[*]%.sh}" >&2
  exit 2
}

entry=${1:-}
verb=${2:-check}
only=${3:-}
values=/etc/clustergen/lustre-$entry.sh
[[ $entry != */* && -f $values && $verb =~ ^(check|format|mount|pools)$ && (-z $only || $verb == mount) ]] || usage
# shellcheck source=/dev/null
. "$values"
# shellcheck disable=SC2154
declare -p fsname manager pools targets >/dev/null
host=$(hostname --short)
status=0
number=0

refuse() {
  echo "refused: $*" >&2
  status=1
}

# ldiskfs_state NAME DEVICE BYTES: prints present or empty; fails with the reason.
ldiskfs_state() {
  local label traces size users
  [[ -b $2 ]] || { echo "$2 is not a block device"; return 1; }
  # Before its first mount, a target has a colon or an equals sign in place of the dash.
  label=$(blkid --probe --output value --match-tag LABEL "$2") || label=
  if [[ ${label//[:=]/-} == "$1" ]]; then
    echo present
    return
  fi
  traces=$(wipefs --no-act --noheadings "$2") || { echo "$2 cannot be read"; return 1; }
  [[ -z $traces ]] || { echo "$2 is not empty: $traces"; return 1; }
  users=$(lsblk --noheadings --raw --output NAME,MOUNTPOINT "$2") || { echo "$2 cannot be read"; return 1; }
  [[ $users != *$'\n'* && $users != *' /'* ]] || { echo "$2 is in use: $users"; return 1; }
  size=$(blockdev --getsize64 "$2") || { echo "$2 cannot be read"; return 1; }
  (($3 == 0 || (size * 100 >= $3 * 98 && size * 100 <= $3 * 102))) || { echo "$2 has $size bytes, not $3"; return 1; }
  echo empty
}

# zfs_state NAME POOL/DATASET: the same for a dataset, in a pool that exists.
zfs_state() {
  local label
  zpool list -H -o name "${2%%/*}" >/dev/null || { echo "pool ${2%%/*} is not imported"; return 1; }
  zfs list -H -o name "$2" >/dev/null 2>&1 || { echo empty; return; }
  label=$(zfs get -H -o value lustre:svname "$2")
  [[ ${label//[:=]/-} == "$1" ]] || { echo "dataset $2 exists, with lustre:svname $label"; return 1; }
  echo present
}

# is_cut DEVICE: mkfs.lustre writes the label first, and last the file without which no target can be mounted.
is_cut() {
  local answer
  answer=$(debugfs -c -R 'stat CONFIGS/mountdata' "$1" 2>&1) || true
  [[ $answer == *"File not found"* ]]
}

state_of() {
  if [[ $1 == zfs ]]; then zfs_state "$2" "$3"; else ldiskfs_state "$2" "$3" "$4"; fi
}

# target NAME BACKEND DEVICE BYTES SERVER STANDBY UNIT POOL WORDS: one target; WORDS are options of mkfs.lustre.
target() {
  local name=$1 backend=$2 device=$3 bytes=$4 server=$5 standby=$6 unit=$7 state words
  read -r -a words <<<"$9"
  if [[ -n $only ]]; then
    [[ $name == "$only" && ,$server,$standby, == *",$host,"* ]] || return 0
  elif [[ $server != "$host" ]]; then
    return 0
  fi
  number=$((number + 1))
  state=$(state_of "$backend" "$name" "$device" "$bytes") || { refuse "$name: $state"; return 0; }
  case $verb-$state in
    check-present | format-present)
      if [[ $backend == ldiskfs ]] && is_cut "$device"; then
        refuse "$name: $device has its label and no CONFIGS/mountdata, as after an interrupted format: look at it;" \
          "if nothing is on it, wipefs --all $device, and format again"
      else
        echo "$name: present on $device"
      fi
      ;;
    check-empty)
      echo "$name: $device is empty"
      status=1
      ;;
    format-empty)
      echo "$name: creating it on $device"
      mkfs.lustre "${words[@]}" --backfstype="$backend" "$device" || { refuse "$name: mkfs.lustre failed"; return 0; }
      state=$(state_of "$backend" "$name" "$device" 0) || true
      [[ $state == present ]] || refuse "$name: after mkfs.lustre, $state"
      ;;
    mount-empty) echo "$name: not created yet: clustergen-lustre $entry format" ;;
    mount-present)
      if [[ -n $standby && -z $only ]]; then
        echo "$name: left to Pacemaker, or to an administrator: clustergen-lustre $entry mount $name"
      else
        systemctl start "$unit" || refuse "$name: $unit failed"
      fi
      ;;
  esac
}

# pool NAME OST…: the pool, with these OSTs.
pool() {
  local name=$1 ost list members
  shift
  list=$(lctl pool_list "$fsname") || { refuse "lctl pool_list $fsname failed"; return 0; }
  grep -qxF "$fsname.$name" <<<"$list" || lctl pool_new "$fsname.$name" || { refuse "pool $name"; return 0; }
  members=$(lctl pool_list "$fsname.$name") || { refuse "lctl pool_list $fsname.$name failed"; return 0; }
  for ost; do
    grep -qE "^${ost}(_UUID)?$" <<<"$members" || lctl pool_add "$fsname.$name" "$ost" || refuse "$ost in pool $name"
  done
}

if [[ $verb == pools ]]; then
  ((${#pools[@]})) || { echo "the manifest has no OST pools of $entry"; exit 0; }
  [[ $host == "$manager" ]] || { echo "run this on the MGS${manager:+, $manager}" >&2; exit 1; }
  for name in "${pools[@]}"; do
    members=()
    for ((i = 0; i < ${#targets[@]}; i += 9)); do
      [[ ${targets[i + 7]} != "$name" ]] || members+=("${targets[i]}")
    done
    pool "$name" "${members[@]}"
  done
  exit "$status"
fi

for ((i = 0; i < ${#targets[@]}; i += 9)); do target "${targets[@]:i:9}"; done

if [[ -n $only && $number == 0 ]]; then
  refuse "$only is no target of $host"
elif [[ $number == 0 ]]; then
  echo "$host is the first server of no target"
fi
exit "$status"
