#!/bin/bash
# Write, then read, in a directory of this node; without O_DIRECT where the file system refuses it.
command -v fio >/dev/null || { echo "@missing fio"; exit 0; }
place="$GATE_DIRECTORY/.clustergen-accept.$SLURM_JOB_ID.$SLURM_PROCID"
mkdir -m 0700 "$place" || { echo "@why $GATE_DIRECTORY is not writable"; exit 0; }
trap 'rm -rf "$place"' EXIT
common=(--name=accept "--directory=$place" "--size=$GATE_SIZE" --bs=1M "--numjobs=$GATE_JOBS" --group_reporting --time_based
  "--runtime=$GATE_SECONDS" --output-format=json --ioengine=psync)
direct=1
fio "${common[@]}" --rw=write --runtime=1 --direct=1 >/dev/null 2>&1 || direct=0
for mode in write read; do
  echo "@output fio"
  fio "${common[@]}" "--rw=$mode" --direct=$direct --end_fsync=1 2>&1
done
echo "@output end"
echo "@reading direct $direct"
