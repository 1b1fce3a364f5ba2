# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
spool='/var/lib/slurm/slurmd'
min_free_kib=1048576
fabric_devices=(mlx5_0)
fabric_gbit_s=200
services=(nvidia-fabricmanager.service munge.service)
most_skew_s=30
has_logins=false
