#!/bin/bash
# The job's GPUs respond, and no other process computes on them. Where jobs may share GPUs, other processes are not checked.
set -u
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
# shellcheck source=/dev/null
. /etc/clustergen/gpu-scripts.sh
: "${is_exclusive:?}"
# While the epilog of another job resets a GPU, nvidia-smi may fail.
[ ! -d /run/clustergen-gpu-resets ] || { exec 9>>/run/clustergen-gpu-resets/lock && flock -s -w 100 9; }
unset CUDA_VISIBLE_DEVICES # Slurm sets it here; nvidia-smi would look at those GPUs only
if [ "$is_exclusive" != true ]; then
  said=$(timeout 30 nvidia-smi -L 2>&1) || { echo "nvidia-smi: ${said:-no answer in 30 seconds}"; exit 1; }
  exit 0
fi
listed=$(timeout 30 nvidia-smi --query-gpu=index,uuid --format=csv,noheader,nounits 2>&1) || {
  echo "nvidia-smi: ${listed:-no answer in 30 seconds}"
  exit 1
}

# shellcheck source=/dev/null
. /usr/local/lib/clustergen/user-processes.sh

is_mps() { # is_mps PID: the server of MPS, which root or the job's user started
  [[ $(readlink "/proc/$1/exe") == */nvidia-cuda-mps-server && $(real_uid "$1") =~ ^(0|${SLURM_JOB_UID:?})$ ]]
}

declare -A mine
for gpu in ${SLURM_JOB_GPUS//,/ }; do
  uuid=$(awk -F', ' -v gpu="$gpu" '$1 == gpu { print $2 }' <<<"$listed")
  [ -n "$uuid" ] || { echo "GPU $gpu does not respond"; exit 1; }
  mine[$uuid]=$gpu
done

# Processes of the previous job may still be exiting. A user's process on GPUs that are this job's alone is there by a trick, as
# with an open device that another job passed on: it is killed. Processes of the system, and those that cannot be killed, are
# a reason not to start.
declare -A killed
for attempt in {1..10}; do
  busy='' pids=()
  while read -r line; do
    # Names of processes are not asked for: a line feed in one would be a line of its own here.
    [[ $line =~ ^((GPU|MIG)-[0-9a-f-]+),\ ?([0-9]+)$ ]] || continue
    uuid=${BASH_REMATCH[1]} pid=${BASH_REMATCH[3]}
    if [ -z "${mine[$uuid]:-}" ] || is_mps "$pid"; then
      continue
    fi
    user=$(real_uid "$pid")
    if [ "${user:-0}" -ge 1000 ]; then
      pids+=("$pid")
      [ -n "${killed[$pid]:-}" ] || continue
    fi
    busy+="GPU ${mine[$uuid]}:$pid:$(ps -o comm= -p "$pid"); "
  done < <(timeout 20 nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader 2>/dev/null)
  [ -n "$busy${pids[*]}" ] || exit 0
  if [ "$attempt" -gt 2 ] && [ -n "${pids[*]}" ]; then
    echo "killed on the job's GPUs: $(ps -o pid=,user=,comm= -p "${pids[*]}" | tr '\n' ';')"
    kill -9 "${pids[@]}" 2>/dev/null
    end_tracers "${pids[@]}"
    for pid in "${pids[@]}"; do killed[$pid]=1; done
  fi
  [ "$attempt" = 10 ] || sleep 2
done
[ -n "$busy" ] || { echo "new processes of users appear on the job's GPUs again and again"; exit 0; }
echo "other processes run on the job's GPUs: $busy"
exit 1
