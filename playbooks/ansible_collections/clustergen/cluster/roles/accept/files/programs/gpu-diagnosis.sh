#!/bin/bash
# dcgmi diag at GATE_LEVEL.
command -v dcgmi >/dev/null || { echo "@missing dcgmi"; exit 0; }
unset CUDA_VISIBLE_DEVICES
echo "@output dcgmi"
dcgmi diag -r "$GATE_LEVEL" -j 2>&1
