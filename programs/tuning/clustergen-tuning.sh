#!/bin/bash
# Applies the tuning of this node type, which kernel and drivers forget at every boot. Changes what differs, reads it back.
# exit 0 all applied, 1 at least one differs
set -uo pipefail
shopt -s nullglob
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/tuning.sh || exit 1
: "${governor?}" "${idle_latency_us?}" "${transparent_hugepages?}" "${ports[*]-}" "${#ports[@]}" "${interrupts:?}"
: "${rings?}" "${channels?}" "${read_request?}" "${relaxed_ordering?}"

failures=0
fail() {
  echo "ERROR: $*" >&2
  failures=$((failures + 1))
}

# put VALUE FILE: writes the value if it differs, and reads it back
put() {
  local now=
  read -r now <"$2" 2>/dev/null
  [ "$now" != "$1" ] || return 0
  printf '%s\n' "$1" 2>/dev/null >"$2" || true
  now=
  read -r now <"$2" 2>/dev/null
  [ "$now" = "$1" ] || fail "$2 is ${now:-missing}, not $1"
}

if [ -n "$governor" ]; then
  policies=(/sys/devices/system/cpu/cpufreq/policy*/scaling_governor)
  [ -n "${policies[*]}" ] || fail "no driver for CPU frequencies: the firmware keeps them to itself"
  for file in "${policies[@]}"; do put "$governor" "$file"; done
fi

if [ -n "$idle_latency_us" ]; then
  # Waking up from a state takes its latency in microseconds.
  for state in /sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*; do
    read -r latency <"$state/latency"
    put $((latency > idle_latency_us)) "$state/disable"
  done
fi

if [ -n "$transparent_hugepages" ]; then
  file=/sys/kernel/mm/transparent_hugepage/enabled
  [[ $(<"$file") == *"[$transparent_hugepages]"* ]] || echo "$transparent_hugepages" >"$file" || true
  [[ $(<"$file") == *"[$transparent_hugepages]"* ]] || fail "$file is $(<"$file"), not $transparent_hugepages"
fi

# pci_directory PORT: the PCI device of an RDMA device or an interface; waits up to a minute for its driver.
pci_directory() {
  local class
  while :; do
    for class in infiniband net; do
      ! readlink -e "/sys/class/$class/$1/device" || return 0
    done
    [ "$SECONDS" -lt "${CLUSTERGEN_WAIT:-60}" ] || return 1
    sleep 1
  done
}

# expand LIST: 0-2,8 as lines
expand() {
  local range
  for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done
}

turn=0
# interrupts_of PORT DIRECTORY: one after the other to the CPUs next to the adapter
interrupts_of() {
  local file list cpus
  read -r list <"$2/local_cpulist"
  mapfile -t cpus < <(expand "$list")
  [ -n "${cpus[*]}" ] || { fail "$1: no CPU is local to the adapter"; return; }
  for file in "$2"/msi_irqs/*; do
    [ -n "${cpus[turn]-}" ] || turn=0
    put "${cpus[turn]}" "/proc/irq/${file##*/}/smp_affinity_list"
    turn=$((turn + 1))
  done
}

# ethernet_of DIRECTORY: its Ethernet interfaces
ethernet_of() {
  local path
  for path in "$1"/net/*; do
    [ "$(<"$path/type")" != 1 ] || printf '%s\n' "${path##*/}"
  done
}

# sizes INTERFACE QUERY NAME: largest and current value of a line such as `RX:`
sizes() {
  ethtool "$2" "$1" 2>/dev/null | awk -v name="$3:" '$1 == name { print $2 }' | paste -sd ' '
}

# rings_of INTERFACE: sets what differs, as each change interrupts the link for a moment. Drivers may round up to a power of two.
rings_of() {
  local name wanted limit now rounded
  for name in RX TX; do
    read -r limit now < <(sizes "$1" -g $name)
    if [ -z "${now-}" ]; then
      fail "$1: the driver shows no size of its $name ring"
      continue
    fi
    wanted=${rings/max/$limit}
    rounded=64
    while [ "$rounded" -lt "$wanted" ]; do rounded=$((rounded * 2)); done
    [[ $now == "$wanted" || $now == "$rounded" ]] || ethtool -G "$1" "${name,,}" "$wanted" >/dev/null 2>&1 || true
    read -r limit now < <(sizes "$1" -g $name)
    [[ $now == "$wanted" || $now == "$rounded" ]] || fail "$1: its $name ring has $now descriptors, not $wanted; the adapter has up to $limit"
  done
}

# channels_of INTERFACE
channels_of() {
  local limit now
  read -r limit now < <(sizes "$1" -l Combined)
  [ "${now-}" = "$channels" ] || ethtool -L "$1" combined "$channels" >/dev/null 2>&1 || true
  read -r limit now < <(sizes "$1" -l Combined)
  [ "${now-}" = "$channels" ] || fail "$1 has ${now:-no} queues, not $channels; the adapter has up to ${limit:-none}"
}

# control PORT PCI SHIFT BITS VALUE: a field of the PCIe device control register
control() {
  local mask=$(((2 ** $4 - 1) << $3)) value=$(($5 << $3)) now
  now=$(setpci -s "$2" CAP_EXP+8.w) || { fail "$1: setpci cannot read $2"; return; }
  [ $((0x$now & mask)) != "$value" ] || return 0
  setpci -s "$2" "CAP_EXP+8.w=$(printf '%x:%x' "$value" "$mask")" || true
  now=$(setpci -s "$2" CAP_EXP+8.w)
  [ $((0x$now & mask)) = "$value" ] || fail "$1: the control register of $2 is $now: bits $3 to $(($3 + $4 - 1)) are not $5"
}

for port in "${ports[@]}"; do
  directory=$(pci_directory "$port") || { fail "$port does not exist"; continue; }
  for interface in $(ethernet_of "$directory"); do
    [ -z "$channels" ] || channels_of "$interface"
    [ -z "$rings" ] || rings_of "$interface"
  done
  [ "$interrupts" = false ] || interrupts_of "$port" "$directory"
  [ -z "$read_request" ] || control "$port" "${directory##*/}" 12 3 "$read_request"
  [ -z "$relaxed_ordering" ] || control "$port" "${directory##*/}" 4 1 "$relaxed_ordering"
done

[ "$failures" -eq 0 ]
