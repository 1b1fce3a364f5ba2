#!/bin/bash
# No GPU needs a reset or a reboot. From R570 on the driver reports this itself (GPU recovery action): contained memory errors
# do not count, and a reset clears all others. Without a recovery action, uncorrected memory errors since the driver was
# loaded count, which a reset also clears. A failed row remapping requires a new board; a pending one does not affect new
# jobs and is only logged. In the epilog of a job that had GPUs alone: those.
set -u
unset CUDA_VISIBLE_DEVICES
only=()
if [[ $0 == */epilog.d/* ]]; then
  # shellcheck source=/dev/null
  . /etc/clustergen/gpu-scripts.sh
  [ "${is_exclusive:?}" != true ] || only=(${SLURM_JOB_GPUS:+-i "$SLURM_JOB_GPUS"})
fi
faults='' notes=''

query() { # query OPTION=FIELDS: a line by GPU, of fields that the driver may not know
  timeout 20 nvidia-smi "${only[@]}" "$1" --format=csv,noheader,nounits 2>/dev/null
}

declare -A decided # GPUs for which the driver gives a recovery action
while IFS=, read -r gpu action; do
  action=${action# }
  [[ $gpu =~ ^[0-9]+$ && $action != *N/A* && $action != *"Not Supported"* ]] || continue
  decided[$gpu]=1
  case ${action,,} in
    none) ;;
    *reset* | *reboot*) faults+="GPU $gpu needs $action; " ;;
    *) notes+="GPU $gpu: recovery action $action; " ;;
  esac
done < <(query --query-gpu=index,gpu_recovery_action)

while IFS=', ' read -r gpu errors; do
  [[ $gpu =~ ^[0-9]+$ && $errors =~ ^[1-9][0-9]*$ ]] || continue
  if [ -n "${decided[$gpu]:-}" ]; then
    notes+="GPU $gpu has $errors uncorrected memory errors; "
  else
    faults+="GPU $gpu has $errors uncorrected memory errors; "
  fi
done < <(query --query-gpu=index,ecc.errors.uncorrected.volatile.total)

while IFS=', ' read -r bus failed pending; do
  [[ $failed =~ ^([1-9][0-9]*|Yes)$ ]] && faults+="GPU $bus could not remap a memory row; "
  [[ $pending =~ ^([1-9][0-9]*|Yes)$ ]] && notes+="GPU $bus needs a reset to remap a memory row; "
done < <(query --query-remapped-rows=gpu_bus_id,remapped_rows.failure,remapped_rows.pending)

[ -z "$notes" ] || logger -t slurm-health -p daemon.warning -- "${notes%; }"
[ -n "$faults" ] || exit 0
echo "$faults"
exit 1
