#!/bin/bash
# Metrics of Slurm that slurmctld does not export: why nodes are drained, and since when jobs are completing; before release
# 25.11 also counts of nodes and jobs, with the metric names that slurmctld itself uses from then on.
# If slurmctld does not respond, the last file stays; an alert fires on its age.
set -euo pipefail
shopt -s inherit_errexit
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# shellcheck source=/dev/null
. /etc/clustergen/slurm-metrics.sh
: "${metrics_file:?}" "${counts:?}" "${power_saving:?}"

if [ "$counts" = true ]; then
  nodes=$(timeout 50 scontrol --all --oneliner show nodes)
  jobs=$(timeout 50 squeue --all --noheader --array --states=PENDING,RUNNING --format=%T)
  diagnosis=$(timeout 50 sdiag)
fi
reasons=$(timeout 50 sinfo --all --Node --list-reasons --noheader --format='%N|%T|%u|%E')
[ "$power_saving" = false ] || asleep=$(timeout 50 sinfo --all --Node --noheader --format='%N|%t')
ends=$(timeout 50 squeue --all --noheader --states=COMPLETING --format=%e)

print_counts() {
  # State=DOWN*+DRAIN+…: a base state, an asterisk if the node does not respond, then flags.
  grep -oE ' State=[^ ]+' <<<"$nodes" | awk '
    {
      all++
      sub(/ State=/, "")
      if (sub(/\*/, "")) silent++
      n = split($0, part, "+")
      for (i = 1; i <= n; i++) count[part[i]]++
    }
    function gauge(name, value) { printf "# TYPE slurm_nodes%s gauge\nslurm_nodes%s %d\n", name, name, value }
    END {
      gauge("", all); gauge("_noresp", silent)
      gauge("_alloc", count["ALLOCATED"]); gauge("_mixed", count["MIXED"]); gauge("_idle", count["IDLE"])
      gauge("_down", count["DOWN"]); gauge("_drain", count["DRAIN"]); gauge("_fail", count["FAIL"])
      gauge("_maint", count["MAINTENANCE"]); gauge("_invalid_reg", count["INVALID_REG"])
    }'
  awk '
    { count[$1]++ }
    END {
      printf "# TYPE slurm_jobs_pending gauge\nslurm_jobs_pending %d\n", count["PENDING"]
      printf "# TYPE slurm_jobs_running gauge\nslurm_jobs_running %d\n", count["RUNNING"]
    }' <<<"$jobs"
  awk -F: '
    /^DBD Agent queue size/ { printf "# TYPE slurm_slurmdbd_queue_size gauge\nslurm_slurmdbd_queue_size %d\n", $2 }
    /^Agent queue size/ { printf "# TYPE slurm_agent_queue_size gauge\nslurm_agent_queue_size %d\n", $2 }' <<<"$diagnosis"
}

print_asleep() {
  # Behind a state: ~ off, % going off, ! to go off, # coming on; a node of two partitions is listed twice.
  LC_ALL=C awk -F'|' '
    BEGIN { print "# TYPE clustergen_slurm_node_asleep gauge" }
    $2 ~ /[~%!#]$/ && !seen[$1]++ { printf "clustergen_slurm_node_asleep{node=\"%s\"} 1\n", $1 }' <<<"$asleep"
}

metrics=$(
  [ "$counts" = false ] || print_counts
  # The reason is the rest of the line and may hold any character; a node of two partitions is listed twice.
  LC_ALL=C awk -F'|' '
    function quoted(text) { gsub(/[[:cntrl:]]/, " ", text); gsub(/[\\"]/, "\\\\&", text); return text }
    BEGIN { print "# TYPE clustergen_slurm_node_drained gauge" }
    NF >= 4 && !seen[$1]++ {
      reason = $0
      sub(/^[^|]*[|][^|]*[|][^|]*[|]/, "", reason)
      gsub(/[^ -~]/, "?", reason)
      reason = substr(reason, 1, 120)
      printf "clustergen_slurm_node_drained{node=\"%s\",state=\"%s\",user=\"%s\",reason=\"%s\"} 1\n", \
        quoted($1), quoted($2), quoted($3), quoted(reason)
    }' <<<"$reasons"
  [ "$power_saving" = false ] || print_asleep
  # Jobs end before they complete: their nodes clean up.
  first=$(grep -E '^[0-9]{4}-[0-9-]+T[0-9:]+$' <<<"$ends" | sort | head -1 || true)
  echo "# TYPE clustergen_slurm_completing_seconds gauge"
  echo "clustergen_slurm_completing_seconds $((${first:+$(date +%s) - $(date -d "$first" +%s)} + 0))"
)
printf '%s\n' "$metrics" | /usr/local/sbin/clustergen-write "$metrics_file"
