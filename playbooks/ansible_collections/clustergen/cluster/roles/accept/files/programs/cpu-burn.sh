#!/bin/bash
# All CPUs compute, and stress-ng verifies the results.
command -v stress-ng >/dev/null || { echo "@missing stress-ng"; exit 0; }
echo "@output stress-ng"
stress-ng --cpu 0 --cpu-method matrixprod --verify --timeout "$GATE_SECONDS" --metrics-brief 2>&1
echo "@reading status $?"
