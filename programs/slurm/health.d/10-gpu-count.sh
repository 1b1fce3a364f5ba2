#!/bin/bash
# All GPUs respond.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/gpu-health.sh
: "${gpu_count:?}"
answered=$(timeout 25 nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | grep -cE '^[0-9]+$')
[ "$answered" = "$gpu_count" ] || { echo "$answered of $gpu_count GPUs respond"; exit 1; }
