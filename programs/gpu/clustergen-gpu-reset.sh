#!/bin/bash
# clustergen-gpu-reset [--among GPUS] GPUS: resets GPUs, in place of a reboot of the node; GPUS is a list such as 0,1. By hand, drain
# the node first: jobs that use one of them lose it. A GPU that cannot be reset alone takes those with it that are joined with
# it by NVLink, where --among names them (default: GPUS). DCGM and its exporter are stopped for these seconds, and persistence
# mode is off, since both keep the GPU open. exit 0 reset, 1 not: the reason is printed
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
unset CUDA_VISIBLE_DEVICES
# shellcheck source=/dev/null
. /etc/clustergen/gpu-reset.sh
: "${peers[*]?}" "${fabric_manager?}" "${clients[*]?}" # peers: by GPU, those that are reset with it
state=/run/clustergen-gpu-resets                       # only root can enter it, and so hold the lock
settings=clustergen-gpu-settings.service

refuse() { echo "$*"; exit 1; }

is_in() { [[ ",$2," == *",$1,"* ]]; } # is_in GPU LIST

query() { timeout 30 nvidia-smi -i "$gpus" "--query-gpu=$1" --format=csv,noheader,nounits 2>&1; }

is_active() { timeout 10 systemctl is-active --quiet "$1"; }

holders() { # processes that have one of the GPUs open: NAME (PID), …
  local minor pids
  local -a devices=()
  while read -r minor; do devices+=(-o -lname "/dev/nvidia$minor"); done < <(
    timeout 30 nvidia-smi -i "$gpus" -q 2>/dev/null | sed -nE 's/^ *Minor Number *: ([0-9]+)$/\1/p'
  )
  [ "${#devices[@]}" -gt 0 ] || return 0
  pids=$(find /proc/[0-9]*/fd \( "${devices[@]:1}" \) 2>/dev/null | cut -d/ -f3 | sort -un | paste -sd ,)
  [ -z "$pids" ] || ps -o pid=,comm= -p "$pids" | # beside fabric manager, the driver may reset GPUs
    awk '$2 !~ /^nv(idia-persiste|-fabricmanage)$/ { printf "%s%s (%s)", mark, $2, $1; mark = ", " }'
}

among=''
[ "${1:-}" != --among ] || { among=${2:-} && shift 2; }
gpus=${1:-}
[[ $gpus =~ ^[0-9]{1,3}(,[0-9]{1,3})*$ ]] || refuse "usage: clustergen-gpu-reset [--among GPUS] GPUS, as 0,1"
among=${among:-$gpus}

alone=false
[ -z "$fabric_manager" ] || ! is_active "$fabric_manager" || alone=true
for gpu in ${gpus//,/ }; do
  [ -n "${peers[gpu]:-}" ] || refuse "this node has no GPU $gpu"
  for peer in ${peers[gpu]//,/ }; do
    if [ $alone = true ] || is_in "$peer" "$gpus"; then
      continue
    fi
    is_in "$peer" "$among" ||
      refuse "GPU $gpu can be reset only with GPUs ${peers[gpu]}${fabric_manager:+, as $fabric_manager does not run}"
    gpus+=,$peer
  done
done

mkdir -m 700 $state 2>/dev/null
exec 9>$state/lock
flock -w 60 9 || refuse "another reset has not ended within 60 seconds"

persistent='' stopped=() is_set=false
restore() {
  trap '' EXIT INT TERM
  [ -z "$persistent" ] || timeout 30 nvidia-smi -i "$persistent" -pm 1 >/dev/null 2>&1
  [ $is_set = false ] || systemctl restart --no-block $settings # a reset loses power limit and clocks
  [ "${#stopped[@]}" = 0 ] || systemctl start --no-block "${stopped[@]}"
}
trap restore EXIT
trap 'exit 1' INT TERM

while IFS=', ' read -r gpu mode; do
  [ "$mode" != Enabled ] || persistent+=${persistent:+,}$gpu
done < <(query index,persistence_mode)
! is_active $settings || is_set=true
for unit in "${clients[@]}"; do
  is_active "$unit" || continue
  stopped+=("$unit")
  timeout 30 systemctl stop "$unit" || refuse "$unit does not stop, and keeps the GPUs open"
done
[ -z "$persistent" ] || timeout 30 nvidia-smi -i "$persistent" -pm 0 >/dev/null 2>&1

for attempt in 1 2 3; do # nvidia-smi of a check ends by itself
  open=$(holders)
  [ -n "$open" ] || break
  [ "$attempt" = 3 ] || sleep 2
done
[ -z "$open" ] || refuse "open in $open"

said=$(timeout -k 5 90 nvidia-smi --gpu-reset -i "$gpus" 9>&- 2>&1)
status=$?
said=$(tr -s '[:space:]' ' ' <<<"$said")
[[ $status != 124 && $status != 137 ]] || refuse "the reset has not ended within 90 seconds"
[ $status = 0 ] || refuse "nvidia-smi ($status): ${said:0:200}"
count=$(grep -o , <<<"$gpus," | wc -l)
[ "$(query index | grep -cE '^[0-9]+$')" = "$count" ] || refuse "after the reset, not all of GPU $gpus respond"
logger -t clustergen-gpu-reset -p daemon.notice -- "GPU $gpus reset"
