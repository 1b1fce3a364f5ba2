#!/bin/bash
# The fabric ports are up, at the rate of the fabric where the manifest states one. RDMA devices, or interfaces where there are none.
set -u
bad='' state='' rate=''
# shellcheck source=/dev/null
. /etc/clustergen/health.sh
: "${fabric_devices[*]?}" "${fabric_gbit_s:?}"
for device in "${fabric_devices[@]}"; do
  if [ -d "/sys/class/infiniband/$device" ]; then
    port=$(echo "/sys/class/infiniband/$device"/ports/*)
    port=${port%% *}
    read -r state <"$port/state"; read -r rate <"$port/rate"
    if [[ $state != *ACTIVE* ]]; then
      bad+="$device is ${state#*: }; "
    elif [ "${rate%%[!0-9]*}" -lt "$fabric_gbit_s" ]; then
      bad+="$device runs at ${rate%% (*}; "
    fi
  elif [ -d "/sys/class/net/$device" ]; then
    read -r state <"/sys/class/net/$device/operstate"
    [ "$state" = up ] || bad+="$device is $state; "
  else
    bad+="$device is missing; "
  fi
done
[ -z "$bad" ] || { echo "$bad"; exit 1; }
