#!/bin/bash
# Maps GPUs to jobs for the DCGM exporter: a file per GPU with job ids, which the prolog adds and the epilog removes. MIG
# instances are left out, because Slurm and DCGM number them differently. Never fails: a metric without its job label is no
# reason to drain a node.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/gpu-scripts.sh
: "${is_exclusive:?}" "${job_map:?}" "${metrics_file?}" "${SLURM_JOB_ID:?}"
if [[ $0 == */prolog.d/* ]]; then
  [ -n "${SLURM_JOB_GPUS:-}" ] && [[ ${CUDA_VISIBLE_DEVICES:-} != MIG-* ]] || exit 0
fi
cd "$job_map" || exit 0
# Only root can open it: in /run/lock users could hold the lock or keep root from creating it.
umask 077
exec 9>/run/clustergen-job-map.lock && flock -w 10 9
umask 022

add() {
  local gpu
  for gpu in ${SLURM_JOB_GPUS//,/ }; do
    { [ "$is_exclusive" = true ] || cat "$gpu" 2>/dev/null; echo "$SLURM_JOB_ID"; } | sort -u >".$gpu" && mv ".$gpu" "$gpu"
  done
}

remove() {
  local file
  for file in [0-9]*; do
    grep -qx -- "$SLURM_JOB_ID" "$file" 2>/dev/null || continue
    if grep -vx -- "$SLURM_JOB_ID" "$file" >".$file"; then
      mv ".$file" "$file"
    else
      rm -f -- ".$file" "$file"
    fi
  done
}

print_metrics() {
  local file job
  echo '# TYPE clustergen_gpu_job_info gauge'
  for file in [0-9]*; do
    [ -f "$file" ] || continue
    while read -r job; do
      echo "clustergen_gpu_job_info{gpu=\"$file\",hpc_job=\"$job\"} 1"
    done <"$file"
  done
}

if [[ $0 == */prolog.d/* ]]; then add; else remove; fi
[ -z "$metrics_file" ] || print_metrics | /usr/local/sbin/clustergen-write "$metrics_file"
exit 0
