#!/bin/bash
# Files created, looked at and removed per second by one process.
place="$GATE_DIRECTORY/.clustergen-accept.$SLURM_JOB_ID.$SLURM_PROCID"
mkdir -m 0700 "$place" || { echo "@why $GATE_DIRECTORY is not writable"; exit 0; }
trap 'rm -rf "$place"' EXIT
python3 - "$place" "$GATE_SECONDS" <<'PYTHON'
import os, sys, time

place, seconds = sys.argv[1], float(sys.argv[2])


def rate(step, count):
    begin = time.monotonic()
    done = 0
    while done < count and time.monotonic() - begin < seconds:
        step(os.path.join(place, str(done)))
        done += 1
    return done, done / max(time.monotonic() - begin, 1e-6)


count, created = rate(lambda path: os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)), 100000)
_, seen = rate(os.stat, count)
_, removed = rate(os.unlink, count)
for metric, value in (("create", created), ("stat", seen), ("unlink", removed)):
    print("@reading %s %.1f" % (metric, value))
PYTHON
