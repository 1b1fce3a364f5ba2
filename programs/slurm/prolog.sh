#!/bin/bash
# Prolog: runs the scripts of prolog.d in numerical order before a job, as root, on each node of the job, with SLURM_JOB_ID,
# SLURM_JOB_UID, SLURM_JOB_USER, SLURM_JOB_GPUS … set. If one fails, the rest is skipped, the node is drained and the job is
# requeued and held. Output goes to the journal. Add a site's own scripts as 60-NAME.
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/job-scripts.sh
: "${limit_s:?}" # for all; PrologEpilogTimeout comes later, and does not say which script it was
shopt -s nullglob extglob

for script in /etc/slurm/prolog.d/[0-9][0-9]-+([A-Za-z0-9_-]); do
  [ -x "$script" ] || continue
  left=$((limit_s - SECONDS))
  said=$(timeout -k 2 $((left > 1 ? left : 1)) "$script" 2>&1 </dev/null)
  status=$?
  [ $status != 137 ] || status=124 # it survived SIGTERM
  if [ $status = 0 ]; then
    [ -z "$said" ] || logger -t slurm-prolog -p daemon.notice -- "job ${SLURM_JOB_ID:-?}: ${script##*/}: $said"
    continue
  fi
  [ $status = 124 ] && said="no end within $limit_s seconds"
  logger -t slurm-prolog -p daemon.err -- "job ${SLURM_JOB_ID:-?}: ${script##*/} failed ($status): $said"
  exit 1
done
exit 0
