# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
governor='performance'
idle_latency_us=10
transparent_hugepages=''
ports=(mlx5_0)
interrupts=true
rings=''
channels=''
read_request=5
relaxed_ordering=''
