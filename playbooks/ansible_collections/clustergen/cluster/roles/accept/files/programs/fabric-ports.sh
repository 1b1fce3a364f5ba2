#!/bin/bash
# State and rate of the RDMA ports in GATE_DEVICES, from sysfs.
active=0
for device in $GATE_DEVICES; do
  port=$(echo "/sys/class/infiniband/$device"/ports/*)
  port=${port%% *}
  state=missing rate=0
  [ -r "$port/state" ] && { read -r state <"$port/state"; read -r rate _ <"$port/rate"; }
  [[ $state == *ACTIVE* ]] && active=$((active + 1)) || rate=0
  echo "@reading $device ${rate:-0}"
done
echo "@reading ports $active"
