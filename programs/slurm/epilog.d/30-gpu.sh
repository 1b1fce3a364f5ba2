#!/bin/bash
# Ends remaining processes of the job's user on the job's GPUs. The GPUs were allocated to this job alone, so the processes
# cannot belong to another job; processes of other users are reported by the prolog and the health check.
set -u
[ -n "${SLURM_JOB_GPUS:-}" ] && [ "${SLURM_JOB_UID:?}" -gt 0 ] || exit 0
unset CUDA_VISIBLE_DEVICES

# shellcheck source=/dev/null
. /usr/local/lib/clustergen/user-processes.sh

left() { # pids of the user on the job's GPUs
  local pid
  while read -r pid; do
    [[ $pid =~ ^[0-9]+$ ]] && [ "$(real_uid "$pid")" = "$SLURM_JOB_UID" ] && echo "$pid"
  done < <(timeout 30 nvidia-smi -i "$SLURM_JOB_GPUS" --query-compute-apps=pid --format=csv,noheader 2>/dev/null)
}

declare -A killed
for attempt in {1..10}; do
  mapfile -t pids < <(left)
  [ -n "${pids[*]}" ] || exit 0
  if [ "$attempt" -gt 2 ]; then
    echo "killed on GPU $SLURM_JOB_GPUS: $(ps -o pid=,comm= -p "${pids[*]}" | tr '\n' ';')"
    kill -9 "${pids[@]}" 2>/dev/null
    end_tracers "${pids[@]}"
    [ "$attempt" = 10 ] || for pid in "${pids[@]}"; do killed[$pid]=1; done
  fi
  [ "$attempt" = 10 ] || sleep 1
done
for pid in "${pids[@]}"; do
  [ -z "${killed[$pid]:-}" ] || { echo "process $pid on GPU $SLURM_JOB_GPUS cannot be killed"; exit 1; }
done
echo "new processes of the user appear on GPU $SLURM_JOB_GPUS again and again"
exit 0
