"""Differences between the machines as they are and the manifest: hardware, groups of equal machines, files, Slurm."""
