# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
mount='/scratch'
prolog_patience_s=60
