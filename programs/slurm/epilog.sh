#!/bin/bash
# Epilog: runs the scripts of epilog.d in numerical order after a job, as root, on each node of the job. All of them run, even
# if one fails; the node is then drained. Output goes to the journal. Add a site's own scripts as 60-NAME.
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/job-scripts.sh
: "${limit_s:?}" # for all; PrologEpilogTimeout comes later, and does not say which script it was
result=0
shopt -s nullglob extglob

for script in /etc/slurm/epilog.d/[0-9][0-9]-+([A-Za-z0-9_-]); do
  [ -x "$script" ] || continue
  left=$((limit_s - SECONDS))
  said=$(timeout -k 2 $((left > 1 ? left : 1)) "$script" 2>&1 </dev/null)
  status=$?
  [ $status != 137 ] || status=124 # it survived SIGTERM
  if [ $status = 0 ]; then
    [ -z "$said" ] || logger -t slurm-epilog -p daemon.notice -- "job ${SLURM_JOB_ID:-?}: ${script##*/}: $said"
    continue
  fi
  [ $status = 124 ] && said="no end within $limit_s seconds"
  # Users slow these down with processes or files without number, which is no fault of the node.
  [[ $status = 124 && ${script##*/} =~ ^(20-strays|40-job-map|50-tmpdir)$ ]] || result=1
  logger -t slurm-epilog -p daemon.err -- "job ${SLURM_JOB_ID:-?}: ${script##*/} failed ($status): $said"
done
exit $result
