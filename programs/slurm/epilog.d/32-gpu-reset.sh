#!/bin/bash
# Resets GPUs of the job on which memory stays allocated without a process, or for which the driver requests a reset, in place of
# a reboot of the node. They were this job's alone and still are, until the epilog ends. A GPU that cannot be reset, that a
# reset does not repair, or that was reset often enough within a day drains the node, with the evidence as the reason.
set -u
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
unset CUDA_VISIBLE_DEVICES
# shellcheck source=/dev/null
. /etc/clustergen/gpu-reset.sh
: "${resets_per_day:?}" "${idle_mib:?}" # idle_mib 0: memory is not judged
state=/run/clustergen-gpu-resets        # only root can enter it; a boot begins with none

query() { timeout 30 nvidia-smi -i "$SLURM_JOB_GPUS" "--query-gpu=$1" --format=csv,noheader,nounits 2>/dev/null; }

declare -A faults
memory() { # GPUs without a display on which more is allocated than the driver and its daemons need
  local gpu used display
  while IFS=', ' read -r gpu used display; do
    [[ $gpu =~ ^[0-9]{1,3}$ && $used =~ ^[0-9]{1,9}$ && $display != Enabled ]] || continue
    [ "$used" -lt "$idle_mib" ] || echo "$gpu $used"
  done < <([ "$idle_mib" = 0 ] || query index,memory.used,display_active)
}

find_faults() {
  local gpu action attempt kept
  faults=()
  for attempt in {1..10}; do # memory is released after the process has ended
    kept=$(memory)
    [ -n "$kept" ] || break
    [ "$attempt" = 10 ] || sleep 1
  done
  while read -r gpu kept; do
    [ -z "$gpu" ] || faults[$gpu]="$kept MiB stay allocated"
  done <<<"$kept"
  while IFS=, read -r gpu action; do
    action=${action# }
    [[ $gpu =~ ^[0-9]{1,3}$ && ${action,,} == *reset* ]] || continue
    faults[$gpu]="${faults[$gpu]:+${faults[$gpu]}, }driver requests ${action//[^A-Za-z ]/}"
  done < <(query index,gpu_recovery_action)
}

evidence() { # evidence: a part for each faulty GPU
  local gpu text=''
  for gpu in $(printf '%s\n' "${!faults[@]}" | sort -n); do text+="GPU $gpu: ${faults[$gpu]}; "; done
  echo "${text%; }"
}

drain() { # drain REASON
  local reason
  reason="gpu reset: $(tr -c '[:alnum:] .,:;()/_%+-' ' ' <<<"$1" | tr -s ' ')" reason=${reason:0:300}
  echo "$1"
  timeout -k 1 5 scontrol update "NodeName=${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN "Reason=${reason% }"
  exit 1
}

find_faults
[ "${#faults[@]}" -gt 0 ] || exit 0
cause=$(evidence)

[ "$resets_per_day" -gt 0 ] || drain "$cause"
mkdir -m 700 $state 2>/dev/null
now=$(date +%s) gpus=''
while IFS=', ' read -r gpu uuid; do
  [[ -n ${faults[$gpu]:-} && $uuid =~ ^GPU-[0-9a-f-]+$ ]] || continue
  recent=0
  while read -r time; do ((time > now - 86400)) && recent=$((recent + 1)); done < <(cat "$state/$uuid" 2>/dev/null)
  [ "$recent" -lt "$resets_per_day" ] || drain "$cause; GPU $gpu was reset $recent times within a day"
  echo "$now" >>"$state/$uuid"
  gpus+=${gpus:+,}$gpu
done < <(query index,uuid)
[ -n "$gpus" ] || drain "$cause; nvidia-smi shows no UUID of it"

# In a session of its own: it starts what it has stopped, also if this script is ended.
refusal=$(setsid --wait /usr/local/sbin/clustergen-gpu-reset --among "$SLURM_JOB_GPUS" "$gpus") ||
  drain "$cause; not reset: $refusal"
find_faults
[ "${#faults[@]}" = 0 ] || drain "$cause; after a reset: $(evidence)"
echo "$cause; reset"
exit 0
