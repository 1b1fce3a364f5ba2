# shellcheck shell=bash
# try_steps.sh: inside the sandbox, starts slurmctld and a slurmd for each of a few nodes, gives them jobs, carries out the
# steps of a plan one by one, and reports after each of them. Reads nodes, partitions, users and steps from /run/clustergen;
# with ACCOUNTING=yes slurmctld has a slurmdbd and its database, with the accounts of the tree.
set -u
# shellcheck source=generator/clustergen/verify/surroundings.sh
. /run/clustergen/surroundings.sh
# shellcheck source=generator/clustergen/verify/database.sh
. /run/clustergen/database.sh
mapfile -t nodes <"$out/nodes"
declare -A slurmds
controller=
slurmdbd=
trap 'kill -STOP -1' EXIT

until_true() { # until_true SECONDS COMMAND…
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $until ] || return 1
    sleep 0.2
  done
}
answers() { timeout -k 1 5 scontrol ping 2>/dev/null | grep -q ' is UP'; }
gone() { ! kill -0 "$1" 2>/dev/null; }
ends() { # ends PID
  [ -n "$1" ] || return 0
  kill "$1" 2>/dev/null
  until_true 30 gone "$1" || kill -9 "$1"
}
start_controller() {
  slurmctld -D >>"$out/slurmctld.log" 2>&1 &
  controller=$!
  until_true 30 answers
}
start_node() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --uts sh -c 'hostname "$1"; exec slurmd -D -N "$1"' sh "$1" >>"$out/slurmd.$1.log" 2>&1 &
  slurmds[$1]=$!
}
states() { sinfo -a -h -N -o '%N %T %E' | sort -u | grep -E "^($(IFS='|'; echo "${nodes[*]}")) "; }
ready() { [ "$(states | grep -cE ' (idle|mixed|allocated|reserved|maint|down|drained) ')" -ge ${#nodes[@]} ]; }
running() { squeue -a -h -t running,completing,suspended -o %i ${1:+-w "$1"} 2>/dev/null | grep -q .; }
suspended() { squeue -a -h -t suspended -o %A ${1:+-w "$1"} 2>/dev/null; }
quiet() { ! running "$1"; }
none_left() { ! squeue -a -h -o %i 2>/dev/null | grep -q .; }
listed() { # listed NODE…: those that run here, with commas
  local node names=()
  for node in "$@"; do [ -z "${slurmds[$node]-}" ] || names+=("$node"); done
  (IFS=,; echo "${names[*]}")
}
report() { # report STEP WORDS…: words are what the step printed
  local step=$1 node alive=
  shift
  [ -z "$*" ] || printf '%s\toutput\t%s\n' "$step" "$(tr '\n' ' ' <<<"$*")"
  states | sed "s/^/$step\tnode\t/"
  squeue -a -h -o '%j %T %r' 2>/dev/null | sort | sed "s/^/$step\tjob\t/"
  gone "$controller" || alive=slurmctld
  [ -z "$slurmdbd" ] || gone "$slurmdbd" || alive+=' slurmdbd'
  for node in "${nodes[@]}"; do gone "${slurmds[$node]}" || alive+=" slurmd@$node"; done
  printf '%s\tdaemons\t%s\n' "$step" "$alive"
} >>"$out/report"

sacctmgr() { command sacctmgr -i "$@"; }
private() { [ ! -e /etc/slurm/slurmdbd.conf ] || { chown "$DBD_USER" /etc/slurm/slurmdbd.conf && chmod 600 /etc/slurm/slurmdbd.conf; }; }
start_accounting() {
  [ "$ACCOUNTING" = yes ] || return 0
  : >"$out/slurmdbd.log"
  slurmdbd_starts "$out/slurmdbd.log"
}

accounts() { # accounts SIDE [WORD]: the program of that side's tree
  [ "$ACCOUNTING" = yes ] && [ -s "$out/accounts.$1.json" ] || return 0
  mkdir -p /etc/clustergen
  cp "$out/accounts.$1.json" /etc/clustergen/accounts.json
  timeout -k 1 100 python3 -I "$out/accounts.$1.py" "${@:2}" 2>&1
}
uid=65000
while read -r user _; do # slurmctld resolves them when it learns of their accounts
  id "$user" >/dev/null 2>&1 || echo "$user:x:$((uid++)):65534::/tmp:/bin/sh" >>/etc/passwd
done <"$out/users"
private
[ "$ACCOUNTING" != yes ] || mariadb_starts || exit 1
start_accounting || exit 1
accounts old names | grep -vE '^([<>] .*|(un)?changed)$' >>"$out/refused"
start_controller || exit 1
accounts old | grep -vE '^([<>] .*|(un)?changed)$' >>"$out/refused"
for node in "${nodes[@]}"; do start_node "$node"; done
until_true 30 ready
for node in "${nodes[@]}"; do ! gone "${slurmds[$node]}" || exit 1; done

# Each running job starts a step at its end, so that one which can start none any more fails.
# shellcheck disable=SC2016  # expanded by the job
job='until [ -e /tmp/end ] || [ -e "/tmp/end.$SLURMD_NODENAME" ]; do sleep 0.3; done; srun -n1 --mpi=none true'
mapfile -t partitions <"$out/partitions"
submit() { # submit NAME PLACE OPTIONS…: a job on the node and in the partition of that place, and its number in $number
  local name=$1 node partition
  read -r node partition <<<"${partitions[$2 % ${#partitions[@]}]}"
  shift 2
  if number=$(sbatch --parsable -J "$name" -p "$partition" -w "$node" -n 1 --mem=8 -t 5 -o /tmp/output.%x -D /tmp "$@" 2>&1); then
    number=${number%%;*}
    echo "$name" >>"$out/names"
  else
    echo "$name: $number" >>"$out/refused"
    number=
  fi
}
if [ ${#partitions[@]} -gt 0 ]; then
  for place in "${!partitions[@]}"; do
    all=()
    [ "$place" != 1 ] || all=(--exclusive)
    submit "on-${partitions[place]%% *}" "$place" "${all[@]}" --wrap "$job"
    [ "$place" != 0 ] || first=$number
  done
  # shellcheck disable=SC2329  # invoked by until_true
  all_run() { [ "$(squeue -a -h -t running -o %i | wc -l)" -ge ${#partitions[@]} ]; }
  until_true 20 all_run
  submit array 2 --array=0-2%1 --wrap "$job"
  read -r node _ <<<"${partitions[-1]}"
  # Jobs that run there already keep their place.
  if scontrol create reservation reservationname=trial starttime=now duration=60 users=root nodes="$node" \
    flags=ignore_jobs >/dev/null 2>>"$out/refused"; then
    submit reserved -1 --reservation=trial --wrap "$job"
  fi
  submit suspended 2 --wrap "$job"
  # shellcheck disable=SC2329  # invoked by until_true
  runs() { squeue -h -j "$number" -t running -o %i | grep -q .; }
  [ -z "$number" ] || ! until_true 15 runs || scontrol suspend "$number" 2>>"$out/refused"
  submit resources 0 --exclusive -t 1 --wrap true
  submit dependency 0 --dependency="afterany:$first" --wrap true
  while read -r user account; do submit "of-$user" 2 --uid="$user" --account="$account" --wrap "$job"; done <"$out/users"
  submit begin 0 --begin=now+2hours --wrap true
  later=$number
  submit held 0 --hold --wrap true
  held=$number
fi
reasoned() { ! squeue -a -h -t pending -o %r | grep -qx None; }
until_true 10 reasoned
report 0 "$(cat "$out/refused" 2>/dev/null)"

while read -r number kind about; do
  read -r -a words <<<"$about"
  said=
  case $kind in
    drain)
      hosts=$(listed "${words[@]}")
      if [ -n "$hosts" ]; then
        said=$(scontrol update "nodename=$hosts" state=drain reason=trial 2>&1)
        for node in ${hosts//,/ }; do touch "/tmp/end.$node"; done
        suspended "$hosts" | xargs -r -n 1 scontrol resume
        until_true 60 quiet "$hosts"
        for node in ${hosts//,/ }; do rm "/tmp/end.$node"; done
      fi
      ;;
    resume)
      hosts=$(listed "${words[@]}")
      [ -z "$hosts" ] || said=$(scontrol update "nodename=$hosts" state=resume 2>&1)
      ;;
    stop-slurm)
      case $about in *slurmd*) for node in "${nodes[@]}"; do ends "${slurmds[$node]}"; done ;; esac
      case $about in *slurmctld*) ends "$controller" ;; esac
      ;;
    files)
      find /etc/slurm -type f ! -name '*.key' -delete
      cp -a /srv/trial/. /etc/slurm/
      private
      ;;
    new-cluster-id)
      ends "$controller"
      rm -f "$STATE/clustername"
      ;;
    new-user)
      ends "$controller"
      ends "$slurmdbd"
      DBD_USER=$about
      chown -R "$DBD_USER" "$STATE" /var/log/slurm* /run/slurm*
      ;;
    move-state) [ -e "${words[2]}/job_state" ] || { mkdir -p "${words[2]}" && cp -aT "${words[0]}" "${words[2]}"; } ;;
    restart-slurmdbd)
      [ -z "$slurmdbd" ] || ends "$slurmdbd"
      start_accounting || said='slurmdbd does not start'
      ;;
    restart-slurmctld)
      ends "$controller"
      start_controller || said='slurmctld does not answer'
      ;;
    restart-slurmd)
      hosts=$(listed "${words[@]}")
      for node in ${hosts//,/ }; do
        ends "${slurmds[$node]}"
        start_node "$node"
      done
      ;;
    load-accounts)
      said=$(accounts new | grep -vE '^([<>] .*|(un)?changed)$')
      accounts new check | grep '^differs' | tr '\t' ' ' | sed "s/^differs /$number\tdiffers\t/" >>"$out/report"
      ;;
    commands) said=$(eval "$about" 2>&1) ;;
    reconfigure)
      said=$(timeout -k 1 60 scontrol reconfigure 2>&1)
      until_true 30 answers
      ;;
  esac
  until_true 10 ready
  report "$number" "$said"
done <"$out/steps"

values() { # values WORD: what slurmctld reports of each question
  while IFS='	' read -r number what name pattern; do
    # shellcheck disable=SC2086  # empty where it is all of the configuration
    printf '%s\t%s\t%s\n' "$number" "$1" "$(timeout -k 1 20 scontrol -a -d show "$what" ${name#-} 2>&1 | grep -oiE -m1 "$pattern" | head -n 1)"
  done <"$out/values" >>"$out/report"
}
values value
touch /tmp/end
suspended "" | xargs -r -n 1 scontrol resume
[ -z "${held-}" ] || scontrol release "$held"
[ -z "${later-}" ] || scontrol update "jobid=$later" starttime=now
# From 23.11 on, an srun whose request for a step meets a reconfigure of slurmctld asks again after two minutes.
until_true 200 none_left
# A task of an array has its number behind the name; what did not complete ends with the last line of its output.
scontrol -a -o show job | awk '{
  delete of
  for (i = NF; i > 0; i--) { at = index($i, "="); if (at) of[substr($i, 1, at - 1)] = substr($i, at + 1) }
  task = of["ArrayTaskId"] == "" ? "" : "_" of["ArrayTaskId"]
  last = ""
  if (of["JobState"] != "COMPLETED") while ((getline line < ("/tmp/output." of["JobName"])) > 0) last = ": " line
  print "end\tjob\t" of["JobName"] task " " of["JobState"] " " of["Reason"] " " of["Restarts"] " " of["ExitCode"] last
}' >>"$out/report"
sed 's/^/end\tname\t/' "$out/names" >>"$out/report"
if [ -n "$slurmdbd" ]; then
  recorded() { timeout -k 1 20 sacct -a -X -n -P -S now-1hours -E now -s completed -o jobid 2>/dev/null | wc -l; }
  # shellcheck disable=SC2329  # invoked by until_true
  all_recorded() { [ "$(recorded)" -ge "$(grep -c '^end	job	[^ ]* COMPLETED' "$out/report")" ]; }
  until_true 20 all_recorded
  printf 'end\trecords\t%s\n' "$(recorded)" >>"$out/report"
fi

# What daemons report that have read nothing but the new files.
limits() { timeout -k 1 20 scontrol -o show assoc_mgr 2>&1; }
[ "$ACCOUNTING" != yes ] || limits >"$out/limits"
[ -s "$out/values" ] || [ "$ACCOUNTING" = yes ] || exit 0
ends "$controller"
start_controller
for node in "${nodes[@]}"; do ends "${slurmds[$node]}"; start_node "$node"; done
until_true 20 ready
[ ! -e "$out/limits" ] || limits >"$out/limits.restarted"
values restarted
