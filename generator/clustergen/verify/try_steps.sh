# shellcheck shell=bash
# try_steps.sh: inside the sandbox, starts slurmctld and a slurmd for each of a few nodes, gives them jobs, carries out the
# steps of a plan one by one, and reports after each of them. Reads nodes, partitions and steps from /run/clustergen.
set -u
# shellcheck source=generator/clustergen/verify/surroundings.sh
. /run/clustergen/surroundings.sh
mapfile -t nodes <"$out/nodes"
declare -A slurmds
controller=
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
ready() { [ "$(states | grep -cE ' (idle|mixed|allocated|down|drained) ')" -ge ${#nodes[@]} ]; }
running() { squeue -a -h -t running,completing,suspended -o %i ${1:+-w "$1"} 2>/dev/null | grep -q .; }
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
  for node in "${nodes[@]}"; do gone "${slurmds[$node]}" || alive+=" slurmd@$node"; done
  printf '%s\tdaemons\t%s\n' "$step" "$alive"
} >>"$out/report"

start_controller || exit 1
for node in "${nodes[@]}"; do start_node "$node"; done
until_true 30 ready
# shellcheck disable=SC2016  # expanded by the job
job='until [ -e /tmp/end ] || [ -e "/tmp/end.$SLURMD_NODENAME" ]; do sleep 0.3; done'
while read -r node partition; do
  sbatch -J "on-$node" -p "$partition" -w "$node" -n 1 -t 10 -o /dev/null -D /tmp --wrap "$job" 2>&1
done <"$out/partitions" | grep -v Submitted >"$out/submitted"
until_true 15 running ""
read -r node partition <"$out/partitions"
sbatch -J pending -p "$partition" -w "$node" --exclusive -t 1 -o /dev/null -D /tmp --wrap true >/dev/null 2>>"$out/submitted"
sleep 1
report 0

while read -r number kind about; do
  read -r -a words <<<"$about"
  said=
  case $kind in
    drain)
      hosts=$(listed "${words[@]}")
      if [ -n "$hosts" ]; then
        said=$(scontrol update "nodename=$hosts" state=drain reason=trial 2>&1)
        for node in ${hosts//,/ }; do touch "/tmp/end.$node"; done
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
      ;;
    new-cluster-id)
      ends "$controller"
      rm -f "$STATE/clustername"
      ;;
    move-state) [ -e "${words[2]}/job_state" ] || { mkdir -p "${words[2]}" && cp -aT "${words[0]}" "${words[2]}"; } ;;
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
    reconfigure)
      said=$(timeout -k 1 60 scontrol reconfigure 2>&1)
      until_true 30 answers
      ;;
  esac
  until_true 10 ready
  report "$number" "$said"
done <"$out/steps"

while IFS='	' read -r number what name pattern; do
  # shellcheck disable=SC2086  # empty where it is all of the configuration
  printf '%s\tvalue\t%s\n' "$number" "$(timeout -k 1 20 scontrol -a -d show "$what" ${name#-} 2>&1 | grep -oiE -m1 "$pattern" | head -n 1)"
done <"$out/values" >>"$out/report"
touch /tmp/end
until_true 60 none_left
scontrol -a -o show job | sed -nE 's/^.* ?JobName=(\S+) .*JobState=(\S+) Reason=(\S+) .*Restarts=([0-9]+) .*ExitCode=(\S+) .*$/end\tjob\t\1 \2 \3 \4 \5/p' >>"$out/report"
