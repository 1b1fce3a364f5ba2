#!/bin/bash
# Applies the settings that the driver resets at every boot, on all GPUs of this node, and checks them.
# exit 0 all applied, 1 at least one differs
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# shellcheck source=/dev/null
. /etc/clustergen/gpu-settings.sh
: "${gpus:?}" "${power_limit_w?}" "${clock_mhz?}" "${compute_mode?}" # empty: left alone

failed=0

say() { if [[ -t 2 ]]; then echo "$*" >&2; else logger -t clustergen-gpu-settings -- "$*"; fi; }
fail() {
  say "failed: $*"
  failed=1
}

# query FIELD: a line per GPU.
query() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits; }

# every FIELD VALUE: succeeds if all GPUs report the value; decimals are ignored.
every() {
  local value count=0
  while read -r value; do
    [[ ${value%.*} == "$2" ]] || return 1
    count=$((count + 1))
  done < <(query "$1")
  [[ $count -gt 0 ]]
}

count=$(query index | wc -l) || { say "failed: the driver does not answer"; exit 1; }
[[ $count == "$gpus" ]] || fail "$count GPUs respond, $gpus are installed"

if [[ $power_limit_w ]]; then
  nvidia-smi --power-limit="$power_limit_w" >/dev/null || fail "the driver rejects a power limit of $power_limit_w W"
  every power.limit "$power_limit_w" || fail "the power limit of a GPU is not $power_limit_w W"
fi
if [[ $clock_mhz ]]; then
  # The driver silently rounds a clock that the GPU does not list.
  clocks=$(nvidia-smi --query-supported-clocks=graphics --format=csv,noheader,nounits | tr -d ' ') || clocks=
  grep -qx "$clock_mhz" <<<"$clocks" || fail "$clock_mhz MHz is not a clock of these GPUs"
  nvidia-smi --lock-gpu-clocks="$clock_mhz,$clock_mhz" >/dev/null || fail "the driver rejects a clock of $clock_mhz MHz"
fi
if [[ $compute_mode ]]; then # as nvidia-smi prints it
  nvidia-smi --compute-mode="${compute_mode^^}" >/dev/null || fail "the driver rejects compute mode ${compute_mode^^}"
  every compute_mode "$compute_mode" || fail "the compute mode of a GPU is not $compute_mode"
fi

[[ $failed == 0 ]] && say "set on $count GPUs"
exit "$failed"
