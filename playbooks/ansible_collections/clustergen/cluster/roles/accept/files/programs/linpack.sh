#!/bin/bash
# HPL and STREAM of the HPC Challenge suite, one task for each core; hpcc checks each result.
command -v hpcc >/dev/null || { echo "@missing hpcc"; exit 0; }
place="${TMPDIR:-/tmp}/clustergen-accept.$SLURM_JOB_ID"
if [ "$SLURM_PROCID" = 0 ]; then
  mkdir -m 0700 "$place" || { echo "@why $place cannot be created"; exit 1; }
  trap 'rm -rf "$place"' EXIT
fi
# All users know the name: root writes only in a directory of its own, and follows no link to one.
patience=200
until cd -P "$place" 2>/dev/null && [[ $(stat -c %u .):$PWD =~ ^$EUID:.*/"${place##*/}"$ ]]; do
  ((patience--)) || { echo "@why $place does not belong to root"; exit 1; }
  sleep 0.5
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
if [ "$SLURM_PROCID" = 0 ]; then
  # The matrix is what cores of 10 GFLOPS solve in the time given, and takes at most a tenth of the memory.
  memory=$(awk '/^MemAvailable/ { print $2 * 1024 }' /proc/meminfo)
  read -r size rows columns < <(awk -v tasks="$SLURM_NTASKS" -v seconds="$GATE_SECONDS" -v memory="$memory" 'BEGIN {
    size = (1.5 * seconds * tasks * 1e10) ^ (1 / 3); most = sqrt(memory / 80); if (size > most) size = most
    for (rows = int(sqrt(tasks)); tasks % rows; rows--);
    print int(size / 192 + 1) * 192, rows, tasks / rows }')
  cat >hpccinf.txt <<INPUT
HPLinpack benchmark input file
clustergen
HPL.out output file name
8 device out
1 # of problems sizes (N)
$size Ns
1 # of NBs
192 NBs
0 PMAP process mapping
1 # of process grids (P x Q)
$rows Ps
$columns Qs
16.0 threshold
1 # of panel fact
2 PFACTs
1 # of recursive stopping criterium
4 NBMINs
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs
1 # of broadcast
1 BCASTs
1 # of lookahead depth
1 DEPTHs
2 SWAP
64 swapping threshold
0 L1 in
0 U in
1 Equilibration
8 memory alignment in double
separator
0 Number of additional problem sizes for PTRANS
0 values of N
0 number of additional blocking sizes for PTRANS
0 values of NB
INPUT
fi
problem=$(timeout -k 5 "$((GATE_SECONDS * 20 + 300))" hpcc 2>&1 >/dev/null) || echo "@why hpcc: $(tail -n 1 <<<"$problem" | tr -c '[:print:]' ' ')"
[ "$SLURM_PROCID" = 0 ] || exit 0
[ -s hpccoutf.txt ] || { echo "@why hpcc wrote no result"; exit 0; }
awk -F= '
  $1 == "CommWorldProcs" { tasks = $2 }
  $1 == "Success" { wrong = $2 != 1; judged = 1 }
  $1 == "HPL_Tflops" { rate = $2 }
  $1 == "StarSTREAM_Triad" { memory = $2 }
  END {
    if (!judged) print "@why hpcc wrote no summary"
    else printf "@reading ranks %d\n@reading wrong %d\n@reading gflops %.3f\n@reading triad %.3f\n", tasks, wrong, rate * 1000, memory * tasks
  }' hpccoutf.txt
