#!/bin/bash
# CPUs that are online, and memory in MiB as slurmd counts it.
echo "@reading cpus $(lscpu -p=CPU | grep -c '^[0-9]')"
echo "@reading memory $(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)"
