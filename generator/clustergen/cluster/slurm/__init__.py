"""Slurm as resolved: a record per topic."""
