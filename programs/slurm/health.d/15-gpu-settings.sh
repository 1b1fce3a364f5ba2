#!/bin/bash
# Every GPU has the power limit, the clocks and the PCIe link that acceptance requires. A value that the driver does not report
# is not judged: 10-gpu-count reports GPUs that do not respond. Slowdowns by heat or by the power supply are only logged,
# because they end by themselves.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/gpu-health.sh
: "${floors[*]?}"
unset CUDA_VISIBLE_DEVICES
faults='' notes=''

query() { # query FIELD: a line by GPU
  timeout 20 nvidia-smi "--query-gpu=index,$1" --format=csv,noheader,nounits 2>/dev/null
}

judge() { # judge RELATION BOUND WORDS, with lines of query on stdin
  local gpu value whole
  while IFS=, read -r gpu value; do
    value=${value# } whole=${value%%.*}
    [[ $gpu =~ ^[0-9]{1,3}$ && $value =~ ^[0-9]{1,6}(\.[0-9]+)?$ ]] || continue
    [ "$1" = least ] && [ "$whole" -ge "$2" ] && continue
    [ "$1" = equal ] && [ "$whole" -eq "$2" ] && continue
    faults+="GPU $gpu: $3 $value instead of $2; "
  done
}

for ((row = 0; row < ${#floors[@]}; row += 4)); do
  judge "${floors[@]:row+1:3}" < <(query "${floors[row]}")
done

reasons=$(query clocks_event_reasons.active)
[[ $reasons == *0x* ]] || reasons=$(query clocks_throttle_reasons.active)
while IFS=, read -r gpu mask; do
  mask=${mask# }
  [[ $gpu =~ ^[0-9]{1,3}$ && $mask =~ ^0x[0-9a-fA-F]{1,16}$ ]] || continue
  ((mask & 0xe8)) && notes+="GPU $gpu is slowed down by heat or by its power supply ($mask); "
done <<<"$reasons"

[ -z "$notes" ] || logger -t slurm-health -p daemon.warning -- "${notes%; }"
[ -n "$faults" ] || exit 0
echo "$faults"
exit 1
