#!/bin/bash
# What the driver reports of each GPU; event reasons have another name before R535.
command -v nvidia-smi >/dev/null || { echo "@missing nvidia-smi"; exit 0; }
unset CUDA_VISIBLE_DEVICES
echo "@output gpus"
nvidia-smi --query-gpu=index,name,power.limit,clocks.max.sm,pcie.link.gen.max,pcie.link.width.current --format=csv,noheader,nounits
echo "@output reasons"
nvidia-smi --query-gpu=index,clocks_event_reasons.active --format=csv,noheader 2>/dev/null ||
  nvidia-smi --query-gpu=index,clocks_throttle_reasons.active --format=csv,noheader
echo "@output rows"
nvidia-smi --query-remapped-rows=gpu_bus_id,remapped_rows.pending --format=csv,noheader,nounits
