#!/bin/bash
# CPUs that are online, and memory in MiB as slurmd counts it, without that of GPUs that are NUMA nodes of their own.
echo "@reading cpus $(lscpu -p=CPU | grep -c '^[0-9]')"
of_gpus=0
for node in /sys/devices/system/node/node[0-9]*; do
  [ ! -e "$node/cpulist" ] || [ -n "$(cat "$node/cpulist")" ] || of_gpus=$((of_gpus + $(awk '$3 == "MemTotal:" { print $4 }' "$node/meminfo")))
done
echo "@reading memory $(awk -v less="$of_gpus" '$1 == "MemTotal:" { print int(($2 - less) / 1024) }' /proc/meminfo)"
