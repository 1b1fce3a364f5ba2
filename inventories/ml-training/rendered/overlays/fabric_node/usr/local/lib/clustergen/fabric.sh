# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: fabric/fabric.sh
# Functions that clustergen's fabric scripts share. Sourced by bash, never executed.
# shellcheck shell=bash

export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C

say() { # to the terminal, or to the journal where systemd runs it
  printf '%s\n' "$*"
}

fail() {
  say "ERROR: $*"
  failures=$((failures + 1))
}

# interface_of DEVICE INTERFACE: the network interface of a port, by its name or its RDMA device.
interface_of() {
  local device=$1 interface=$2 path found
  if [ "$interface" != - ] && [ -e "/sys/class/net/$interface" ]; then
    printf '%s\n' "$interface"
    return 0
  fi
  [ "$device" != - ] || return 1
  path=/sys/class/infiniband/$device
  # RoCE: the interface of the first GID table entry.
  if found=$(cat "$path/ports/1/gid_attrs/ndevs/0" 2>/dev/null) && [ -n "$found" ]; then
    printf '%s\n' "$found"
    return 0
  fi
  # InfiniBand: the interface of the same PCI function; names with a dot are child interfaces of partitions.
  for found in "$path"/device/net/*; do
    found=${found##*/}
    case $found in
      '*' | *.*) ;;
      *) printf '%s\n' "$found"; return 0 ;;
    esac
  done
  return 1
}

# wait_for DEVICE INTERFACE: like interface_of, but waits up to a minute for the driver.
wait_for() {
  until interface_of "$1" "$2"; do
    [ "$SECONDS" -lt "${CLUSTERGEN_WAIT:-60}" ] || return 1
    sleep 1
  done
}

# device_of DEVICE INTERFACE: the RDMA device of a port.
device_of() {
  local found
  if [ "$1" != - ] && [ -e "/sys/class/infiniband/$1" ]; then
    printf '%s\n' "$1"
    return 0
  fi
  for found in "/sys/class/net/$2/device/infiniband"/*; do
    [ -e "$found" ] || return 1
    printf '%s\n' "${found##*/}"
    return 0
  done
}

# set_mtu INTERFACE MTU
set_mtu() {
  local now
  now=$(cat "/sys/class/net/$1/mtu" 2>/dev/null)
  [ "$now" = "$2" ] && return 0
  ip link set dev "$1" mtu "$2" || true
  now=$(cat "/sys/class/net/$1/mtu" 2>/dev/null)
  [ "$now" = "$2" ] || fail "$1: the MTU is ${now:-unknown}, not $2"
}
