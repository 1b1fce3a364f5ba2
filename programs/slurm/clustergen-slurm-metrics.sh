#!/bin/bash
# Metrics of Slurm that slurmctld does not export: why nodes are drained, since when jobs are completing, which controllers
# respond; before release 25.11 also nodes, jobs, partitions, users, accounts and the scheduler, with the metric names that slurmctld itself uses from
# then on. If slurmctld does not respond, the last file stays; an alert fires on its age.
set -euo pipefail
shopt -s inherit_errexit
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/slurm-metrics.sh
: "${metrics_file:?}" "${counts:?}" "${power_saving:?}"

nodes='' jobs='' diagnosis='' asleep=''
if [ "$counts" = true ]; then
  nodes=$(timeout 50 scontrol --all --oneliner show nodes)
  jobs=$(timeout 50 squeue --all --noheader --array --states=all \
    --Format='State:|,Partition:|,UserName:|,Account:|,NumCPUs:|,tres-alloc:|')
  diagnosis=$(timeout 50 sdiag)
fi
reasons=$(timeout 50 sinfo --all --Node --list-reasons --noheader --format='%N|%T|%u|%E')
[ "$power_saving" = false ] || asleep=$(timeout 50 sinfo --all --Node --noheader --format='%N|%t')
ends=$(timeout 50 squeue --all --noheader --states=COMPLETING --format=%e)
controllers=$(timeout 50 scontrol ping) || true # one of them is down
# Jobs end before they complete: their nodes clean up.
first=$(grep -E '^[0-9]{4}-[0-9-]+T[0-9:]+$' <<<"$ends" | sort | head -1 || true)

metrics=$(
  awk -F'|' -v counts="$counts" '
    function quoted(text) { gsub(/[[:cntrl:]]/, " ", text); gsub(/[\\"]/, "\\\\&", text); gsub(/[^ -~]/, "?", text); return text }
    function add(name, value) { sum[name] += value }
    function gpus_of(tres) { return match(tres, /gres\/gpu=[0-9]+/) ? substr(tres, RSTART + 9, RLENGTH - 9) : 0 }
    function add_jobs(prefix, label) {
      add(prefix "_running" label, $1 == "RUNNING")
      add(prefix "_pending" label, $1 == "PENDING")
      add(prefix "_cpus_alloc" label, $1 == "RUNNING" ? $5 : 0)
      add(prefix "_gpus_alloc" label, $1 == "RUNNING" ? gpus_of($6) : 0)
    }
    BEGIN {
      n = split("ALLOCATED alloc MIXED mixed IDLE idle DOWN down DRAIN drain NOT_RESPONDING noresp FAIL fail " \
        "MAINTENANCE maint INVALID_REG invalid_reg", word, " ")
      for (i = 1; i < n; i += 2) node_state[word[i]] = word[i + 1]
      n = split("COMPLETED completed FAILED failed TIMEOUT timeout OUT_OF_MEMORY outofmemory NODE_FAIL node_failed " \
        "CANCELLED cancelled PREEMPTED preempted RUNNING running PENDING pending", word, " ")
      for (i = 1; i < n; i += 2) job_state[word[i]] = word[i + 1]
      n = split("|Server thread count|server_thread_cnt|Agent queue size|agent_queue_size|Agent count|agent_cnt|" \
        "Agent thread count|agent_thread_cnt|DBD Agent queue size|slurmdbd_queue_size|Main Last cycle|schedule_cycle_last|" \
        "Main Mean cycle|sched_mean_cycle|Main Mean depth cycle|sched_mean_depth_cycle|Main Last queue length|" \
        "schedule_queue_len|Backfilling Last cycle|bf_cycle_last|Backfilling Mean cycle|bf_mean_cycle|Backfilling Depth Mean|" \
        "bf_depth_mean|Backfilling Depth Mean (try depth)|bf_try_depth_mean|Backfilling Last queue length|bf_queue_len", word)
      for (i = 2; i < n; i += 2) diagnosed[word[i]] = word[i + 1]
      if (counts == "true") {
        add("slurm_nodes", 0)
        for (name in node_state) add("slurm_nodes_" node_state[name], 0)
        for (name in job_state) add("slurm_jobs_" job_state[name], 0)
        for (name in diagnosed) add("slurm_" diagnosed[name], 0)
      }
    }
    kind == "nodes" && /^NodeName=/ {
      split("", value)
      n = split($0, word, " ")
      for (i = 1; i <= n; i++) { # the first of a key: a reason comes last and may contain anything
        key = word[i]
        sub(/=.*/, "", key)
        if (!(key in value)) value[key] = substr(word[i], length(key) + 2)
      }
      add("slurm_nodes", 1)
      flags = split(value["State"], flag, "+") # State=DOWN+DRAIN+NOT_RESPONDING
      for (i = 1; i <= flags; i++) if (flag[i] in node_state) add("slurm_nodes_" node_state[flag[i]], 1)
      n = split(value["Partitions"], partition, ",")
      for (p = 1; p <= n; p++) {
        label = "{partition=\"" partition[p] "\"}"
        add("slurm_partition_nodes" label, 1)
        add("slurm_partition_gpus" label, gpus_of(value["CfgTRES"]))
        for (name in node_state) if (node_state[name] ~ /^(alloc|mixed|idle|down|drain)$/)
          add("slurm_partition_nodes_" node_state[name] label, value["State"] ~ "(^|[+])" name "([+]|$)")
      }
    }
    kind == "jobs" && NF >= 6 {
      if ($1 == "CONFIGURING") $1 = "RUNNING" # its nodes boot
      if ($1 in job_state) add("slurm_jobs_" job_state[$1], 1)
      n = split($2, partition, ",")
      for (p = 1; p <= n; p++) add_jobs("slurm_partition_jobs", "{partition=\"" partition[p] "\"}")
      add_jobs("slurm_user_jobs", "{username=\"" quoted($3) "\"}")
      add_jobs("slurm_account_jobs", "{account=\"" quoted($4) "\"}")
    }
    kind == "diagnosis" && /^(Main|Backfilling) / { section = $1; sub(/ .*/, " ", section) }
    kind == "diagnosis" && match($0, /: +[0-9]+$/) {
      key = substr($0, 1, RSTART - 1)
      sub(/^[ \t]+/, section, key)
      if (key in diagnosed) add("slurm_" diagnosed[key], substr($0, RSTART + 1))
    }
    # The reason is the rest of the line; a node of two partitions is listed twice.
    kind == "reasons" && NF >= 4 && !seen[$1]++ {
      reason = $0
      sub(/^[^|]*[|][^|]*[|][^|]*[|]/, "", reason)
      add(sprintf("clustergen_slurm_node_drained{node=\"%s\",state=\"%s\",user=\"%s\",reason=\"%s\"}", \
        quoted($1), quoted($2), quoted($3), quoted(substr(reason, 1, 120))), 1)
    }
    # Behind a state: ~ off, % going off, ! to go off, # coming on; a node of two partitions is listed twice.
    kind == "asleep" && $2 ~ /[~%!#]$/ { sum["clustergen_slurm_node_asleep{node=\"" $1 "\"}"] = 1 }
    kind == "controllers" && split($0, word, " ") >= 5 { # Slurmctld(primary) at head is UP
      add("clustergen_slurm_controller_up{controller=\"" word[3] "\"}", word[5] == "UP")
    }
    END { for (name in sum) print name, sum[name] }' \
    kind=nodes <(echo "$nodes") kind=jobs <(echo "$jobs") kind=diagnosis <(echo "$diagnosis") \
    kind=reasons <(echo "$reasons") kind=asleep <(echo "$asleep") kind=controllers <(echo "$controllers")
  echo "clustergen_slurm_completing_seconds $((${first:+$(date +%s) - $(date -d "$first" +%s)} + 0))"
)
sort <<<"$metrics" | awk -F'[{ ]' '$1 != last { print "# TYPE", $1, "gauge"; last = $1 } { print }' \
  | /usr/local/sbin/clustergen-write "$metrics_file"
