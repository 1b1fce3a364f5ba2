#!/bin/bash
# The fabric ports are up, at the rate of the fabric where the manifest states one, and their adapters have all PCIe lanes that
# adapter and slot have. RDMA devices, or interfaces where there are none.
set -u
bad='' state='' rate=''
# shellcheck source=/dev/null
. /etc/clustergen/health.sh
: "${fabric_devices[*]?}" "${fabric_gbit_s:?}"

judge_lanes() { # judge_lanes DEVICE DIRECTORY: of /sys/class; a virtual function has no lanes
  local pci lanes most slot
  pci=$(readlink -f "$2/device") || return
  read -r lanes 2>/dev/null <"$pci/current_link_width" && read -r most 2>/dev/null <"$pci/max_link_width" || return
  [[ $lanes =~ ^[1-9][0-9]?$ && $most =~ ^[1-9][0-9]?$ ]] || return
  read -r slot 2>/dev/null <"${pci%/*}/max_link_width" && [[ $slot =~ ^[1-9][0-9]?$ ]] && ((slot < most)) && most=$slot
  ((lanes >= most)) || bad+="$1 has $lanes of $most PCIe lanes; "
}

for device in "${fabric_devices[@]}"; do
  if [ -d "/sys/class/infiniband/$device" ]; then
    judge_lanes "$device" "/sys/class/infiniband/$device"
    port=$(echo "/sys/class/infiniband/$device"/ports/*)
    port=${port%% *}
    read -r state <"$port/state"; read -r rate <"$port/rate"
    if [[ $state != *ACTIVE* ]]; then
      bad+="$device is ${state#*: }; "
    elif [ "${rate%%[!0-9]*}" -lt "$fabric_gbit_s" ]; then
      bad+="$device runs at ${rate%% (*}; "
    fi
  elif [ -d "/sys/class/net/$device" ]; then
    judge_lanes "$device" "/sys/class/net/$device"
    read -r state <"/sys/class/net/$device/operstate"
    [ "$state" = up ] || bad+="$device is $state; "
  else
    bad+="$device is missing; "
  fi
done
[ -z "$bad" ] || { echo "$bad"; exit 1; }
