#!/bin/bash
# 20-mount-NAME, 30-mount-NAME: the file system NAME of the manifest is mounted and responds in time. The check runs in the
# background, because a process that hangs on a dead file system cannot be killed.
set -u
name=${0##*/} name=${name#[0-9][0-9]-mount-}
# shellcheck source=/dev/null
. "/etc/clustergen/mount-$name.sh"
: "${mount:?}" "${prolog_patience_s:?}"
patience_s=10
[[ $0 != */prolog.d/* ]] || patience_s=$prolog_patience_s # longer: slurmctld does not end its drains by itself
# The mount of a prolog that came a moment ago starts after all files have come: a job that starts meanwhile waits for it.
is_new() { [[ $0 == */prolog.d/* && -n $(find "$0" -newermt '-60 seconds') ]]; }
until mountpoint -q -- "$mount"; do
  is_new || { echo "$mount is not mounted"; exit 1; }
  sleep 0.5
done
stat -f -- "$mount" >/dev/null 2>&1 </dev/null &
for ((tenths = 0; tenths < patience_s * 10; tenths++)); do
  if ! kill -0 $! 2>/dev/null; then
    wait $! && exit 0
    echo "$mount returns an error"
    exit 1
  fi
  sleep 0.1
done
kill -9 $!
disown -a
echo "$mount does not respond"
exit 1
