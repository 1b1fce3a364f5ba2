#!/bin/bash
# clustergen-quota NAME [check | apply]
#   check   compares the limits of a file system with the manifest; changes nothing (default)
#   apply   sets those that differ, and reads them back; limits that the manifest does not name are left untouched
# exit 0 as stated, 1 differs or refused
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C

usage() {
  local names=(/etc/clustergen/quota-*.sh)
  names=("${names[@]##*/quota-}")
  echo "usage: clustergen-quota NAME [check | apply]; NAME is one of: ${names[*]%.sh}" >&2
  exit 2
}

entry=${1:-}
verb=${2:-check}
values=/etc/clustergen/quota-$entry.sh
[[ $entry != */* && -f $values && $verb =~ ^(check|apply)$ ]] || usage
# shellcheck source=/dev/null
. "$values"
# shellcheck disable=SC2154
declare -p backend place host limits environment >/dev/null
[[ $(hostname --short) == "$host" ]] || { echo "run this on $host" >&2; exit 1; }
status=0

refuse() {
  echo "refused: $*" >&2
  status=1
}

# mounted TYPES NAME: ends the script where no such file system is mounted.
mounted() {
  [[ $(findmnt --noheadings --output FSTYPE --mountpoint "$place") =~ ^($1)$ ]] || { refuse "$place is no mounted $2"; exit 1; }
}

case $backend in
  lustre)
    mounted lustre Lustre

    # limits_of KIND NAME: prints KiB and files, 0 for none. KIND is an option of lfs by its first letter.
    limits_of() {
      local text words
      text=$(lfs quota -q "-${1:0:1}" "$2" "$place") || return 1
      read -r -d '' -a words <<<"$text" || true
      # file system, KiB used, soft and hard limit, grace, then files in the same way
      [[ -n ${words[8]-} && -z ${words[9]-} ]] || return 1
      echo "${words[3]} ${words[7]}"
    }

    set_limits() {
      lfs setquota "-${1:0:1}" "$2" -b 0 -B "$3" -i 0 -I "$4" "$place"
    }
    ;;
  cephfs)
    mounted 'ceph|fuse\.ceph-fuse' CephFS

    # limits_of KIND DIRECTORY: prints KiB and files, 0 for none.
    limits_of() {
      local bytes files
      bytes=$(getfattr --absolute-names --only-values --name ceph.quota.max_bytes "$2" 2>/dev/null) || bytes=0
      files=$(getfattr --absolute-names --only-values --name ceph.quota.max_files "$2" 2>/dev/null) || files=0
      [[ $bytes =~ ^[0-9]+$ ]] || return 1
      echo "$((bytes / 1024)) $files"
    }

    set_limits() {
      setfattr --name ceph.quota.max_bytes --value "$(($3 * 1024))" "$2" &&
        setfattr --name ceph.quota.max_files --value "$4" "$2"
    }
    ;;
  beegfs)
    mounted beegfs BeeGFS
    for ((i = 0; i < ${#environment[@]}; i += 2)); do export "${environment[i]}=${environment[i + 1]}"; done

    # number KIND NAME: the ID of a user or group.
    number() {
      local database=passwd
      [[ $1 == user ]] || database=group
      getent "$database" "$2" | cut -d : -f 3
    }

    # limits_of KIND NAME: prints KiB and files, 0 for none; 2^63 - 1 is unlimited, and no line is no limit.
    limits_of() {
      local text id
      id=$(number "$1" "$2") || return 1
      text=$(beegfs quota list-limits "--${1:0:1}ids=$id" --pool=storage:1 --columns=space,inode --raw) || return 1
      awk 'function limit(text) { return text ~ /^(-|-1|9223372036854775807)$/ ? 0 : text }
        BEGIN { kib = files = 0 }
        !NF || tolower($1) == "space" { next }
        NF != 2 || $0 !~ /^ *[0-9-]+ +[0-9-]+ *$/ { wrong = 1 }
        { kib = limit($1) / 1024; files = limit($2) }
        END { if (wrong) exit 1; printf "%.0f %.0f\n", kib, files }' <<<"$text"
    }

    set_limits() {
      local bytes=$(($3 * 1024)) id
      id=$(number "$1" "$2") || return 1
      beegfs quota set-limits storage:1 "--${1:0:1}id=$id" --space="${bytes/#0/unlimited}" --inode="${4/#0/unlimited}"
    }
    ;;
  beegfs-ctl)
    mounted beegfs BeeGFS

    # limits_of KIND NAME: prints KiB and files, 0 for none.
    limits_of() {
      local text words
      text=$(beegfs-ctl --getquota --mount="$place" "--${1:0:1}id" "$2" --csv --storagepoolid=1) || return 1
      # name, ID, bytes used, limit, files, limit
      IFS=, read -r -a words <<<"${text##*$'\n'}"
      [[ -n ${words[5]-} && -z ${words[6]-} && ${words[1]} =~ ^[0-9]+$ && ${words[3]} =~ ^([0-9]+|unlimited)$ ]] || return 1
      echo "$((${words[3]/unlimited/0} / 1024)) ${words[5]/unlimited/0}"
    }

    set_limits() {
      local bytes=$(($3 * 1024))
      beegfs-ctl --setquota --mount="$place" "--${1:0:1}id" "$2" --sizelimit="${bytes/#0/unlimited}" \
        --inodelimit="${4/#0/unlimited}" --storagepoolid=1
    }
    ;;
  zfs)
    [[ $(zfs list -H -o mounted "$place") == yes ]] || { refuse "dataset $place is not mounted"; exit 1; }

    # limits_of KIND NAME: prints KiB and files, 0 for none.
    limits_of() {
      local bytes files
      bytes=$(zfs get -Hp -o value "${1}quota@$2" "$place") || return 1
      files=$(zfs get -Hp -o value "${1}objquota@$2" "$place") || return 1
      bytes=${bytes/#none/0}
      [[ $bytes =~ ^[0-9]+$ ]] || return 1
      echo "$((bytes / 1024)) ${files/#none/0}"
    }

    set_limits() {
      local kib=$3 files=$4
      [[ $kib == 0 ]] && kib=none || kib+=K
      [[ $files != 0 ]] || files=none
      zfs set "${1}quota@$2=$kib" "$place" && zfs set "${1}objquota@$2=$files" "$place"
    }
    ;;
  kernel)
    # The file system of the exported directory: limits hold for all of it.
    mount=$(findmnt --noheadings --output TARGET --target "$place") || { refuse "$place does not exist"; exit 1; }
    [[ $mount != / ]] || { refuse "$place is on the root file system, whose users are also the system's"; exit 1; }

    # enforced KIND: ends the script where the kernel does not enforce these quotas.
    enforced() {
      local answer
      answer=$(quotaon --print-state "--$1" "$mount" 2>&1) || true
      [[ $answer == *" is on"* ]] || { refuse "$1 quotas of $mount are off"; exit 1; }
      [[ $answer != *"(accounting)"* ]] || { refuse "$1 quotas of $mount are counted, but not enforced: mount it with usrquota,grpquota"; exit 1; }
    }
    declare -A kinds=()
    for ((i = 0; i < ${#limits[@]}; i += 5)); do kinds[${limits[i]}]=; done
    for kind in "${!kinds[@]}"; do enforced "$kind"; done

    # limits_of KIND NAME: prints KiB and files, 0 for none.
    limits_of() {
      local text
      text=$(repquota -v "--$1" -O csv "$mount") || return 1
      awk -F, -v name="$2" 'BEGIN { kib = files = "0" } $1 == name { kib = $6; files = $10 } END { print kib, files }' <<<"$text"
    }

    set_limits() {
      setquota "--$1" "$2" 0 "$3" 0 "$4" "$mount"
    }
    ;;
esac

# limit KIND NAME KIB FILES: one quota, of a user, group, project or directory that exists.
limit() {
  local present
  case $1 in
    user) getent passwd "$2" >/dev/null || { refuse "user $2 does not exist"; return 0; } ;;
    group) getent group "$2" >/dev/null || { refuse "group $2 does not exist"; return 0; } ;;
    directory) [[ -d $2 && ! -L $2 ]] || { refuse "$2 is no directory"; return 0; } ;;
  esac
  present=$(limits_of "$1" "$2") || { refuse "the limits of $1 $2 cannot be read"; return 0; }
  [[ $present =~ ^[0-9]+\ [0-9]+$ ]] || { refuse "the limits of $1 $2 are not numbers: $present"; return 0; }
  if [[ $present != "$3 $4" ]]; then
    echo "$1 $2: ${present% *} KiB and ${present#* } files, not $3 and $4"
    [[ $verb == apply ]] || { status=1; return 0; }
    set_limits "$@" || { refuse "the limits of $1 $2 were not set"; return 0; }
    present=$(limits_of "$1" "$2") || present=
    [[ $present == "$3 $4" ]] || refuse "$1 $2: the limits are ${present:-not readable} after they were set"
  fi
}

# project ID DIRECTORY: gives a directory its project; refuses one that has another.
project() {
  local id flag rest
  [[ -d $2 && ! -L $2 ]] || { refuse "$2 is no directory"; return 0; }
  read -r id flag rest < <(lfs project -d "$2") || { refuse "the project of $2 cannot be read"; return 0; }
  case $id-$flag in
    "$1-P") return ;;
    0-*) ;;
    *) [[ $id == "$1" ]] || { refuse "$2 has project $id"; return 0; } ;;
  esac
  echo "$2: not in project $1"
  [[ $verb == apply ]] || { status=1; return 0; }
  lfs project -p "$1" -s -r "$2" || refuse "the project of $2 was not set"
}

for ((i = 0; i < ${#limits[@]}; i += 5)); do
  [[ -z ${limits[i + 4]} ]] || project "${limits[i + 1]}" "${limits[i + 4]}"
  limit "${limits[@]:i:4}"
done
exit "$status"
