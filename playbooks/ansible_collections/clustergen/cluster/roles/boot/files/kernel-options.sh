#!/bin/bash
# Passes the options of /etc/clustergen/kernel-options to grubby, and takes back those of an earlier run. May be repeated.
set -euo pipefail

wanted=/etc/clustergen/kernel-options
passed=/var/lib/clustergen/kernel-options # what grubby got last

before=''
now=''
if [ -f "$passed" ]; then before=$(<"$passed"); fi
if [ -f "$wanted" ]; then now=$(sed '/^#/d; /^$/d' "$wanted" | paste -sd ' '); fi
if [ -n "$before" ]; then grubby --update-kernel=ALL --remove-args="$before"; fi
mkdir -p "${passed%/*}"
# Noted first: if grubby is cut off, the next run takes back what it may have set.
printf '%s\n' "$now" >"$passed"
if [ -n "$now" ]; then grubby --update-kernel=ALL --args="$now"; fi
