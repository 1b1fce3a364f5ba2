#!/bin/bash
# Errors in the kernel's log for Prometheus: Xids of GPUs, links that went down, errors of memory, disks and PCIe. Each run
# reads what was logged since the last; the counters survive reboots. Also when the playbook last changed this node, and
# when certificates on it end.
set -euo pipefail
shopt -s inherit_errexit
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/kernel-metrics.sh
: "${metrics_file:?}" "${certificates[*]-}" "${#certificates[@]}"
state=/var/lib/clustergen-kernel-metrics/state # metrics, and the last journal entry that they contain

declare -A value=() gpus=()
for kind in file_system hung_task io_error lockup machine_check oom pcie; do
  value["clustergen_kernel_errors_total{kind=\"$kind\"}"]=0
done
# The driver names a GPU without its function. One that the bus has lost stays in the state: its last Xid says why.
for place in /sys/bus/pci/devices/*; do
  { read -r vendor <"$place/vendor" && read -r class <"$place/class"; } 2>/dev/null || continue
  place=${place##*/}
  [[ $vendor != 0x10de || $class != 0x03* ]] || gpus[${place%.*}]=1
done
since=(--boot)
format=
if [ -r $state ]; then
  while read -r series number; do
    case $series in
      format) format=$number ;;
      cursor) since=("--after-cursor=$number") ;;
      gpu) gpus[$number]=1 ;;
      # Before format 2, users could forge series by the names of programs that crash: all counters begin anew.
      *) [[ $format != 2 ]] || value[$series]=$number ;;
    esac
  done <$state
fi

pci='[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}'
xid="NVRM: Xid \(PCI:($pci)( GPU-I:[0-9]+( GPU-CI:[0-9]+)?)?\): ([1-9][0-9]{0,2}),"
link="[a-z0-9_]+ ($pci\.[0-7]) ([A-Za-z0-9_.-]{1,15}): (NIC )?[Ll]ink (is )?[Dd]own"
module="mlx5_core ($pci\.[0-7]): Port module event(\[error\])?: module ([0-9]{1,2}), Cable (unplugged|error)"
declare -A kinds=(
  [io_error]='(blk_update_request: )?I/O error, dev [a-z0-9-]+, sector '
  [hung_task]='INFO: task .{1,15}:[0-9]+ blocked (in I/O wait )?for more than [0-9]+ seconds'
  [lockup]='(NMI )?watchdog: (BUG: soft lockup - CPU#|(CPU ?[0-9]+: )?Watchdog detected hard LOCKUP on cpu )[0-9]'
  [oom]='Out of memory: Killed process [0-9]+ '
  [machine_check]='(mce: )?\[Hardware Error\]: (Machine check|CPU)'
  [pcie]="[a-z0-9_-]+ $pci\.[0-7]: (AER: )?PCIe Bus Error: severity=Unc"
  [file_system]='(EXT4-fs|BTRFS:?) (error|critical) \(device |(EXT4-fs|XFS) \([a-z0-9-]{3,}\): [^:]*(error|[Cc]orrupt)'
)
kinds[file_system]+='|BTRFS warning \(device [^)]+\): [^:]*error'
# A user can own the file behind a loop device.
loop='^((blk_update_request: )?I/O error, dev |(EXT4-fs|XFS|BTRFS)[^(]*\((device )?)loop[0-9]'

# Each pattern is matched from the first character of a message: behind it are names of programs and files, which users
# choose. Some messages begin with such a name, cut to 15 characters: no pattern is that short. Facility 0 is the kernel's own;
# what is written to /dev/kmsg has others. --all: a control character hides no message. Its further lines are indented.
messages="$xid|$link|$module"
for kind in "${!kinds[@]}"; do messages+="|${kinds[$kind]}"; done
# A cursor that the journal does not know is no error: reading begins at the nearest entry.
lines=$(journalctl --quiet --all --no-hostname --output=short-unix --show-cursor "${since[@]}" \
  _TRANSPORT=kernel SYSLOG_FACILITY=0 SYSLOG_IDENTIFIER=kernel \
  | grep -aE -- "^(-- cursor: |[0-9.]+ kernel: ($messages))") || true
cursor=
count() { # count SERIES: false if it is a new one beyond all that hardware can have
  local series=$1
  set -- "${!value[@]}"
  [ -n "${value[$series]-}" ] || (($# < 1000)) || return 1
  value[$series]=$((${value[$series]:-0} + 1))
}
exists() { [ -e "/sys/bus/pci/devices/$1" ]; }
while IFS= read -r line; do
  message=${line#* kernel: }
  if [[ $line == '-- cursor: '* ]]; then
    cursor=${line#-- cursor: }
  elif [[ $message =~ ^$xid ]]; then
    [ -n "${gpus[${BASH_REMATCH[1]}]-}" ] || continue
    labels="{pci=\"${BASH_REMATCH[1]}\",xid=\"${BASH_REMATCH[4]}\"}"
    count "clustergen_xid_errors_total$labels" || continue
    value["clustergen_xid_last_timestamp_seconds$labels"]=${line%%.*}
  elif [[ $message =~ ^$link ]]; then
    ! exists "${BASH_REMATCH[1]}" || count "clustergen_link_down_total{interface=\"${BASH_REMATCH[2]}\"}" || true
  elif [[ $message =~ ^$module ]]; then
    ! exists "${BASH_REMATCH[1]}" \
      || count "clustergen_cable_events_total{pci=\"${BASH_REMATCH[1]}\",module=\"${BASH_REMATCH[3]}\"}" || true
  elif ! [[ $message =~ $loop ]]; then
    for kind in "${!kinds[@]}"; do
      if [[ $message =~ ^(${kinds[$kind]}) ]]; then
        count "clustergen_kernel_errors_total{kind=\"$kind\"}"
        break
      fi
    done
  fi
done <<<"$lines"

samples() { for series in "${!value[@]}"; do echo "$series ${value[$series]}"; done | sort; }
{
  echo "format 2"
  for address in "${!gpus[@]}"; do echo "gpu $address"; done | sort
  samples
  [ -n "$cursor" ] && echo "cursor $cursor" || grep '^cursor ' $state || true
} >$state.new
mv $state.new $state

metrics=$({
  samples
  # The playbook writes its journal with each change that it makes, and only then.
  stat -c 'clustergen_apply_time_seconds %Y' /var/lib/clustergen/state.json 2>/dev/null || true
  for file in "${certificates[@]}"; do
    [ -r "$file" ] || continue
    end=$(openssl x509 -noout -enddate -in "$file") || continue
    echo "clustergen_certificate_expiry_timestamp_seconds{file=\"$file\"} $(date -d "${end#*=}" +%s)"
  done
} | awk -F'[{ ]' '$1 != last { print "# TYPE " $1 ($1 ~ /_total$/ ? " counter" : " gauge"); last = $1 } { print }')
printf '%s\n' "$metrics" | /usr/local/sbin/clustergen-write "$metrics_file"
