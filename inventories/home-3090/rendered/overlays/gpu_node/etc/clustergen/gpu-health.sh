# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
gpu_count=4
floors=( # field relation bound words
  power.limit equal 250 'power limit'
)
nvlinks=()
max_temperature=''
