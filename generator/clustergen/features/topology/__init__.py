"""Topology: the switches and blocks by which Slurm places jobs on neighbouring nodes."""
