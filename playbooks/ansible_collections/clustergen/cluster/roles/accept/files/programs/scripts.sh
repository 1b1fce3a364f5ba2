#!/bin/bash
# The prolog made the job's directory, the epilog left none of another job, and every health check passes.
failed=0
if [ -n "$GATE_TMPDIR" ]; then
  [ -d "$GATE_TMPDIR/$SLURM_JOB_ID" ] || { echo "@why the prolog made no $GATE_TMPDIR/$SLURM_JOB_ID"; failed=$((failed + 1)); }
  for directory in "$GATE_TMPDIR"/[0-9]*; do
    job=${directory##*/}
    if [ ! -d "$directory" ] || [ "$job" = "$SLURM_JOB_ID" ]; then continue; fi
    squeue -h -j "$job" -t all -o %T 2>/dev/null | grep -qE 'RUNNING|COMPLETING|SUSPENDED' && continue
    echo "@why the epilog left $directory"
    failed=$((failed + 1))
  done
fi
for script in /etc/slurm/health.d/[0-9][0-9]-*; do
  [ -x "$script" ] || continue
  reason=$(timeout -k 2 30 "$script" 2>&1 </dev/null) && continue
  echo "@why ${script##*/}: $(tr -c '[:print:]' ' ' <<<"$reason")"
  failed=$((failed + 1))
done
echo "@reading failed $failed"
