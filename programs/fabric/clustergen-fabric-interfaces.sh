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

# leaf_router ADDRESS PREFIX: the leaf's address, which is the last one of its network, or the other one of two
leaf_router() {
  local a b c d number size=$((1 << (32 - $2)))
  IFS=. read -r a b c d <<<"$1"
  number=$(((a << 24) + (b << 16) + (c << 8) + d))
  if [ "$size" = 2 ]; then number=$((number ^ 1)); else number=$(((number | (size - 1)) - 1)); fi
  printf '%d.%d.%d.%d\n' $((number >> 24)) $((number >> 16 & 255)) $((number >> 8 & 255)) $((number & 255))
}

# set_address INTERFACE ADDRESS NETWORK PREFIX: sets this address and removes others of the same network
set_address() {
  local interface=$1 address=$2 network=$3 wanted=$2/$4 other
  for other in $(ip -o addr show dev "$interface" to "$network" | awk '{ print $4 }'); do
    [ "$other" = "$wanted" ] || ip addr del "$other" dev "$interface" || true
  done
  [ -n "$(ip -o addr show dev "$interface" to "$address")" ] || ip addr add "$wanted" dev "$interface" || true
  [ -n "$(ip -o addr show dev "$interface" to "$address")" ] || fail "$interface: $wanted could not be set"
}

# set_leaf_route INTERFACE ADDRESS NETWORK ROUTER: the other leaves of the rail are behind this one
set_leaf_route() {
  ip route replace "$3" via "$4" dev "$1" src "$2" || fail "$1: no route to $3 through $4"
}

# set_routes INTERFACE ADDRESS NETWORK ROUTER TABLE LEAF: packets from this rail's address leave through this rail, those to
# other leaves through the router LEAF
set_routes() {
  local interface=$1 address=$2 network=$3 router=$4 number=$5 family=-4 old via=()
  [ "$6" = - ] || via=(via "$6")
  case $address in *:*) family=-6 ;; esac
  ip "$family" route replace "$network" "${via[@]}" dev "$interface" src "$address" table "$number" || fail "$interface: no route to $network"
  if [ "$router" != - ]; then
    ip "$family" route replace default via "$router" dev "$interface" table "$number" || fail "$interface: no route through $router"
  fi
  for old in $(ip "$family" rule show | awk -v table="$number" '$NF == table && $2 == "from" { print $3 }'); do
    [ "$old" = "$address" ] || ip "$family" rule del from "$old" table "$number" || true
  done
  ip "$family" rule show | awk -v address="$address" -v table="$number" '$3 == address && $NF == table { found = 1 } END { exit !found }' ||
    ip "$family" rule add from "$address" table "$number" priority "$((1000 + number))" || fail "$interface: no rule for $address"
}

while read -r rail device interface suffix network router number prefix <&3; do
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
  leaf=-
  [ -z "$prefix" ] || leaf=$(leaf_router "$address" "$prefix")
  set_address "$name" "$address" "$network" "${prefix:-${network#*/}}"
  [ "$leaf" = - ] || set_leaf_route "$name" "$address" "$network" "$leaf"
  [ "$leaf" = - ] || [ "$router" = - ] || router=$leaf
  [ "$number" = - ] || set_routes "$name" "$address" "$network" "$router" "$number" "$leaf"
  say "rail $rail: $name has $address"
done 3</etc/clustergen/fabric-interfaces

[ "$failures" -eq 0 ]
