#!/bin/bash
# clustergen-beegfs NAME [check | format | start | mirror]
#   check   compares the targets of this server with their directories; changes nothing (default)
#   format  creates the targets of this server whose directory is missing, on mounted file systems only
#   start   enables and starts the services of this server whose targets exist
#   mirror  on the management server: creates missing mirror groups; refuses targets that are in others
# Each step can be repeated, also after an interruption.    exit 0 as it should be, 1 differs or refused
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/opt/beegfs/sbin

usage() {
  local names=(/etc/clustergen/beegfs-*.sh)
  names=("${names[@]##*/beegfs-}")
  echo "usage: clustergen-beegfs NAME [check | format | start | mirror]; NAME is one of: ${names[*]%.sh}" >&2
  exit 2
}

entry=${1:-}
verb=${2:-check}
values=/etc/clustergen/beegfs-$entry.sh
[[ $entry != */* && -f $values && $verb =~ ^(check|format|start|mirror)$ ]] || usage
# shellcheck source=/dev/null
. "$values"
# shellcheck disable=SC2154
declare -p is_8 management_host management_address certificate secret_file ctl_settings targets mirrors >/dev/null
host=$(hostname --short)
status=0
complete=()
incomplete=()

refuse() {
  echo "refused: $*" >&2
  status=1
}

if [[ $is_8 == true ]]; then
  database=/var/lib/beegfs/mgmtd.sqlite
  export BEEGFS_MGMTD_ADDR=$management_address BEEGFS_TLS_CERT_FILE=$certificate
  if [[ $secret_file ]]; then export BEEGFS_AUTH_FILE=$secret_file; else export BEEGFS_AUTH_DISABLE=true; fi
else
  database=/var/lib/beegfs/mgmtd
fi

# ctl OPTION…: the program of 7.4 for mirror groups.
ctl() {
  beegfs-ctl --cfgFile="$ctl_settings" "$@"
}

# list KIND: the mirror groups of meta or storage, as the program prints them.
list() {
  if [[ $is_8 == true ]]; then
    beegfs mirror list --node-type="$1" --columns=id,primary_target,secondary_target
  else
    ctl --listmirrorgroups --nodetype="$1"
  fi
}

# groups KIND: these, as lines of ID, primary and secondary.
groups() {
  local text
  if ! text=$(list "$1" 2>&1); then
    [[ ${text,,} == *"no mirror"* ]] || { echo "$text" >&2; return 1; }
    return 0
  fi
  sed --regexp-extended 's/(meta|storage)://g' <<<"$text" | awk '$1 ~ /^[0-9]+$/ && NF == 3 { print $1, $2, $3 }'
}

# root: what BeeGFS says of the root directory.
root() {
  if [[ $is_8 == true ]]; then beegfs entry info --retro --mount=none /; else ctl --getentryinfo --unmounted /; fi
}

# mirror KIND GROUP PRIMARY SECONDARY: the group of these two; after a failover, they may have changed places.
mirror() {
  local kind=$1 group=$2 primary=$3 secondary=$4 now owner line
  now=$(groups "$kind") || { refuse "the mirror groups of $kind cannot be listed"; return 0; }
  while read -r line; do
    case $line in
      "$group $primary $secondary" | "$group $secondary $primary")
        echo "$kind group $group: present, primary ${line#* }"
        return 0
        ;;
      "$group "* | *" $primary" | *" $secondary" | *" $primary "* | *" $secondary "*)
        refuse "$kind group $group of $primary and $secondary: the group $line exists"
        return 0
        ;;
    esac
  done <<<"$now"
  if [[ $kind == meta ]]; then # the owner of the root directory must be a primary
    owner=$(root | sed -n 's/.*etadata node: .*\[ID: \([0-9]*\)\].*/\1/p') || owner=
    [[ -n $owner ]] || { refuse "$kind group $group: the owner of the root directory is unknown"; return 0; }
    [[ $owner != "$secondary" ]] || { secondary=$primary; primary=$owner; }
  fi
  if [[ $is_8 == true ]]; then
    beegfs mirror create --node-type="$kind" --num-id="$group" --primary="$kind:$primary" \
      --secondary="$kind:$secondary" "mirror-$kind-$group"
  else
    ctl --addmirrorgroup --nodetype="$kind" --primary="$primary" --secondary="$secondary" --groupid="$group"
  fi || refuse "$kind group $group was not created"
}

if [[ $verb == mirror ]]; then
  ((${#mirrors[@]})) || { echo "the manifest mirrors nothing of $entry"; exit 0; }
  [[ $host == "$management_host" ]] || { echo "run this on the management server, $management_host" >&2; exit 1; }
  for ((i = 0; i < ${#mirrors[@]}; i += 4)); do mirror "${mirrors[@]:i:4}"; done
  [[ ${mirrors[0]} == meta ]] || exit "$status"
  text=$(root) || text=
  case $text in
    *"Metadata buddy group"*) ;;
    *"etadata node: "*)
      # The command cannot be undone, so it is shown only if all groups are as they should be.
      if [[ $status == 0 ]]; then
        command="beegfs-ctl --cfgFile=$ctl_settings --mirrormd"
        [[ $is_8 != true ]] || command="beegfs mirror init"
        echo "metadata are not mirrored yet: unmount all clients, then $command"
      fi
      status=1
      ;;
    *) refuse "the root directory cannot be read" ;;
  esac
  exit "$status"
fi

# value FILE: the first line of a file; empty if it is missing.
value() {
  [[ ! -f $1 ]] || head -n 1 -- "$1"
}

# state KIND DIRECTORY NODE NUMBER: prints present or missing; fails with the reason.
state() {
  local node number
  if [[ ! -e $2 ]]; then
    mountpoint --quiet "$(dirname -- "$2")" || { echo "$(dirname -- "$2") is not a mount point"; return 1; }
    echo missing
    return
  fi
  [[ -f $2/format.conf ]] || { echo "$2 exists and has no format.conf: $(find "$2" -mindepth 1 -maxdepth 1 -printf '%f ')"; return 1; }
  node=$(value "$2/nodeNumID")
  [[ $node == "$3" ]] || { echo "$2 is of node ID ${node:-unknown}, not $3"; return 1; }
  if [[ $1 == storage ]]; then
    number=$(value "$2/targetNumID")
    [[ $number == "$4" ]] || { echo "$2 is target ${number:-unknown}, not $4"; return 1; }
  fi
  echo present
}

# clear_cut DIRECTORY: removes what a run that was cut left: nothing but what beegfs-setup writes.
clear_cut() {
  local others
  [[ -e $1 || -L $1 ]] || return 0
  [[ -d $1 && ! -L $1 ]] || { refuse "$1 is not a directory"; return 1; }
  others=$(find "$1" -mindepth 1 ! -name format.conf ! -name '*ID' ! -name chunks ! -name buddymir -printf '%P ')
  [[ -z $others ]] || { refuse "$1 has other files: $others"; return 1; }
  rm -r -- "$1"
}

# create KIND DIRECTORY NODE NUMBER: beside its place, then renamed: a target is complete or absent.
create() {
  local new=$2.new words=(-C -s "$3")
  [[ $1 == meta ]] || words+=(-i "$4")
  clear_cut "$new" || return 1
  "beegfs-setup-$1" -p "$new" "${words[@]}" >&2 || return 1
  sync --file-system "$new"
  mv --no-target-directory -- "$new" "$2"
}

# target KIND SERVER DIRECTORY NODE NUMBER
target() {
  local kind=$1 place=$3 now
  [[ $2 == "$host" ]] || return 0
  now=$(state "$kind" "$place" "$4" "$5") || { refuse "$now"; incomplete+=("$kind"); return 0; }
  if [[ $now == missing && $verb == format ]]; then
    if create "$kind" "$place" "$4" "$5" && now=$(state "$kind" "$place" "$4" "$5"); then
      echo "$kind $5: created in $place"
    else
      refuse "$kind $5 in $place was not created"
    fi
  elif [[ $now == present ]]; then
    echo "$kind $5: present in $place"
  fi
  if [[ $now == present ]]; then
    complete+=("$kind")
  else
    echo "$kind $5: $place is missing"
    incomplete+=("$kind")
    status=1
  fi
}

# create_database: a file of 8, a directory of 7.4; the directory is complete or absent.
create_database() {
  if [[ $is_8 == true ]]; then
    beegfs-mgmtd --init || { refuse "beegfs-mgmtd --init failed"; return 1; }
  else
    { clear_cut "$database.new" && beegfs-setup-mgmtd -p "$database.new" -C &&
      mv --no-target-directory -- "$database.new" "$database"; } || { refuse "beegfs-setup-mgmtd failed"; return 1; }
  fi
}

if [[ $host == "$management_host" ]]; then
  if { [[ $is_8 == true ]] && [[ -s $database ]]; } || { [[ $is_8 != true ]] && [[ -d $database ]]; }; then
    echo "mgmtd: present in $database"
    complete+=(mgmtd)
  elif [[ -e $database ]]; then
    if [[ $is_8 == true ]]; then refuse "$database is empty"; else refuse "$database is no directory"; fi
    incomplete+=(mgmtd)
  elif [[ $verb == format ]]; then
    if create_database; then complete+=(mgmtd); fi
  else
    echo "mgmtd: $database is missing"
    incomplete+=(mgmtd)
    status=1
  fi
fi
for ((i = 0; i < ${#targets[@]}; i += 5)); do target "${targets[@]:i:5}"; done

if [[ $verb == start ]]; then
  for kind in mgmtd meta storage; do
    [[ " ${complete[*]-} " == *" $kind "* ]] || continue
    if [[ " ${incomplete[*]-} " == *" $kind "* ]]; then
      refuse "beegfs-$kind is not started: a target is missing"
    else
      systemctl enable --now "beegfs-$kind.service" || refuse "beegfs-$kind failed"
    fi
  done
fi
exit "$status"
