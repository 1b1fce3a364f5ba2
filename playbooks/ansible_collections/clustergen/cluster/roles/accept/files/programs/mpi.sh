#!/bin/bash
# Ping-pong between two tasks, or an all-reduce over more, by mpi4py. Without RDMA, Open MPI must not choose UCX.
python3 -c 'import mpi4py' 2>/dev/null || { echo "@missing python3-mpi4py"; exit 0; }
if [ "$GATE_PML" = ob1 ]; then export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp; else export OMPI_MCA_pml="$GATE_PML"; fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec timeout -k 5 "$((GATE_SECONDS * 5 + 60))" python3 - "$GATE_SECONDS" <<'PYTHON'
import os, sys, time
from mpi4py import MPI

seconds = float(sys.argv[1])
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
hosts = world.gather(os.environ.get("SLURMD_NODENAME", MPI.Get_processor_name()))
if rank == 0:
    print("@reading ranks %d" % size)
    print("@reading hosts %d" % len(set(hosts)))


def repeat(step, share):
    """Seconds of one step; the root decides when to stop, so that all ranks agree."""
    rounds, count, begin = 1, 0, time.monotonic()
    while True:
        for _ in range(rounds):
            step()
        count += rounds
        spent = time.monotonic() - begin
        if world.bcast(spent > seconds * share):
            return spent / count
        rounds = world.bcast(min(rounds * 2, 1024))


def ping(buffer):
    def step():
        if rank == 0:
            world.Send(buffer, 1)
            world.Recv(buffer, 1)
        elif rank == 1:
            world.Recv(buffer, 0)
            world.Send(buffer, 0)

    return step


if size == 2:
    small, large = bytearray(8), bytearray(1 << 24)
    repeat(ping(small), 0.1)
    latency, transfer = repeat(ping(small), 0.4) / 2, repeat(ping(large), 0.5) / 2
    if rank == 0:
        print("@reading latency %.3f" % (latency * 1e6))
        print("@reading bandwidth %.6f" % (len(large) / transfer / 1e9))
else:
    import array

    values, sums = array.array("d", [1.0]) * 131072, array.array("d", [0.0]) * 131072
    spent = repeat(lambda: world.Allreduce(values, sums), 1.0)
    if rank == 0:
        print("@reading wrong %d" % sum(value != size for value in sums))
        print("@reading allreduce_ms %.3f" % (spent * 1e3))
PYTHON
