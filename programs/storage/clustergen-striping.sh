#!/bin/bash
# clustergen-striping NAME [--check]: sets the default layouts of directories on a Lustre file system.
# Run once by an administrator, on any client. A layout applies to files created later; existing files keep theirs.
# Directories that already have the layout are left alone. --check changes nothing.    exit 0 up to date, 1 differs or failed
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

usage() {
  local names=(/etc/clustergen/striping-*.sh)
  names=("${names[@]##*/striping-}")
  echo "usage: clustergen-striping NAME [--check]; NAME is one of: ${names[*]%.sh}" >&2
  exit 1
}

entry=${1:-}
check=${2:-}
values=/etc/clustergen/striping-$entry.sh
[[ $entry != */* && -f $values && (-z $check || $check == --check) ]] || usage
# shellcheck source=/dev/null
. "$values"
# shellcheck disable=SC2154
declare -p mount layouts >/dev/null
differs=0

# One line per component of a directory's layout: end, stripe count, stripe size, pool.
found_layout() {
  lfs getstripe -d "$1" | awk '
    {
      for (i = 1; i < NF; i++) {
        key = $i
        sub(/^lmm_/, "", key)
        if (key == "lcme_extent.e_end:") { end[++n] = $(i + 1); pool[n] = "-" }
        else if (key == "stripe_count:") count[n] = $(i + 1)
        else if (key == "stripe_size:") size[n] = $(i + 1)
        else if (key == "pool:") pool[n] = $(i + 1)
      }
    }
    END { for (i = 1; i <= n; i++) print end[i], count[i], size[i], pool[i] }'
}

# same REQUESTED ACTUAL: compares two layouts; `-` is a field that the manifest leaves open.
same() {
  local -a lines found want have
  local line field
  IFS=';' read -ra lines <<<"$1"
  mapfile -t found <<<"$2"
  [[ ${#lines[@]} == "${#found[@]}" ]] || return 1
  for line in "${!lines[@]}"; do
    read -ra want <<<"${lines[line]}"
    read -ra have <<<"${found[line]}"
    for field in "${!want[@]}"; do
      [[ ${want[field]} == - || ${want[field]} == "${have[field]:-}" ]] || return 1
    done
  done
}

# layout DIRECTORY REQUESTED OPTIONS: OPTIONS are words of lfs setstripe.
layout() {
  local directory=$1 requested=$2 options
  read -r -a options <<<"$3"
  if [[ ! -d $directory ]]; then
    echo "$directory does not exist: create it with its owner and mode" >&2
    differs=1
  elif same "$requested" "$(found_layout "$directory")"; then
    echo "$directory: up to date"
  elif [[ $check == --check ]]; then
    echo "$directory: differs, requires lfs setstripe $3"
    differs=1
  else
    lfs setstripe "${options[@]}" "$directory"
    if same "$requested" "$(found_layout "$directory")"; then
      echo "$directory: set"
    else
      echo "$directory: lfs setstripe succeeded, but lfs getstripe shows another layout" >&2
      differs=1
    fi
  fi
}

command -v lfs >/dev/null || { echo "lfs is not installed: this is not a Lustre client" >&2; exit 1; }
mountpoint -q "$mount" || { echo "$mount is not mounted" >&2; exit 1; }

for ((i = 0; i < ${#layouts[@]}; i += 3)); do layout "${layouts[@]:i:3}"; done

exit "$differs"
