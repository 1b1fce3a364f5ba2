#!/bin/bash
# Sets MTU, addresses and routes of the fabric interfaces. Leaves correct settings alone, and exits with 1 if any setting is
# still wrong at the end.
set -uo pipefail
failures=0
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/fabric.sh && . /etc/clustergen/fabric-interfaces.sh || exit 1
: "${mtu?}" "${ipoib_mode?}"

host=$(</proc/sys/kernel/hostname)
host=${host%%.*}

# set_mode INTERFACE: IPoIB only
set_mode() {
  local file=/sys/class/net/$1/mode
  [ -e "$file" ] || return 0
  [ "$(cat "$file")" = "$ipoib_mode" ] || printf '%s\n' "$ipoib_mode" >"$file" 2>/dev/null || true
  [ "$(cat "$file")" = "$ipoib_mode" ] || fail "$1: IPoIB mode is $(cat "$file"), not $ipoib_mode"
}

# set_address INTERFACE ADDRESS NETWORK: sets this address and removes others of the same network
set_address() {
  local interface=$1 address=$2 network=$3 wanted=$2/${3#*/} other
  for other in $(ip -o addr show dev "$interface" to "$network" | awk '{ print $4 }'); do
    [ "$other" = "$wanted" ] || ip addr del "$other" dev "$interface" || true
  done
  [ -n "$(ip -o addr show dev "$interface" to "$address")" ] || ip addr add "$wanted" dev "$interface" || true
  [ -n "$(ip -o addr show dev "$interface" to "$address")" ] || fail "$interface: $wanted could not be set"
}

# set_routes INTERFACE ADDRESS NETWORK ROUTER TABLE: packets from this rail's address leave through this rail
set_routes() {
  local interface=$1 address=$2 network=$3 router=$4 number=$5 family=-4 old
  case $address in *:*) family=-6 ;; esac
  ip "$family" route replace "$network" dev "$interface" src "$address" table "$number" || fail "$interface: no route to $network"
  if [ "$router" != - ]; then
    ip "$family" route replace default via "$router" dev "$interface" table "$number" || fail "$interface: no route through $router"
  fi
  for old in $(ip "$family" rule show | awk -v table="$number" '$NF == table && $2 == "from" { print $3 }'); do
    [ "$old" = "$address" ] || ip "$family" rule del from "$old" table "$number" || true
  done
  ip "$family" rule show | awk -v address="$address" -v table="$number" '$3 == address && $NF == table { found = 1 } END { exit !found }' ||
    ip "$family" rule add from "$address" table "$number" priority "$((1000 + number))" || fail "$interface: no rule for $address"
}

while read -r rail device interface suffix network router number <&3; do
  case $rail in '' | '#'*) continue ;; esac
  if ! name=$(wait_for "$device" "$interface"); then
    fail "rail $rail: interface $interface does not exist, and RDMA device $device has none"
    continue
  fi
  [ -z "$ipoib_mode" ] || set_mode "$name"
  [ -z "$mtu" ] || set_mtu "$name" "$mtu"
  ip link set dev "$name" up || fail "$name: cannot be brought up"
  [ "$network" != - ] || continue
  address=$(getent hosts "$host$suffix" | awk 'NR == 1 { print $1 }')
  if [ -z "$address" ]; then
    fail "rail $rail: $host$suffix does not resolve to an address"
    continue
  fi
  set_address "$name" "$address" "$network"
  [ "$number" = - ] || set_routes "$name" "$address" "$network" "$router" "$number"
  say "rail $rail: $name has $address"
done 3</etc/clustergen/fabric-interfaces

[ "$failures" -eq 0 ]
