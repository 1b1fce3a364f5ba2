# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
limit_s=285
admin_group=''
