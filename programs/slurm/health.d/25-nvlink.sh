#!/bin/bash
# All NVLinks are up: as many as the GPU has, or as connect it to its neighbours.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/gpu-health.sh
: "${nvlinks[*]?}" # by GPU
bad='' gpu=-1
while read -r line; do
  case $line in
    "GPU "*) gpu=${line#GPU } gpu=${gpu%%:*} up[gpu]=0 ;;
    "Link "*inactive*) ;;
    "Link "*GB/s*) up[gpu]=$((up[gpu] + 1)) ;;
  esac
done < <(timeout 20 nvidia-smi nvlink -s 2>/dev/null)
[ "$gpu" -ge 0 ] || { echo "nvidia-smi shows no NVLink status"; exit 1; }
for gpu in "${!nvlinks[@]}"; do
  [ "${up[gpu]:-0}" -ge "${nvlinks[gpu]}" ] || bad+="GPU $gpu: ${up[gpu]:-0} of ${nvlinks[gpu]} NVLinks; "
done
[ -z "$bad" ] || { echo "$bad"; exit 1; }
