#!/bin/bash
# The node's interfaces in the networks of /etc/clustergen-network. The files there are the same on all nodes of a type;
# this program puts the node's own address into them.
#   clustergen-network render DIRECTORY   writes the files of this node into a directory
#   clustergen-network show               compares them with the files in use; exits with 1 if they differ
#   clustergen-network apply [SECONDS]    activates them; without `confirm` in time (120), restores the previous files
#   clustergen-network confirm            keeps what `apply` has activated
#   clustergen-network rollback           restores the files before `apply`, at once
# The playbook clustergen.cluster.network calls apply, opens a new connection, and confirms.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C

config=/etc/clustergen-network
# shellcheck source=/dev/null
. /etc/clustergen/network.sh
: "${backend:?}" "${live:?}" "${kept:?}"
spare=$kept.clustergen-old
state=/var/lib/clustergen/network
timer=clustergen-network-timer

say() {
  printf '%s\n' "$*"
}

refuse() {
  printf 'ERROR: %s\n' "$*" >&2
  exit 2
}

# networks: name, suffix, devices and interfaces of each network, one per line
networks() {
  awk '!/^ *#/ && NF { print $1, $2, $3, $4 }' "$config/interfaces"
}

# render DIRECTORY: the files of all networks in which this node has an address
render() {
  local network suffix devices defined address file host
  host=$(</proc/sys/kernel/hostname)
  host=${host%%.*}
  while read -r network suffix devices defined <&3; do
    [ "$suffix" != - ] || suffix=
    address=$(getent hosts "$host$suffix" | awk 'NR == 1 { print $1 }') || true
    case $address in
      '')
        [ "$network" != management ] || refuse "$host does not resolve to an address"
        say "$network: $host$suffix has no address in this network" >&2
        continue
        ;;
      127.* | ::1) refuse "$host$suffix resolves to $address; its address in /etc/hosts is missing" ;;
    esac
    for file in "$config/$network"/*; do
      sed "/^#/!s|@address@|$address|g" "$file" >"$1/${file##*/}"
      chmod 600 "$1/${file##*/}"
    done
    say "$network: $host$suffix has $address, on $devices $defined" >&2
    rendered="$rendered $network" expected="$expected $address@${defined##*,}"
  done 3< <(networks)
}
rendered=
expected= # ADDRESS@INTERFACE of each network

# compare DIRECTORY: how the files in use differ from those of a directory
compare() {
  local file differs=0
  for file in "$1"/*; do
    if [ -e "$live/${file##*/}" ]; then
      diff -u "$live/${file##*/}" "$file" || differs=1
    else
      say "$live/${file##*/} is missing"
      differs=1
    fi
  done
  for file in "$live"/*clustergen-*; do
    [ ! -e "$file" ] || [ -e "$1/${file##*/}" ] || { say "$file is not in $config"; differs=1; }
  done
  return $differs
}

# others: files of the site or the installer that configure an interface of ours
others() {
  local name pattern
  networks | awk '{ print $4 }' | tr , '\n' | sort -u | while read -r name; do
    pattern=${name//./[.]}
    case $backend in
      netplan) grep -lE "^[[:space:]]+[\"']?(${pattern})[\"']?:" "$kept"/*.yaml ;;
      networkmanager) grep -lE "^interface-name=(${pattern})\$" "$kept"/* ;;
      ifupdown)
        grep -lE "^[[:space:]]*(iface|auto|allow-[a-z]+)[[:space:]](.*[[:space:]])?(${pattern})([[:space:]]|\$)" \
          "$kept/interfaces" "$live"/*
        ;;
    esac 2>/dev/null || true
  done | sort -u | grep -v '/[^/]*clustergen-[^/]*$' || true
}

# ours: the interfaces of all networks; created: those of them that are no ports of the machine
ours() {
  networks | awk '{ print $4 }' | tr , '\n' | sort -u
}
created() {
  networks | awk '{ split($3, list, ","); delete device; for (i in list) device[list[i]]
    count = split($4, list, ","); for (i = count; i > 0; i--) if (!(list[i] in device)) print list[i] }'
}

activate() {
  local file name
  case $backend in
    netplan) timeout -k 5 60 netplan apply; return ;;
    ifupdown) timeout -k 5 60 ifup --all; return ;;
  esac
  nmcli connection reload || return 1
  for file in "$live"/*; do
    name=$(sed -n 's/^interface-name=//p' "$file" 2>/dev/null | head -n 1)
    # A rollback also activates the files before, which may be of another interface.
    [[ ${file##*/} == clustergen-* ]] || ours | grep -qx "${name:-none}" || continue
    nmcli --wait 30 connection load "$file" && nmcli --wait 30 connection up filename "$file" || return 1
  done
}

# active: the interfaces of our files in use, which may be others than those of the new files
active() {
  sed -n 's/^iface \([^ ]*\) .*/\1/p' "$live"/*clustergen-* 2>/dev/null || true
}

# deactivate: with the files that activated the interfaces. netplan and NetworkManager compare the files themselves.
deactivate() {
  local name
  [ "$backend" = ifupdown ] || return 0
  for name in $(created) $(ours) $(active); do
    [ -e "/sys/class/net/$name" ] || continue
    timeout 30 ifdown --force "$name" 2>/dev/null || true
    sed -i "/^${name//./[.]}=/d" /run/network/ifstate 2>/dev/null || true
    ip addr flush dev "$name" 2>/dev/null || true
  done
  for name in $(created); do
    ip link delete dev "$name" 2>/dev/null || true
  done
}

# reached: every address is on its interface. The tools end without an error where a VLAN or a bond could not be made.
reached() {
  local pair second
  for pair in $expected; do
    for second in 1 2 3 4 5 6 7 8 9 10; do
      [ -z "$(ip -o addr show dev "${pair#*@}" to "${pair%@*}" 2>/dev/null)" ] || continue 2
      sleep 1
    done
    say "after $second seconds, ${pair#*@} does not have ${pair%@*}" >&2
    return 1
  done
}

# elsewhere: the addresses of this node on other interfaces than the files define, as address and interface, one per line
elsewhere() {
  local pair
  for pair in $expected; do
    ip -o addr show to "${pair%@*}" | awk -v name="${pair#*@}" '$2 != name { print $4, $2 }'
  done
}

# leave: removes them. An interface without a file keeps its address, by which the node could be reached until it boots.
leave() {
  elsewhere | sed 's/^/addr del /; s/ \([^ ]*\)$/ dev \1/' | xargs -r -L 1 ip
}

# addresses: ip's commands for the addresses and routes that the change may remove, which may not come from files
addresses() {
  local name
  for name in $({ ours; elsewhere | cut -d ' ' -f 2; } | sort -u); do
    [ -e "/sys/class/net/$name" ] || continue
    say "link set dev $name up"
    ip -o addr show dev "$name" scope global | awk '{ print "addr replace " $4 " dev " $2 }'
    ip -4 route show dev "$name" | awk -v name="$name" '!/proto kernel/ { print "route replace " $0 " dev " name }'
    ip -6 route show dev "$name" | awk -v name="$name" '/^default/ { print "-6 route replace default via " $3 " dev " name }'
  done | sed 's/ linkdown//; s/ expires [0-9]*sec//'
}

# complete: addresses that were there before `apply`, and that the files before did not bring back
complete() {
  local name address
  while read -r _ _ address _ name <&3; do
    if [ -e "/sys/class/net/$name" ] && [ -z "$(ip -o addr show dev "$name" to "${address%/*}")" ]; then
      grep -E " dev ${name//./[.]}( |\$)" "$state/addresses" | xargs -r -L 1 ip || true
    fi
  done 3< <(grep '^addr ' "$state/addresses")
}

# put: makes the configuration directory what it was before `apply`, file by file. The copy beside it has its files for
# links, which need no space: a disk that is full by now does not keep a node from its network.
put() {
  local file
  [ -d "$spare" ] || cp -a "$state/old" "$spare" || return 1
  for file in "$kept"/* "$live"/*; do
    [ ! -f "$file" ] || [ -e "$spare/${file#"$kept"/}" ] || rm -f "$file"
  done
  cp -al --remove-destination "$spare/." "$kept/" || cp -a --remove-destination "$spare/." "$kept/" || return 1
  sync -f "$kept"
}

# settled WORD: the change is kept or undone, as the log says
settled() {
  rm -f "$state/pending" "$state/active"
  rm -rf "$spare"
  sync -f "$state"
  say "$(date -u +%FT%TZ) $1" >>"$state/log" || true
}

pending() {
  [ -e "$state/pending" ]
}

apply() {
  local seconds=$1 new name devices rest device foreign=()
  case $seconds in '' | *[!0-9]*) refuse "'$seconds' is not a number of seconds" ;; esac
  [ "$seconds" -ge 20 ] || refuse "$seconds seconds are too few to connect again; at least 20"
  ! pending || refuse "a change of $(<"$state/pending") waits: run clustergen-network confirm or rollback"
  mkdir -p "$state"
  new=$state/new
  rm -rf "$new" "$state/old.part" && mkdir "$new"
  render "$new"
  if compare "$new" >/dev/null; then
    say "no change"
    return 0
  fi
  while read -r name _ devices rest; do
    case " $rendered " in *" $name "*) ;; *) continue ;; esac
    for device in ${devices//,/ }; do
      if [ -e "/sys/class/net/$device" ] || created | grep -qx "$device"; then continue; fi
      refuse "$name: this node has no interface $device; it has $(cd /sys/class/net && echo *)"
    done
  done < <(networks)
  mapfile -t foreign < <(others) # by line: NetworkManager names files as "Wired connection 1.nmconnection"
  if [ -n "${foreign[*]}" ] && [ -z "${CLUSTERGEN_NETWORK_REPLACE:-}" ]; then
    refuse "these files configure the same interfaces: ${foreign[*]}; remove what they say of them, or set" \
      "CLUSTERGEN_NETWORK_REPLACE=yes (playbook: -e replace=true) to set the files aside, with all that they configure"
  fi
  cp -a "$kept" "$state/old.part"
  rm -rf "$state/old" "$spare" && mv "$state/old.part" "$state/old" && cp -a "$kept" "$spare"
  addresses >"$state/addresses"
  date -u +%FT%TZ >"$state/pending.part"
  sync -f "$state"
  # The timer runs before anything changes, and belongs to systemd: it fires whatever becomes of this program.
  systemctl stop "$timer.timer" 2>/dev/null || true
  systemctl reset-failed "$timer.service" 2>/dev/null || true
  systemd-run --quiet --unit="$timer" --on-active="$seconds" --timer-property=AccuracySec=1s "$0" rollback
  mv "$state/pending.part" "$state/pending"
  sync -f "$state" # before any other file changes: after a power failure, boot has to find it
  trap '' HUP PIPE # the connection of the one who called may end here
  deactivate
  leave || true
  for name in "${foreign[@]}"; do
    rm -f "$name"
    [ "$name" != /etc/network/interfaces ] || printf 'auto lo\niface lo inet loopback\nsource %s/*\n' "$live" >"$name"
  done
  rm -f "$live"/*clustergen-*
  mkdir -p "$live"
  cp -a "$new/." "$live/"
  sync -f "$live"
  if ! activate || ! leave || ! reached; then
    rollback
    refuse "the new configuration could not be activated; the files before are back"
  fi
  touch "$state/active"
  say "activated; without clustergen-network confirm, the previous files are restored in $seconds seconds" 2>/dev/null || true
}

# cloud_init_off: cloud-init writes its own files, beside ours, if it considers the node a new instance
cloud_init_off() {
  local file=/etc/cloud/cloud.cfg.d/99-clustergen-network.cfg
  [ -d "${file%/*}" ] || return 0
  # With the storage network alone, the node's address may be one that cloud-init configures.
  grep -q '^ *management ' "$config/interfaces" || return 0
  printf 'network: {config: disabled}\n' >"$file"
  say "cloud-init leaves the network alone: $file"
}

confirm() {
  pending || refuse "nothing waits to be confirmed: $(tail -n 1 "$state/log" 2>/dev/null || echo "no change was made")"
  [ -e "$state/active" ] || refuse "the change of $(<"$state/pending") is not active yet"
  # A timer that has fired takes the lock first, or finds nothing pending.
  systemctl stop "$timer.timer" 2>/dev/null || true
  settled confirmed
  say "confirmed; the files before are kept in $state/old"
  cloud_init_off
}

rollback() {
  local restored=yes
  pending || { say "nothing to roll back"; return 0; }
  [ -d "$state/old" ] || refuse "$state/old is missing: nothing was changed"
  say "rolling back the change of $(<"$state/pending")" || true
  deactivate
  put || restored=
  activate || say "ERROR: the files before are back, but could not be activated" || true
  complete
  if [ -n "$restored" ]; then
    settled "rolled back"
  else
    say "ERROR: not all files before could be restored from $state/old; the next boot tries again" || true
  fi
  systemctl stop --no-block "$timer.timer" 2>/dev/null || true
}

# boot: before the network is up, a change that nobody has confirmed is undone
boot() {
  local restored=yes
  pending || return 0
  put || restored=
  # systemd has run netplan's generator with the files before.
  [ "$backend" != netplan ] || netplan generate || true
  [ -n "$restored" ] || refuse "not all files before could be restored from $state/old"
  settled "rolled back at boot"
}

locked() {
  mkdir -p "$state"
  exec 9>"$state/lock"
  # The timer fires once: its rollback waits for an `apply`, however long that hangs.
  if [ "$1" = rollback ]; then flock 9; else flock -w 90 9 || refuse "another clustergen-network runs"; fi
  "$@" 9>&-
}

case ${1:-} in
  render)
    [ -d "${2:-}" ] || refuse "'${2:-}' is not a directory"
    render "$2"
    ;;
  show)
    new=$(mktemp -d)
    trap 'rm -rf "$new"' EXIT
    render "$new"
    compare "$new"
    ;;
  apply) locked apply "${2:-120}" ;;
  confirm | rollback | boot) locked "$1" ;;
  *) refuse "usage: clustergen-network render DIRECTORY | show | apply [SECONDS] | confirm | rollback" ;;
esac
