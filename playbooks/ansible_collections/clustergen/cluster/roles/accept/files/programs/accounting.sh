#!/bin/bash
# sacct shows this job, with the TRES in GATE_TRES.
recorded=0
for _ in {1..30}; do
  row=$(sacct -n -X -P -j "$SLURM_JOB_ID" -o JobIDRaw,AllocTRES 2>/dev/null)
  [[ $row == "$SLURM_JOB_ID|"*"$GATE_TRES="* ]] && { recorded=1; break; }
  sleep 1
done
[ $recorded = 1 ] || echo "@why sacct shows '${row//[^[:print:]]/ }' for job $SLURM_JOB_ID"
echo "@reading recorded $recorded"
