#!/bin/bash
# IOR: each task writes a file and reads that of another node, from all nodes at once.
command -v ior >/dev/null || { echo "@missing ior"; exit 0; }
if [ "$GATE_PML" = ob1 ]; then export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp; else export OMPI_MCA_pml="$GATE_PML"; fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
place="$GATE_DIRECTORY/.clustergen-accept.$SLURM_JOB_ID"
if [ "$SLURM_PROCID" = 0 ]; then
  mkdir -m 0700 "$place" || { echo "@why $GATE_DIRECTORY is not writable"; exit 1; }
  trap 'rm -rf "$place"' EXIT
fi
# All users know the name: root writes only in a directory of its own, or of nobody's if the server squashes root,
# and follows no link to one.
patience=200
until cd -P "$place" 2>/dev/null && [[ $(stat -c %u .):$PWD =~ ^($EUID|65534):.*/"${place##*/}"$ ]]; do
  ((patience--)) || { echo "@why $place does not belong to root"; exit 1; }
  sleep 0.5
done
timeout -k 5 "$((GATE_SECONDS * 4 + 300))" ior -a POSIX -w -r -e -F -C -t 1m -b "$GATE_SIZE" -D "$GATE_SECONDS" -o file 2>&1 | awk '
  $1 == "tasks" && $2 == ":" { print "@reading ranks " $3 }
  $1 == "nodes" && $2 == ":" { print "@reading hosts " $3 }
  ($1 == "write" || $1 == "read") && $2 + 0 > 0 && !seen[$1]++ { printf "@reading %s %.6f\n", $1, $2 * 1048576 / 1e9 }
  /ERROR|rror:/ && !errors++ { print "@why ior: " $0 }'
