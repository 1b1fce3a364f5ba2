# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
mount='/mnt/lustre'
layouts=( # directory expected words
  /mnt/lustre/datasets '4194304 1 - -;67108864 4 - -;EOF -1 4194304 -' '-E 4M -c 1 -E 64M -c 4 -E -1 -c -1 -S 4M'
)
