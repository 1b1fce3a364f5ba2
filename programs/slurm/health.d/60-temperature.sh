#!/bin/bash
# No idle GPU is hotter than health.max_temperature, which would mean that its cooling has failed. A GPU without a process
# that still cools down from a job is healthy: it has to stay as hot for 10 seconds.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/gpu-health.sh
: "${max_temperature:?}"
unset CUDA_VISIBLE_DEVICES

query() { # query FIELDS: a line by GPU, or by process
  timeout 10 nvidia-smi "$1" --format=csv,noheader,nounits 2>/dev/null
}

hot() { # uuid, index and temperature of GPUs that nothing uses
  local busy uuid gpu degrees load
  busy=$(query --query-compute-apps=gpu_uuid)
  while IFS=', ' read -r uuid gpu degrees load; do
    [[ $degrees =~ ^[0-9]+$ && $load == 0 && $degrees -gt $max_temperature && $busy != *"$uuid"* ]] && echo "$gpu $degrees"
  done < <(query --query-gpu=uuid,index,temperature.gpu,utilization.gpu)
}

declare -A before
while read -r gpu degrees; do before[$gpu]=$degrees; done < <(hot)
[ -n "${before[*]}" ] || exit 0
sleep 10
bad=
while read -r gpu degrees; do
  [ "$degrees" -ge "${before[$gpu]:-1000}" ] && bad+="GPU $gpu is idle and has $degrees C; "
done < <(hot)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
