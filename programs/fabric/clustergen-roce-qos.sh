#!/bin/bash
# Configures the host side of lossless Ethernet: classification of RDMA packets, flow control for them alone, and congestion
# control. The switches need the matching configuration. Leaves correct settings alone, reads everything back, and exits with 1
# if anything differs: a half-configured lossless network is worse than none.
set -uo pipefail
failures=0
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/fabric.sh && . /etc/clustergen/roce-qos.sh || exit 1
: "${trust:?}"
: "${dscp:?}" "${priority:?}"         # RDMA packets go by this priority,
: "${cnp_dscp:?}" "${cnp_priority:?}" # and congestion notifications overtake what made the congestion
: "${pfc:?}"                          # priority flow control, by priority from 0 on
: "${ecn:?}"                          # DCQCN: mark, notify, slow down
: "${traffic_class:?}"                # of connections made by address: DSCP, and below it whether ECN may mark

# Global pause frames stop all traffic on the link and prevent PFC.
global_pause_off() {
  local now
  if ! now=$(ethtool -a "$1" 2>&1); then
    fail "$1: cannot read pause settings: $now"
  elif grep -Eq '^(RX|TX):[[:space:]]+on' <<<"$now"; then
    ethtool -A "$1" rx off tx off || true
    ! ethtool -a "$1" | grep -Eq '^(RX|TX):[[:space:]]+on' || fail "$1: global pause frames are still on"
  fi
}

# NVIDIA's driver packages include mlnx_qos, which also supports drivers that dcb cannot configure.
qos_by_mlnx_qos() {
  local interface=$1 output
  output=$(mlnx_qos -i "$interface" -d os && mlnx_qos -i "$interface" --trust "$trust" 2>&1) || fail "$interface: mlnx_qos --trust: $output"
  if [ "$trust" = dscp ]; then
    output=$(mlnx_qos -i "$interface" --dscp2prio "set,$dscp,$priority" --dscp2prio "set,$cnp_dscp,$cnp_priority" 2>&1) ||
      fail "$interface: mlnx_qos --dscp2prio: $output"
  fi
  output=$(mlnx_qos -i "$interface" --pfc "$pfc" 2>&1) || fail "$interface: mlnx_qos --pfc: $output"

  output=$(mlnx_qos -i "$interface") || fail "$interface: mlnx_qos cannot read its settings back"
  grep -q "trust state: $trust" <<<"$output" || fail "$interface: does not trust $trust"
  [ "$(awk '/^PFC/ { seen = 1 } seen && $1 == "enabled" { gsub(/enabled|[[:space:]]/, ""); print; exit }' <<<"$output")" = "${pfc//,/}" ] ||
    fail "$interface: PFC is not $pfc"
  if [ "$trust" = dscp ]; then
    grep -Eq "$(printf 'prio:%d dscp:([0-9]+,)*%02d,' "$priority" "$dscp")" <<<"$output" || fail "$interface: DSCP $dscp is not priority $priority"
    grep -Eq "$(printf 'prio:%d dscp:([0-9]+,)*%02d,' "$cnp_priority" "$cnp_dscp")" <<<"$output" ||
      fail "$interface: DSCP $cnp_dscp is not priority $cnp_priority"
  fi
}

# The kernel's interface. The first DSCP rule makes the driver trust DSCP; removing the last one makes it trust PCP.
qos_by_dcb() {
  local interface=$1 number output wanted map=()
  for number in 0 1 2 3 4 5 6 7; do
    if [ "${pfc:2*number:1}" = 1 ]; then map+=("$number:on"); else map+=("$number:off"); fi
  done
  wanted="${map[*]}"
  output=$(dcb dcbx set dev "$interface" host ieee 2>&1) || fail "$interface: cannot switch DCBX to host mode (dcb dcbx): $output"
  if [ "$trust" = dscp ]; then
    output=$(dcb app replace dev "$interface" dscp-prio "$dscp:$priority" "$cnp_dscp:$cnp_priority" 2>&1) || fail "$interface: dcb app: $output"
  else
    output=$(dcb app flush dev "$interface" dscp-prio 2>&1) || fail "$interface: dcb app: $output"
  fi
  output=$(dcb pfc set dev "$interface" prio-pfc "${map[@]}" 2>&1) || fail "$interface: dcb pfc: $output"

  output=" $(dcb -N app show dev "$interface" dscp-prio 2>&1) "
  if [ "$trust" = dscp ]; then
    [[ $output == *" $dscp:$priority "* ]] || fail "$interface: DSCP $dscp is not priority $priority"
    [[ $output == *" $cnp_dscp:$cnp_priority "* ]] || fail "$interface: DSCP $cnp_dscp is not priority $cnp_priority"
  elif [[ $output == *:* ]]; then
    fail "$interface: still trusts DSCP"
  fi
  output=$(dcb pfc show dev "$interface" prio-pfc 2>&1)
  [[ $output == *"$wanted"* ]] || fail "$interface: PFC is ${output#*prio-pfc }, not $wanted"
}

# put VALUE FILE: writes the value if it differs, and reads it back
put() {
  [ "$(cat "$2" 2>/dev/null)" = "$1" ] || printf '%s\n' "$1" >"$2" 2>/dev/null || true
  [ "$(cat "$2" 2>/dev/null)" = "$1" ] || fail "$2 is $(cat "$2" 2>/dev/null), not $1"
}

# NVIDIA's driver has files for this in /sys/class/net. The kernel's driver only has the DSCP and PCP of notification packets,
# in debugfs, and keeps congestion control enabled for all priorities, as shipped in the firmware.
congestion_control() {
  local interface=$1 device=$2 directory
  directory=/sys/class/net/$interface/ecn
  if [ -d "$directory" ]; then
    put "$ecn" "$directory/roce_np/enable/$priority"
    put "$ecn" "$directory/roce_rp/enable/$priority"
    put "$cnp_dscp" "$directory/roce_np/cnp_dscp"
    put "$cnp_priority" "$directory/roce_np/cnp_802p_prio"
    return
  fi
  directory=$(readlink -f "/sys/class/infiniband/$device/device")
  directory=/sys/kernel/debug/mlx5/${directory##*/}/cc_params
  if cat "$directory/np_cnp_dscp" >/dev/null 2>&1; then
    put "$cnp_dscp" "$directory/np_cnp_dscp"
    put "$cnp_priority" "$directory/np_cnp_prio"
  else
    say "$interface: this driver has no switches for congestion control: its firmware decides"
  fi
  [ "$ecn" = 1 ] || say "$interface: this driver cannot turn congestion control off"
}

# RoCE v2 and the RDMA mark for connections made by address: storage, perftest -R. NCCL and UCX set their own.
connection_defaults() {
  local device=$1 directory=/sys/kernel/config/rdma_cm made=0
  modprobe rdma_cm 2>/dev/null || true
  [ -d "$directory" ] || mount -t configfs none /sys/kernel/config 2>/dev/null || true
  if [ ! -d "$directory" ]; then
    fail "$device: rdma_cm has no settings in $directory"
    return
  fi
  [ -d "$directory/$device" ] || { mkdir "$directory/$device" && made=1; } || fail "cannot create $directory/$device"
  put 'RoCE v2' "$directory/$device/ports/1/default_roce_mode"
  put "$traffic_class" "$directory/$device/ports/1/default_roce_tos"
  # The settings stay; the directory would keep the driver from being unloaded.
  [ "$made" = 0 ] || rmdir "$directory/$device" || true
}

while read -r port device interface _ <&3; do
  case $port in '' | '#'*) continue ;; esac
  if ! name=$(wait_for "$device" "$interface") || ! device=$(device_of "$device" "$name"); then
    fail "$port: RDMA device $device with interface $interface does not exist"
    continue
  fi
  global_pause_off "$name"
  if command -v mlnx_qos >/dev/null; then
    qos_by_mlnx_qos "$name"
  elif command -v dcb >/dev/null; then
    qos_by_dcb "$name"
  else
    fail "neither mlnx_qos nor dcb (iproute2) is installed"
  fi
  congestion_control "$name" "$device"
  connection_defaults "$device"
  say "$port: $name done"
done 3</etc/clustergen/roce-ports

[ "$failures" -eq 0 ]
