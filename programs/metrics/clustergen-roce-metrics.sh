#!/bin/bash
# Counters of RoCE ports for Prometheus: out-of-sequence packets, retries, congestion notifications, PFC pauses. The
# distributions' node_exporter reads none of them.
set -euo pipefail
shopt -s inherit_errexit
PATH=/usr/sbin:/usr/bin:/sbin:/bin
shopt -s nullglob
# shellcheck source=/dev/null
. /etc/clustergen/roce-metrics.sh
: "${metrics_file:?}"

declare -A names=(
  [out_of_sequence]=out_of_sequence_packets
  [packet_seq_err]=packet_sequence_errors
  [local_ack_timeout_err]=ack_timeouts
  [out_of_buffer]=out_of_buffer_drops
  [np_ecn_marked_roce_packets]=ecn_marked_packets
  [np_cnp_sent]=cnp_sent
  [rp_cnp_handled]=cnp_handled
)

samples() { # a line by sample; ports of InfiniBand have no such counters
  local port device file name directory interface
  for port in /sys/class/infiniband/*/ports/*; do
    [ "$(<"$port/link_layer")" = Ethernet ] || continue
    device=${port#/sys/class/infiniband/} device=${device%%/*}
    for file in "$port"/hw_counters/*; do
      name=${names[${file##*/}]:-}
      [ -z "$name" ] || echo "clustergen_roce_${name}_total{device=\"$device\"} $(<"$file")"
    done
    for directory in "/sys/class/infiniband/$device/device/net"/*; do
      interface=${directory##*/}
      timeout 10 ethtool -S "$interface" | awk -v labels="device=\"$device\",interface=\"$interface\"" '
        match($1, /^[rt]x_prio[0-7]_pause(_duration)?:$/) {
          direction = $1 ~ /^rx/ ? "received" : "sent"
          where = "{" labels ",direction=\"" direction "\",priority=\"" substr($1, 8, 1) "\"}"
          if ($1 ~ /duration/) printf "clustergen_roce_pause_seconds_total%s %.6f\n", where, $2 / 1e6
          else print "clustergen_roce_pause_frames_total" where, $2
        }
        match($1, /^rx_prio[0-7]_discards:$/) {
          print "clustergen_roce_discards_total{" labels ",priority=\"" substr($1, 8, 1) "\"}", $2
        }' || true
    done
  done
}

metrics=$(samples | LC_ALL=C sort | awk -F'{' '$1 != last { print "# TYPE " $1 " counter"; last = $1 } { print }')
printf '%s\n' "$metrics" | /usr/local/sbin/clustergen-write "$metrics_file"
