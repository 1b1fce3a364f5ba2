#!/bin/bash
# GATE_DIRECTORY is mounted and, with GATE_WRITE, takes a file and returns it.
failed=0
mountpoint -q "$GATE_DIRECTORY" || { echo "@why $GATE_DIRECTORY is not mounted"; failed=1; }
if [ $failed = 0 ] && [ -n "$GATE_WRITE" ]; then
  file=$(mktemp --dry-run "$GATE_DIRECTORY/.clustergen-accept.XXXXXXXXXX")
  set -o noclobber # a user could plant a link
  text="acceptance of ${SLURMD_NODENAME:-this node}"
  { echo "$text" >"$file" && [ "$(cat "$file")" = "$text" ]; } || { echo "@why $GATE_DIRECTORY is not writable"; failed=1; }
  rm -f "$file"
fi
echo "@reading failed $failed"
