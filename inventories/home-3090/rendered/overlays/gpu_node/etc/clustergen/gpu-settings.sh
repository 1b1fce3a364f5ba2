# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
gpus=4
power_limit_w=250
clock_mhz=''
compute_mode=''
