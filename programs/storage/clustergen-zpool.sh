#!/bin/bash
# clustergen-zpool NAME [--check]: creates the pool and the dataset of an export if they are missing.
# Run by an administrator. It never destroys, never forces, and refuses disks with any data and a pool without its disks.
# --check changes nothing.    exit 0 up to date, 1 differs or refused
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

usage() {
  local names=(/etc/clustergen/zpool-*.sh)
  names=("${names[@]##*/zpool-}")
  echo "usage: clustergen-zpool NAME [--check]; NAME is one of: ${names[*]%.sh}" >&2
  exit 1
}

entry=${1:-}
check=${2:-}
values=/etc/clustergen/zpool-$entry.sh
[[ $entry != */* && -f $values && (-z $check || $check == --check) ]] || usage
# shellcheck source=/dev/null
. "$values"
# shellcheck disable=SC2154
declare -p pool dataset mountpoint ashift disks vdevs properties >/dev/null
differs=0
sys=/sys/class/block

refuse() {
  echo "refused: $*" >&2
  exit 1
}

# todo COMMAND…: runs a command, or prints it with --check.
todo() {
  if [[ $check == --check ]]; then
    echo "would run: $*"
    differs=1
  else
    echo "running: $*"
    "$@"
  fi
}

# Every disk exists, is a whole disk, is not mounted, and has no signature of a file system, partition table or pool.
empty_disks() {
  local disk traces
  for disk in "${disks[@]}"; do
    [[ -b $disk ]] || refuse "$disk is not a block device"
    traces=$(wipefs --no-act --noheadings "$disk") || refuse "$disk cannot be read"
    [[ -z $traces ]] || refuse "$disk is not empty: $traces"
    [[ -z $(lsblk --noheadings --raw --output MOUNTPOINTS "$disk" | tr -d '[:space:]') ]] || refuse "$disk is in use"
  done
}

# pool_disks: those of the pool, without links; ZFS shows the partition that it creates on a whole disk.
pool_disks() {
  local listed device disk
  listed=$(zpool list -v -H -P -L -o name "$pool")
  while read -r device; do
    disk=$sys/${device##*/}
    if [[ -e $disk/partition ]]; then
      disk=$(readlink --canonicalize -- "$disk/..")
    elif grep -qs ^part "$disk/dm/uuid"; then # of multipath
      disk=$(echo "$disk"/slaves/*)
    fi
    echo "/dev/${disk##*/}"
  done < <(grep -oE '/dev/[^[:space:]]+' <<<"$listed")
}

# same_disks: refuses a pool without one of the disks, such as another one of this name; reports further ones (spares).
same_disks() {
  local disk actual expected=()
  mapfile -t actual < <(pool_disks)
  for disk in "${disks[@]}"; do
    expected+=("$(readlink --canonicalize -- "$disk")")
    [[ " ${actual[*]} " == *" ${expected[-1]} "* ]] ||
      refuse "pool $pool is on ${actual[*]:-no disk}, without $disk: a pool of another export, or a failed disk"
  done
  for disk in "${actual[@]}"; do
    [[ " ${expected[*]} " == *" $disk "* ]] || {
      echo "differs: $disk of pool $pool is not in the manifest"
      differs=1
    }
  done
}

command -v zpool >/dev/null || refuse "zpool is not installed"

importable=$(zpool import 2>/dev/null) || true  # not through a pipe: grep -q would break it at the first match
if zpool list -H -o name "$pool" >/dev/null 2>&1; then
  same_disks
  echo "pool $pool: there"
elif grep -qE "^ *pool: $pool\$" <<<"$importable"; then
  refuse "a pool $pool exists but is not imported: check \`zpool import\`, then import it yourself"
else
  empty_disks
  layout=()
  for ((i = 0; i < ${#vdevs[@]}; i += 3)); do
    read -r -a words <<<"${vdevs[i]}"
    layout+=("${words[@]}" "${disks[@]:vdevs[i + 1]:vdevs[i + 2]}")
  done
  todo zpool create -o "ashift=$ashift" -O mountpoint=none -O canmount=off "$pool" "${layout[@]}"
fi

if ! zfs list -H -o name "$dataset" >/dev/null 2>&1; then
  [[ ! -e $mountpoint || -z $(ls -A "$mountpoint") ]] || refuse "$mountpoint is not empty"
  todo zfs create -o "mountpoint=$mountpoint" "${properties[@]/#/-o}" "$dataset"
else
  for property in "mountpoint=$mountpoint" "${properties[@]}"; do
    value=$(zfs get -H -o value "${property%%=*}" "$dataset")
    [[ $value == "${property#*=}" ]] || todo zfs set "$property" "$dataset"
  done
fi

exit "$differs"
