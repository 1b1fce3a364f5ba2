#!/bin/bash
# Faults that DCGM's health watches report for the GPUs of this node. DCGM's own overall state is not used: a single corrected
# NVLink error sets it to failed for good. The messages are matched instead: those listed under `drain` drain the node, all
# others are logged in the journal, and with health.dcgm: warn all are. dcgmi exits with 0 in every case.
set -u
drain=() driver=() warn=() ignore=()
# shellcheck source=/dev/null
. /etc/clustergen/dcgm-health.sh
: "${drains:?}"
# `driver`: DCGM reports these until nvidia-dcgm restarts, even after the reset that repairs the GPU. R570 and newer drivers
# withdraw their recovery action at the reset, and 20-gpu-errors checks it; older drivers have no recovery action.

report=$(timeout -k 1 15 dcgmi health -g 0 -c -j 2>/dev/null)
if [[ $report != *'"Overall Health"'* ]]; then
  # After a restart of DCGM no watch is set; the next check gets an answer. Monitoring alerts if DCGM is down.
  timeout -k 1 15 dcgmi health -g 0 -s a >/dev/null 2>&1
  exit 0
fi
[[ $report =~ \"(Warning|Failure)\" ]] || exit 0
text=$(tr -s '[:space:]",' ' ' <<<"$report") # messages come in pieces of a line each

matches() { # matches PATTERN…: the parts of the report that fit one of them, joined
  local IFS='|'
  grep -oE "$*" <<<"$text" | sort -u | paste -sd ';' | sed 's/;/; /g'
}

if [ "$drains" = true ]; then
  faults=$(matches "${drain[@]}")
  if ! timeout -k 1 15 nvidia-smi --query-gpu=gpu_recovery_action --format=csv,noheader 2>/dev/null |
    grep -qE '^(None|Reset|Reboot|Drain)'; then
    older=$(matches "${driver[@]}")
    faults+=${faults:+${older:+; }}$older
  fi
  [ -z "$faults" ] || { echo "DCGM: $faults"; exit 1; }
fi
notes=$(matches "${drain[@]}" "${driver[@]}" "${warn[@]}")
[ -n "$notes$(matches "${ignore[@]}")" ] || notes="a message that this check does not know: ${text:0:300}"
[ -z "$notes" ] || logger -t slurm-health -p daemon.warning -- "DCGM: $notes"
exit 0
