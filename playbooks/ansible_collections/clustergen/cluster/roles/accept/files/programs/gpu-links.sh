#!/bin/bash
# NVLinks of each GPU, with their state.
command -v nvidia-smi >/dev/null || { echo "@missing nvidia-smi"; exit 0; }
unset CUDA_VISIBLE_DEVICES
echo "@output links"
nvidia-smi nvlink --status
