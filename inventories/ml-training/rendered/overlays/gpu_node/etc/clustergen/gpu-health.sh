# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
gpu_count=8
floors=( # field relation bound words
  power.limit least 700 'power limit'
  clocks.max.sm least 1980 'highest clock'
  pcie.link.width.current least 16 'PCIe lanes'
  pcie.link.gen.max least 5 'PCIe generation'
)
nvlinks=(18 18 18 18 18 18 18 18)
max_temperature=''
