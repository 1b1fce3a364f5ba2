# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
resets_per_day=2
idle_mib=1024
peers=(0 1 2 3)
fabric_manager=''
clients=(nvidia-dcgm-exporter.service nvidia-dcgm.service)
