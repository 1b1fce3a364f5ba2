#!/bin/bash
# The mount unit names WEKA's CPUs by the kernel's numbers, and Slurm excludes those of CPUSpecList, which it counts by socket
# and core. Both come from one list of cores. This script compares the kernel's numbers on this machine with the numbers that
# the list assumes, so that WEKA never polls on CPUs of jobs.
set -uo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# shellcheck source=/dev/null
. /etc/clustergen/weka-cpus.sh || exit
: "${node_type:?}" "${cores[*]:?}"

table=$(lscpu --parse=CPU,CORE,NODE | grep -v '^#') || { echo "lscpu lists no CPUs" >&2; exit 1; }
wrong=0
for ((i = 0; i < ${#cores[@]}; i += 2)); do
  numa=${cores[i]} cpus=${cores[i + 1]}
  IFS=, read -r core node < <(awk -F, -v cpu="${cpus%%,*}" '$1 == cpu { print $2 "," $3 }' <<<"$table")
  siblings=$(awk -F, -v core="${core:-none}" '$2 == core { print $1 }' <<<"$table" | sort -n | paste -sd,)
  if [[ ${node:-none} != "$numa" || $siblings != "$cpus" ]]; then
    echo "CPUs $cpus should be the threads of one core on NUMA node $numa; here CPU ${cpus%%,*} is on NUMA node ${node:-none}, with the threads ${siblings:-none}" >&2
    wrong=1
  fi
done
((wrong == 0)) || echo "compare 'lscpu -e' with node_types.$node_type.cpu of the manifest: sockets, cores, threads, numa_per_socket, numbering" >&2
exit "$wrong"
