#!/bin/bash
# ib_write_bw from the second node to the first. RoCE: with the GID index of RoCE v2 and an IPv4 address.
command -v ib_write_bw >/dev/null || { echo "@missing ib_write_bw"; exit 0; }
options=(-d "$GATE_DEVICE" -F --report_gbits -s 65536 -D 10)
if [ -n "$GATE_ROCE" ]; then
  index=
  for type in "/sys/class/infiniband/$GATE_DEVICE"/ports/1/gid_attrs/types/*; do
    read -r version <"$type" || continue
    read -r gid <"/sys/class/infiniband/$GATE_DEVICE/ports/1/gids/${type##*/}" || continue
    [[ $version == "RoCE v2" && $gid == 0000:0000:0000:0000:0000:ffff:* ]] && { index=${type##*/}; break; }
  done 2>/dev/null
  [ -n "$index" ] || { echo "@why $GATE_DEVICE has no RoCE v2 GID with an IPv4 address"; exit 0; }
  options+=(-x "$index")
fi
server=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
if [ "$SLURM_PROCID" = 0 ]; then
  ib_write_bw "${options[@]}" >/dev/null
else
  for _ in {1..10}; do
    sleep 1
    answer=$(ib_write_bw "${options[@]}" "$server" 2>&1) && break
  done
  echo "@output ib_write_bw"
  echo "$answer"
fi
