#!/bin/bash
# clustergen-failover NAME [check | format | start | apply]
#   check   compares disk, services and resources with the manifest; changes nothing (default)
#   format  on the first server: creates the file system on the shared disk if it is empty; never forces
#   start   on both servers: leaves nfs-server to Pacemaker, and enables and starts Corosync and Pacemaker
#   apply   on the first server, when both run: loads the resources into a Pacemaker without any, and refuses any other
# Each step can be repeated.    exit 0 as it should be, 1 differs or refused
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

usage() {
  local names=(/etc/clustergen/failover-*.sh)
  names=("${names[@]##*/failover-}")
  echo "usage: clustergen-failover NAME [check | format | start | apply]; NAME is one of: ${names[*]%.sh}" >&2
  exit 2
}

entry=${1:-}
verb=${2:-check}
values=/etc/clustergen/failover-$entry.sh
[[ $entry != */* && -f $values && $verb =~ ^(check|format|start|apply)$ ]] || usage
# shellcheck source=/dev/null
. "$values"
# shellcheck disable=SC2154
declare -p cluster hosts device size_bytes filesystem label unfinished_label directory state_directory exports >/dev/null
host=$(hostname --short)
cib=/etc/clustergen-failover/cib.xml
kept=/var/lib/pacemaker/cib/cib.xml
authkey=/etc/corosync/authkey
status=0

differs() {
  echo "$*"
  status=1
}

refuse() {
  echo "refused: $*" >&2
  exit 1
}

[[ " ${hosts[*]} " == *" $host "* ]] || refuse "$host is no server of this pair"
[[ $host == "${hosts[0]}" || $verb == check || $verb == start ]] || refuse "run $verb on ${hosts[0]}"

# disk: prints present, empty or unfinished (an interrupted format); fails with the reason.
disk() {
  local present kind traces size users answer=empty hint=
  [[ -b $device ]] || { echo "$device is not a block device"; return 1; }
  present=$(blkid --probe --output value --match-tag LABEL "$device") || present=
  kind=$(blkid --probe --output value --match-tag TYPE "$device") || kind=
  if [[ $present == "$label" && $kind == "$filesystem" ]]; then
    echo present
    return
  fi
  if [[ $present == "$unfinished_label" && $kind == "$filesystem" ]]; then
    answer=unfinished hint=", left mounted by an interrupted format: umount $device"
  else
    traces=$(wipefs --no-act --noheadings "$device") || { echo "$device cannot be read"; return 1; }
    [[ -z $traces ]] || { echo "$device is not empty: label '$present', $traces"; return 1; }
  fi
  users=$(lsblk --noheadings --raw --output NAME,MOUNTPOINT "$device") || { echo "$device cannot be read"; return 1; }
  [[ $users != *$'\n'* && $users != *' /'* ]] || { echo "$device is in use: $users$hint"; return 1; }
  size=$(blockdev --getsize64 "$device") || { echo "$device cannot be read"; return 1; }
  ((size_bytes == 0 || (size * 100 >= size_bytes * 98 && size * 100 <= size_bytes * 102))) || {
    echo "$device has $size bytes, not $size_bytes"
    return 1
  }
  echo "$answer"
}

# query CIB_file OPTION…: cibadmin on a file, or on the running Pacemaker if the name is empty.
query() {
  if [[ -n $1 ]]; then CIB_file=$1 cibadmin --query "${@:2}"; else cibadmin --query "${@:2}"; fi
}

# section NAME [CIB_file]: a part of the configuration.
section() {
  query "${2-}" --scope "$1"
}

# parts CIB_file NAME…: these, as empty elements where they are missing.
parts() {
  local part
  for part in "${@:2}"; do
    section "$part" "$1" 2>/dev/null || echo "<$part/>"
  done
}

# rendered [CIB_file]: all that the manifest determines. Pacemaker adds further cluster options.
rendered() {
  parts "${1-}" resources constraints rsc_defaults op_defaults fencing-topology
  query "${1-}" --xpath "//crm_config//nvpair[@name='stonith-enabled' or @name='priority-fencing-delay']" 2>/dev/null |
    grep -o '<nvpair .*' | sort || true
}

# resources: prints equal, none or other; fails with the reason.
resources() {
  section resources >/dev/null 2>&1 || { echo "Pacemaker does not answer: systemctl status pacemaker"; return 1; }
  if [[ $(rendered) == "$(rendered "$cib")" ]]; then
    echo equal
  elif [[ $(parts "" resources constraints fencing-topology) == $'<resources/>\n<constraints/>\n<fencing-topology/>' ]]; then
    echo none
  else
    echo other
  fi
}

# unsafe [CIB_file]: prints the cluster options that switch fencing or Pacemaker off; fails with the reason.
unsafe() {
  local text code=0
  text=$(query "${1-}" --xpath "//crm_config//nvpair[
    ((@name='stonith-enabled' or @name='startup-fencing') and @value!='true') or
    ((@name='maintenance-mode' or @name='stop-all-resources') and @value!='false') or
    (@name='no-quorum-policy' and @value='ignore')]" 2>&1) || code=$?
  case $code in
    0) sed -n 's/.* name="\([^"]*\)" value="\([^"]*\)".*/\1=\2: crm_attribute --name \1 --delete/p; t; /<nvpair/p' <<<"$text" ;;
    105) ;; # no such option
    *) echo "the options cannot be read: $text"; return 1 ;;
  esac
}

# compare: the lines that differ; < is the running Pacemaker.
compare() {
  diff <(rendered) <(rendered "$cib") || true
}

# running: prints the cluster's name, of the Corosync that runs; empty if none does.
running() {
  if systemctl is-active --quiet corosync.service; then
    corosync-cmapctl -g totem.cluster_name | sed 's/.* = //'
  fi
}

# members: both servers are online for Pacemaker.
members() {
  local name list
  list=$(crm_node --list) || { echo "crm_node fails"; return 1; } # a pipe would be closed by grep -q
  for name in "${hosts[@]}"; do
    grep -qE "^[0-9]+ $name member$" <<<"$list" || { echo "$name is not online"; return 1; }
  done
}

case $verb in
  check)
    if answer=$(disk); then
      [[ $answer == present ]] || differs "disk: $device is $answer: clustergen-failover $entry format"
    else
      differs "disk: $answer"
    fi
    if systemctl is-enabled --quiet nfs-server.service; then
      differs "nfs-server.service starts at boot, without Pacemaker"
    fi
    for unit in corosync.service pacemaker.service; do
      systemctl is-active --quiet "$unit" || differs "$unit is not active: clustergen-failover $entry start"
    done
    ((status)) && exit 1
    [[ $(running) == "$cluster" ]] || differs "corosync: runs $(running), not $cluster"
    answer=$(members) || differs "members: $answer"
    answer=$(resources) || { differs "$answer"; exit 1; }
    case $answer in
      none) differs "resources: none loaded; run clustergen-failover $entry apply on ${hosts[0]}" ;;
      other)
        differs "resources: Pacemaker has others than $cib (after a move: crm_resource --resource nfs --clear):"
        compare
        ;;
    esac
    answer=$(unsafe) || { differs "$answer"; exit 1; }
    [[ -z $answer ]] || differs "options: $answer"
    ;;
  format)
    answer=$(disk) || refuse "$answer"
    if [[ $answer == present ]]; then
      echo "present on $device"
      exit 0
    fi
    # This label comes last: it says that all this is complete. Only Pacemaker mounts the disk from then on.
    if [[ $answer == empty ]]; then
      echo "creating $filesystem on $device"
      "mkfs.$filesystem" -L "$unfinished_label" "$device" || refuse "mkfs.$filesystem failed"
    else
      echo "continuing the interrupted format of $device"
    fi
    place=$(mktemp --directory)
    trap 'if mountpoint --quiet -- "$place"; then umount -- "$place"; fi; rmdir -- "$place"' EXIT
    mount -- "$device" "$place" ||
      refuse "$device cannot be mounted; if mkfs.$filesystem was interrupted: wipefs --all $device, then format again"
    [[ -z $(find "$place" -xdev ! -type d -print -quit) ]] || refuse "$device has files, but its format was interrupted"
    install --directory --mode=0700 -- "$place/${state_directory##*/}"
    for path in "${exports[@]}"; do install --directory -- "$place/${path#"$directory"/}"; done
    umount -- "$place"
    rmdir -- "$place"
    trap - EXIT
    if [[ $filesystem == xfs ]]; then xfs_admin -L "$label" "$device"; else e2label "$device" "$label"; fi
    ;;
  start)
    [[ -s $authkey ]] || refuse "$authkey is missing: give secrets_given.corosync"
    name=$(running)
    if [[ -n $name && $name != "$cluster" ]]; then
      # A distribution's package starts Corosync with an example of one node.
      live=$(section resources) || refuse "Pacemaker does not answer: systemctl status pacemaker"
      [[ $live == "<resources/>" ]] || refuse "Corosync runs the cluster $name, which has resources"
      echo "stopping the cluster $name, which has no resources"
      systemctl stop pacemaker.service corosync.service
      rm --force -- /var/lib/pacemaker/cib/cib*
      name=
    fi
    if [[ -e $kept ]] && ! systemctl is-active --quiet pacemaker.service; then
      live=$(section resources "$kept") || refuse "$kept cannot be read"
      [[ $live == "<resources/>" || $live == "$(section resources "$cib")" ]] ||
        refuse "$kept has other resources than $cib, and Pacemaker would start them: move it away unless you need it"
      if [[ $live != "<resources/>" ]]; then
        answer=$(unsafe "$kept") || refuse "$kept: $answer"
        [[ -z $answer ]] || refuse "Pacemaker would start the resources of $kept with $answer (with CIB_file=$kept)"
      fi
    fi
    stop=()
    # Where Pacemaker has resources, the server is its to stop.
    if [[ -z $name || $(section resources 2>/dev/null) == "<resources/>" ]]; then stop=(--now); fi
    systemctl disable "${stop[@]}" nfs-server.service
    mkdir --parents -- "$directory"
    systemctl enable --now corosync.service pacemaker.service
    ;;
  apply)
    [[ $(running) == "$cluster" ]] || refuse "Corosync does not run $cluster: clustergen-failover $entry start"
    answer=$(members) || refuse "$answer"
    loaded=$(resources) || refuse "$loaded"
    answer=$(unsafe) || refuse "$answer"
    [[ -z $answer ]] || refuse "$answer"
    case $loaded in
      equal) echo "the resources are those of $cib" ;;
      none)
        answer=$(disk) || refuse "$answer"
        [[ $answer == present ]] || refuse "$device is $answer: clustergen-failover $entry format"
        crm_verify --xml-file "$cib" || refuse "crm_verify rejects $cib"
        file=$(mktemp)
        trap 'rm -- "$file"' EXIT
        section configuration "$cib" >"$file"
        cibadmin --modify --allow-create --scope configuration --xml-file "$file" || refuse "cibadmin failed"
        echo "loaded $cib"
        ;;
      *)
        compare
        refuse "Pacemaker has other resources than $cib; after a move: crm_resource --resource nfs --clear"
        ;;
    esac
    ;;
esac
exit "$status"
