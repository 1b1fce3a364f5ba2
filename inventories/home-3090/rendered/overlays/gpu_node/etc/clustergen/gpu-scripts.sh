# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
is_exclusive=true
job_map='/run/dcgm-job-mapping'
metrics_file=''
