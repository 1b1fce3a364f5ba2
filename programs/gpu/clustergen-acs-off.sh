#!/bin/bash
# Disables PCIe access control services (ACS) on all bridges, so that GPUs and NICs below one switch exchange data directly
# and not through the CPU. Exits with 1 if a bridge keeps ACS enabled.
set -uo pipefail
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C

failures=0
for directory in /sys/bus/pci/devices/*; do
  case $(cat "$directory/class") in 0x0604*) ;; *) continue ;; esac
  bridge=${directory##*/}
  # The control register is at offset 6 of the capability; bridges without the capability have nothing to disable.
  now=$(setpci -s "$bridge" ECAP_ACS+0x6.w 2>/dev/null) || continue
  [ "$now" != 0000 ] || continue
  setpci -s "$bridge" ECAP_ACS+0x6.w=0000 || true
  now=$(setpci -s "$bridge" ECAP_ACS+0x6.w)
  if [ "$now" != 0000 ]; then
    echo "ERROR: $bridge keeps access control on ($now)" >&2
    failures=$((failures + 1))
  fi
done

[ "$failures" -eq 0 ]
