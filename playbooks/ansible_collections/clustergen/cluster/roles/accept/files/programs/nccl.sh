#!/bin/bash
# all_reduce_perf of nccl-tests, built with MPI; each task has one GPU.
program=$(command -v all_reduce_perf_mpi || command -v all_reduce_perf) || { echo "@missing all_reduce_perf"; exit 0; }
export NCCL_ALGO="$GATE_NCCL_ALGO"
for name in NCCL_IB_HCA NCCL_MNNVL_ENABLE NCCL_CUMEM_ENABLE; do
  gate="GATE_$name"
  [ -z "${!gate:-}" ] || export "$name=${!gate}"
done
[ "$SLURM_PROCID" != 0 ] || echo "@output nccl-tests"
exec "$program" -b 1G -e 8G -f 2 -g 1 -n 20 -w 5 -c 1
